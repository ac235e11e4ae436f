# SPDX-License-Identifier: Apache-2.0
"""Converts vectors of a plane to vectors of a volume, and back, since the engine takes and gives vectors of a volume; and finds their
range."""

from __future__ import annotations

import numpy as np

from ._slabs import in_parts

# Vectors that are compared at once.
_ROWS = 1024


def as_volume(vectors: np.ndarray) -> np.ndarray:
    """Returns vectors, ``[z, y, x, 3]`` or ``[y, x, 2]``, as those of a volume: a plane becomes one slice, without a third component."""
    if vectors.shape[-1] == 3:
        return vectors
    return np.concatenate([vectors, np.zeros_like(vectors[..., :1])], axis=-1)[np.newaxis]


def from_volume(vectors: np.ndarray, dimension: int) -> np.ndarray:
    """Returns vectors of a volume, ``[z, y, x, 3]``, unchanged if `dimension` is 3, and else the first slice's vectors, ``[y, x, 2]``."""
    return vectors if dimension == 3 else np.ascontiguousarray(vectors[0, ..., :2])


def range_of_vectors(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns the least and the greatest of some vectors, (…, d), along each axis: (d,) each, in doubles."""
    found = in_parts(_range_of_part, vectors)
    least, greatest = np.min([least for least, _ in found], axis=0), np.max([greatest for _, greatest in found], axis=0)
    return least.astype(np.float64), greatest.astype(np.float64)


def _range_of_part(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    d = vectors.shape[-1]
    flat = vectors.reshape(-1, d)
    # NumPy compares long rows at once, and takes ten times as long for rows of d.
    rows = len(flat) // _ROWS * _ROWS
    parts = [flat[rows:]] if rows < len(flat) else []
    parts += [flat[:rows].reshape(-1, _ROWS * d)] if rows else []
    least = np.min([part.min(axis=0).reshape(-1, d).min(axis=0) for part in parts], axis=0)
    greatest = np.max([part.max(axis=0).reshape(-1, d).max(axis=0) for part in parts], axis=0)
    return least, greatest
