# SPDX-License-Identifier: Apache-2.0
"""How a cohort's pairs are registered."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from .._json import plain
from ..stages import Stage, read_settings


@dataclasses.dataclass(frozen=True)
class Settings:
    """Of all pairs.

    Attributes:
        stages: of each registration.
        seed: of random numbers.
        reports: whether each pair gets a report of its own.
        default: the value outside of the moving image.
    """

    stages: list[Stage]
    seed: int = 1
    reports: bool = False
    default: float = 0.0

    def check(self) -> None:
        """Raises BadInputError if a stage's settings, or the seed, are not possible, as far as that is known without images."""
        read_settings(self.stages, seed=self.seed)

    def describe(self) -> dict[str, Any]:
        """All that a result depends on, as plain data."""
        stages = plain([{"name": one.name, **dataclasses.asdict(one)} for one in self.stages])
        # JSON has no number that is none.
        return {"stages": stages, "seed": self.seed, "default": self.default if math.isfinite(self.default) else str(self.default)}
