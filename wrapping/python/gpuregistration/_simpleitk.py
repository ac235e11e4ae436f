# SPDX-License-Identifier: Apache-2.0
"""SimpleITK, and transforms to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

import numpy as np

if TYPE_CHECKING:
    from ._writer import LinearMap, VectorGrid


def import_simpleitk() -> Any:
    """Imports SimpleITK, which only some functions need. Raises an ImportError that says how to install it."""
    try:
        import SimpleITK
    except ImportError as error:
        raise ImportError("This needs SimpleITK: pip install gpuregistration[io]") from error
    return SimpleITK


class SimpleITKWriter:
    """Makes SimpleITK's transforms. Raises ImportError that says how to have it."""

    def __init__(self) -> None:
        self._sitk = import_simpleitk()

    def affine(self, transform: LinearMap) -> Any:
        made = self._sitk.AffineTransform(transform.dimension)
        made.SetMatrix(transform.matrix.ravel().tolist())
        made.SetTranslation(transform.translation.tolist())
        made.SetCenter(transform.center.tolist())
        return made

    def bspline(self, transform: VectorGrid) -> Any:
        vectors = self._vector_image(transform)
        return self._sitk.BSplineTransform([self._sitk.VectorIndexSelectionCast(vectors, axis) for axis in range(transform.dimension)], 3)

    def field(self, transform: VectorGrid) -> Any:
        return self._sitk.DisplacementFieldTransform(self._vector_image(transform))

    def composite(self, parts: Sequence[Any], dimension: int) -> Any:
        return self._sitk.CompositeTransform(list(parts))

    def _vector_image(self, grid: VectorGrid) -> Any:
        """Returns the vectors of a grid as an image of doubles."""
        image = self._sitk.GetImageFromArray(np.ascontiguousarray(grid.host_array(), dtype=np.float64), isVector=True)
        image.SetSpacing(grid.spacing.tolist())
        image.SetOrigin(grid.origin.tolist())
        image.SetDirection(grid.direction.ravel().tolist())
        return image
