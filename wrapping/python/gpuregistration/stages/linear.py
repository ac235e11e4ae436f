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

#: The costs and the optimizers of linear stages.
COSTS = tuple(name for name, one in _similarities.SIMILARITIES.items() if one.is_for_global)
LINEAR_OPTIMIZERS = ("quasi_newton", "lines")
#: An example for the help, in mm: the finest level's voxel edge for a head with voxels of 1 mm.
FINEST_EDGE = 1.0

_DEGREES_OF_FREEDOM = (3, 6, 7, 9, 12)


@dataclass
class Rigid:
    """Computes a rotation and a translation.

    The optimization begins at the initial transform; without one, at the translation that aligns the images' centres of mass.

    Attributes:
        cost: "correlation_ratio", "mattes_mutual_information", "normalized_mutual_information", "correlation", "neighborhood_correlation",
            "mean_squares" or "mean_absolute_differences".
        finest_edge: the edge of the finest level's voxels, in mm; the coarser levels have 2, 4 and 8 times this edge. None: the edge of the
            images' shortest voxels; for images of more than some 400 voxels along an axis, a multiple of it that leaves about 280 voxels.
        bins: the number of the histogram's bins: 5 to 4096, of a correlation ratio 2 to 4096; 0: 256 for a correlation ratio, otherwise 64.
        radius: the radius of a neighborhood, in voxels of each level.
        optimizer: "quasi_newton" or "lines".
        least_overlap: the share of the smaller image, from 0 to 1, that should overlap with the other one: with less overlap a cost counts
            for less, down to that of unrelated images.
        fixed_range, moving_range: (from, to), the range of an image's values; a value outside of it counts as the nearer end. None: all
            values except outliers, with a warning if there are any. "all": all values.
    """

    cost: str = "correlation_ratio"
    # The typical value shows the help and the command line which type the setting has.
    finest_edge: Optional[float] = field(default=None, metadata={"typical": FINEST_EDGE})
    bins: int = 0
    radius: int = 4
    optimizer: str = "quasi_newton"
    least_overlap: float = 0.25
    fixed_range: ValueRange = a_range()
    moving_range: ValueRange = a_range()

    name: ClassVar[str] = "rigid"
    #: The name of the setting that names the cost or the similarity.
    metric_setting: ClassVar[str] = "cost"

    @property
    def metric(self) -> str:
        """The name of the cost that compares the images. Raises BadInputError if there is no such cost."""
        return read_choice("cost", self.cost, COSTS)

    def settings(self, edges: Optional[Sequence[float]] = None, seed: int = 1) -> _engine.GlobalSettings:
        """Returns the settings as the engine takes them.

        Args:
            edges: the edges of the fixed image's voxels along x, y (and z), in mm; None: not known yet.
            seed: the seed of random numbers for a stage without a seed of its own.

        Raises:
            BadInputError: a setting is not possible.
        """
        settings = _engine.GlobalSettings()
        settings.cost = engine_name(self.metric)
        # With 0 the engine chooses the edge by the images.
        settings.finest_edge = 0.0 if self.finest_edge is None else read_number("finest_edge", self.finest_edge, above=0)
        settings.bins = read_whole("bins", self.bins) and read_bins(self.metric, self.bins)
        settings.radius = read_whole("radius", self.radius, 1)
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
    """Computes a linear map. The optimization begins as Rigid's.

    Attributes:
        degrees_of_freedom: 12: any linear map; 9: no skews; 7: a rotation, a translation and one scale; 6: a rotation and a translation; 3:
            a translation. In two dimensions the same numbers name the same kinds of maps, which have 6, 5, 4, 3 and 2 degrees of freedom.
    """

    degrees_of_freedom: int = 12

    name: ClassVar[str] = "affine"

    def _degrees(self) -> int:
        degrees = read_whole("degrees_of_freedom", self.degrees_of_freedom)
        if degrees not in _DEGREES_OF_FREEDOM:
            raise BadInputError(f"degrees_of_freedom={degrees} is not possible; it is to be 3, 6, 7, 9 or 12, of two dimensions, too.")
        return degrees


@dataclass
class Global(Affine):
    """Computes a linear map by a search among all rotations, which needs no good start.

    Attributes:
        angles: the range of rotation angles about x, y and z, in radians, relative to the start: three pairs (from, to), or one pair for
            all axes. The search does not rotate about an axis with the pair (0, 0).
    """

    angles: Union[Sequence[float], Sequence[Sequence[float]]] = (-np.pi, np.pi)

    name: ClassVar[str] = "global"

    def _angles(self) -> list[list[float]]:
        angles = read_numbers("angles", self.angles)
        if angles.shape == (2,):
            angles = np.tile(angles, (3, 1))
        if angles.shape != (3, 2):
            raise BadInputError(f"The angles {self.angles} are not possible: give one pair (from, to), or three.")
        # A full circle that was converted from degrees may differ from 2 pi in the last digit.
        ranges = angles[:, 1] - angles[:, 0]
        if not np.isfinite(angles).all() or (ranges < 0).any() or (ranges > 2 * np.pi + 1e-9).any():
            raise BadInputError(f"The angles {self.angles} are not possible: each is to lead up, by 2 pi at most.")
        return angles.tolist()
