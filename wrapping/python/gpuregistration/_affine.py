# SPDX-License-Identifier: Apache-2.0
"""Affine maps of points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

import numpy as np

from . import _engine
from ._checks import is_singular, read_numbers
from ._devices import DeviceLike
from ._engine import BadInputError
from ._image import engine_map
from ._kinds import ImageLike
from ._transforms import Transform
from ._writer import Writer

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class Affine(Transform):
    """Maps points by ``y = matrix @ (x - center) + center + translation``.

    Args:
        matrix: ``(d, d)``; the identity by default.
        translation: ``(d,)``, in mm; 0 by default.
        center: ``(d,)``, in mm; 0 by default.

    Raises:
        BadInputError: the shapes do not fit to each other, d is neither 2 nor 3, or a number is not finite.
    """

    def __init__(
        self,
        matrix: Optional[ArrayLike] = None,
        translation: Optional[ArrayLike] = None,
        center: Optional[ArrayLike] = None,
    ) -> None:
        moved, about = (None if vector is None else read_numbers("An affine map's vector", vector) for vector in (translation, center))
        size = next((vector.size for vector in (moved, about) if vector is not None), 3)
        self.matrix = np.eye(size) if matrix is None else read_numbers("An affine map's matrix", matrix)
        self.dimension = len(self.matrix) if self.matrix.ndim else 0
        self.translation = np.zeros(self.dimension) if moved is None else moved
        self.center = np.zeros(self.dimension) if about is None else about
        d = self.dimension
        if d not in (2, 3) or self.matrix.shape != (d, d) or self.translation.shape != (d,) or self.center.shape != (d,):
            raise BadInputError(
                f"An affine map of matrix {self.matrix.shape}, translation {self.translation.shape} and center "
                f"{self.center.shape} does not fit; they are to be (d, d), (d,) and (d,), d = 2 or 3."
            )
        if not all(np.isfinite(part).all() for part in (self.matrix, self.translation, self.center)):
            raise BadInputError("An affine map has a number that is not finite.")

    @classmethod
    def from_matrix(cls, matrix: ArrayLike, center: Optional[ArrayLike] = None) -> "Affine":
        """Makes the affine map of a homogeneous matrix.

        Args:
            matrix: ``(d + 1, d + 1)``, with a last row 0 … 0 1.
            center: ``(d,)``, in mm, of the map that is made; 0 by default. It does not change how points are mapped.

        Raises:
            BadInputError: the matrix has another shape or another last row, or the center does not fit to it.
        """
        whole = read_numbers("A homogeneous matrix", matrix)
        if whole.shape not in ((3, 3), (4, 4)) or (whole[-1] != np.eye(len(whole))[-1]).any():
            raise BadInputError(f"{whole.tolist()} is no homogeneous matrix of 2 or 3 dimensions with a last row 0 … 0 1.")
        about = np.zeros(len(whole) - 1) if center is None else read_numbers("An affine map's center", center)
        # Number by number, in the order of the C++ classes: to the same bits.
        moved = whole[:-1, -1] - about
        for column, along in zip(whole[:-1, :-1].T, about):
            moved = moved + column * along
        return cls(whole[:-1, :-1], moved, about)

    @property
    def offset(self) -> np.ndarray:
        """The image of the point 0: ``(d,)``, in mm."""
        # In ITK's order.
        offset = self.translation + self.center
        for column, along in zip(self.matrix.T, self.center):
            offset = offset - column * along
        return offset

    @property
    def parameters(self) -> np.ndarray:
        """ITK's parameters, ``(d * d + d,)``: the matrix row by row, then the translation in mm."""
        return np.concatenate([self.matrix.ravel(), self.translation])

    def matrix_of(self) -> np.ndarray:
        whole = np.eye(self.dimension + 1)
        whole[:-1, :-1] = self.matrix
        whole[:-1, -1] = self.offset
        return whole

    def _map_points(self, points: np.ndarray) -> np.ndarray:
        return points @ self.matrix.T + self.offset

    def inverse(self, reference: Optional[ImageLike] = None, device: Optional[DeviceLike] = None) -> "Affine":
        if is_singular(self.matrix):
            raise BadInputError(f"The affine map of matrix {self.matrix.tolist()} has no inverse.")
        back = np.linalg.inv(self.matrix)
        return Affine(back, -back @ self.translation, self.center)

    def _append_to(self, chain: _engine.Chain) -> None:
        chain.append_map(engine_map(self.matrix_of()))

    def _write_by(self, writer: Writer) -> Any:
        return writer.affine(self)

    def _bounds(self, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        centre = self.matrix @ ((low + high) / 2) + self.offset
        half = np.abs(self.matrix) @ ((high - low) / 2)
        return centre - half, centre + half

    def __repr__(self) -> str:
        return (
            f"Affine(matrix={self.matrix.tolist()}, translation={self.translation.tolist()}, center={self.center.tolist()})"
        )
