# SPDX-License-Identifier: Apache-2.0
"""Makes the pictures of the moving image's side."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from . import intensities, pictures
from .data import Cut, MovingSide

QUALITY = 85


class Picture(NamedTuple):
    """A picture of a plane, the size in which it is shown, and what it shows."""

    uri: str
    width: int
    height: int
    text: str


def draw(side: MovingSide) -> list[tuple[str, list[Picture]]]:
    """Returns, for each plane, its name and its pictures: both images over each other, and each by itself."""
    moving_scale = intensities.scale_of(*(cut.moving for cut in side.cuts))
    back_scale = intensities.scale_of(*(cut.back for cut in side.cuts))
    drawn = []
    for cut in side.cuts:
        moving, back = _grey(cut.moving, moving_scale), _grey(cut.back, back_scale)
        over = np.stack([moving, back, moving], axis=-1)
        texts = ("the moving image in magenta, the fixed one, brought back, in green", "the moving image", "the fixed image, brought back")
        shown = [Picture(pictures.data_uri(p, QUALITY), *_size(cut), text) for p, text in zip((over, moving, back), texts)]
        drawn.append((cut.name, shown))
    return drawn


def _grey(values: np.ndarray, scale: intensities.Scale) -> np.ndarray:
    """Converts values to bytes within the scale's window."""
    window = intensities.Scale(scale.black, scale.white, scale.black, scale.white)
    return np.ascontiguousarray(intensities.to_bytes(values, window))


def _size(cut: Cut) -> tuple[int, int]:
    """Returns the width and the height, in units of one length along both axes, of which the longer side has 600."""
    height, width = np.shape(cut.moving)
    lengths = width * cut.spacing[0], height * cut.spacing[1]
    factor = 600 / max(lengths)
    return max(1, round(factor * lengths[0])), max(1, round(factor * lengths[1]))
