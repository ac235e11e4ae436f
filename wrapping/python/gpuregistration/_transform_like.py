# SPDX-License-Identifier: Apache-2.0
"""Takes transforms of every kind that callers hand in."""

from __future__ import annotations

from typing import Optional

from ._engine import BadInputError
from ._itk_read import read_itk
from ._simpleitk_read import read_simpleitk
from ._transforms import Transform, TransformLike, check_dimension


def as_transform(transform: TransformLike, dimension: Optional[int] = None, what: str = "transform") -> Transform:
    """Converts a transform of SimpleITK or of ITK to one of this package, and returns one of this package as it is.

    Args:
        dimension: the dimension that the transform must have; None: any.
        what: names the transform in errors.

    Raises:
        BadInputError: it is no transform, or has other dimensions.
        UnsupportedError: it is not made of linear maps, cubic B-splines and displacement fields.
    """
    found = transform if isinstance(transform, Transform) else read_simpleitk(transform) or read_itk(transform)
    if found is None:
        raise BadInputError(
            f"The {what} is of type {type(transform).__module__}.{type(transform).__qualname__}, which is not known. Hand in one "
            "of this package, of SimpleITK or of ITK; gpuregistration.read_transform reads files."
        )
    if dimension is not None:
        check_dimension(found, dimension, what)
    return found
