# SPDX-License-Identifier: Apache-2.0
"""Transforms from SimpleITK."""

from __future__ import annotations

import sys
from typing import Any, Optional

import numpy as np

from ._affine import Affine
from ._composite import Composite
from ._engine import UnsupportedError
from ._simpleitk import import_simpleitk
from ._transforms import BSpline, DisplacementField, Transform

# SimpleITK's Python raises these for a transform that it applies, but has no class for.
_NO_CLASS = (KeyError, RuntimeError, TypeError)


def fit_affine(transform_point: Any, dimension: int, center: Any = None) -> Affine:
    """Computes an affine map from where it maps points."""
    base = np.array(transform_point([0.0] * dimension))
    # Far away, so that what a point is moved by hides none of what the matrix says.
    far = 1024.0
    columns = [np.array(transform_point([far * (n == axis) for n in range(dimension)])) - base for axis in range(dimension)]
    whole = np.eye(dimension + 1)
    whole[:-1, :-1] = np.stack(columns, axis=1) / far
    whole[:-1, -1] = base
    return Affine.from_matrix(whole, center)


def read_simpleitk(transform: Any) -> Optional[Transform]:
    """Reads SimpleITK's transform; returns None for any other object.

    Raises:
        UnsupportedError: the transform is neither linear, a cubic B-spline, a displacement field, nor a composite of these.
    """
    sitk = sys.modules.get("SimpleITK")
    if sitk is None or not isinstance(transform, sitk.Transform):
        return None
    try:
        transform = transform.Downcast()
    except _NO_CLASS:
        # A linear one is known by where it leads points to.
        pass
    if isinstance(transform, sitk.CompositeTransform):
        return _read_composite(transform)
    if isinstance(transform, sitk.BSplineTransform):
        if transform.GetOrder() != 3:
            raise UnsupportedError(
                f"A B-spline transform is of order {transform.GetOrder()}; 3 is possible. Make it a displacement field: "
                "SimpleITK.TransformToDisplacementField."
            )
        images = transform.GetCoefficientImages()
        array = np.stack([sitk.GetArrayFromImage(image) for image in images], axis=-1)
        return BSpline(array, images[0].GetSpacing(), images[0].GetOrigin(), images[0].GetDirection())
    if isinstance(transform, sitk.DisplacementFieldTransform):
        field = transform.GetDisplacementField()
        return DisplacementField(
            sitk.GetArrayFromImage(field), field.GetSpacing(), field.GetOrigin(), field.GetDirection()
        )
    if not transform.IsLinear():
        raise UnsupportedError(
            f"SimpleITK's {transform.GetName()} is not made of linear maps, cubic B-splines and displacement fields. Make it one: "
            "SimpleITK.TransformToDisplacementField."
        )
    if isinstance(transform, sitk.AffineTransform):
        d = transform.GetDimension()
        return Affine(np.reshape(transform.GetMatrix(), (d, d)), transform.GetTranslation(), transform.GetCenter())
    center = transform.GetCenter() if hasattr(transform, "GetCenter") else None
    return fit_affine(transform.TransformPoint, transform.GetDimension(), center)


def _read_composite(transform: Any) -> Transform:
    """Reads SimpleITK's composite."""
    sitk = import_simpleitk()
    dimension = transform.GetDimension()
    try:
        parts = [transform.GetNthTransform(n) for n in range(transform.GetNumberOfTransforms())]
    except _NO_CLASS as error:
        if transform.IsLinear():
            return fit_affine(transform.TransformPoint, dimension)
        raise UnsupportedError(
            "A composite transform has a part that SimpleITK's Python has no class for. Make that part an AffineTransform, or all "
            "of it a displacement field: SimpleITK.TransformToDisplacementField."
        ) from error
    if not parts:
        return Affine(np.eye(dimension))
    # SimpleITK hands out a transform that it has no class for, such as the MatrixOffsetTransformBase of older files, as a composite
    # whose one part is such a composite again, without end. All of those are linear.
    if len(parts) == 1 and isinstance(parts[0], sitk.CompositeTransform) and transform.IsLinear():
        return fit_affine(transform.TransformPoint, dimension)
    return Composite([_read_part(part) for part in reversed(parts)])


def _read_part(transform: Any) -> Transform:
    part = read_simpleitk(transform)
    assert part is not None
    return part
