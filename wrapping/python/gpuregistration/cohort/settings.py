# SPDX-License-Identifier: Apache-2.0
"""How a cohort's pairs are registered."""

from __future__ import annotations

import dataclasses
from typing import Any

from .._json import plain
from ..stages import FreeForm, Stage


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
        """Raises BadInputError if a stage's settings are not possible, as far as that is known without images."""
        for stage in self.stages:
            # A spacing along each axis is of the images' dimension.
            if isinstance(stage, FreeForm):
                stage.settings(2 if len(_as_list(stage.spacing)) == 2 else 3)
            else:
                stage.settings()

    def describe(self) -> dict[str, Any]:
        """All that a result depends on, as plain data."""
        return {"stages": plain([{"name": one.name, **dataclasses.asdict(one)} for one in self.stages]), "seed": self.seed}


def _as_list(value: Any) -> list[Any]:
    made = plain(value)
    return made if isinstance(made, list) else [made]
