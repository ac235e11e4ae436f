# SPDX-License-Identifier: Apache-2.0
"""What a registration by SyN begins with, beside the transform to the moving image."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ._transforms import Transform


@dataclass(frozen=True)
class SyNStart:
    """Holds what SyN begins with, beside the transform to the moving image.

    Attributes:
        fixed_initial: the transform from points of the deformation's grid to points of the fixed image.
    """

    fixed_initial: Transform

    def arguments(self) -> dict[str, Any]:
        """Returns what the engine takes of it, by its names."""
        return {"fixed_initial": self.fixed_initial.chain()}
