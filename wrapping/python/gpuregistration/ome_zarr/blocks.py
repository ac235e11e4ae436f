# SPDX-License-Identifier: Apache-2.0
"""Jobs that make one block of an output: of the resampled image, or of a coarser level of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Mapping, Optional, Sequence

import numpy as np

from .._array_files import load_array
from .._devices import Device
from .._image import Image
from .._resample import Part, resample_array
from .._transforms import Transform
from .allocator import give_back_blocks
from .bounds import find_part
from .plan import Block
from .pyramid import shrink
from .shared import read_shared
from .storage import open_array, read_part, write_file


@dataclass(frozen=True)
class Source:
    """An array that blocks are read from.

    Attributes:
        folder, path: the place of a Zarr's array; or the name of a .npy file, and "".
    """

    folder: str
    path: str

    def read(self, first: Sequence[int], end: Sequence[int]) -> np.ndarray:
        """Reads the part between two indices of the whole array. Raises BadInputError if it cannot be read."""
        array = open_array(self.folder, self.path) if self.path else load_array(Path(self.folder))
        give_back_blocks(math.prod(b - a for a, b in zip(first, end)) * array.dtype.itemsize)
        return read_part(array, self.folder, first, end)


@dataclass(frozen=True)
class Target:
    """An array that blocks are written to.

    Attributes:
        folder, path: the place of a Zarr's array.
        leading: indices of the channel and the point in time.
        block: the block along the axes of space.
    """

    folder: str
    path: str
    leading: tuple[int, ...]
    block: Block

    def write(self, values: np.ndarray) -> None:
        """Writes the block's values. Raises OSError if the disk is full, or fails."""
        lead = tuple(n + 1 for n in self.leading)
        try:
            write_file(self.folder, self.path, (*self.leading, *self.block.first), (*lead, *self.block.end), values)
        except OSError as error:
            raise OSError(f"{self.folder} cannot be written: {error.strerror or error}") from error


@dataclass
class _Input:
    """Holds the values that a job has read and not yet processed."""

    values: Optional[np.ndarray]
    first: Sequence[int]


@dataclass(frozen=True)
class ResampleJob:
    """Makes a block of the resampled image.

    Attributes:
        id: its name, which no other job has.
        shared: the folder of what all blocks share.
        source: the image's array.
        target: where the block belongs.
        interpolation, default: as resample() takes them.
    """

    id: str
    shared: str
    source: Source
    target: Target
    interpolation: str
    default: float

    def read(self) -> _Input:
        """Reads the part of the image that the block needs."""
        shared = read_shared(self.shared)
        part = find_needed(shared.transform, shared.grid, shared.moving, self.target.block, self.interpolation)
        if part is None:
            return _Input(None, ())
        first, end = part
        leading = self.target.leading
        if shared.values is not None:
            part = shared.values[leading][tuple(slice(a, b) for a, b in zip(first, end))]
            give_back_blocks(part.nbytes)
            return _Input(part, first)
        values = self.source.read((*leading, *first), (*(n + 1 for n in leading), *end))
        return _Input(values.reshape(values.shape[len(leading) :]), first)

    def compute(self, inputs: _Input, device: str) -> np.ndarray:
        """Resamples, and then frees the part."""
        shared, block = read_shared(self.shared), self.target.block
        values, inputs.values = inputs.values, None
        kind = shared.moving.content.dtype
        if values is None:
            return np.full(block.shape, self.default, kind)
        grid = Image(np.broadcast_to(np.zeros((), kind), block.shape))
        part = Part(shared.moving, shared.grid, tuple(inputs.first[::-1]), block.first[::-1], shared.chain)
        made = resample_array(Image(values), None, grid, self.interpolation, device, self.default, part=part)
        return np.asarray(made)

    def write(self, inputs: _Input, found: np.ndarray, device: Device, times: Mapping[str, Any]) -> dict[str, Any]:
        """Writes the block."""
        self.target.write(found)
        return {"times": times}


@dataclass(frozen=True)
class ShrinkJob:
    """Makes a block of a coarser level.

    Attributes:
        id: its name, which no other job has.
        source: the array of the finer level.
        target: where the block belongs.
        shape: the finer level's shape along space.
        factors: by which it is shrunk along each axis of space.
        of_labels: the most frequent value is taken, in the place of the mean.
    """

    id: str
    source: Source
    target: Target
    shape: tuple[int, ...]
    factors: tuple[int, ...]
    of_labels: bool

    def read(self) -> np.ndarray:
        """Reads what the block is made of, and makes it: no device is needed."""
        block, leading = self.target.block, self.target.leading
        first = [factor * a for factor, a in zip(self.factors, block.first)]
        end = [min(factor * b, count) for factor, b, count in zip(self.factors, block.end, self.shape)]
        values = self.source.read((*leading, *first), (*(n + 1 for n in leading), *end))
        return shrink(values.reshape(values.shape[len(leading) :]), self.factors, self.of_labels)

    def compute(self, inputs: np.ndarray, device: str) -> np.ndarray:
        """Does nothing."""
        return inputs

    def write(self, inputs: np.ndarray, found: np.ndarray, device: Device, times: Mapping[str, Any]) -> dict[str, Any]:
        """Writes the block."""
        self.target.write(found)
        return {"times": times}


#: The first voxel of a part of an array, and those behind the last one, in the order of its axes.
_Ends = tuple[tuple[int, ...], tuple[int, ...]]


def find_needed(transform: Optional[Transform], grid: Image, moving: Image, block: Block, interpolation: str) -> Optional[_Ends]:
    """Returns what a block needs of the image; None: nothing. B-splines need all of it: their coefficients depend on whole lines."""
    first, size = block.first[::-1], block.shape[::-1]
    found = find_part(transform, grid, first, size, moving)
    if found is None:
        return None
    if interpolation == "bspline":
        return (0,) * len(first), moving.shape
    begin, end = (tuple(int(n) for n in corner[::-1]) for corner in found)
    return begin, end
