# SPDX-License-Identifier: Apache-2.0
"""Checks and compares images of labels."""

from __future__ import annotations

import numpy as np

from ._engine import BadInputError


def check_labels(array: np.ndarray, path: str) -> None:
    """Checks that a file's values are labels, whole numbers. Raises BadInputError."""
    if array.dtype.kind == "f" and not (np.isfinite(array) & (array == np.rint(array))).all():
        raise BadInputError(f"{path} has values that are no whole numbers, and so no labels: give the image of labels.")


def compute_dice(first: np.ndarray, second: np.ndarray) -> dict[int, float]:
    """Computes Dice's coefficient, 2 |A ∩ B| / (|A| + |B|), of each label but 0 that one of two images has.

    Args:
        first, second: whole numbers of any type, in arrays of one shape.
    """
    labels, codes = np.unique(np.concatenate([np.unique(first), np.unique(second)]).astype(np.int64)), []
    for array in (first, second):
        codes.append(np.searchsorted(labels, array.ravel()))
    sizes = [np.bincount(code, minlength=len(labels)) for code in codes]
    both = np.bincount(codes[0][codes[0] == codes[1]], minlength=len(labels))
    return {
        int(label): 2.0 * int(both[n]) / int(sizes[0][n] + sizes[1][n]) for n, label in enumerate(labels) if label != 0
    }
