# SPDX-License-Identifier: Apache-2.0
"""Stages whose result is a linear map."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Optional, Sequence, Union

import numpy as np

from .. import _engine, _similarities
from .._checks import engine_name, read_choice, read_number, read_whole
from .._engine import BadInputError
from .values import ValueRange, a_range, read_bins, read_numbers, set_ranges

#: What linear stages compare images by, and how they go down.
COSTS = tuple(name for name, one in _similarities.SIMILARITIES.items() if one.is_for_global)
LINEAR_OPTIMIZERS = ("quasi_newton", "lines")
#: mm, a voxel's edge at the finest level, of a head of 1 mm, whose lengths follow from its voxels.
FINEST_EDGE = 1.0

_DEGREES_OF_FREEDOM = (6, 7, 9, 12)


@dataclass
class Rigid:
    """A rotation and a translation, from where it begins on: from the initial transform, or with the images' centres of mass laid
    on each other.

    Attributes:
        cost: "correlation_ratio", "mattes_mutual_information", "normalized_mutual_information", "correlation", "mean_squares" or
            "mean_absolute_differences".
        finest_edge: mm, a voxel's edge at the finest level; 2, 4 and 8 times as much at the others. None: that of the images' shortest
            voxels, or, of images of more than some 400 voxels along an axis, of so many that about 280 are left.
        bins: of the histogram; 0: 256 of a correlation ratio, else 64.
        optimizer: "quasi_newton" or "lines".
        least_overlap: the share of the smaller image that has to overlap.
        fixed_range, moving_range: (from, to) of an image's values: what lies beyond is registered as if it were the nearer end. None: all
            values but for outliers, of which there is a warning. "all": all of them.
    """

    cost: str = "correlation_ratio"
    # The typical value tells the help and the command line which type the setting has.
    finest_edge: Optional[float] = field(default=None, metadata={"typical": FINEST_EDGE})
    bins: int = 0
    optimizer: str = "quasi_newton"
    least_overlap: float = 0.25
    fixed_range: ValueRange = a_range()
    moving_range: ValueRange = a_range()

    name: ClassVar[str] = "rigid"
    #: The setting that names what images are compared by.
    metric_setting: ClassVar[str] = "cost"

    @property
    def metric(self) -> str:
        """What images are compared by. Raises BadInputError if there is no such cost."""
        return read_choice("cost", self.cost, COSTS)

    def settings(self, edges: Optional[Sequence[float]] = None, seed: int = 1) -> _engine.GlobalSettings:
        """Returns the settings as the engine takes them.

        Args:
            edges: mm, of the fixed image's voxels along x, y (and z); None: not known yet.
            seed: of random numbers, where a stage has none of its own.

        Raises:
            BadInputError: a setting that is not possible.
        """
        settings = _engine.GlobalSettings()
        settings.cost = engine_name(self.metric)
        # 0 stands for what follows from the images.
        settings.finest_edge = 0.0 if self.finest_edge is None else read_number("finest_edge", self.finest_edge, above=0)
        settings.bins = read_whole("bins", self.bins) and read_bins(self.metric, self.bins)
        settings.optimizer = engine_name(read_choice("optimizer", self.optimizer, LINEAR_OPTIMIZERS))
        settings.least_overlap = read_number("least_overlap", self.least_overlap, 0, 1)
        set_ranges(settings, self)
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
        degrees = read_whole("degrees_of_freedom", self.degrees_of_freedom)
        if degrees not in _DEGREES_OF_FREEDOM:
            raise BadInputError(f"degrees_of_freedom={degrees} is not possible; it is to be 6, 7, 9 or 12, of two dimensions, too.")
        return degrees


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
        angles = read_numbers("angles", self.angles)
        if angles.shape == (2,):
            angles = np.tile(angles, (3, 1))
        if angles.shape != (3, 2):
            raise BadInputError(f"The angles {self.angles} are not possible: give one pair (from, to), or three.")
        # Of a full circle that somebody made of degrees, the last digit may be another.
        ranges = angles[:, 1] - angles[:, 0]
        if not np.isfinite(angles).all() or (ranges < 0).any() or (ranges > 2 * np.pi + 1e-9).any():
            raise BadInputError(f"The angles {self.angles} are not possible: each is to lead up, by 2 pi at most.")
        return angles.tolist()
