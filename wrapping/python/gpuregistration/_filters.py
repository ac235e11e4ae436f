# SPDX-License-Identifier: Apache-2.0
"""Smoothing, and the pyramid that registrations look at."""

from __future__ import annotations

from typing import Any, Sequence, Union

import numpy as np

from . import _engine
from ._devices import choose_device
from ._engine import BadInputError
from ._gaussian import recursive_gaussian
from ._image import Image, engine_map, engine_size, matrix_of_map, real_values
from ._kinds import read_image
from ._resample import to_type


def smooth(image: Any, sigma_mm: Union[float, Sequence[float]], device: Any = None) -> Any:
    """An image, smoothed by a recursive Gaussian (Deriche 1993), as ITK's SmoothingRecursiveGaussianImageFilter.

    Args:
        image: of any kind.
        sigma_mm: the Gaussian's standard deviation, mm, or one along each of x, y (and z); along an axis of 0 nothing is smoothed.
        device: its name; None: the default one.

    Returns:
        An image of the same kind; of whole numbers, rounded.

    Raises:
        BadInputError: no image, or a sigma below 0 or not finite.
        UnsupportedError: the device does not compute in doubles.
    """
    whole, wrap = read_image(image, "smoothed")
    sigma = np.array(sigma_mm, dtype=np.float64)
    if sigma.shape not in ((), (whole.dimension,)) or not np.isfinite(sigma).all() or (sigma < 0).any():
        raise BadInputError(f"A sigma of {sigma_mm} is not possible: give one number of 0 or more, or {whole.dimension}.")
    along = np.broadcast_to(sigma, (whole.dimension,))
    work = _engine.Filter(choose_device(device), real_values(whole.array))
    for axis in range(whole.dimension):
        if along[axis] > 0:
            work.apply_gaussian(axis, *recursive_gaussian(along[axis] / whole.spacing[axis]))
    return wrap(whole.like(to_type(work.take().reshape(whole.array.shape), whole.array.dtype)))


def pyramid(image: Any, levels: int, device: Any = None) -> list[Any]:
    """The levels of an image as free-form registrations look at them: from one to the next, voxels are twice as long, or as near to
    that as the image's are; each is the mean of those it stands for, after a Gaussian of half as many voxels.

    Args:
        image: of any kind.
        levels: how many, 1 to 5.
        device: its name; None: the default one.

    Returns:
        Images of the same kind, the finest, which is the image itself, first.

    Raises:
        BadInputError: no image, or another number of levels.
    """
    whole, wrap = read_image(image, "pyramid's")
    if not 1 <= int(levels) <= 5:
        raise BadInputError(f"A pyramid of {levels} levels is not possible; it may have 1 to 5.")
    name = choose_device(device)
    values = real_values(whole.array)
    size = engine_size(whole)
    made = [wrap(whole)]
    for level in range(1, int(levels)):
        factors = _engine.find_level_factors(whole.dimension, size, engine_map(whole.index_to_point), level)
        array, to_image = _engine.make_level(name, values, factors)
        to_point = whole.index_to_point @ matrix_of_map(to_image, whole.dimension)
        spacing = np.linalg.norm(to_point[:-1, :-1], axis=0)
        array = array if whole.dimension == 3 else array[0]
        made.append(
            wrap(Image(to_type(array, whole.array.dtype), spacing, to_point[:-1, -1], to_point[:-1, :-1] / spacing))
        )
    return made
