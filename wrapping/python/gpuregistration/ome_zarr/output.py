# SPDX-License-Identifier: Apache-2.0
"""Makes an OME-Zarr of OME-NGFF 0.5, on Zarr's format 3: its arrays in shards, its metadata, and its name, which it gets when it is
whole."""

from __future__ import annotations

import fcntl
import os
import shutil
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterator, Mapping, Optional, Sequence

import numpy as np

from .. import __version__
from .._engine import BadInputError
from .._image import Image
from .._making import naming, reworded_by_places
from .._paths import readable
from .._zarr_names import has_zarr_name
from .metadata import MILLIMETERS, Axis, find_arrays
from .storage import import_zarr

VERSION = "0.5"

#: Begins the name of the folder in which an output is made, beside the output.
MAKING = ".making-"
# A group's or an array's metadata.
_METADATA = "zarr.json"
# In that folder: the lock, and what the output replaces.
_LOCK, _BEFORE = "lock", "before"
# Packs in a quarter of the time of its best, into a few per cent more.
_LEVEL_OF_ZSTD = 3


@dataclass(frozen=True)
class LevelPlan:
    """A level to make.

    Attributes:
        shape: along space.
        chunk: the shape of its chunks along space.
        block: the shape of its shards, or, where that is the same, of its chunks.
        factors: that lead from the level before to it; from the finest to itself 1.
        scale: product of the factors from the finest level on.
    """

    shape: tuple[int, ...]
    chunk: tuple[int, ...]
    block: tuple[int, ...]
    factors: tuple[int, ...]
    scale: tuple[int, ...]


@dataclass(frozen=True)
class Content:
    """Describes an output in its metadata.

    Attributes:
        name: the image's name.
        axes: the axes of the image's arrays.
        leading: how many channels and points in time there are.
        leading_scale, leading_translation: of the metadata, along them.
        grid: the finest level's grid, in mm.
        kind: the type of its values.
        levels: the finest one first.
        is_of_labels: levels are made by the most frequent value.
        display: the metadata "omero"; None: there is none.
    """

    name: str
    axes: tuple[Axis, ...]
    leading: tuple[int, ...]
    leading_scale: tuple[float, ...]
    leading_translation: tuple[float, ...]
    grid: Image
    kind: np.dtype
    levels: tuple[LevelPlan, ...]
    is_of_labels: bool
    display: Optional[Mapping[str, Any]]


def check_output(path: str) -> None:
    """Checks, before any work, that an OME-Zarr can be put there. Raises BadInputError."""
    place = Path(os.path.abspath(path))
    if not has_zarr_name(path):
        raise BadInputError(readable(f"{path} is no name of an OME-Zarr: let it end on .zarr."))
    if not place.parent.is_dir():
        raise BadInputError(readable(f"There is no folder {place.parent} to make {place.name} in: make it, or give another name."))
    if os.path.lexists(place):
        _check_can_be_replaced(place, path)


def _check_can_be_replaced(place: Path, path: str) -> None:
    """Raises BadInputError unless an empty folder is there, or an OME-Zarr image with nothing beside its levels."""
    is_folder = place.is_dir() and not place.is_symlink()
    if is_folder and not os.listdir(place):
        return
    no_image = BadInputError(readable(f"{path} is there, and is no OME-Zarr image that could be replaced: give another name."))
    if not is_folder:
        raise no_image
    try:
        levels = find_arrays(str(place))
    except BadInputError as error:
        raise no_image from error
    others = _list_others(place, [[part for part in level.split("/") if part not in ("", ".")] for level in levels])
    if others:
        what = f"is an OME-Zarr image that holds more than its levels, {', '.join(others[:3])}{', …' * (len(others) > 3)}, which would be lost"
        raise BadInputError(readable(f"{path} {what}: give another name."))


def _list_others(group: Path, levels: Sequence[Sequence[str]]) -> list[str]:
    """Returns what lies in a group's folder, and in the groups that lead to its levels, beside metadata and levels.

    Args:
        levels: the parts of each level's path.
    """
    others = []
    for name in sorted(os.listdir(group)):
        below = [level[1:] for level in levels if level[:1] == [name]]
        if below and [] not in below:
            others += [f"{name}/{other}" for other in _list_others(group / name, below)]
        elif not below and name != _METADATA and not name.startswith("."):
            others.append(name)
    return others


@contextmanager
def making(path: str) -> Iterator[Path]:
    """Yields a folder beside an output, in which it is made and which is removed at the end. Files that a killed run has left there
    are removed before.

    Raises:
        BadInputError: another process makes the same output.
    """
    place = Path(os.path.abspath(path))
    folder = place.parent / (MAKING + place.name)
    folder.mkdir(exist_ok=True)
    try:
        lock = open(folder / _LOCK, "w", encoding="ascii")
    except OSError:
        # It stays if a killed run has left something there.
        with suppress(OSError):
            folder.rmdir()
        raise
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise BadInputError(readable(f"Another process makes {path}: wait for it, or give another name.")) from error
        try:
            if (folder / _BEFORE).exists() and not place.exists():
                # It was killed between two renamings.
                os.rename(folder / _BEFORE, place)
            for left in folder.iterdir():
                if left.name != _LOCK:
                    _remove(left)
            yield folder
        except (OSError, BadInputError) as error:
            renamed = reworded_by_places(error, {folder / place.name: place}) or naming(error, place)
            if renamed is None:
                raise
            raise renamed from error
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def publish(made: Path, path: str) -> None:
    """Gives an output its name; what it replaces is removed then."""
    _remove_parts(made)
    place = Path(os.path.abspath(path))
    before = made.parent / _BEFORE
    if place.exists():
        os.rename(place, before)
    try:
        os.rename(made, place)
    except BaseException:
        if before.exists():
            os.rename(before, place)
        raise
    with suppress(OSError):
        _remove(before)


def _remove_parts(made: Path) -> None:
    """Removes files that a worker was killed at, before they had their names: zarr's names of chunks and of shards end on a number."""
    for folder, _, names in os.walk(made):
        for name in names:
            if name != _METADATA and not name.isdecimal():
                os.remove(os.path.join(folder, name))


def _remove(left: Path) -> None:
    if left.is_dir() and not left.is_symlink():
        shutil.rmtree(left, ignore_errors=True)
    else:
        left.unlink(missing_ok=True)


def create(folder: Path, content: Content) -> None:
    """Makes the group and its arrays, without values.

    Raises:
        OSError: the disk is full, or fails.
    """
    zarr = import_zarr()
    group = zarr.open_group(str(folder), mode="w", zarr_format=3, attributes={"ome": describe(content)})
    lead = (1,) * len(content.leading)
    shuffle = "shuffle" if content.kind.itemsize > 1 else "noshuffle"
    for number, level in enumerate(content.levels):
        is_sharded = level.block != level.chunk
        group.create_array(
            name=str(number),
            shape=(*content.leading, *level.shape),
            chunks=(*lead, *level.chunk),
            shards=(*lead, *level.block) if is_sharded else None,
            dtype=content.kind,
            compressors=zarr.codecs.BloscCodec(cname="zstd", clevel=_LEVEL_OF_ZSTD, shuffle=shuffle),
            fill_value=0,
            dimension_names=[axis.name for axis in content.axes],
        )


def describe(content: Content) -> dict[str, Any]:
    """Returns the metadata "ome"."""
    image: dict[str, Any] = {
        "name": content.name,
        "axes": [axis.describe() for axis in content.axes],
        "datasets": [
            {"path": str(number), "coordinateTransformations": _describe_places(content, level.scale)}
            for number, level in enumerate(content.levels)
        ],
        "type": "most frequent value" if content.is_of_labels else "mean",
        "metadata": {"method": "gpuregistration", "version": __version__},
    }
    return {"version": VERSION, "multiscales": [image], **({} if content.display is None else {"omero": dict(content.display)})}


def _describe_places(content: Content, factors: Sequence[int]) -> list[dict[str, Any]]:
    d = len(factors)
    units = np.array([MILLIMETERS[axis.unit or "millimeter"] for axis in content.axes[-d:]])
    spacing, origin = content.grid.spacing[::-1], content.grid.origin[::-1]
    along = np.array(factors)
    scale = spacing * along / units
    # The first voxel of a level lies in the middle of those that it stands for.
    translation = (origin + 0.5 * (along - 1) * spacing) / units
    return [
        {"type": "scale", "scale": [*map(float, content.leading_scale), *scale.tolist()]},
        {"type": "translation", "translation": [*map(float, content.leading_translation), *translation.tolist()]},
    ]


def along_axes(grid: Image, what: str) -> Image:
    """Returns the grid of the same voxels in the order in which x, y (and z) grow, since an OME-Zarr says of no other direction.

    Args:
        what: names the image that has the grid, for errors.

    Raises:
        BadInputError: the grid's axes are not parallel to x, y and z.
    """
    columns = np.abs(grid.direction)
    order = columns.argmax(axis=1)
    exact = np.zeros_like(columns)
    exact[np.arange(len(order)), order] = 1
    if sorted(order) != list(range(len(order))) or np.abs(columns - exact).max() > 1e-6:
        raise BadInputError(
            f"An OME-Zarr has axes along x, y and z alone, and the {what}'s have the direction {grid.direction.tolist()}: give a reference "
            "whose axes are parallel to these, such as one that has been resampled."
        )
    signs = np.array([grid.direction[row, column] for row, column in enumerate(order)])
    size, spacing = np.array(grid.size)[order], grid.spacing[order]
    origin = np.where(signs < 0, grid.origin - (size - 1) * spacing, grid.origin)
    return Image(np.broadcast_to(np.zeros((), grid.content.dtype), tuple(size[::-1])), spacing, origin)
