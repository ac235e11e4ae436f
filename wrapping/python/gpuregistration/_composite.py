# SPDX-License-Identifier: Apache-2.0
"""Several transforms as one."""

from __future__ import annotations

from typing import Any, Optional, Sequence

import numpy as np

from . import _engine
from ._devices import DeviceLike
from ._engine import BadInputError
from ._kinds import ImageLike
from ._transforms import Transform, check_dimension
from ._writer import Writer


class Composite(Transform):
    """Applies transforms one after the other.

    Args:
        transforms: the first one is applied first to a point of the fixed image. (ITK's CompositeTransform applies its last one first.)

    Raises:
        BadInputError: there is none, one is no transform of this package, or they are of different dimensions.
    """

    def __init__(self, transforms: Sequence[Transform]) -> None:
        self.transforms: list[Transform] = []
        for part in transforms:
            if not isinstance(part, Transform):
                raise BadInputError(f"A Composite is made of transforms; a {type(part).__qualname__} is none.")
            self.transforms.extend(part.transforms if isinstance(part, Composite) else [part])
        if not self.transforms:
            raise BadInputError("A Composite of no transforms is not possible. Affine() leaves points where they are.")
        self.dimension = self.transforms[0].dimension
        for part in self.transforms:
            check_dimension(part, self.dimension)

    def matrix_of(self) -> Optional[np.ndarray]:
        whole = np.eye(self.dimension + 1)
        for part in self.transforms:
            matrix = part.matrix_of()
            if matrix is None:
                return None
            whole = matrix @ whole
        return whole

    def inverse(self, reference: Optional[ImageLike] = None, device: Optional[DeviceLike] = None) -> "Composite":
        back = Composite([part.inverse(reference, device) for part in reversed(self.transforms)])
        back.warnings = [warning for part in back.transforms for warning in part.warnings]
        return back

    def _map_points(self, points: np.ndarray) -> np.ndarray:
        for part in self.transforms:
            points = part._map_points(points)
        return points

    def _append_to(self, chain: _engine.Chain) -> None:
        for part in self.transforms:
            part._append_to(chain)

    def _write_by(self, writer: Writer) -> Any:
        return writer.composite([part._write_by(writer) for part in reversed(self.transforms)], self.dimension)

    def _bounds(self, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        for part in self.transforms:
            low, high = part._bounds(low, high)
        return low, high

    def __repr__(self) -> str:
        return f"Composite({self.transforms!r})"


def parts_of(transform: Optional[Transform]) -> list[Transform]:
    """Returns a Composite's transforms, in a new list, or another transform alone; None of no transform."""
    if transform is None:
        return []
    return list(transform.transforms) if isinstance(transform, Composite) else [transform]
