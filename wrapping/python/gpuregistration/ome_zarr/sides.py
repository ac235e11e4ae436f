# SPDX-License-Identifier: Apache-2.0
"""Opens the image to resample, and the grid: either is an OME-Zarr that stays where it is, or another image, whose values are held as a
whole."""

from __future__ import annotations

import math
import os
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Callable, Iterator, Optional, Union

import numpy as np

from .._files import read_image
from .._image import Image, host_array, no_values
from .._kinds import ImageLike
from .._kinds import read_image as read_any_image
from .._paths import PathLike, name_of
from .._series import Times, read_grid, read_series, read_times
from .._warnings import collect_input_warnings, warn_of_input
from .._zarr_names import is_zarr, split_name
from .metadata import Axis, OmeZarr, read_metadata

# An image that is no OME-Zarr has this unit.
_UNIT = "millimeter"
# Units of time, by NIfTI's names of them.
_TIMES = {"sec": "second", "msec": "millisecond", "usec": "microsecond"}
# Units of a NIfTI's fourth axis that is another one.
_NO_TIMES = ("hz", "ppm", "rads")


@dataclass(frozen=True)
class Held:
    """The values of an image that is no OME-Zarr, of which no part is had without the whole.

    Attributes:
        axes: time and channel, as far as there are such, and then those of space.
        leading: how many points in time and channels there are.
        scale, translation: along time and channels.
        bytes: of all values.
        read: returns the values, in the axes' order, which a file is read for.
    """

    axes: tuple[Axis, ...]
    leading: tuple[int, ...]
    scale: tuple[float, ...]
    translation: tuple[float, ...]
    bytes: int
    read: Callable[[], np.ndarray]


@dataclass(frozen=True)
class Opened:
    """An image to resample, or of which the grid alone counts.

    Attributes:
        name: the name of its file; "image" if it has none.
        grid: where its voxels are, of its type of values.
        zarr, level: the OME-Zarr, and the number of the level; None: it is another image.
        held: the values of another image; None: there are none.
    """

    name: str
    grid: Image
    zarr: Optional[OmeZarr]
    level: int
    held: Optional[Held]

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The axes of its values."""
        if self.zarr is not None:
            return self.zarr.axes
        assert self.held is not None
        return self.held.axes

    @property
    def leading(self) -> tuple[int, ...]:
        """How many points in time and channels there are."""
        if self.zarr is not None:
            return self.zarr.levels[self.level].shape[: -self.grid.dimension]
        assert self.held is not None
        return self.held.leading

    @property
    def leading_places(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """The scale and the translation along time and channels."""
        if self.zarr is None:
            assert self.held is not None
            return self.held.scale, self.held.translation
        level, count = self.zarr.levels[self.level], len(self.leading)
        return level.scale[:count], level.translation[:count]


def open_image(image: Union[PathLike, ImageLike, Opened]) -> Opened:
    """Opens an image, unless it has been opened: of an OME-Zarr the finest level unless its name ends on the number of another one. A file
    of four dimensions has points in time. Values are not read yet.

    Raises:
        BadInputError: it is no image, or cannot be read.
    """
    if isinstance(image, Opened):
        return image
    if not isinstance(image, (str, bytes, os.PathLike)):
        read = read_any_image(image, "image")[0]
        values = host_array(read)
        return _opened("image", read, lambda: values)
    name = name_of(image)
    if is_zarr(name):
        zarr, level = _open_zarr(name)
        return Opened(name, zarr.grid(level), zarr, level, None)
    grid, times = read_times(name)
    if times is not None:
        return _opened(name, grid, lambda: _read_volumes(name, grid), times)
    return _opened(name, grid, lambda: _read_file(name, grid))


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


def _read_file(name: str, grid: Image) -> np.ndarray:
    """Reads a file's values, and gives the warnings that its header has not given yet."""
    with _warn_once(grid):
        return host_array(read_image(name))


def _read_volumes(name: str, grid: Image) -> np.ndarray:
    """Reads the values of all volumes as _read_file() does."""
    with _warn_once(grid):
        series = read_series(name)
        made = np.empty((len(series), *grid.content.shape), grid.content.dtype)
        for number in range(len(series)):
            made[number] = series[number].array
    return made


@contextmanager
def _warn_once(grid: Image) -> Iterator[None]:
    """Gives warnings at the end, without those that were given of the grid."""
    warnings: list[str] = []
    with collect_input_warnings(warnings):
        yield
    for text in warnings:
        if text not in grid.warnings:
            warn_of_input(text)


def _opened(name: str, image: Image, read: Callable[[], np.ndarray], times: Optional[Times] = None) -> Opened:
    """Returns an image that is held as a whole.

    Args:
        image: its grid and type.
        read: returns its values, with components as their last axis, and of a series points in time as their first one.
        times: of a series.
    """
    kind = image.content.dtype.newbyteorder("=")
    grid = Image(no_values(kind, image.shape), image.spacing, image.origin, image.direction)
    axes = [Axis(one, "space", _UNIT) for one in "zyx"[-image.dimension :]]
    leading, scale, translation = [], [], []
    if image.is_vector:
        axes.insert(0, Axis("c", "channel"))
        leading, scale, translation = [image.components], [1.0], [0.0]
    if times is not None:
        axes.insert(0, Axis("t", "time", _TIMES.get(times.unit)))
        step, start = _known_times(times)
        leading, scale, translation = [times.count, *leading], [step, *scale], [start, *translation]
    size = kind.itemsize * int(np.prod([*leading, *image.shape], dtype=np.int64))
    place = -1 - image.dimension
    held = Held(tuple(axes), tuple(leading), tuple(scale), tuple(translation), size, lambda: np.moveaxis(read(), -1, place) if image.is_vector else read())
    return Opened(name, grid, None, 0, held)


def _known_times(times: Times) -> tuple[float, float]:
    """Returns the step and the start; 1 and 0 where a header does not say them, or where they are no times."""
    if times.unit in _NO_TIMES:
        return 1.0, 0.0
    return times.step if 0.0 < times.step < math.inf else 1.0, times.start if math.isfinite(times.start) else 0.0
