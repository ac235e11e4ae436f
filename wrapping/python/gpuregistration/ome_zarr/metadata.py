# SPDX-License-Identifier: Apache-2.0
"""The metadata of an OME-Zarr image: its axes, and where the voxels of each resolution level are (OME-NGFF 0.4 and 0.5, "multiscales")."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Mapping, Optional, Sequence

import numpy as np

from .._engine import BadInputError
from .._image import Image
from .._warnings import warn_of_input
from .storage import open_array_of, open_group

#: mm, by the names of lengths that OME-NGFF takes from UDUNITS-2.
MILLIMETERS = {
    "angstrom": 1e-7,
    "nanometer": 1e-6,
    "micrometer": 1e-3,
    "micron": 1e-3,
    "millimeter": 1.0,
    "centimeter": 10.0,
    "decimeter": 100.0,
    "meter": 1e3,
    "inch": 25.4,
}
_SYMBOLS = {"nm": "nanometer", "um": "micrometer", "µm": "micrometer", "μm": "micrometer", "mm": "millimeter", "cm": "centimeter", "m": "meter"}

_SPACE = ("z", "y", "x")
# Directions that a patient's axes may be said to have, which are those of ITK's points.
_LPS = {"x": "right-to-left", "y": "anterior-to-posterior", "z": "inferior-to-superior"}
_VERSIONS = ("0.4", "0.5")


@dataclass(frozen=True)
class Axis:
    """An axis of an OME-Zarr's arrays.

    Attributes:
        name: such as "z".
        kind: "space", "channel" or "time".
        unit: as the metadata names it; None: it does not.
    """

    name: str
    kind: str
    unit: Optional[str] = None

    def describe(self) -> dict[str, str]:
        """Returns what the metadata says of it."""
        return {"name": self.name, "type": self.kind, **({} if self.unit is None else {"unit": self.unit})}


@dataclass(frozen=True)
class Level:
    """A resolution level.

    Attributes:
        path: the path of the level's array, in the group.
        shape, chunks: the array's shape and chunks, in the axes' order.
        kind: the type of its values.
        scale, translation: along each axis, in the axes' units: the voxel of index i is at scale · i + translation.
    """

    path: str
    shape: tuple[int, ...]
    chunks: tuple[int, ...]
    kind: np.dtype
    scale: tuple[float, ...]
    translation: tuple[float, ...]

    @property
    def bytes(self) -> int:
        """Bytes of all values, unpacked."""
        return int(np.prod(self.shape, dtype=np.int64)) * self.kind.itemsize


@dataclass(frozen=True)
class OmeZarr:
    """An OME-Zarr image as its metadata describes it.

    Attributes:
        folder: its name.
        version: the version of OME-NGFF.
        name: the image's name; "" if it has none.
        axes: time and channel, as far as there are such, then (z,) y and x.
        levels: the finest one first.
        channels: the channels' names, as far as they are known.
        display: the metadata "omero", of how channels are shown; None if there is none.
    """

    folder: str
    version: str
    name: str
    axes: tuple[Axis, ...]
    levels: tuple[Level, ...]
    channels: tuple[str, ...]
    display: Optional[Mapping[str, Any]]

    @property
    def dimension(self) -> int:
        """How many axes are of space: 2 or 3."""
        return sum(axis.kind == "space" for axis in self.axes)

    @property
    def leading(self) -> tuple[Axis, ...]:
        """The axes before those of space."""
        return self.axes[: -self.dimension]

    def grid(self, number: int) -> Image:
        """Returns where the voxels of a level are, in mm, as an image without values of its own, of the level's type."""
        level = self.level(number)
        d = self.dimension
        units = np.array([_millimeters(axis.unit) for axis in self.axes[-d:]])
        spacing, origin = (units * np.array(numbers[-d:]) for numbers in (level.scale, level.translation))
        values = np.broadcast_to(np.zeros((), level.kind), level.shape[-d:])
        return Image(values, spacing[::-1], origin[::-1])

    def level(self, number: int) -> Level:
        """Returns a level. Raises BadInputError, which lists the levels, if there is none of that number."""
        if not 0 <= number < len(self.levels):
            raise BadInputError(f"{self.folder} has no level {number}: it has {self.describe_levels()}.")
        return self.levels[number]

    def describe_levels(self) -> str:
        """Returns the levels with their sizes, for errors and warnings."""
        return "; ".join(f"level {number}: {self.describe_size(number)}" for number in range(len(self.levels)))

    def describe_size(self, number: int) -> str:
        """Returns the size of a level: voxels along x, y (and z), channels and points in time, and bytes."""
        level = self.levels[number]
        size = " x ".join(map(str, level.shape[: -self.dimension - 1 : -1]))
        more = "".join(f", {count} {'channels' if axis.kind == 'channel' else 'points in time'}" for axis, count in zip(self.leading, level.shape))
        return f"{size} voxels{more}, {readable_bytes(level.bytes)}"


def readable_bytes(count: float) -> str:
    """Returns a number of bytes with a unit, such as "1.5 GB"."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.4g} TB"


def read_metadata(folder: str) -> OmeZarr:
    """Reads what an OME-Zarr image says of itself.

    Raises:
        BadInputError: the folder is no Zarr or no OME-Zarr image, or what it says is not possible; the message names the folder.
        ImportError: there is no zarr.
    """
    group = open_group(folder)
    ome = _read_ome(folder, group)
    try:
        return _read(folder, group, ome)
    except (TypeError, KeyError, IndexError, AttributeError, ValueError) as error:
        if isinstance(error, BadInputError):
            raise
        raise BadInputError(f"The OME metadata of {folder} are not as OME-NGFF has them: {type(error).__name__}: {error}.") from error


def find_arrays(folder: str) -> list[str]:
    """Returns the paths of the levels of all images that are in an OME-Zarr's group. Raises what read_metadata() raises."""
    ome = _read_ome(folder, open_group(folder))
    try:
        return [str(dataset["path"]) for image in ome["multiscales"] for dataset in image["datasets"]]
    except (TypeError, KeyError) as error:
        raise BadInputError(f"The OME metadata of {folder} are not as OME-NGFF has them: {type(error).__name__}: {error}.") from error


def _read_ome(folder: str, group: Any) -> Mapping[str, Any]:
    attributes = dict(group.attrs)
    ome = attributes.get("ome", attributes)
    if not isinstance(ome, Mapping) or "multiscales" not in ome:
        raise BadInputError(f"The Zarr {folder} has no OME metadata of an image (multiscales). {_hint_of_content(folder, attributes, ome)}")
    return ome


def _hint_of_content(folder: str, attributes: Mapping[str, Any], ome: Any) -> str:
    if "bioformats2raw.layout" in attributes or (isinstance(ome, Mapping) and "bioformats2raw.layout" in ome):
        return f"It holds images in folders of their own: name one, such as {os.path.join(folder, '0')}."
    if isinstance(ome, Mapping) and "plate" in ome:
        return f"It is a plate: name an image of it, such as {os.path.join(folder, 'A', '1', '0')}."
    return "Name the folder of an image."


def _read(folder: str, group: Any, ome: Mapping[str, Any]) -> OmeZarr:
    (first, *others) = ome["multiscales"]
    version = str(ome.get("version", first.get("version", "")))
    if version.partition("-")[0] not in _VERSIONS and not (version == "" and "axes" in first):
        raise BadInputError(f'{folder} is of OME-NGFF "{version}": {" and ".join(_VERSIONS)} are read.')
    if others:
        warn_of_input(f"{folder} has {len(others) + 1} images in one group: the first one is taken.")
    axes = _read_axes(folder, first["axes"])
    overall = first.get("coordinateTransformations", [])
    levels = tuple(_read_level(folder, group, axes, dataset, overall) for dataset in first["datasets"])
    if not levels:
        raise BadInputError(f"{folder} has no resolution levels (datasets).")
    if len({level.kind for level in levels}) > 1:
        raise BadInputError(f"The levels of {folder} are of different types of values: {', '.join(str(level.kind) for level in levels)}.")
    display = ome.get("omero")
    channels = [] if not isinstance(display, Mapping) else display.get("channels", [])
    names = tuple(str(channel.get("label", "")) for channel in channels)
    return OmeZarr(folder, version or "0.4", str(first.get("name") or ""), axes, levels, names, display)


def _read_axes(folder: str, described: Sequence[Mapping[str, Any]]) -> tuple[Axis, ...]:
    axes = tuple(Axis(str(axis["name"]), str(axis.get("type") or _kind_of(axis["name"])), axis.get("unit")) for axis in described)
    names = [axis.name for axis in axes]
    kinds = [axis.kind for axis in axes if axis.kind != "space"]
    space = tuple(axis.name for axis in axes if axis.kind == "space")
    if space not in (_SPACE, _SPACE[1:]) or kinds not in ([], ["time"], ["channel"], ["time", "channel"]) or axes[-1].kind != "space":
        raise BadInputError(
            f"{folder} has the axes {', '.join(f'{axis.name} ({axis.kind})' for axis in axes)}: those that are known are, in this order, "
            "t (time), c (channel), z, y, x (space), of which y and x are needed."
        )
    if [axis.kind for axis in axes[: len(kinds)]] != kinds:
        raise BadInputError(f"{folder} has axes in the order {', '.join(names)}: those of space are to be the last ones.")
    for axis in axes:
        if axis.kind == "space" and axis.unit is None:
            warn_of_input(f"{folder} does not say the unit of its axis {axis.name}: it is taken for mm.")
        elif axis.kind == "space" and _name_of_unit(axis.unit) not in MILLIMETERS:
            raise BadInputError(f"{folder} has the unit {axis.unit!r} along {axis.name}: those that are known are {', '.join(MILLIMETERS)}.")
    for axis, item in zip(axes, described):
        orientation = item.get("orientation")
        value = orientation.get("value") if isinstance(orientation, Mapping) else orientation
        if value is not None and value != _LPS.get(axis.name):
            warn_of_input(f"{folder} says that its axis {axis.name} leads {value}, which is not looked at: it is taken for {_LPS.get(axis.name)}.")
    return axes


def _kind_of(name: Any) -> str:
    return {"t": "time", "c": "channel"}.get(str(name), "space" if str(name) in _SPACE else "unknown")


def _name_of_unit(unit: Optional[str]) -> str:
    return _SYMBOLS.get(str(unit), str(unit))


def unit_of(zarr: Optional[OmeZarr]) -> Optional[str]:
    """Returns the name of the unit of an OME-Zarr's lengths, by that of x; None if it has none."""
    unit = None if zarr is None else zarr.axes[-1].unit
    return None if unit is None else _name_of_unit(unit)


def _millimeters(unit: Optional[str]) -> float:
    return 1.0 if unit is None else MILLIMETERS[_name_of_unit(unit)]


def _read_level(
    folder: str, group: Any, axes: Sequence[Axis], dataset: Mapping[str, Any], overall: Sequence[Mapping[str, Any]]
) -> Level:
    path = str(dataset["path"])
    array = open_array_of(folder, group, path)
    where = f"level {path} of {folder}"
    if len(array.shape) != len(axes):
        raise BadInputError(f"The {where} has {len(array.shape)} axes, and the metadata name {len(axes)}.")
    kind = np.dtype(array.dtype)
    if kind.kind not in "biuf" or kind.itemsize > 8:
        raise BadInputError(f"The {where} has values of type {kind}: they are to be whole numbers or floats of 64 bits at most.")
    if min(array.shape) < 1:
        raise BadInputError(f"The {where} has no voxels: its shape is {array.shape}.")
    scale, translation = np.ones(len(axes)), np.zeros(len(axes))
    for step in [*dataset["coordinateTransformations"], *overall]:
        operation = step.get("type")
        if operation == "identity":
            continue
        if operation not in ("scale", "translation") or operation not in step:
            raise BadInputError(f"The {where} has a transformation {dict(step)}: known are those of scale and translation, with their numbers.")
        numbers = np.asarray(step[operation], np.float64)
        if numbers.shape != scale.shape or not np.isfinite(numbers).all():
            raise BadInputError(f"The {where} has the {operation} {step[operation]}: it is to have one number for each of the {len(axes)} axes.")
        scale, translation = (scale * numbers, translation * numbers) if operation == "scale" else (scale, translation + numbers)
    is_space = np.array([axis.kind == "space" for axis in axes])
    if not (scale[is_space] > 0).all():
        raise BadInputError(f"The {where} has the scale {scale.tolist()}: along space it is to be greater than 0.")
    return Level(path, tuple(array.shape), tuple(array.chunks), kind, tuple(scale.tolist()), tuple(translation.tolist()))
