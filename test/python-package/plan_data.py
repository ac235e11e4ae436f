# SPDX-License-Identifier: Apache-2.0
"""Images of the tests of plans and of several devices, and what registering them takes."""

import gpuregistration as gr
import numpy as np
from gpuregistration import _engine

SHAPE, SPACING = (29, 34, 31), (1.0, 1.0, 1.2)


def head(shift=0.0, dtype=np.uint8, shape=SHAPE, numbers=None):
    """Returns a body with waves, which a shift moves and stretches.

    Args:
        dtype: of the array.
        numbers: the type of the whole numbers that the values are, over nearly its whole range. None: dtype, or uint8 if that is not of
            whole numbers, or of more than 16 bits.
    """
    if numbers is None:
        numbers = dtype if np.dtype(dtype).kind in "iu" and np.dtype(dtype).itemsize <= 2 else np.uint8
    z, y, x = np.meshgrid(*[np.linspace(-1, 1, length) for length in shape], indexing="ij")
    waves = 2 + np.sin(9 * (x - shift)) + np.cos(8 * y) + np.sin(30 * z + 5 * shift)
    values = np.exp(-3 * ((x - shift) ** 2 + y**2 + z**2)) * np.maximum(waves, 0)
    least, most = np.iinfo(numbers).min, np.iinfo(numbers).max
    whole = np.rint(least + (values / values.max()) * (most - least)).astype(numbers)
    assert int(whole.max()) - int(whole.min()) > 0.95 * (most - least)
    return gr.Image(whole.astype(dtype), SPACING)


def box(inset, shape=SHAPE):
    """Returns a mask that leaves so many voxels out at each face."""
    mask = np.zeros(shape, np.uint8)
    mask[3 * inset : -inset, inset:-inset, inset:-inset] = 1
    return gr.Image(mask, SPACING)


def with_outliers(image, count=20):
    """Returns an image of which so many voxels are far brighter than all others, whose values are divided by 30."""
    array = image.array // 30 if image.array.dtype.kind in "iu" else image.array / 30
    places = np.random.default_rng(count).choice(array.size, count, replace=False)
    array.flat[places] = image.array.max()
    return gr.Image(array.astype(image.array.dtype), image.spacing)


def counted(device, register):
    """Returns the most bytes that the device's account counted while register() ran, beside what was held before; and its result."""
    gr.release_memory(device)
    before = _engine.memory_in_use(device)
    _engine.count_most_memory_from_now(device)
    result = register()
    return _engine.most_memory_in_use(device) - before, result
