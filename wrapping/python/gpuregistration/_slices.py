# SPDX-License-Identifier: Apache-2.0
"""Images of one slice, which are stored as of three dimensions, and registered as of two."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from ._engine import BadInputError
from ._image import Image

# Directions whose parts along two of the patient's axes differ by less are as near to both.
_AS_NEAR = 1e-3
# Degrees: planes that are turned by more show other sections, which no transform in one plane lays on each other.
_MOST_TURNED = 30.0


def is_slice(image: Image) -> bool:
    """Returns whether an image has three dimensions, and one voxel along exactly one of them."""
    return image.dimension == 3 and sum(n == 1 for n in image.shape) == 1 and hasattr(image.array, "reshape")


def can_be_flat(image: Image) -> bool:
    """Returns whether an image has two dimensions, or can be converted to two."""
    return image.dimension == 2 or is_slice(image)


def flattened(image: Image) -> Image:
    """Returns a slice as an image of two dimensions, with the same values; an image of two dimensions as it is.

    Its points are those in the slice's plane, by the two of the patient's axes that lie in it: of an axial slice x and y, as of an image
    of two dimensions. Axes that are oblique are turned into the plane on the shortest way, so that slices of parallel planes have the same
    ones."""
    if image.dimension == 2:
        return image
    along = _axes_along(image)
    in_plane = _axes_of_plane(_spanning(image))
    array = reshaped(image.array, [n for n in image.shape if n != 1] + ([image.components] if image.is_vector else []))
    return Image(array, image.spacing[along], in_plane @ image.origin, in_plane @ image.direction[:, along], image.is_vector)


def check_planes(first: Image, second: Image, first_name: str, second_name: str) -> None:
    """Raises BadInputError if two images are slices whose planes are turned against each other, such as an axial and a coronal one. Accepts
    any image of two dimensions, since such an image does not record its plane.

    Args:
        first_name, second_name: such as "fixed image", or "file a.nii".
    """
    if not (is_slice(first) and is_slice(second)):
        return
    cosine = abs(float(_normal_of(_spanning(first)) @ _normal_of(_spanning(second))))
    degrees = float(np.degrees(np.arccos(min(cosine, 1.0))))
    if degrees > _MOST_TURNED:
        raise BadInputError(
            f"The {first_name} and the {second_name} are slices of different planes, {degrees:.3g} degrees apart, such as an axial and a "
            f"coronal one; up to {_MOST_TURNED:.0f} are taken. Give slices of one plane, which resampling a volume makes; or, if a header is "
            "wrong, mend its directions."
        )


def check_is_same_slice(image: Image, reference: Image, name: str, reference_name: str) -> None:
    """Raises BadInputError if two images that are to lie in one space are different slices: in two dimensions they would be alike. No corner
    of the image may be farther from the reference's plane than half of the thicker slice's thickness. Accepts any image of two dimensions,
    as check_planes() does.

    Args:
        name, reference_name: as of check_planes().
    """
    check_planes(image, reference, name, reference_name)
    if not (is_slice(image) and is_slice(reference)):
        return
    corners = np.array(list(np.ndindex(2, 2, 2))) * (np.array(image.size) - 1)
    points = corners @ image.index_to_point[:-1, :-1].T + image.origin
    apart = float(np.abs((points - reference.origin) @ _normal_of(_spanning(reference))).max())
    thickness = max(float(one.spacing[one.size.index(1)]) for one in (image, reference))
    if apart > 0.5 * thickness:
        raise BadInputError(
            f"The {name} and the {reference_name} are different slices: their planes are {apart:.4g} mm apart, and "
            f"the slices up to {thickness:.4g} mm thick. Give the same slice of both; or, if a header is wrong, mend its origin."
        )


def reshaped(array: Any, shape: Sequence[int]) -> Any:
    """Returns an array of any library in another shape. An array without a shape, of a library with DLPack alone, is returned as it is."""
    return array if tuple(getattr(array, "shape", shape)) == tuple(shape) else array.reshape(tuple(shape))


def _axes_along(image: Image) -> list[int]:
    """Returns the two axes of a slice that have several voxels."""
    thin = image.size.index(1)
    return [axis for axis in range(3) if axis != thin]


def _spanning(image: Image) -> np.ndarray:
    """Returns the directions, (3, 2), of the two axes of a slice that have several voxels."""
    return image.direction[:, _axes_along(image)]


def _normal_of(spanning: np.ndarray) -> np.ndarray:
    normal = np.cross(spanning[:, 0], spanning[:, 1])
    unit: np.ndarray = normal / np.linalg.norm(normal)
    return unit


def _axes_of_plane(spanning: np.ndarray) -> np.ndarray:
    """Returns the two axes, (2, 3), that give the coordinates of points in a plane.

    Args:
        spanning: (3, 2), two directions in it.
    """
    normal = _normal_of(spanning)
    parts = np.abs(normal)
    across = max(axis for axis in range(3) if parts[axis] >= parts.max() - _AS_NEAR)
    normal = normal * np.sign(normal[across])
    axes = np.eye(3)
    # Rodrigues' rotation from the patient's axis to the normal.
    cross = np.cross(axes[across], normal)
    skew = np.array([[0, -cross[2], cross[1]], [cross[2], 0, -cross[0]], [-cross[1], cross[0], 0]])
    turn = axes + skew + skew @ skew / (1 + normal[across])
    return np.delete(turn, across, axis=1).T
