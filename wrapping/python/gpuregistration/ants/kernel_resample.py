# SPDX-License-Identifier: Apache-2.0
"""Resampling by kernels that this package's devices have not, on the host."""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor
from typing import Optional, Sequence, Union

import numpy as np

from .. import _engine
from .._image import Image, host_array
from .._transforms import Transform, check_dimension
from .kernels import Gaussian, Sinc, Taps

# Voxels along an edge of the blocks that the output is made by. A block of labels knows few of them.
_BLOCK = 20

Kernels = Sequence[Union[Sinc, Gaussian]]


def resample_by_kernels(
    image: Image, transform: Optional[Transform], grid: Image, kernels: Kernels, default: float, are_labels: bool, device: Optional[str] = None
) -> np.ndarray:
    """Resamples an image on a grid by kernels.

    Args:
        image: one number a voxel; its floats, of 32 or 64 bits, are those of the result.
        transform: from the grid's points to the image's. None: points stay where they are.
        kernels: for each of the axes x, y (and z).
        default: the value outside of the image, beyond half a voxel from its outer voxels' middles.
        are_labels: gives each voxel the label of the largest weight, as itk::LabelImageGaussianInterpolateImageFunction does.
        device: computes where a deformation leads.

    Raises:
        BadInputError: the transform has other dimensions than the image.
    """
    values = host_array(image)
    moved = np.full(grid.shape, default, values.dtype)
    if transform is not None:
        check_dimension(transform, image.dimension)
    places = _Places(image, transform, grid, device)
    blocks = itertools.product(*(range(0, length, _BLOCK) for length in grid.shape))

    def fill(corner: tuple[int, ...]) -> None:
        block = tuple(slice(begin, min(begin + _BLOCK, length)) for begin, length in zip(corner, grid.shape))
        index = places.find(block)
        inside = ((index >= -0.5) & (index < np.array(values.shape[::-1]) - 0.5)).all(axis=-1)
        if inside.any():
            moved[block][inside] = _interpolate(values, index[inside], kernels, image.spacing, are_labels)

    with ThreadPoolExecutor(max(1, _engine.thread_count())) as pool:
        for done in [pool.submit(fill, corner) for corner in blocks]:
            done.result()
    return moved


class _Places:
    """Finds where voxels of a grid lie in an image.

    Args:
        transform: from the grid's points to the image's.
        device: computes displacements.
    """

    def __init__(self, image: Image, transform: Optional[Transform], grid: Image, device: Optional[str]) -> None:
        to_index = np.linalg.inv(image.index_to_point)
        matrix = np.eye(image.dimension + 1) if transform is None else transform.matrix_of()
        self._to_index = to_index if matrix is None else to_index @ matrix
        self._to_point = grid.index_to_point
        self._field: Optional[np.ndarray] = None
        if matrix is None:
            assert transform is not None
            self._field = transform.to_displacement_field(grid, device).host_array()

    def find(self, block: tuple[slice, ...]) -> np.ndarray:
        """Returns the indices along x, y (and z) in the image of a block of voxels of the grid."""
        axes = [np.arange(one.start, one.stop, dtype=np.float64) for one in block]
        index = np.stack(np.meshgrid(*axes, indexing="ij")[::-1], axis=-1)
        points = _mapped(self._to_point, index)
        return _mapped(self._to_index, points if self._field is None else points + self._field[block])


def _mapped(matrix: np.ndarray, points: np.ndarray) -> np.ndarray:
    moved: np.ndarray = points @ matrix[:-1, :-1].T + matrix[:-1, -1]
    return moved


def _interpolate(values: np.ndarray, index: np.ndarray, kernels: Kernels, spacing: np.ndarray, are_labels: bool) -> np.ndarray:
    """Returns the values at indices of points inside of the image.

    Args:
        values: [z, y, x], or [y, x].
        index: [point, axis], along x, y (and z).
    """
    d = values.ndim
    # Along the array's axes from here on.
    taps = [kernels[a].find_taps(index[:, a], values.shape[d - 1 - a], spacing[a]) for a in range(d)][::-1]
    low = [int(one.first.min()) for one in taps]
    high = [int(one.first.max()) + one.weights.shape[1] for one in taps]
    part = tuple(slice(max(a, 0), min(b, n)) for a, b, n in zip(low, high, values.shape))
    margins = [(max(-a, 0), max(b - n, 0)) for a, b, n in zip(low, high, values.shape)]
    taps = [Taps(one.first - a, one.weights) for one, a in zip(taps, low)]
    if are_labels:
        return _find_labels(values[part], margins, taps)
    found = _add_up(np.pad(values[part], margins), taps)
    if kernels[0].is_normalized:
        found /= np.prod([one.weights.sum(axis=1) for one in taps], axis=0)
    return found


def _find_labels(values: np.ndarray, margins: Sequence[tuple[int, int]], taps: Sequence[Taps]) -> np.ndarray:
    """Returns the label of the largest sum of weights at each point."""
    labels = np.unique(values)
    best = np.full(len(taps[0].first), labels[0], values.dtype)
    if len(labels) == 1:
        return best
    most = np.full(best.shape, -1.0)
    for label in labels:
        weight = _add_up(np.pad((values == label).astype(np.float64), margins), taps)
        best[weight > most] = label
        np.maximum(most, weight, out=most)
    return best


def _add_up(values: np.ndarray, taps: Sequence[Taps]) -> np.ndarray:
    """Returns the weighted sums of values, whose axes and those of the taps have the same order."""
    *outer, inner = taps
    flat = np.ascontiguousarray(values).reshape(-1)
    strides = [int(np.prod(values.shape[axis + 1 :])) for axis in range(values.ndim)]
    begin = sum(one.first * stride for one, stride in zip(taps, strides))
    along_row = np.ascontiguousarray(inner.weights.T)
    total = np.zeros(len(inner.first))
    for offsets in itertools.product(*(range(one.weights.shape[1]) for one in outer)):
        at = begin + sum(n * stride for n, stride in zip(offsets, strides))
        row = along_row[0] * flat.take(at)
        for n, weight in enumerate(along_row[1:], 1):
            row += weight * flat.take(at + n)
        for one, n in zip(outer, offsets):
            row *= one.weights[:, n]
        total += row
    return total
