# SPDX-License-Identifier: Apache-2.0
"""Draws slices of volumes in colours, with lines and words."""

from __future__ import annotations

import gpuregistration as g
import numpy as np
from gpuregistration.report import geometry
from PIL import Image as Picture
from PIL import ImageDraw, ImageFont

#: Pixels of a voxel, between two pictures, and of a page's width.
ZOOM, BETWEEN, WIDTH = 2, 6, 720
WHITE, ORANGE, GREEN = (255, 255, 255), (255, 150, 40), (60, 230, 110)


class Plane:
    """A plane of a grid's voxels, as radiologists look at it.

    Args:
        grid: the image that the volumes have the grid of.
        name: "Axial", "Coronal" or "Sagittal".
        at: where along its normal, 0 to 1.
    """

    def __init__(self, grid: g.Image, name: str, at: float) -> None:
        self._plane = next(plane for plane in geometry.planes(grid.direction) if plane["name"] == name)
        self._point_to_index = np.linalg.inv(grid.direction * grid.spacing)
        self._at = at

    def cut(self, volume: np.ndarray) -> np.ndarray:
        """Returns the slice of a volume (z, y, x, ...): (rows, columns, ...)."""
        plane = self._plane
        picture = volume.transpose(2 - plane["n"], 2 - plane["v"], 2 - plane["h"], *range(3, volume.ndim))
        picture = picture[int(self._at * (len(picture) - 1))]
        return picture[:: -1 if plane["vflip"] else 1, :: -1 if plane["hflip"] else 1]

    def cut_vectors(self, field: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Returns the slice of displacements (z, y, x, 3) in mm, as voxels to the right and voxels down."""
        plane, vectors = self._plane, self.cut(field) @ self._point_to_index.T
        right = vectors[..., plane["h"]] * (-1 if plane["hflip"] else 1)
        return right, vectors[..., plane["v"]] * (-1 if plane["vflip"] else 1)


def overlay(fixed: np.ndarray, moving: np.ndarray) -> Picture.Image:
    """Draws two slices of values from 0 to 1: the fixed one in green, the moving one in magenta."""
    colours = np.stack([moving, fixed, moving], axis=-1)
    return _enlarged(colours)


def grey(slice_: np.ndarray) -> Picture.Image:
    """Draws a slice of values from 0 to 1 in grey."""
    return _enlarged(np.stack([slice_] * 3, axis=-1))


def _enlarged(colours: np.ndarray) -> Picture.Image:
    picture = Picture.fromarray(np.rint(255 * np.clip(1.15 * colours, 0, 1) ** 0.8).astype(np.uint8))
    return picture.resize((picture.width * ZOOM, picture.height * ZOOM), Picture.BICUBIC)


def titled(picture: Picture.Image, text: str) -> Picture.Image:
    """Returns a copy of a picture with a line of text at the top; some of the air above and below the head is cut off."""
    air = 11 * ZOOM
    result = Picture.new("RGB", (picture.width, picture.height + 34 - 2 * air))
    result.paste(picture.crop((0, air, picture.width, picture.height - air)), (0, 34))
    ImageDraw.Draw(result).text((8, 4), text, WHITE, ImageFont.load_default(21))
    return result


def beside(*pictures: Picture.Image) -> Picture.Image:
    """Returns one picture that shows several in a row."""
    width = sum(p.width for p in pictures) + BETWEEN * (len(pictures) - 1)
    result = Picture.new("RGB", (width, max(p.height for p in pictures)), WHITE)
    x = 0
    for picture in pictures:
        result.paste(picture, (x, 0))
        x += picture.width + BETWEEN
    return result


def above(*pictures: Picture.Image) -> Picture.Image:
    """Returns one picture that shows several of one width, one below the other."""
    result = Picture.new("RGB", (pictures[0].width, sum(p.height + BETWEEN for p in pictures) - BETWEEN), WHITE)
    y = 0
    for picture in pictures:
        result.paste(picture, (0, y))
        y += picture.height + BETWEEN
    return result


def borders(picture: Picture.Image, regions: np.ndarray, colour) -> None:
    """Draws where a slice's labels change, a pixel wide."""
    large = np.kron(regions, np.ones((ZOOM, ZOOM), regions.dtype))
    edge = np.zeros(large.shape, bool)
    edge[:, 1:] |= large[:, 1:] != large[:, :-1]
    edge[1:] |= large[1:] != large[:-1]
    pixels = np.array(picture)
    pixels[edge] = colour
    picture.paste(Picture.fromarray(pixels))


def bent_grid(picture: Picture.Image, right: np.ndarray, down: np.ndarray, every: int) -> None:
    """Draws where displacements, in voxels, lead the straight lines of a slice's voxels, one of so many."""
    rows, columns = np.indices(right.shape)
    x, y = ZOOM * (columns + right + 0.5), ZOOM * (rows + down + 0.5)
    fine = 3
    lines = Picture.new("L", (picture.width * fine, picture.height * fine))
    pen = ImageDraw.Draw(lines)
    for n in range(0, right.shape[0], every):
        pen.line([(fine * a, fine * b) for a, b in zip(x[n], y[n])], 255, fine + 1)
    for n in range(0, right.shape[1], every):
        pen.line([(fine * a, fine * b) for a, b in zip(x[:, n], y[:, n])], 255, fine + 1)
    picture.paste(Picture.new("RGB", picture.size, GREEN), mask=lines.resize(picture.size, Picture.BOX))
