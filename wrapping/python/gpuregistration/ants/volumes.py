# SPDX-License-Identifier: Apache-2.0
"""Series of images over time that are one image with an axis more."""

from __future__ import annotations

import sys
from typing import Any, Callable, NamedTuple, Optional, Sequence

import numpy as np

from .._engine import BadInputError
from .._image import Image, host_array
from .._kinds import ImageLike, read_image
from .._series import Series


class Slices(NamedTuple):
    """Images of two dimensions, with the times between and before them."""

    images: list[Image]
    step: float
    start: float


def split_slices(volume: Image, name: str) -> Slices:
    """Returns the images of two dimensions that a volume's slices are.

    Raises:
        BadInputError: it is no volume of several slices; the message begins with the name.
    """
    if volume.dimension != 3 or volume.is_vector or volume.shape[0] == 1:
        raise BadInputError(f"{name} is no series of images of two dimensions; expected a volume of several slices")
    grid = volume.spacing[:2], volume.origin[:2], volume.direction[:2, :2]
    return Slices([Image(one, *grid) for one in host_array(volume)], float(volume.spacing[2]), float(volume.origin[2]))


def join_slices(images: Sequence[Image], like: Slices) -> Image:
    """Returns the volume of images of two dimensions, with the times of others."""
    first, direction = images[0], np.eye(3)
    direction[:2, :2] = first.direction
    array = np.stack([host_array(one) for one in images])
    return Image(array, [*first.spacing, like.step], [*first.origin, like.start], direction)


def read_volumes(moving: Any, dimension: int) -> tuple[Sequence[Image], Callable[[list[Image]], Any]]:
    """Reads a series: an image of ANTsPy or SimpleITK with an axis more than `dimension`, this package's Series, or a list of images.

    Returns:
        The images, and a function that makes a series of the same kind of others: a list of a Series or a list.

    Raises:
        BadInputError: it is none.
    """
    if isinstance(moving, Series):
        return moving, list
    if isinstance(moving, (list, tuple)):
        return _read_list(moving)
    for read in (_read_antspy, _read_simpleitk):
        found = read(moving, dimension)
        if found is not None:
            return found
    raise BadInputError(
        f"imagetype=3: the moving image is of type {type(moving).__qualname__}; give an image of ANTsPy or SimpleITK that has "
        f"{dimension + 1} dimensions, what read_series() returns, or a list of images."
    )


def _read_list(images: Sequence[ImageLike]) -> tuple[list[Image], Callable[[list[Image]], Any]]:
    read = [read_image(one, f"series' {number}.") for number, one in enumerate(images)]
    if not read:
        raise BadInputError("imagetype=3: the list of images is empty.")
    return [image for image, _ in read], lambda made: [wrap(image) for (_, wrap), image in zip(read, made)]


def _read_antspy(moving: Any, dimension: int) -> Optional[tuple[list[Image], Callable[[list[Image]], Any]]]:
    is_like_it = callable(getattr(moving, "numpy", None)) and len(getattr(moving, "spacing", ())) == dimension + 1
    if not is_like_it or getattr(moving, "has_components", False):
        return None
    values = np.asarray(moving.numpy())
    grid = moving.spacing[:dimension], moving.origin[:dimension], np.asarray(moving.direction)[:dimension, :dimension]

    def wrap(made: list[Image]) -> Any:
        library = sys.modules[type(moving).__module__.partition(".")[0]]
        first, direction = made[0], np.eye(dimension + 1)
        direction[:dimension, :dimension] = first.direction
        array = np.stack([host_array(one).T for one in made], axis=-1)
        origin, spacing = [*first.origin.tolist(), moving.origin[-1]], [*first.spacing.tolist(), moving.spacing[-1]]
        return library.from_numpy(np.ascontiguousarray(array), origin, spacing, direction)

    return [Image(np.ascontiguousarray(values[..., number].T), *grid) for number in range(values.shape[-1])], wrap


def _read_simpleitk(moving: Any, dimension: int) -> Optional[tuple[list[Image], Callable[[list[Image]], Any]]]:
    sitk = sys.modules.get("SimpleITK")
    if sitk is None or not isinstance(moving, sitk.Image) or moving.GetDimension() != dimension + 1 or moving.GetNumberOfComponentsPerPixel() > 1:
        return None
    values, direction = sitk.GetArrayFromImage(moving), np.reshape(moving.GetDirection(), (dimension + 1, dimension + 1))
    grid = moving.GetSpacing()[:dimension], moving.GetOrigin()[:dimension], direction[:dimension, :dimension]

    def wrap(made: list[Image]) -> Any:
        whole = sitk.GetImageFromArray(np.stack([host_array(one) for one in made]), isVector=False)
        first, turned = made[0], np.eye(dimension + 1)
        turned[:dimension, :dimension] = first.direction
        whole.SetSpacing([*first.spacing.tolist(), moving.GetSpacing()[-1]])
        whole.SetOrigin([*first.origin.tolist(), moving.GetOrigin()[-1]])
        whole.SetDirection(turned.ravel().tolist())
        return whole

    return [Image(one, *grid) for one in values], wrap
