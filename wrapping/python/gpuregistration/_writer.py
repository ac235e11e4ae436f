# SPDX-License-Identifier: Apache-2.0
"""The interface by which transforms become those of another library."""

from __future__ import annotations

from typing import Any, Protocol, Sequence

import numpy as np


class LinearMap(Protocol):
    """The numbers of an affine map that a writer reads."""

    dimension: int
    matrix: np.ndarray
    translation: np.ndarray
    center: np.ndarray

    @property
    def parameters(self) -> np.ndarray:
        """The matrix, row by row, and the translation."""


class VectorGrid(Protocol):
    """The grid and the vectors, of control points or voxels, that a writer reads."""

    dimension: int
    array: Any
    origin: np.ndarray
    spacing: np.ndarray
    direction: np.ndarray

    def host_array(self) -> np.ndarray:
        """Returns the vectors in the host's memory."""


class Writer(Protocol):
    """Makes another library's transforms."""

    def affine(self, transform: LinearMap) -> Any: ...

    def bspline(self, transform: VectorGrid) -> Any: ...

    def field(self, transform: VectorGrid) -> Any: ...

    def composite(self, parts: Sequence[Any], dimension: int) -> Any:
        """Makes one of that library's transforms, of which the last one is applied first to a point."""
