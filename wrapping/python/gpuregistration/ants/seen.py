# SPDX-License-Identifier: Apache-2.0
"""Images and their masks as they are seen through a transform: the value at a point is the image's where the transform leads."""

from __future__ import annotations

from itertools import product
from typing import NamedTuple, Optional

import numpy as np

from .._composite import parts_of
from .._image import Image
from .._resample import resample
from .._transforms import BSpline, DisplacementField, Transform
from .._vectors import range_of_vectors


class Seen(NamedTuple):
    """An image, and its mask on the same grid; None if all voxels count."""

    image: Image
    mask: Optional[Image]


def see_through(seen: Seen, transform: Transform, device: str) -> Seen:
    """Returns an image seen through a transform. A linear one moves the image's grid; a deformation resamples the image on such a grid,
    which reaches as far as the displacements, and the mask leaves out what lies outside of the image."""
    matrix = transform.matrix_of()
    if matrix is not None:
        return _move(seen, np.linalg.inv(matrix))
    return see_on_grid(seen, transform, _make_grid(seen.image, transform), device)


def see_on_grid(seen: Seen, transform: Transform, grid: Image, device: str) -> Seen:
    """Returns an image seen through a transform, resampled on a grid. The mask leaves out what lies outside of the image."""
    image = seen.image.like(np.asarray(seen.image.array, dtype=np.float32))
    mask = seen.image.like(np.ones(seen.image.shape, dtype=np.uint8)) if seen.mask is None else seen.mask
    return Seen(resample(image, transform, grid, device=device), resample(mask, transform, grid, "nearest", device=device))


class FixedSide:
    """Shows fixed images through their own transform, from points of the first fixed image's grid to its points."""

    def __init__(self, transform: Transform, device: str) -> None:
        self.transform = transform
        self._device = device

    def see(self, seen: Seen) -> Seen:
        """Returns an image for a linear stage: moved, or, if the transform deforms, resampled on its own grid."""
        return see_through(seen, self.transform, self._device) if self.transform.matrix_of() is not None else self.see_on_own_grid(seen)

    def see_on_own_grid(self, seen: Seen) -> Seen:
        """Returns an image resampled on its own grid."""
        return see_on_grid(seen, self.transform, seen.image, self._device)


def _move(seen: Seen, matrix: np.ndarray) -> Seen:
    """Returns an image whose points have been moved by a homogeneous matrix."""
    whole = matrix @ seen.image.index_to_point
    spacing = np.linalg.norm(whole[:-1, :-1], axis=0)
    image = Image(seen.image.array, spacing, whole[:-1, -1], whole[:-1, :-1] / spacing)
    return Seen(image, None if seen.mask is None else image.like(seen.mask.array))


def _make_grid(image: Image, transform: Transform) -> Image:
    """Returns a grid of an image's voxels, as the linear parts of a transform show them, on all points that the transform leads into the
    image."""
    d = image.dimension
    linear = np.eye(d + 1)
    spans = []
    for part in parts_of(transform):
        matrix = part.matrix_of()
        if matrix is not None:
            linear = matrix @ linear
        elif isinstance(part, (BSpline, DisplacementField)):
            # No displacement is longer than the vectors, between which a spline stays, or 0.
            corners = np.array(list(product(*np.transpose(range_of_vectors(part.host_array())))))
            spans.append(np.linalg.solve(linear[:-1, :-1], -corners.T))
    grid = _move(Seen(image, None), np.linalg.inv(linear)).image
    low, high = np.zeros(d), np.zeros(d)
    for span in spans:
        voxels = np.linalg.solve(grid.index_to_point[:-1, :-1], span)
        low, high = low + np.minimum(0, voxels.min(axis=1)), high + np.maximum(0, voxels.max(axis=1))
    before, behind = np.ceil(-low).astype(int), np.ceil(high).astype(int)
    origin = (grid.index_to_point @ np.append(-before, 1.0))[:-1]
    shape = tuple((np.array(image.size) + before + behind)[::-1])
    return Image(np.broadcast_to(np.float32(0), shape), grid.spacing, origin, grid.direction)
