# SPDX-License-Identifier: Apache-2.0
"""Intensities as bytes, windows to show them in, and joint histograms."""

from __future__ import annotations

import dataclasses

import numpy as np

# Values that percentiles are taken from, at most.
SAMPLES = 1_000_000
BINS = 64


@dataclasses.dataclass
class Scale:
    """Intensities from `low` to `high` become bytes from 0 to 255; from `black` to `white` they are shown."""

    low: float
    high: float
    black: float
    white: float


def sample(values: np.ndarray) -> np.ndarray:
    """Finite values out of an array, spread over it."""
    flat = np.asarray(values).reshape(-1)
    # An odd step that is no multiple of a row's length, as a rule.
    step = max(1, flat.size // SAMPLES) | 1
    flat = flat[::step].astype(float)
    return flat[np.isfinite(flat)]


def scale_of(*images: np.ndarray) -> Scale:
    """One scale for images that are to be compared.

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
    # A dark background is to be black, not nearly so.
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
    """Bytes on a scale; what is not a number becomes 0."""
    result = np.empty(np.shape(values), np.uint8)
    factor = 255 / (scale.high - scale.low)
    for n, part in enumerate(values):
        part = (np.asarray(part, dtype=np.float32) - np.float32(scale.low)) * np.float32(factor)
        result[n] = np.clip(np.nan_to_num(np.rint(part), nan=0.0, posinf=255, neginf=0), 0, 255)
    return result


def joint_histogram(fixed: np.ndarray, moving: np.ndarray) -> np.ndarray:
    """Counts of pairs of bytes, in BINS x BINS bins: rows are of fixed ones."""
    width = 256 // BINS
    pairs = (fixed.reshape(-1) // width).astype(np.int32) * BINS + moving.reshape(-1) // width
    return np.bincount(pairs, minlength=BINS * BINS).reshape(BINS, BINS)
