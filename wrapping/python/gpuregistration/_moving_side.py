# SPDX-License-Identifier: Apache-2.0
"""Brings the fixed image back to the moving one, for a registration's report."""

from __future__ import annotations

from typing import Optional

import numpy as np

from ._composite import Composite, parts_of
from ._image import Image
from ._resample import resample_array
from ._transforms import DisplacementField, Transform
from .report import Cut, MovingSide
from .report.geometry import planes
from .report.pictures import reduce_strides

# Voxels of the grid on which a deformation is inverted, at most: pictures show no more, and that of a whole head takes seconds on a
# processor.
_VOXELS = 600_000


def resample_moving_side(fixed: Image, moving: Image, found: Transform, inverse: Optional[Transform], device: str) -> MovingSide:
    """Resamples the fixed image by the inverse of a transform, in the middle planes of the moving image.

    Args:
        fixed, moving: images on the host.
        found: from the fixed image's points to the moving one's.
        inverse: the inverse that the registration has computed; None: it is computed here.
        device: a device's name.

    Raises:
        BadInputError: the transform has no inverse.
    """
    back = inverse if inverse is not None else _invert(found, _thinned(fixed), device)
    cuts = []
    for plane in planes(moving.direction):
        across, down, through = plane["h"], plane["v"], plane["n"]
        cut = _cut(moving, through) if moving.dimension == 3 else moving
        brought = resample_array(fixed, back, cut, "linear", device)
        cuts.append(
            Cut(
                plane["name"],
                _oriented(cut.array, plane, moving.dimension),
                _oriented(brought, plane, moving.dimension),
                (float(moving.spacing[across]), float(moving.spacing[down])),
            )
        )
    return MovingSide(cuts, _describe(back))


def _thinned(image: Image) -> Image:
    """Returns one of every so many voxels along each axis."""
    strides = reduce_strides(image.size, tuple(image.spacing.tolist()), _VOXELS)
    array = image.array[tuple(slice(None, None, step) for step in reversed(strides))]
    return Image(array, image.spacing * strides, image.origin, image.direction)


def _invert(found: Transform, grid: Image, device: str) -> Transform:
    """Inverts the registration's own deformation on a grid over the fixed image, and what is behind it on grids of their own."""
    if not isinstance(found, Composite):
        return found.inverse(grid, device)
    first, *others = found.transforms
    return Composite([*(part.inverse(device=device) for part in reversed(others)), first.inverse(grid, device)])


def _cut(image: Image, axis: int) -> Image:
    """Returns the middle slice across an axis, as an image of one slice."""
    middle = image.size[axis] // 2
    array = np.take(image.array, [middle], axis=image.dimension - 1 - axis)
    origin = image.origin + image.direction[:, axis] * image.spacing[axis] * middle
    return Image(array, image.spacing, origin, image.direction)


def _oriented(array: np.ndarray, plane: dict, dimension: int) -> np.ndarray:
    """Returns a slice as it is shown: rows from top to bottom, columns from left to right."""
    axes = [plane["v"], plane["h"]] if dimension == 2 else [plane["n"], plane["v"], plane["h"]]
    shown = np.transpose(array, [dimension - 1 - axis for axis in axes])
    shown = shown if dimension == 2 else shown[0]
    return shown[:: -1 if plane["vflip"] else 1, :: -1 if plane["hflip"] else 1]


def _describe(back: Transform) -> str:
    """Returns sentences on how well the inverse of the registration's own deformation leads back; an empty text if it is linear."""
    last = parts_of(back)[-1]
    if not isinstance(last, DisplacementField) or last.inverse_errors is None:
        return ""
    one = last.inverse_errors
    voxels = " × ".join(f"{s:.3g}" for s in last.spacing)
    folded = f" The deformation folds at {one.folded_voxels:,} of them." if one.folded_voxels else ""
    return (
        f"There and back, points end {one.mean:.2g} voxels away in the mean and {one.largest:.2g} at most, at voxels of "
        f"{voxels} mm.{folded}"
    )
