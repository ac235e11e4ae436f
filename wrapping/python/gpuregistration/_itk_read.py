# SPDX-License-Identifier: Apache-2.0
"""Transforms from ITK's Python classes."""

from __future__ import annotations

import sys
from typing import Any, Optional

import numpy as np

from ._affine import Affine
from ._composite import Composite
from ._engine import UnsupportedError
from ._simpleitk_read import fit_affine
from ._transforms import BSpline, DisplacementField, Transform


def read_itk(transform: Any) -> Optional[Transform]:
    """Reads ITK's transform; returns None for any other object.

    Raises:
        UnsupportedError: the transform is neither linear, a cubic B-spline, a displacement field, nor a composite of these.
    """
    if not (type(transform).__module__.split(".")[0] == "itk" and hasattr(transform, "TransformPoint")):
        return None
    itk = sys.modules["itk"]
    transform = itk.down_cast(transform)
    d = transform.GetInputSpaceDimension()
    name = transform.GetNameOfClass()
    if name == "CompositeTransform":
        parts = [transform.GetNthTransform(n) for n in range(transform.GetNumberOfTransforms())]
        if not parts:
            return Affine(np.eye(d))
        return Composite([_read_part(part) for part in reversed(parts)])
    if name == "BSplineTransform":
        fixed = _numbers(transform.GetFixedParameters())
        if not type(transform).__name__.endswith("3"):
            raise UnsupportedError(
                "A B-spline transform is not of order 3, which alone is possible. Make it a displacement field: "
                "itk.TransformToDisplacementFieldFilter."
            )
        size = fixed[:d].astype(int)
        components = _numbers(transform.GetParameters()).reshape((d,) + tuple(size[::-1]))
        return BSpline(np.moveaxis(components, 0, -1), fixed[2 * d : 3 * d], fixed[d : 2 * d], fixed[3 * d :])
    if name == "DisplacementFieldTransform":
        field = transform.GetDisplacementField()
        return DisplacementField(
            itk.array_from_image(field),
            list(field.GetSpacing()),
            list(field.GetOrigin()),
            itk.array_from_matrix(field.GetDirection()),
        )
    if not transform.IsLinear():
        raise UnsupportedError(
            f"ITK's {name} is not made of linear maps, cubic B-splines and displacement fields. Make it one: "
            "itk.TransformToDisplacementFieldFilter."
        )
    center = list(transform.GetCenter()) if hasattr(transform, "GetCenter") else None
    point = itk.Point[itk.D, d]
    return fit_affine(lambda place: list(transform.TransformPoint(point(place))), d, center)


def _read_part(transform: Any) -> Transform:
    part = read_itk(transform)
    assert part is not None
    return part


def _numbers(parameters: Any) -> np.ndarray:
    import itk

    return np.array(itk.array_from_vnl_vector(parameters), dtype=np.float64)
