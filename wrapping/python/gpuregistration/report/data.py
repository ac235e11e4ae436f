# SPDX-License-Identifier: Apache-2.0
"""Holds the data of a report, and checks them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np


class Level(NamedTuple):
    """Describes one resolution level of a stage. A tuple of the same values can be used instead."""

    name: str
    costs: Sequence[float]


class Stage(NamedTuple):
    """Describes one stage of the registration. A tuple of the same values can be used instead."""

    name: str
    milliseconds: float
    levels: Sequence[Level] = ()


class Cut(NamedTuple):
    """Holds a plane of the moving image, and the fixed image in that plane as the inverse resamples it: rows from top to bottom."""

    name: str
    moving: np.ndarray
    back: np.ndarray
    #: mm between columns, and between rows
    spacing: tuple[float, float]


class MovingSide(NamedTuple):
    """Describes the registration's inverse."""

    cuts: Sequence[Cut]
    #: a sentence on how well it leads back
    errors: str = ""


@dataclasses.dataclass
class ReportData:
    """Holds a registration's images and numbers. All arrays lie on the fixed image's grid.

    Arrays are in NumPy's order: (z, y, x), or (y, x) in 2D. Spacing, origin and direction are ITK's: x first, in mm, in
    patient coordinates that grow to the left, the posterior and the superior (LPS).
    """

    fixed: np.ndarray
    #: the moving image, resampled by the initial transform
    moving_before: np.ndarray
    #: the moving image, resampled by the transform that was found
    moving_after: np.ndarray
    spacing: Sequence[float] | np.ndarray
    origin: Sequence[float] | np.ndarray
    #: a matrix, or its elements row by row; the identity where it is None
    direction: Sequence | np.ndarray | None = None
    #: in mm, shape (z, y, x, 3), LPS with x first: the point x of the fixed image is met by the moving image's x + displacement
    displacement: np.ndarray | None = None
    #: the fixed image, brought back to the moving one
    moving_side: MovingSide | None = None
    #: voxels that are not 0 are inside: histograms and the determinant's extremes are given for these, too
    fixed_mask: np.ndarray | None = None
    #: the moving image's mask, resampled as `moving_after` is
    moving_mask: np.ndarray | None = None
    stages: Sequence[Stage | tuple] = ()
    device: str = ""
    versions: Mapping[str, str] = dataclasses.field(default_factory=dict)
    #: the command line that repeats the registration
    command: str = ""
    #: names of the images' files by argument, such as "fixed"
    files: Mapping[str, str] = dataclasses.field(default_factory=dict)
    #: when it was registered, as people read it
    date: str = ""
    title: str = "Image registration"
    #: name of a measure: its value before and after
    similarity: Mapping[str, tuple[float, float]] = dataclasses.field(default_factory=dict)
    #: the measure that stands at the top; the first one where it is not among them
    headline: str = ""
    #: whether that is so of all of them
    less_is_better: bool = False
    #: describes their values
    similarity_text: str = ""
    #: label: Dice's coefficient before and after
    dice: Mapping[str, tuple[float, float]] = dataclasses.field(default_factory=dict)
    #: sentences that warn of the registration or of the files
    warnings: Sequence[str] = ()

    @property
    def dimension(self) -> int:
        return np.ndim(self.fixed)

    @property
    def size(self) -> tuple[int, ...]:
        """The numbers of voxels, x first."""
        return tuple(np.shape(self.fixed)[::-1])

    @property
    def direction_matrix(self) -> np.ndarray:
        dimension = self.dimension
        if self.direction is None:
            return np.eye(dimension)
        return np.asarray(self.direction, dtype=float).reshape(dimension, dimension)

    @property
    def index_to_point(self) -> np.ndarray:
        """The matrix from steps of one voxel, x first, to mm."""
        return self.direction_matrix * np.asarray(self.spacing, dtype=float)

    def point(self, index: Sequence[float]) -> np.ndarray:
        """Returns the position, x first, in mm, of the voxel with an index, x first."""
        return np.asarray(self.origin, dtype=float) + self.index_to_point @ np.asarray(index, dtype=float)

    def check(self) -> None:
        """Checks that the data fit together. Raises ValueError, which says what does not."""
        dimension = self.dimension
        shape = np.shape(self.fixed)
        if dimension not in (2, 3):
            raise ValueError(f"fixed must have 2 or 3 dimensions; its shape is {shape}")
        if 0 in shape:
            raise ValueError(f"fixed has no voxels; its shape is {shape}")
        for name in ("moving_before", "moving_after", "fixed_mask", "moving_mask"):
            value = getattr(self, name)
            if value is None and name.endswith("mask"):
                continue
            if np.shape(value) != shape:
                raise ValueError(f"{name} must be on the fixed image's grid, of shape {shape}; its shape is {np.shape(value)}")
        for name in ("fixed", "moving_before", "moving_after"):
            if np.asarray(getattr(self, name)).dtype.kind not in "buif":
                raise ValueError(f"{name} must hold real numbers, not {np.asarray(getattr(self, name)).dtype}")
        if self.displacement is not None and np.shape(self.displacement) != (*shape, dimension):
            raise ValueError(f"displacement must be of shape {(*shape, dimension)}; it is {np.shape(self.displacement)}")
        for name in ("spacing", "origin"):
            value = np.asarray(getattr(self, name), dtype=float)
            if value.shape != (dimension,) or not np.isfinite(value).all():
                raise ValueError(f"{name} must be {dimension} finite numbers, not {getattr(self, name)!r}")
        if min(self.spacing) <= 0:
            raise ValueError(f"spacing must be positive, not {self.spacing!r}")
        if self.direction is not None:
            value = np.asarray(self.direction, dtype=float)
            if value.size != dimension**2 or not np.isfinite(value).all():
                raise ValueError(f"direction must be a matrix of {dimension} x {dimension}, not {self.direction!r}")
            if abs(np.linalg.det(self.direction_matrix)) < 1e-6:
                raise ValueError("direction has no inverse")
