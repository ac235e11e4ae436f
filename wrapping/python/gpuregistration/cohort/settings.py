# SPDX-License-Identifier: Apache-2.0
"""How a cohort's pairs are registered."""

from __future__ import annotations

import dataclasses
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
    """

    stages: list[Stage]
    seed: int = 1
    reports: bool = False

    def check(self) -> None:
        """Raises BadInputError if a stage's settings, or the seed, are not possible, as far as that is known without images."""
        read_settings(self.stages, seed=self.seed)

    def describe(self) -> dict[str, Any]:
        """All that a result depends on, as plain data."""
        return {"stages": plain([{"name": one.name, **dataclasses.asdict(one)} for one in self.stages]), "seed": self.seed}
