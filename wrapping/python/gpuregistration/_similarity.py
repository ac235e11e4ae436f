# SPDX-License-Identifier: Apache-2.0
"""Computes all metrics of two images, one of which a transform moves."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Optional

import numpy as np

from ._image import Image, as_volume
from ._metric import METRICS, RADIUS, make_measure
from ._resample import resample_array
from ._sides import Pair, mask_of_image
from ._transforms import Transform


def compute_similarities(
    pair: Pair, transform: Optional[Transform], device: str, warnings: Optional[list[str]] = None
) -> dict[str, float]:
    """Resamples the moving image by a transform of any kind, and computes all metrics, by their names. Voxels that the moving image does
    not reach are left out, and so are values that are infinite or not a number, or were interpolated from such values. A metric is not a
    number where no voxels overlap, or their values do not vary.

    Args:
        warnings: a list that the warnings of the metrics are added to: they leave outliers out.
    """
    values = pair.moving.array
    if not np.isfinite(values).all():
        # An infinite value would be resampled as the largest number, as ITK does.
        values = np.where(np.isfinite(values), values, np.nan).astype(values.dtype)
    moved = resample_array(pair.moving.like(values), transform, pair.fixed, "linear", device)
    return compute_similarities_of(pair, moved, transform, device, warnings)


def compute_similarities_of(
    pair: Pair,
    moved: np.ndarray,
    transform: Optional[Transform],
    device: str,
    warnings: Optional[list[str]] = None,
    radius: int = RADIUS,
) -> dict[str, float]:
    """Computes the metrics of a moving image that the transform has resampled already.

    Args:
        moved: the resampled image, on the fixed image's grid.
        warnings: as of compute_similarities().
        radius: the radius of the neighborhoods, in voxels.
    """
    reached = reached_by_moving(pair, transform, device) & np.isfinite(pair.fixed.array) & np.isfinite(moved)
    mask = np.ascontiguousarray(as_volume(reached), dtype=np.float32)
    fixed, other = pair.fixed.like(_without_gaps(pair.fixed.array)), pair.fixed.like(_without_gaps(moved))
    sides = Pair(fixed, other, pair.fixed_mask, mask, pair.wrap, pair.grid).load(device)
    as_they_lie = np.concatenate([np.eye(3).ravel(), np.zeros(3)])[np.newaxis]
    found = {}
    for name in METRICS:
        measure = make_measure(device, pair.dimension, sides, name, radius=radius)
        found[name] = float(measure.compute_values(as_they_lie)[0, 0])
    if warnings is not None:
        # All metrics of the same images have the same warnings.
        warnings += measure.warnings
    return found


@dataclass(frozen=True)
class Subsample:
    """A regular subsample of a fixed image's grid: every so many-th voxel along each axis.

    Attributes:
        steps: voxels from one to the next, x first.
    """

    steps: tuple[int, ...]

    @property
    def is_whole(self) -> bool:
        """Returns whether the subsample has all voxels."""
        return max(self.steps) == 1

    @property
    def radius(self) -> int:
        """Returns the radius of neighborhoods that are about as large in mm as those of the whole image."""
        return max(1, round(RADIUS / float(np.prod(self.steps)) ** (1 / len(self.steps))))

    def of_array(self, array: np.ndarray) -> np.ndarray:
        """Returns the values of an array on the fixed image's grid, (z,) y, x."""
        return array if self.is_whole else np.ascontiguousarray(array[tuple(slice(None, None, step) for step in self.steps[::-1])])

    def of_pair(self, pair: Pair) -> Pair:
        """Returns a pair with the subsample of the fixed image and of its mask. The pair must be on the host."""
        if self.is_whole:
            return pair
        fixed, mask = pair.fixed, pair.fixed_mask
        grid = Image(self.of_array(fixed.array), fixed.spacing * self.steps, fixed.origin, fixed.direction)
        if mask is not None:
            mask = as_volume(self.of_array(mask_of_image(mask, fixed))).astype(np.float32)
        return replace(pair, fixed=grid, fixed_mask=mask)


def _without_gaps(array: np.ndarray) -> np.ndarray:
    """Replaces values that are infinite or not a number by the mean of the others, so that they widen no range of values."""
    finite = np.isfinite(array)
    if finite.all() or not finite.any():
        return array
    return np.where(finite, array, array[finite].mean(dtype=np.float64)).astype(array.dtype)


def reached_by_moving(pair: Pair, transform: Optional[Transform], device: str) -> np.ndarray:
    """Finds the voxels of the fixed image that a transform leads into the moving image and its mask: bool, of the fixed image's shape."""
    moving = pair.moving
    mask = np.ones(moving.array.shape, np.uint8) if pair.moving_mask is None else mask_of_image(pair.moving_mask, moving)
    return resample_array(moving.like(mask), transform, pair.fixed, "nearest", device) != 0
