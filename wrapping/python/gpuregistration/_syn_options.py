# SPDX-License-Identifier: Apache-2.0
"""Holds the requests of ANTs' command line to a registration by SyN that the settings of the stage do not hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, NamedTuple, Optional

from . import _engine
from ._transforms import DisplacementField, Transform
from .stages import Stage, SyN


class Halves(NamedTuple):
    """The displacements of SyN: of each image's points to the middle, and their inverses."""

    fixed_to_middle: DisplacementField
    middle_to_fixed: DisplacementField
    moving_to_middle: DisplacementField
    middle_to_moving: DisplacementField


@dataclass(frozen=True)
class SyNOptions:
    """Holds what is asked of SyN, beside the settings of the stage.

    Attributes:
        fixed_initial: the transform from points of the deformation's grid to points of the fixed image; None: there is none.
        keeps_halves: True if the result is to have the halves.
        may_rest: True if a stage may have no iterations, and then moves nothing, as ANTs has it.
    """

    fixed_initial: Optional[Transform] = None
    keeps_halves: bool = False
    may_rest: bool = False

    def of(self, stage: Stage) -> SyNOptions:
        """Returns what is asked of a stage: these options, or, of another one than SyN, nothing."""
        return self if isinstance(stage, SyN) else SyNOptions()

    def arguments(self) -> dict[str, Any]:
        """Returns what the engine takes of it, by its names."""
        return {} if self.fixed_initial is None else {"fixed_initial": self.fixed_initial.chain()}

    def take_halves(self, take: Callable[[_engine.DeformationField], DisplacementField]) -> Optional[Halves]:
        """Returns the halves, if they are asked for. take: returns a field of the last registration."""
        if not self.keeps_halves:
            return None
        fields = _engine.DeformationField
        return Halves(*(take(one) for one in (fields.FixedToMiddle, fields.MiddleToFixed, fields.MovingToMiddle, fields.MiddleToMoving)))
