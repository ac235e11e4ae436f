# SPDX-License-Identifier: Apache-2.0
"""Grey images that are stored as colours, as pictures mostly are."""

from __future__ import annotations

import numpy as np

from ._engine import BadInputError
from ._gpu_arrays import GpuArray
from ._image import Image, has_values, no_values

# How far colours may differ, as a share of the image's range: what is left of grey by a JPEG's rounding.
_MOST_TINT = 0.02
# A picture's luminance is the sum of red, green and blue by these weights (ITU-R BT.601, as in JPEG).
_LUMINANCE = (0.299, 0.587, 0.114)
# Pictures are of these, and so is what covers them.
_OF_PICTURES = (np.uint8, np.uint16)


def as_grey(image: Image, name: str, hint: str) -> Image:
    """Returns an image with one number per voxel: the image itself, or the grey values of a picture that is grey and equally opaque
    everywhere. One without values is taken for such a picture, if it is of a picture's type.

    Args:
        name: such as "moving image", for what is raised.
        hint: advice for the case that they are not.

    Raises:
        BadInputError: it has several components that differ.
    """
    content = image.content
    if not image.is_vector or isinstance(content, GpuArray):
        return image
    if not has_values(content):
        if image.components == 3 and content.dtype not in _OF_PICTURES:
            raise _no_grey(image, name, "They are not of 8 or 16 bits without a sign, as colours are", hint)
        one = as_grey(Image(np.zeros((1,) * image.dimension + (image.components,), content.dtype), is_vector=True), name, hint)
        return image.like(no_values(one.content.dtype, image.shape))
    colours, is_opaque = _split_cover(content)
    count = colours.shape[-1]
    # Two, and more than three, are of something else than colours.
    first = np.broadcast_to(colours[..., :1], colours.shape)
    if is_opaque and count in (1, 3) and np.array_equal(colours, first, equal_nan=colours.dtype.kind == "f"):
        return image.like(colours[..., 0])
    if is_opaque and count == 3 and colours.dtype in _OF_PICTURES:
        least, most = colours.min(axis=-1), colours.max(axis=-1)
        if int((most - least).max()) <= _MOST_TINT * (int(most.max()) - int(least.min())):
            return image.like(np.rint(colours @ np.array(_LUMINANCE)).astype(colours.dtype))
    why = "It is not equally opaque everywhere"
    if is_opaque:
        why = "They differ, so that they are no grey" if count == 3 else "They are no colours"
    raise _no_grey(image, name, why, hint)


def _no_grey(image: Image, name: str, why: str, hint: str) -> BadInputError:
    return BadInputError(f"The {name} has {image.components} components a voxel; it is to have one. {why}. {hint}")


def _split_cover(content: np.ndarray) -> tuple[np.ndarray, bool]:
    """Returns a picture's colours, and whether its opacity is the same everywhere."""
    if content.dtype not in _OF_PICTURES or content.shape[-1] not in (2, 4):
        return content, True
    cover = content[..., -1]
    return content[..., :-1], bool((cover == cover.flat[0]).all())


def component_of(image: Image, number: int, name: str) -> Image:
    """Returns one of an image's components; the image itself, as component 0, if it has one number per voxel.

    Args:
        number: from 0 on.

    Raises:
        BadInputError: it has not so many.
    """
    if not 0 <= number < image.components:
        has = f"{image.components} components a voxel, from 0 to {image.components - 1}" if image.components > 1 else "one component a voxel, 0"
        raise BadInputError(f"The {name} has {has}, and no component {number}.")
    return image.like(image.array[..., number]) if image.is_vector else image
