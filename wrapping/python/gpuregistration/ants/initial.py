# SPDX-License-Identifier: Apache-2.0
"""The transforms that a registration begins with, and those that are applied to an image."""

from __future__ import annotations

from typing import Callable, Optional

import numpy as np

from .._engine import BadInputError
from .._files import read_transform
from .._image import Image, host_array
from .._transforms import Affine, Transform
from .registration_call import Initial

_MIDDLES, _MASSES, _ORIGINS = range(3)


def make_initial(initial: Initial, dimension: int, read: Callable[[str], Image]) -> Transform:
    """Makes a transform that the registration begins with, from the fixed image's points to the moving one's.

    Args:
        read: reads an image by its name.

    Raises:
        BadInputError: a file cannot be read, or is of other dimensions.
    """
    if initial.file == "Identity":
        return Affine(np.eye(dimension))
    if initial.file:
        return read_part(initial.file, initial.is_inverse, dimension)
    fixed, moving = (_find_point(read(name), initial.feature, name) for name in (initial.fixed, initial.moving))
    return Affine(np.eye(dimension), moving - fixed, fixed)


def read_part(file: str, is_inverse: bool, dimension: int, device: Optional[str] = None) -> Transform:
    """Reads a file's transform, or its inverse.

    Raises:
        BadInputError: it cannot be read, is of other dimensions, or is a deformation whose inverse is asked for: that has a file of its own.
    """
    transform = read_transform(file)
    if transform.dimension != dimension:
        raise BadInputError(f"{file}: it is a transform of {transform.dimension} dimensions; expected one of {dimension}")
    if not is_inverse:
        return transform
    matrix = transform.matrix_of()
    if matrix is None:
        raise BadInputError(f"[{file},1]: it deforms; expected the file of its inverse, such as PREFIX1InverseWarp.nii.gz")
    return Affine.from_matrix(matrix, transform.center if isinstance(transform, Affine) else None).inverse()


def _find_point(image: Image, feature: int, name: str) -> np.ndarray:
    """Returns an image's middle, centre of mass or origin, in mm."""
    if feature == _ORIGINS:
        return image.origin
    if feature == _MIDDLES:
        index = (np.array(image.size) - 1) / 2
    else:
        values = host_array(image).astype(np.float64)
        total = values.sum()
        if total == 0 or not np.isfinite(total):
            raise BadInputError(f"{name}: its values come to {total:g}, which leaves no centre of mass; expected -r [FIXED,MOVING,0]")
        d = values.ndim
        along = [values.sum(axis=tuple(other for other in range(d) if other != axis)) for axis in range(d)]
        index = np.array([sums @ np.arange(len(sums)) for sums in along[::-1]]) / total
    return (image.index_to_point @ np.append(index, 1.0))[:-1]
