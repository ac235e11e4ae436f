# SPDX-License-Identifier: Apache-2.0
"""Coarser levels of an image: each voxel is the mean, or the most frequent value, of the up to eight voxels that it stands for."""

from __future__ import annotations

import itertools
from typing import Iterator, Sequence

import numpy as np

from .._resample import to_type


def shrink(values: np.ndarray, factors: Sequence[int], of_labels: bool) -> np.ndarray:
    """Shrinks an array.

    Args:
        values: an array of two or three dimensions, which begins with a whole group of voxels along each axis.
        factors: 1 or 2 for each axis.
        of_labels: the most frequent value is taken, of several the least one; else the mean, in double precision, which is rounded to the
            nearest whole number, halves to the even one, where the type is of whole numbers.

    Returns:
        An array of ceil(n / factor) voxels along each axis. Voxels at the end stand for as many as there are.
    """
    made = np.empty([-(-count // factor) for count, factor in zip(values.shape, factors)], values.dtype.newbyteorder("="))
    find = _most_frequent if of_labels else _mean
    # A slice at a time, which needs little memory.
    for n in range(len(made)):
        made[n] = find(values[factors[0] * n : factors[0] * (n + 1)], factors)[0]
    return made


def _mean(values: np.ndarray, factors: Sequence[int]) -> np.ndarray:
    found = values.astype(np.float64)
    for axis, factor in enumerate(factors):
        if factor == 2:
            found = _mean_of_two(found, axis)
    return to_type(found, values.dtype)


def _mean_of_two(values: np.ndarray, axis: int) -> np.ndarray:
    count = values.shape[axis] // 2
    along = [slice(None)] * values.ndim
    first, second, last = along.copy(), along.copy(), along.copy()
    first[axis], second[axis], last[axis] = slice(0, 2 * count, 2), slice(1, 2 * count, 2), slice(2 * count, None)
    # Halves are exact, and sums of halves do not overflow.
    mean = 0.5 * values[tuple(first)] + 0.5 * values[tuple(second)]
    return mean if values.shape[axis] == 2 * count else np.concatenate([mean, values[tuple(last)]], axis=axis)


def _most_frequent(values: np.ndarray, factors: Sequence[int]) -> np.ndarray:
    # The last voxel stands for those that are missing at an odd end; it is not counted twice as often as to change which is most frequent
    # along that axis, since all values are doubled identically.
    ends = [(0, -count % factor) for count, factor in zip(values.shape, factors)]
    whole = np.pad(values, ends, mode="edge") if any(end for _, end in ends) else values
    places = list(itertools.product(*(range(factor) for factor in factors)))
    parts = [whole[tuple(slice(a, None, factor) for a, factor in zip(place, factors))] for place in places]
    best, most = parts[0].copy(), np.zeros(parts[0].shape, np.uint8)
    for part in parts:
        count = np.zeros(part.shape, np.uint8)
        for other in parts:
            count += part == other
        is_better = (count > most) | ((count == most) & (part < best))
        best[is_better], most[is_better] = part[is_better], count[is_better]
    return best


def choose_factors(shape: Sequence[int], spacing: Sequence[float]) -> tuple[int, ...]:
    """Returns each axis' shrink factor for the next level: 2 if the axis has several voxels, whose edges are shorter than twice the
    shortest ones; else 1."""
    shortest = min((edge for edge, count in zip(spacing, shape) if count > 1), default=0.0)
    return tuple(2 if count > 1 and edge < 2 * shortest else 1 for edge, count in zip(spacing, shape))


def plan_levels(shape: Sequence[int], spacing: Sequence[float], chunk: Sequence[int]) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Yields the shape of each coarser level, and the factors that lead to it from the one before, until a level is no larger than a
    chunk."""
    sizes, edges = tuple(shape), tuple(spacing)
    while any(count > along for count, along in zip(sizes, chunk)):
        factors = choose_factors(sizes, edges)
        sizes = tuple(-(-count // factor) for count, factor in zip(sizes, factors))
        edges = tuple(edge * factor for edge, factor in zip(edges, factors))
        yield sizes, factors
