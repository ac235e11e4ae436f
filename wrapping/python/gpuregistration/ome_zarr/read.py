# SPDX-License-Identifier: Apache-2.0
"""Reads one resolution level of an OME-Zarr as an image in memory."""

from __future__ import annotations

import math
from typing import Optional

import numpy as np

from .._engine import BadInputError
from .._image import Image, no_values
from .._warnings import warn_of_input
from .._zarr_names import split_name
from .metadata import OmeZarr, read_metadata
from .storage import open_array, read_part

#: Values of the finest level that is read if no level is named: 0.5 GB of 16 bits, and 1 GB once they are floats.
MOST_VALUES = 1 << 28


def read_zarr(name: str, channel: Optional[int] = None, reads_values: bool = True) -> Image:
    """Reads a level of an OME-Zarr.

    Args:
        name: the name of its folder, with "#2" behind it for level 2; without, the finest level of at most MOST_VALUES values is read.
            Where that is not the finest one there is an InputWarning.
        channel: the one that is read, from 0 on. None: all, as the components of a vector image where there are several.
        reads_values: False: they are left out.

    Raises:
        BadInputError: it is no OME-Zarr image, there is no such level or channel, no level is small enough, or there are several points in
            time.
        ImportError: there is no zarr.
    """
    folder, wanted = split_name(name)
    zarr = read_metadata(folder)
    number = choose_level(zarr, channel) if wanted is None else wanted
    level = zarr.level(number)
    grid = zarr.grid(number)
    d = zarr.dimension
    if channel not in (None, 0) and not any(axis.kind == "channel" for axis in zarr.leading):
        raise BadInputError(f"{folder} has one channel, 0, and no channel {channel}.")
    first, end = [0] * len(level.shape), list(level.shape)
    for k, axis in enumerate(zarr.leading):
        if axis.kind == "time" and level.shape[k] > 1:
            raise BadInputError(f"{folder} has {level.shape[k]} points in time, and an image has one. (To resample each: gpureg apply -o OUT.zarr.)")
        if axis.kind == "channel" and channel is not None:
            if not 0 <= channel < level.shape[k]:
                raise BadInputError(f"{folder} has no channel {channel}: it has {_describe_channels(zarr, level.shape[k])}.")
            first[k], end[k] = channel, channel + 1
    if reads_values:
        values = read_part(open_array(folder, level.path), folder, first, end)
    else:
        values = no_values(level.kind, [b - a for a, b in zip(first, end)])
    channels = math.prod(values.shape[:-d])
    values = values.reshape(channels, *values.shape[-d:])
    if channels == 1:
        values = values[0]
    else:
        values = np.moveaxis(values, 0, -1)
    return grid.like(np.ascontiguousarray(values) if reads_values else values)


def has_channels(name: str) -> bool:
    """Returns whether an OME-Zarr has several channels. Raises BadInputError if it is none."""
    zarr = read_metadata(split_name(name)[0])
    return any(axis.kind == "channel" and size > 1 for axis, size in zip(zarr.leading, zarr.levels[0].shape))


def read_zarr_grid(name: str) -> Image:
    """Returns where the voxels of a level are that read_zarr() would read, as an image without values of its own."""
    folder, wanted = split_name(name)
    zarr = read_metadata(folder)
    return zarr.grid(choose_level(zarr, None) if wanted is None else wanted)


def choose_level(zarr: OmeZarr, channel: Optional[int]) -> int:
    """Returns the number of the finest level that is small enough to be read. Raises BadInputError, which lists the levels, if there is
    none."""
    for number, level in enumerate(zarr.levels):
        counts = [count for count, axis in zip(level.shape, zarr.axes) if axis.kind == "space" or (axis.kind == "channel" and channel is None)]
        if math.prod(counts) <= MOST_VALUES:
            if number > 0:
                warn_of_input(
                    f"{zarr.folder}: level {number} is read, of {zarr.describe_size(number)}, the finest one of at most {MOST_VALUES} values. "
                    f"Name another one by {zarr.folder}#N: {zarr.describe_levels()}."
                )
            return number
    raise BadInputError(
        f"{zarr.folder} has no level of at most {MOST_VALUES} values, which would be read: name one by {zarr.folder}#N, or make a coarser "
        f"one. It has {zarr.describe_levels()}."
    )


def _describe_channels(zarr: OmeZarr, count: int) -> str:
    names = [f"{n}{f' ({zarr.channels[n]})' if n < len(zarr.channels) and zarr.channels[n] else ''}" for n in range(count)]
    return f"the channels {', '.join(names)}"
