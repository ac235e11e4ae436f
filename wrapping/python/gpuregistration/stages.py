# SPDX-License-Identifier: Apache-2.0
"""The stages that a registration is made of, and their settings, which have the engine's names and units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Optional, Sequence, Union

import numpy as np

from . import _engine
from ._engine import BadInputError


def engine_name(name: str) -> str:
    """A name as the engine has it, of one such as "correlation_ratio"; its own names stay as they are."""
    return "".join(word[:1].upper() + word[1:] for word in name.replace("-", "_").split("_"))


@dataclass
class Rigid:
    """A rotation and a translation, from where it begins on: from the initial transform, or with the images' centres of mass laid
    on each other.

    Attributes:
        cost: "correlation_ratio", "mattes_mutual_information", "normalized_mutual_information", "correlation", "mean_squares" or
            "mean_absolute_differences".
        finest_edge: mm, a voxel's edge at the finest level.
        bins: of the histogram; 0: 256 of a correlation ratio, else 64.
        optimizer: "quasi_newton" or "lines".
        least_overlap: the share of the smaller image that has to overlap.
    """

    cost: str = "correlation_ratio"
    finest_edge: float = 1.0
    bins: int = 0
    optimizer: str = "quasi_newton"
    least_overlap: float = 0.25

    name: ClassVar[str] = "rigid"

    def settings(self) -> _engine.GlobalSettings:
        """The same as the engine takes them."""
        settings = _engine.GlobalSettings()
        settings.cost = engine_name(self.cost)
        settings.finest_edge = float(self.finest_edge)
        settings.bins = int(self.bins)
        settings.optimizer = engine_name(self.optimizer)
        settings.least_overlap = float(self.least_overlap)
        settings.degrees_of_freedom = self._degrees()
        settings.angles = self._angles()
        return settings

    def _degrees(self) -> int:
        return 6

    def _angles(self) -> list[list[float]]:
        return [[0.0, 0.0]] * 3


@dataclass
class Affine(Rigid):
    """A linear map, from where it begins on, as Rigid.

    Attributes:
        degrees_of_freedom: 12: any map; 9: without skews; 7: a rotation, a translation and one scale; 6: without scales. Of two
            dimensions, too, where fewer are left of them.
    """

    degrees_of_freedom: int = 12

    name: ClassVar[str] = "affine"

    def _degrees(self) -> int:
        return int(self.degrees_of_freedom)


@dataclass
class Global(Affine):
    """A linear map, searched for among all rotations: from any start.

    Attributes:
        angles: radians, from and to, about x, y and z, around where the search begins; one pair serves all axes. About an axis
            with 0 twice nothing is searched.
    """

    angles: Union[Sequence[float], Sequence[Sequence[float]]] = (-np.pi, np.pi)

    name: ClassVar[str] = "global"

    def _angles(self) -> list[list[float]]:
        angles = np.array(self.angles, dtype=np.float64)
        if angles.shape == (2,):
            angles = np.tile(angles, (3, 1))
        if angles.shape != (3, 2):
            raise BadInputError(f"The angles {self.angles} are not possible: give one pair (from, to), or three.")
        return angles.tolist()


@dataclass
class FreeForm:
    """A free-form deformation by cubic B-splines, behind which what was found before is applied.

    Attributes:
        similarity: "normalized_mutual_information", "correlation_ratio", "mean_squares", "correlation" or
            "neighborhood_correlation".
        levels: of a pyramid whose voxels are twice as long from level to level; 1 to 5.
        spacing: mm, between control points at the finest level, along the fixed image's axes x, y (and z), or one for all.
        bins: of the joint histogram.
        radius: of a neighborhood, voxels.
        bending_weight, linear_weight, jacobian_weight: of the penalties in the cost.
        optimizer: "adam", "conjugate_gradient" or "adaptive_stochastic_gradient_descent".
        iterations: of a level, at most.
        first_step: of a level, in its voxels.
        samples: voxels that an iteration looks at, at most; 0: all.
        seed: of the random numbers that samples are placed by. None: register's.
        convergence_threshold: a level ends when the mean cost of the last iterations falls by no more than this share; 0: never.
        convergence_window: how many iterations that are.
    """

    similarity: str = "normalized_mutual_information"
    levels: int = 4
    spacing: Union[float, Sequence[float]] = 5.0
    bins: int = 64
    radius: int = 4
    bending_weight: float = 0.01
    linear_weight: float = 0.0
    jacobian_weight: float = 0.0
    optimizer: str = "adam"
    iterations: int = 100
    first_step: float = 0.5
    samples: int = 0
    seed: Optional[int] = None
    convergence_threshold: float = 0.0
    convergence_window: int = 10

    name: ClassVar[str] = "ffd"

    def settings(self, dimension: int, seed: int = 1) -> _engine.FreeFormSettings:
        """The same as the engine takes them."""
        settings = _engine.FreeFormSettings()
        settings.similarity = engine_name(self.similarity)
        settings.optimizer = engine_name(self.optimizer)
        spacing = np.atleast_1d(np.array(self.spacing, dtype=np.float64))
        if spacing.shape not in ((1,), (dimension,)):
            raise BadInputError(f"A spacing of control points {self.spacing} is not possible: give one number, or {dimension}.")
        along = np.broadcast_to(spacing, (dimension,)).tolist()
        settings.spacing = along + along[-1:] * (3 - dimension)
        for name in ("levels", "bins", "radius", "iterations", "samples", "convergence_window"):
            setattr(settings, name, int(getattr(self, name)))
        for name in ("bending_weight", "linear_weight", "jacobian_weight", "first_step", "convergence_threshold"):
            setattr(settings, name, float(getattr(self, name)))
        settings.seed = seed if self.seed is None else int(self.seed)
        return settings


Stage = Union[Rigid, Affine, Global, FreeForm]
#: The classes of the stages by their names.
STAGES = {kind.name: kind for kind in (Rigid, Affine, Global, FreeForm)}


def read_stages(transform: Any, metric: Optional[str]) -> list[Stage]:
    """What register is asked for: a name, a stage, or a list of them.

    Raises:
        BadInputError: there is no such one.
    """
    asked = [transform] if isinstance(transform, (str, Rigid, FreeForm)) else list(transform)
    stages: list[Stage] = []
    for one in asked:
        if isinstance(one, (Rigid, FreeForm)):
            stages.append(one)
            continue
        kind = STAGES.get(one) if isinstance(one, str) else None
        if kind is None:
            raise BadInputError(f"There is no stage {one!r}; there are: {', '.join(STAGES)}, and the classes of these.")
        settings = {} if metric is None else {"similarity" if kind is FreeForm else "cost": metric}
        stages.append(kind(**settings))  # type: ignore[arg-type]
    if not stages:
        raise BadInputError(f"There is no stage to register by. Give one of: {', '.join(STAGES)}.")
    return stages
