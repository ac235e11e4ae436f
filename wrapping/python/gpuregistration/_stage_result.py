# SPDX-License-Identifier: Apache-2.0
"""Describes the results of a registration's stages."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, Callable, Optional, Sequence

from ._inverse import InverseErrors
from ._syn_options import Halves
from ._transforms import DisplacementField, Transform


@dataclass(frozen=True)
class Level:
    """Describes the result of a part of a stage.

    Attributes:
        name: such as "4 mm"; for stages that deform the level's number, of which 0 is the coarsest.
        seconds: how long it took.
        costs: for stages that deform, the cost before each iteration; for others the least cost, and none for "pyramid", where images are
            made smaller.
        evaluations: how many values and derivatives were computed; None where that is not counted.
        voxels: for stages that deform, the most voxels that an iteration looked at; else None.
    """

    name: str
    seconds: float
    costs: list[float]
    evaluations: Optional[int] = None
    voxels: Optional[int] = None


@dataclass(frozen=True)
class StageResult:
    """Describes the result of a stage.

    Attributes:
        name: "rigid", "affine", "global", "ffd", "greedy", "syn" or "velocity".
        metric: the metric that compared the images, such as "correlation_ratio".
        transform: the transform found so far, from the fixed image's points to the moving one's.
        cost: the last one.
        seconds: how long it took.
        levels: its parts, in their order.
        overlap: the share of the fixed image that lies in the moving one; None for stages that deform.
        smallest_determinant: for stages that deform, the smallest determinant of the deformation's Jacobian over the control points or the
            voxels: below 0 it has folded. Else None.
        warnings: sentences on what may have gone wrong.
        own_inverse: for "syn" and "velocity", the inverse of the stage's own deformation, without the transform that the stage began with;
            else None.
        devices: the names of the devices that computed it together.
    """

    name: str
    metric: str
    transform: Transform
    cost: float
    seconds: float
    levels: list[Level] = field(repr=False)
    overlap: Optional[float] = None
    smallest_determinant: Optional[float] = None
    warnings: list[str] = field(default_factory=list)
    own_inverse: Optional[DisplacementField] = field(default=None, repr=False)
    devices: list[str] = field(default_factory=list)
    _compute_inverse: Optional[Callable[[], Transform]] = field(default=None, repr=False, compare=False)
    _halves: Optional[Halves] = field(default=None, repr=False, compare=False)

    @cached_property
    def inverse(self) -> Optional[Transform]:
        """Returns the inverse of the transform of "syn" and "velocity"; None for other stages. The first access inverts what the stage
        began with.

        Raises:
            BadInputError: the transform that the stage began with has no inverse.
        """
        return None if self._compute_inverse is None else self._compute_inverse()

    @property
    def inverse_errors(self) -> Optional[InverseErrors]:
        """Tells how well own_inverse undoes the stage's own deformation; None where there is none."""
        return None if self.own_inverse is None else self.own_inverse.inverse_errors

    def numbers(self) -> dict[str, Any]:
        """Returns all but the transforms, as plain data."""
        return {
            "name": self.name,
            "metric": self.metric,
            "cost": self.cost,
            "seconds": self.seconds,
            "overlap": self.overlap,
            "smallest_determinant": self.smallest_determinant,
            "inverse_errors": None if self.inverse_errors is None else self.inverse_errors._asdict(),
            "levels": [asdict(level) for level in self.levels],
            "warnings": self.warnings,
            "devices": self.devices,
        }


def all_warnings(stages: Sequence[StageResult]) -> list[str]:
    """Returns the warnings of all stages, each once: of the same images, stages warn identically."""
    return list(dict.fromkeys(warning for stage in stages for warning in stage.warnings))
