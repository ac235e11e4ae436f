# SPDX-License-Identifier: Apache-2.0
"""Draws small pictures of a pair: a checkerboard of the fixed and the moving image in each plane through the middle."""

from __future__ import annotations

import numpy as np

from .._image import Image
from ..report import geometry, intensities

#: Pixels of the longest side, and of a checkerboard's square.
SIDE = 120
SQUARE = 15


def small_grid(image: Image, side: int = SIDE) -> Image:
    """Makes a grid over an image with `side` nodes along its longest side, equally far apart along all axes."""
    size, spacing = np.array(image.size), image.spacing
    step = float((size * spacing).max()) / side
    nodes = np.maximum(1, np.rint(size * spacing / step).astype(int))
    # The grid and the image have their middle in common.
    shift = 0.5 * ((size - 1) * spacing - (nodes - 1) * step)
    return Image(
        np.zeros(nodes[::-1], np.uint8), [step] * image.dimension, image.origin + image.direction @ shift, image.direction
    )


def pick(image: Image, grid: Image) -> np.ndarray:
    """Returns the image's voxels that are nearest to the nodes of a small grid with the same axes and middle."""
    indices = []
    for size, spacing, nodes, step in zip(image.size, image.spacing, grid.size, grid.spacing):
        along = (np.arange(nodes) - 0.5 * (nodes - 1)) * step / spacing + 0.5 * (size - 1)
        indices.append(np.clip(np.rint(along).astype(int), 0, size - 1))
    return image.array[np.ix_(*indices[::-1])]


def draw(fixed: np.ndarray, before: np.ndarray, after: np.ndarray, direction: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Draws a picture of before and one of after, as bytes: planes side by side, with squares of both images in turn.

    Args:
        fixed, before, after: the fixed image, and the moving image before and after, on one small grid.
        direction: the direction of the grid's axes.
    """
    moving_scale = intensities.scale_of(thin(before), thin(after))
    planes = geometry.planes(direction)
    fixed_slices = show(fixed, planes, intensities.scale_of(thin(fixed)))
    return _draw(fixed_slices, show(before, planes, moving_scale)), _draw(fixed_slices, show(after, planes, moving_scale))


def thin(volume: np.ndarray) -> np.ndarray:
    """Returns every other voxel along each axis: enough for percentiles, which take longer than the rest."""
    return volume[(slice(None, None, 2),) * volume.ndim]


def show(volume: np.ndarray, planes: list[dict], scale: intensities.Scale) -> list[np.ndarray]:
    """Returns a volume's slices as bytes, with the report's initial contrast."""
    shown = intensities.Scale(scale.black, max(scale.white, np.nextafter(scale.black, np.inf)), 0.0, 0.0)
    return [intensities.to_bytes(_slice(volume, plane)[np.newaxis], shown)[0] for plane in planes]


def _draw(fixed: list[np.ndarray], moving: list[np.ndarray]) -> np.ndarray:
    parts = []
    for first, second in zip(fixed, moving):
        rows, columns = np.indices(first.shape) // SQUARE
        parts.append(np.where((rows + columns) % 2 == 0, first, second))
    return beside(parts)


def beside(parts: list[np.ndarray]) -> np.ndarray:
    """Returns one picture of several, beside each other."""
    height = max(part.shape[0] for part in parts)
    # Some black between planes.
    padded = [np.pad(part, (((height - len(part)) // 2, height - len(part) - (height - len(part)) // 2), (0, 4))) for part in parts]
    return np.concatenate(padded, axis=1)[:, :-4]


def _slice(volume: np.ndarray, plane: dict) -> np.ndarray:
    if volume.ndim == 2:
        volume = volume[np.newaxis]
    across = volume.shape[2 - plane["n"]] // 2
    # Arrays have the image's axes in reverse order.
    order = (2 - plane["n"], 2 - plane["v"], 2 - plane["h"])
    picture = volume.transpose(order)[across]
    return picture[:: -1 if plane["vflip"] else 1, :: -1 if plane["hflip"] else 1]
