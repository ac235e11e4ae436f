# SPDX-License-Identifier: Apache-2.0
"""Transforms to ITK's Python classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

import numpy as np

if TYPE_CHECKING:
    from ._writer import LinearMap, VectorGrid


class ITKWriter:
    """Makes ITK's transforms, in doubles. Raises ImportError that says how to have ITK."""

    def __init__(self) -> None:
        try:
            import itk
        except ImportError as error:
            raise ImportError("This needs ITK for Python: pip install itk") from error
        self._itk: Any = itk

    def affine(self, transform: LinearMap) -> Any:
        made = self._itk.AffineTransform[self._itk.D, transform.dimension].New()
        made.SetFixedParameters(self._parameters(transform.center))
        made.SetParameters(self._parameters(transform.parameters))
        return made

    def bspline(self, transform: VectorGrid) -> Any:
        made = self._itk.BSplineTransform[self._itk.D, transform.dimension, 3].New()
        made.SetFixedParameters(self._grid_parameters(transform))
        made.SetParameters(self._parameters(np.moveaxis(transform.host_array(), -1, 0).ravel()))
        return made

    def field(self, transform: VectorGrid) -> Any:
        made = self._itk.DisplacementFieldTransform[self._itk.D, transform.dimension].New()
        # They make the field, of zeros.
        made.SetFixedParameters(self._grid_parameters(transform))
        self._itk.array_view_from_image(made.GetDisplacementField())[...] = transform.host_array()
        return made

    def composite(self, parts: Sequence[Any], dimension: int) -> Any:
        whole = self._itk.CompositeTransform[self._itk.D, dimension].New()
        for part in parts:
            whole.AddTransform(part)
        return whole

    def _grid_parameters(self, grid: VectorGrid) -> Any:
        size = np.array(grid.array.shape[-2::-1], dtype=np.float64)
        return self._parameters(np.concatenate([size, grid.origin, grid.spacing, grid.direction.ravel()]))

    def _parameters(self, values: np.ndarray) -> Any:
        # Their constructor from an array is not to be had in Python.
        made = self._itk.OptimizerParameters[self._itk.D]()
        made.SetSize(len(values))
        for n, value in enumerate(values.tolist()):
            made.SetElement(n, value)
        return made
