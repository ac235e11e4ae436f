# SPDX-License-Identifier: Apache-2.0
"""Computes the Jacobian's determinant of a displacement field: how much space grows at each voxel."""

from __future__ import annotations

import dataclasses

import numpy as np

# Number of planes along the slowest axis that are computed at a time, which bounds the memory.
PLANES = 16


def determinant(displacement: np.ndarray, index_to_point: np.ndarray) -> np.ndarray:
    """Computes det(d(x + u)/dx) at each voxel.

    Derivatives are central differences, and one-sided ones at the edges. If the displacement is not finite, the determinant is NaN.

    Args:
        displacement: ``(…, d)``, in mm, x first in its last axis.
        index_to_point: the matrix, ``(d, d)``, from voxels to mm.
    """
    displacement = np.asarray(displacement)
    shape = displacement.shape[:-1]
    dtype = np.float32 if displacement.dtype == np.float32 else np.float64
    result = np.empty(shape, dtype)
    for first in range(0, shape[0], PLANES):
        last = min(first + PLANES, shape[0])
        before, after = max(first - 1, 0), min(last + 1, shape[0])
        planes = displacement[before:after].astype(dtype, copy=False)
        inner = slice(first - before, first - before + last - first)
        result[first:last] = _determinant_of_planes(planes, np.asarray(index_to_point, dtype))[inner]
        result[first:last][~np.isfinite(planes[inner]).all(axis=-1)] = np.nan
    return result


def _determinant_of_planes(displacement: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    # det(I + du/dx) = det(M + du/di) / det(M), where x = M i.
    dimension = len(matrix)
    rows = [
        [_derivative(displacement[..., c], dimension - 1 - k) + matrix[c, k] for k in range(dimension)]
        for c in range(dimension)
    ]
    if dimension == 2:
        (a, b), (c, d) = rows
        value = a * d - b * c
    else:
        (a, b, c), (d, e, f), (g, h, i) = rows
        value = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)
    return value / value.dtype.type(np.linalg.det(matrix))


def _derivative(values: np.ndarray, axis: int) -> np.ndarray:
    # An axis of one voxel has no derivative.
    return np.gradient(values, axis=axis) if values.shape[axis] > 1 else np.zeros_like(values)


@dataclasses.dataclass
class Extremes:
    """Summarises a map of determinants. Places are indices of voxels, x first; None if no voxel has a finite value."""

    voxels: int
    folded: int
    not_finite: int
    minimum: float | None = None
    maximum: float | None = None
    minimum_at: tuple[int, ...] | None = None
    maximum_at: tuple[int, ...] | None = None
    #: the 1st and the 99th percentile
    usual: tuple[float, float] | None = None


def extremes(values: np.ndarray, mask: np.ndarray | None = None) -> Extremes:
    """Finds the smallest and largest finite determinants and their places, and counts folded voxels: those not above 0."""
    counts = np.isfinite(values)
    voxels = values.size
    if mask is not None:
        inside = np.asarray(mask) != 0
        voxels = int(inside.sum())
        not_finite = int((inside & ~counts).sum())
        counts &= inside
    else:
        not_finite = voxels - int(counts.sum())
    result = Extremes(voxels, int(((values <= 0) & counts).sum()), not_finite)
    if counts.any():
        lowest = np.argmin(np.where(counts, values, np.inf))
        highest = np.argmax(np.where(counts, values, -np.inf))
        result.minimum, result.maximum = float(values.flat[lowest]), float(values.flat[highest])
        result.minimum_at = tuple(int(i) for i in np.unravel_index(lowest, values.shape)[::-1])
        result.maximum_at = tuple(int(i) for i in np.unravel_index(highest, values.shape)[::-1])
        finite = values[counts]
        low, high = np.percentile(finite[:: max(1, finite.size // 500_000)], (1, 99))
        result.usual = float(low), float(high)
    return result
