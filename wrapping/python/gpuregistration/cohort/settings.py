# SPDX-License-Identifier: Apache-2.0
"""Holds the settings that all pairs of a cohort have in common."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from .._json import plain
from ..stages import Stage, read_settings


@dataclasses.dataclass(frozen=True)
class Settings:
    """Settings of a cohort's registrations.

    Attributes:
        stages: each registration's stages.
        seed: the seed of random numbers.
        reports: each pair gets a report of its own.
        default: the value outside of the moving image.
    """

    stages: list[Stage]
    seed: int = 1
    reports: bool = False
    default: float = 0.0

    def check(self) -> None:
        """Checks the seed and the stages' settings as far as that is possible without images. Raises BadInputError."""
        read_settings(self.stages, seed=self.seed)

    def describe(self) -> dict[str, Any]:
        """Returns all settings that a result depends on, as plain data."""
        stages = plain([{"name": one.name, **dataclasses.asdict(one)} for one in self.stages])
        # JSON has neither NaN nor infinity.
        return {"stages": stages, "seed": self.seed, "default": self.default if math.isfinite(self.default) else str(self.default)}
