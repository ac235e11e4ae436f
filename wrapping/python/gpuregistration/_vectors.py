# SPDX-License-Identifier: Apache-2.0
"""Converts vectors of a plane to vectors of a volume, and back: the engine takes and gives vectors of a volume."""

from __future__ import annotations

import numpy as np


def as_volume(vectors: np.ndarray) -> np.ndarray:
    """Returns vectors, ``[z, y, x, 3]`` or ``[y, x, 2]``, as those of a volume: a plane becomes one slice, without a third component."""
    if vectors.shape[-1] == 3:
        return vectors
    return np.concatenate([vectors, np.zeros_like(vectors[..., :1])], axis=-1)[np.newaxis]


def from_volume(vectors: np.ndarray, dimension: int) -> np.ndarray:
    """Returns vectors of a volume, ``[z, y, x, 3]``, unchanged if `dimension` is 3, and else the first slice's vectors, ``[y, x, 2]``."""
    return vectors if dimension == 3 else np.ascontiguousarray(vectors[0, ..., :2])
