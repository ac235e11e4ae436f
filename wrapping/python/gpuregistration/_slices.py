# SPDX-License-Identifier: Apache-2.0
"""Images of one slice, which are stored as of three dimensions, and registered as of two."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from ._image import Image

# Directions whose parts along two of the patient's axes differ by less are as near to both.
_AS_NEAR = 1e-3


def is_slice(image: Image) -> bool:
    """Whether an image has three dimensions, and one voxel along one of them alone."""
    return image.dimension == 3 and sum(n == 1 for n in image.shape) == 1 and hasattr(image.array, "reshape")


def can_be_flat(image: Image) -> bool:
    """Whether an image is of two dimensions, or can be made so."""
    return image.dimension == 2 or is_slice(image)


def flattened(image: Image) -> Image:
    """A slice as an image of two dimensions, of the same values; one of two is itself.

    Its points are those in the slice's plane, by the two of the patient's axes that lie in it: of an axial slice x and y, as of an image
    of two dimensions. Axes that are oblique are turned into the plane on the shortest way, so that slices of parallel planes have the same
    ones."""
    if image.dimension == 2:
        return image
    thin = image.size.index(1)
    along = [axis for axis in range(3) if axis != thin]
    in_plane = _axes_of_plane(image.direction[:, along])
    array = reshaped(image.array, [n for n in image.shape if n != 1] + ([image.components] if image.is_vector else []))
    return Image(array, image.spacing[along], in_plane @ image.origin, in_plane @ image.direction[:, along], image.is_vector)


def reshaped(array: Any, shape: Sequence[int]) -> Any:
    """An array of any library in another shape. One that tells no shape, as of a library that has DLPack alone, is no flat slice."""
    return array if tuple(getattr(array, "shape", shape)) == tuple(shape) else array.reshape(tuple(shape))


def _axes_of_plane(spanning: np.ndarray) -> np.ndarray:
    """The two axes, (2, 3), by which points in a plane are told.

    Args:
        spanning: (3, 2), two directions in it.
    """
    normal = np.cross(spanning[:, 0], spanning[:, 1])
    normal = normal / np.linalg.norm(normal)
    parts = np.abs(normal)
    across = max(axis for axis in range(3) if parts[axis] >= parts.max() - _AS_NEAR)
    normal = normal * np.sign(normal[across])
    axes = np.eye(3)
    # Rodrigues' rotation from the patient's axis to the normal.
    cross = np.cross(axes[across], normal)
    skew = np.array([[0, -cross[2], cross[1]], [cross[2], 0, -cross[0]], [-cross[1], cross[0], 0]])
    turn = axes + skew + skew @ skew / (1 + normal[across])
    return np.delete(turn, across, axis=1).T
