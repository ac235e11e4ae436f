# SPDX-License-Identifier: Apache-2.0
"""How a transform turns what it moves: vectors, whose lengths stay, and tensors, whose main direction is kept (Alexander et al. 2001)."""

from __future__ import annotations

from typing import Iterator, Optional

import numpy as np

from .._image import Image
from .._transforms import Transform

# Voxels of the reference to each side, between which a deformation is differentiated. Both places stay in a field that ends half a voxel
# beyond its last one.
_STEP = 0.25
# Voxels that are computed at once.
_BLOCK = 1 << 18


def find_backward(transform: Transform, reference: Image, there: np.ndarray, device: Optional[str]) -> np.ndarray:
    """Finds how a transform leads directions back from the moving image to a reference: the inverses of its Jacobian matrices.

    Args:
        there: bool, of the reference's shape: its voxels that are asked for.

    Returns:
        ``(d, d)`` if all voxels have the same, as by linear transforms, else ``(voxels, d, d)``, of physical axes. The identity stands for
        a matrix that has no inverse.
    """
    d = reference.dimension
    linear = transform.matrix_of()
    if linear is not None:
        return np.linalg.inv(linear[:d, :d])
    along = np.empty((int(there.sum()), d, d))
    for axis in range(d):
        step = _STEP * reference.spacing[axis] * reference.direction[:, axis]
        ends = [_displacements(transform, reference, sign * step, device)[there] for sign in (1.0, -1.0)]
        along[:, :, axis] = reference.direction[:, axis] + (ends[0] - ends[1]) / (2 * _STEP * reference.spacing[axis])
    to_axes = np.linalg.inv(reference.direction)
    for part in _blocks(len(along)):
        forward = along[part] @ to_axes
        forward[np.abs(np.linalg.det(forward)) < np.finfo(float).tiny] = np.eye(d)
        along[part] = np.linalg.inv(forward)
    return along


def _displacements(transform: Transform, reference: Image, shift: np.ndarray, device: Optional[str]) -> np.ndarray:
    grid = Image(np.zeros(reference.shape, np.uint8), reference.spacing, reference.origin + shift, reference.direction)
    found: np.ndarray = transform.to_displacement_field(grid, device).array
    return found


def turn_vectors(vectors: np.ndarray, backward: np.ndarray) -> np.ndarray:
    """Turns vectors, ``(voxels, d)``, by the rotations that are nearest to matrices of find_backward()."""
    if backward.ndim == 2:
        turned: np.ndarray = vectors @ _rotations(backward).T
        return turned
    turned = np.empty_like(vectors)
    for part in _blocks(len(vectors)):
        turned[part] = (_rotations(backward[part]) @ vectors[part, :, np.newaxis])[..., 0]
    return turned


def _rotations(matrices: np.ndarray) -> np.ndarray:
    left, _, right = np.linalg.svd(matrices)
    # Where a deformation folds, a reflection would be nearer.
    left[..., -1] *= np.sign(np.linalg.det(left) * np.linalg.det(right))[..., np.newaxis]
    return left @ right


def turn_axes(axes: np.ndarray, backward: np.ndarray) -> np.ndarray:
    """Turns the axes of tensors so that the main one is led as a direction is, and the second one stays in the plane of both.

    Args:
        axes: ``(voxels, 3, 3)``, whose columns are orthonormal, the main one last.
        backward: as find_backward() returns it.
    """
    first, second = ((backward @ axes[:, :, column, np.newaxis])[..., 0] for column in (2, 1))
    first /= np.linalg.norm(first, axis=-1, keepdims=True)
    second -= (second * first).sum(axis=-1, keepdims=True) * first
    second /= np.linalg.norm(second, axis=-1, keepdims=True)
    return np.stack([np.cross(first, second), second, first], axis=-1)


def _blocks(count: int) -> Iterator[slice]:
    for begin in range(0, count, _BLOCK):
        yield slice(begin, begin + _BLOCK)
