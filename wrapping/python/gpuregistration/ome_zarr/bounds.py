# SPDX-License-Identifier: Apache-2.0
"""Finds which part of an image a block of the output needs.

A block's points are mapped to M · i + t + e, where i is a voxel's index and e lies between two vectors. A linear map carries M, t and both
ends of e. A grid of vectors adds to e what lies between the least and the greatest of the vectors that the points may read: both kinds of
grids have weights that are not negative and whose sum is 1, so that no vector between them is outside of these."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Sequence

import numpy as np

from .._composite import parts_of
from .._image import Image
from .._transforms import BSpline, DisplacementField, Transform
from .._vectors import range_of_vectors

# Voxels, and a share of a position and of a displacement: more than the engine's rounding moves a position.
_MARGIN, _SHARE = 0.01, 1e-6


@dataclass
class _Places:
    """Where a block's points are.

    Attributes:
        matrix, offset: M, (d, d), and t, (d,).
        first, last: indices of the block's first and last voxel, x first.
        low, high: the ends of e, (d,).
    """

    matrix: np.ndarray
    offset: np.ndarray
    first: np.ndarray
    last: np.ndarray
    low: np.ndarray
    high: np.ndarray

    def mapped(self, matrix: np.ndarray) -> "_Places":
        """Returns the places that a linear map, (d + 1, d + 1), leads to."""
        linear = matrix[:-1, :-1]
        middle, half = linear @ (0.5 * (self.low + self.high)), np.abs(linear) @ (0.5 * (self.high - self.low))
        return _Places(linear @ self.matrix, linear @ self.offset + matrix[:-1, -1], self.first, self.last, middle - half, middle + half)

    def moved(self, low: np.ndarray, high: np.ndarray) -> "_Places":
        """Returns the places displaced by vectors between two."""
        return _Places(self.matrix, self.offset, self.first, self.last, self.low + low, self.high + high)

    def box(self) -> tuple[np.ndarray, np.ndarray]:
        """Returns the ends of the smallest box with all places in it, (d,) each."""
        ends = np.stack([self.matrix * self.first, self.matrix * self.last])
        low = self.offset + ends.min(axis=0).sum(axis=1) + self.low
        high = self.offset + ends.max(axis=0).sum(axis=1) + self.high
        margin = _MARGIN + _SHARE * np.max(np.abs([low, high, self.low, self.high]), axis=0)
        return low - margin, high + margin


def find_part(
    transform: Optional[Transform], grid: Image, first: Sequence[int], size: Sequence[int], moving: Image
) -> Optional[tuple[np.ndarray, np.ndarray]]:
    """Finds the part of an image that a block of the output reads, interpolated linearly or by the nearest voxel.

    Args:
        transform: from the grid's points to the image's; None: points stay where they are.
        grid: the whole output's grid.
        first, size: the block's first voxel and size, along x, y (and z).
        moving: the whole image, of which the grid alone counts.

    Returns:
        The indices of the first voxel, and those behind the last one, x first; None: the block lies outside of the image.
    """
    begin = np.array(first, np.float64)
    zero = np.zeros(grid.dimension)
    places = _Places(np.eye(grid.dimension), zero, begin, begin + np.array(size) - 1, zero, zero).mapped(grid.index_to_point)
    for step in parts_of(transform):
        matrix = step.matrix_of()
        if matrix is not None:
            places = places.mapped(matrix)
        else:
            assert isinstance(step, (BSpline, DisplacementField))
            places = places.moved(*_range_of_vectors(step, places))
    low, high = places.mapped(np.linalg.inv(moving.index_to_point)).box()
    whole = np.array(moving.size)
    # The voxels on both sides of each position.
    start = np.maximum(np.floor(low), 0)
    end = np.minimum(np.floor(high) + 2, whole)
    return None if (start >= end).any() else (start.astype(np.int64), end.astype(np.int64))


def _range_of_vectors(step: "BSpline | DisplacementField", places: _Places) -> tuple[np.ndarray, np.ndarray]:
    """Returns the least and the greatest of the vectors that places may be displaced by, along each axis, (d,) each."""
    vectors = step.host_array()
    size = np.array(vectors.shape[-2::-1])
    low, high = places.mapped(step._to_grid).box()
    # Where vectors are defined, and how many nodes beside a cell count.
    begin, end, beside = (1.0, size - 2.0, 1) if isinstance(step, BSpline) else (-0.5, size - 0.5, 0)
    zero = np.zeros(len(size))
    if (high < begin).any() or (low > end).any():
        return zero, zero
    nodes = (np.clip(np.floor(low) - beside, 0, size - 1), np.clip(np.floor(high) + 1 + beside, 0, size - 1))
    slices = tuple(slice(int(a), int(b) + 1) for a, b in zip(nodes[0][::-1], nodes[1][::-1]))
    least, greatest = range_of_vectors(vectors[slices])
    if (low < begin).any() or (high > end).any():
        # Points outside stay where they are.
        least, greatest = np.minimum(least, zero), np.maximum(greatest, zero)
    return least, greatest
