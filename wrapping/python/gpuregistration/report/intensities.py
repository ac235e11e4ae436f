# SPDX-License-Identifier: Apache-2.0
"""Converts intensities to bytes, chooses windows to show them in, and counts joint histograms."""

from __future__ import annotations

import dataclasses

import numpy as np

# Values that percentiles are taken from, at most.
SAMPLES = 1_000_000
BINS = 64


@dataclasses.dataclass
class Scale:
    """Maps intensities from `low` to `high` to bytes from 0 to 255; the window shows those from `black` to `white`."""

    low: float
    high: float
    black: float
    white: float


def sample(values: np.ndarray) -> np.ndarray:
    """Returns finite values from all over an array, at most SAMPLES or so."""
    flat = np.asarray(values).reshape(-1)
    # An odd step is rarely a multiple of a row's length.
    step = max(1, flat.size // SAMPLES) | 1
    flat = flat[::step].astype(float)
    return flat[np.isfinite(flat)]


def scale_of(*images: np.ndarray) -> Scale:
    """Chooses one scale for images that are compared.

    Bytes cover all but the brightest and darkest few values. The window is from the 1st to the 99.5th percentile, without a
    background: a lowest value that a tenth of all voxels have.
    """
    values = np.concatenate([sample(image) for image in images])
    if not values.size:
        return Scale(0.0, 1.0, 0.0, 1.0)
    low, high = (float(v) for v in np.percentile(values, (0.01, 99.99)))
    lowest = values.min()
    background = values <= lowest
    rest = values[~background] if background.mean() > 0.1 and not background.all() else values
    black, white = (float(v) for v in np.percentile(rest, (1, 99.5)))
    # A dark background must be black, not nearly black.
    if rest is not values:
        black = min(black, low + 0.1 * (white - low))
    if not high > low:
        # All values are (nearly) the same: grey.
        width = max(abs(low), 1.0) * 0.5
        return Scale(low - width, low + width, low - width, low + width)
    if not white > black:
        black, white = low, high
    return Scale(low, high, max(black, low), min(white, high))


def to_bytes(values: np.ndarray, scale: Scale) -> np.ndarray:
    """Converts values to bytes; NaN becomes 0."""
    result = np.empty(np.shape(values), np.uint8)
    factor = 255 / (scale.high - scale.low)
    for n, part in enumerate(values):
        part = (np.asarray(part, dtype=np.float32) - np.float32(scale.low)) * np.float32(factor)
        result[n] = np.clip(np.nan_to_num(np.rint(part), nan=0.0, posinf=255, neginf=0), 0, 255)
    return result


def joint_histogram(fixed: np.ndarray, moving: np.ndarray) -> np.ndarray:
    """Counts pairs of bytes in BINS x BINS bins; a row has one bin of the fixed image."""
    width = 256 // BINS
    pairs = (fixed.reshape(-1) // width).astype(np.int32) * BINS + moving.reshape(-1) // width
    return np.bincount(pairs, minlength=BINS * BINS).reshape(BINS, BINS)
