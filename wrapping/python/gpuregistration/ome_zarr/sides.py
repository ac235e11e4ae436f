# SPDX-License-Identifier: Apache-2.0
"""Opens the image to resample, and the grid: either is an OME-Zarr that stays where it is, or an image in memory."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Optional, Union

import numpy as np

from .._image import Image, host_array
from .._kinds import ImageLike
from .._kinds import read_image as read_any_image
from .._paths import PathLike, name_of
from .._series import read_grid
from .._zarr_names import is_zarr, split_name
from .metadata import Axis, OmeZarr, read_metadata

# An image that is no OME-Zarr has this unit.
_UNIT = "millimeter"


@dataclass(frozen=True)
class Opened:
    """An image to resample.

    Attributes:
        name: the name of its file; "image" if it has none.
        grid: where its voxels are, of its type of values.
        zarr, level: the OME-Zarr, and the number of the level; None: it is another image.
        values: the values of an image that is no OME-Zarr, with channels as the first axis if it has some; else None.
    """

    name: str
    grid: Image
    zarr: Optional[OmeZarr]
    level: int
    values: Optional[np.ndarray]

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The axes of its values."""
        if self.zarr is not None:
            return self.zarr.axes
        space = tuple(Axis(name, "space", _UNIT) for name in "zyx"[-self.grid.dimension :])
        return (Axis("c", "channel"), *space) if self.values is not None and self.values.ndim > len(space) else space

    @property
    def leading(self) -> tuple[int, ...]:
        """How many points in time and channels there are."""
        shape: tuple[int, ...] = () if self.values is None else self.values.shape
        shape = shape if self.zarr is None else self.zarr.levels[self.level].shape
        return shape[: -self.grid.dimension]


def open_image(image: Union[PathLike, ImageLike, Opened]) -> Opened:
    """Opens an image, unless it has been opened: of an OME-Zarr the finest level unless its name ends on the number of another one.

    Raises:
        BadInputError: it is no image, or cannot be read.
    """
    if isinstance(image, Opened):
        return image
    if isinstance(image, (str, bytes, os.PathLike)):
        name = name_of(image)
        if is_zarr(name):
            zarr, level = _open_zarr(name)
            return Opened(name, zarr.grid(level), zarr, level, None)
        from .._files import read_image

        return _opened(name, read_image(image))
    return _opened("image", read_any_image(image, "image")[0])


def open_grid(reference: Union[PathLike, ImageLike, Opened]) -> Opened:
    """Opens an image, or a series, of whose volumes each has that grid, without the values of a file that is no OME-Zarr.

    Raises:
        BadInputError: it is no image, or cannot be read.
    """
    if isinstance(reference, (str, bytes, os.PathLike)) and not is_zarr(name_of(reference)):
        return Opened(name_of(reference), read_grid(reference), None, 0, None)
    return open_image(reference)


def _open_zarr(name: str) -> tuple[OmeZarr, int]:
    folder, level = split_name(name)
    zarr = read_metadata(folder)
    return zarr, level or 0


def _opened(name: str, image: Image) -> Opened:
    values: Any = host_array(image)
    if image.is_vector:
        values = np.moveaxis(values, -1, 0)
    kind = values.dtype.newbyteorder("=")
    grid = Image(np.broadcast_to(np.zeros((), kind), image.shape), image.spacing, image.origin, image.direction)
    return Opened(name, grid, None, 0, values)
