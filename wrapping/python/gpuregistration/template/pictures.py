# SPDX-License-Identifier: Apache-2.0
"""Draws a round's mean: the planes through its middle, beside each other."""

from __future__ import annotations

from .._image import Image
from ..cohort.pictures import beside, pick, show, small_grid, thin
from ..report import geometry, intensities
from ..report.pictures import encode

# Pixels of the longest side.
_SIDE = 240
_QUALITY = 85


def draw(mean: Image) -> bytes:
    """Returns a JPEG of an image's planes through the middle."""
    grid = small_grid(mean, _SIDE)
    volume = pick(mean, grid)
    slices = show(volume, geometry.planes(grid.direction), intensities.scale_of(thin(volume)))
    return encode(beside(slices), _QUALITY)
