# SPDX-License-Identifier: Apache-2.0
"""The weights by which ANTs' interpolations add up voxels along an axis: windowed sincs and Gaussians."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Callable, NamedTuple

import numpy as np

#: Voxels to each side that a windowed sinc of ANTs reaches.
SINC_RADIUS = 3

# The table of a windowed sinc has this many entries between 0 and 1.
_SINC_PARTS = 8192
# A table of the error function, which is 1 beyond its end but for 1e-17.
_ERF_END, _ERF_STEP = 6.0, 1 / 512


Window = Callable[[np.ndarray], np.ndarray]


class Taps(NamedTuple):
    """Voxels along an axis that make a value.

    Attributes:
        first: for each point the index of its first voxel, which may lie outside of the image.
        weights: for each point the weights of that voxel and of those behind it.
    """

    first: np.ndarray
    weights: np.ndarray


@dataclass(frozen=True)
class Sinc:
    """A sinc in a window, as itk::WindowedSincInterpolateImageFunction has it. Beyond the image's edge it takes 0.

    Attributes:
        window: the factor of the sinc at distances in voxels.
    """

    window: Window

    #: Whether the weighted sum is divided by the sum of weights.
    is_normalized = False

    def find_taps(self, index: np.ndarray, size: int, spacing: float) -> Taps:
        """Finds the voxels and weights of points at indices along an axis of some length."""
        below = np.floor(index)
        table = _sinc_table(self.window)
        place = (index - below) * (len(table) - 1)
        low = np.minimum(place.astype(np.int64), len(table) - 2)
        weights = table[low]
        weights += (place - low)[:, None] * (table[low + 1] - weights)
        return Taps(below.astype(np.int64) + 1 - SINC_RADIUS, weights)


@lru_cache(maxsize=None)
def _sinc_table(window: Window) -> np.ndarray:
    """Returns the weights of the voxels around a point, one row for each part of a voxel by which it lies behind one. Between rows they are
    linear within 2e-8."""
    distance = np.linspace(0, 1, _SINC_PARTS + 1)[:, None] - np.arange(1 - SINC_RADIUS, SINC_RADIUS + 1)
    table: np.ndarray = np.sinc(distance) * window(distance)
    return table


def _window_of_lanczos(distance: np.ndarray) -> np.ndarray:
    return np.sinc(distance / SINC_RADIUS)


def _window_of_cosine(distance: np.ndarray) -> np.ndarray:
    return np.cos(np.pi * distance / (2 * SINC_RADIUS))


def _window_of_hamming(distance: np.ndarray) -> np.ndarray:
    return 0.54 + 0.46 * np.cos(np.pi * distance / SINC_RADIUS)


def _window_of_welch(distance: np.ndarray) -> np.ndarray:
    return 1 - (distance / SINC_RADIUS) ** 2


def _window_of_blackman(distance: np.ndarray) -> np.ndarray:
    return 0.42 + 0.5 * np.cos(np.pi * distance / SINC_RADIUS) + 0.08 * np.cos(2 * np.pi * distance / SINC_RADIUS)


#: ANTs' windowed sincs by their names in small letters.
SINCS = {
    "lanczoswindowedsinc": Sinc(_window_of_lanczos),
    "cosinewindowedsinc": Sinc(_window_of_cosine),
    "hammingwindowedsinc": Sinc(_window_of_hamming),
    "welchwindowedsinc": Sinc(_window_of_welch),
    "blackmanwindowedsinc": Sinc(_window_of_blackman),
}


@dataclass(frozen=True)
class Gaussian:
    """A Gaussian that is integrated over each voxel and cut off, as itk::GaussianInterpolateImageFunction has it (Yushkevich 2010). Only voxels
    of the image count.

    Attributes:
        sigma: its standard deviation, mm.
        alpha: the distance from a point at which it is cut off, in standard deviations.
    """

    sigma: float
    alpha: float

    is_normalized = True

    def find_taps(self, index: np.ndarray, size: int, spacing: float) -> Taps:
        """Finds the voxels and weights of points at indices along an axis of some length."""
        cut = self.sigma * self.alpha / spacing
        first = np.floor(index + 0.5 - cut)
        behind = np.ceil(index + 0.5 + cut)
        voxels = first[:, None] + np.arange(math.ceil(2 * cut) + 2)
        edges = _erf((voxels - 0.5 - index[:, None]) * (spacing / (math.sqrt(2) * self.sigma)))
        weights = np.diff(edges, axis=1)
        voxels = voxels[:, :-1]
        weights[(voxels < 0) | (voxels >= size) | (voxels >= behind[:, None])] = 0
        return Taps(first.astype(np.int64), weights)


@lru_cache(maxsize=None)
def _erf_table() -> tuple[np.ndarray, np.ndarray]:
    """Returns the error function and its slope times the step, from minus to plus the end."""
    places = np.arange(-_ERF_END, _ERF_END + 2 * _ERF_STEP, _ERF_STEP)
    return np.array([math.erf(x) for x in places]), 2 / math.sqrt(math.pi) * np.exp(-(places**2)) * _ERF_STEP


def _erf(x: np.ndarray) -> np.ndarray:
    """Returns the error function within 1e-12: by cubic Hermite interpolation of a table, as NumPy has none."""
    values, slopes = _erf_table()
    place = (np.clip(x, -_ERF_END, _ERF_END) + _ERF_END) / _ERF_STEP
    low = place.astype(np.int64)
    t = place - low
    rise = values[low + 1] - values[low]
    return values[low] + t * (slopes[low] + t * (3 * rise - 2 * slopes[low] - slopes[low + 1] + t * (slopes[low] + slopes[low + 1] - 2 * rise)))
