# SPDX-License-Identifier: Apache-2.0
"""How far a registration is, and the calls that tell it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Callable, Optional


@dataclass(frozen=True)
class Progress:
    """Describes how far a registration is.

    Attributes:
        stage: the number of the current stage, from 0 on.
        name: the stage's name: "rigid", "affine", "global", "ffd", "greedy", "syn" or "velocity".
        level: the part of the stage, such as "4 mm"; for stages that deform the level's number, where 0 is the coarsest.
        iteration: the iteration of that level for stages that deform; None otherwise.
        share: the part of the whole work that is done, 0 to 1.
        stage_share: the part of the stage that is done, 0 to 1.
        levels: the number of levels for stages that deform; None otherwise.
    """

    stage: int
    name: str
    level: str
    iteration: Optional[int]
    share: float
    stage_share: float
    levels: Optional[int]
    _find_cost: Callable[[], float] = field(repr=False, compare=False)

    def find_cost(self) -> Optional[float]:
        """Returns the last known cost: in a linear stage the least cost of the level before, in a stage that deforms the cost before the
        last iteration. There the call waits for the device, so make it rarely. None at the beginning.

        Raises:
            BadInputError: the progress function of a stage that deforms has returned.
        """
        cost = self._find_cost()
        return cost if math.isfinite(cost) else None


class Reporter:
    """Calls the caller's progress function for one of several stages."""

    def __init__(self, progress: Optional[Callable[[Progress], Any]], stage: int, stages: int, name: str) -> None:
        self._progress = progress
        self._stage = stage
        self._stages = stages
        self._name = name

    def linear(self) -> Optional[Callable[[str, float, float], None]]:
        if self._progress is None:
            return None
        return lambda level, share, cost: self._tell(level_name(level), None, None, share, lambda: cost)

    def free_form(self) -> Optional[Callable[[int, int, int, float, Callable[[], float]], None]]:
        if self._progress is None:
            return None
        return lambda level, levels, iteration, share, find_cost: self._tell(str(level), levels, iteration, share, find_cost)

    def _tell(
        self, level: str, levels: Optional[int], iteration: Optional[int], share: float, find_cost: Callable[[], float]
    ) -> None:
        assert self._progress is not None
        whole = (self._stage + share) / self._stages
        self._progress(Progress(self._stage, self._name, level, iteration, whole, share, levels, find_cost))


def level_name(name: str) -> str:
    """Returns the name that users see for the engine's name of a linear stage's part."""
    return "pyramid" if name == "levels" else name
