# SPDX-License-Identifier: Apache-2.0
"""Transforms from and to ITK's Python classes."""

from __future__ import annotations

import sys
from typing import Any, Optional

import numpy as np

from ._engine import UnsupportedError
from ._simpleitk import fit_affine
from ._transforms import Affine, BSpline, Composite, DisplacementField, Transform


def read_itk(transform: Any) -> Optional[Transform]:
    """ITK's transform; None if it is none.

    Raises:
        UnsupportedError: of other kinds than linear, cubic B-spline, displacement field, and composites of them.
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


def _parameters(values: np.ndarray) -> Any:
    # Their constructor from an array is not to be had in Python.
    import itk

    made = itk.OptimizerParameters[itk.D]()
    made.SetSize(len(values))
    for n, value in enumerate(values.tolist()):
        made.SetElement(n, value)
    return made


def _grid_parameters(grid: Any) -> Any:
    size = np.array(grid.array.shape[-2::-1], dtype=np.float64)
    return _parameters(np.concatenate([size, grid.origin, grid.spacing, grid.direction.ravel()]))


def to_itk(transform: Transform) -> Any:
    """As ITK's transform, in doubles. Raises ImportError that says how to have ITK."""
    try:
        import itk
    except ImportError as error:
        raise ImportError("This needs ITK for Python: pip install itk") from error

    d = transform.dimension
    if isinstance(transform, Affine):
        made = itk.AffineTransform[itk.D, d].New()
        made.SetFixedParameters(_parameters(transform.center))
        made.SetParameters(_parameters(transform.parameters))
        return made
    if isinstance(transform, BSpline):
        made = itk.BSplineTransform[itk.D, d, 3].New()
        made.SetFixedParameters(_grid_parameters(transform))
        made.SetParameters(_parameters(np.moveaxis(transform.host_array(), -1, 0).ravel()))
        return made
    if isinstance(transform, DisplacementField):
        made = itk.DisplacementFieldTransform[itk.D, d].New()
        # They make the field, of zeros.
        made.SetFixedParameters(_grid_parameters(transform))
        itk.array_view_from_image(made.GetDisplacementField())[...] = transform.host_array()
        return made
    assert isinstance(transform, Composite)
    whole = itk.CompositeTransform[itk.D, d].New()
    for part in reversed(transform.transforms):
        whole.AddTransform(to_itk(part))
    return whole
