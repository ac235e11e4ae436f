# SPDX-License-Identifier: Apache-2.0
"""Cuts an output into blocks that fit into a stated memory."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Callable, Iterator, Optional, Sequence

import numpy as np

from .._engine import BadInputError, get_host_memory_limit
from ..cohort.pipeline import AHEAD, BEHIND
from .metadata import readable_bytes
from .storage import CONCURRENCY

#: Voxels of a chunk along each axis, in three dimensions and in two, unless they are stated.
CHUNK, CHUNK_OF_PLANE = 128, 1024
# Voxels of a block along each axis, at most: larger ones make files too large to move, and are not faster.
_LARGEST, _LARGEST_OF_PLANE = 256, 2048
# Blocks that each worker should have at least, so that all end at about the same time.
_LEAST_BLOCKS = 8
# Writing a block takes its bytes so many times: its values, its packed chunks, and the file that they become.
_WRITING = 3


@dataclass(frozen=True)
class Block:
    """A part of an output, in the order of its arrays' axes of space.

    Attributes:
        first, end: the indices of its first voxel, and those behind its last one.
    """

    first: tuple[int, ...]
    end: tuple[int, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(b - a for a, b in zip(self.first, self.end))


#: Returns the shape of the part of the input that a block needs; None: it needs none.
Need = Callable[[Block], Optional[Sequence[int]]]


@dataclass(frozen=True)
class Costs:
    """Describes the memory of a worker that a block takes.

    Attributes:
        stored: bytes of a value in the input.
        chunk: bytes of a chunk of the input, unpacked.
        reading: further bytes of a value of the input while it is read.
        computing: bytes of a value of the input while it is computed with; 0: those that are read.
        made: bytes of a computed value of the output.
        written: bytes of a value in the output.
        fixed: bytes that a worker holds beside all blocks, such as a field's vectors.
    """

    stored: int
    chunk: int
    reading: int
    computing: int
    made: int
    written: int
    fixed: int = 0

    def bytes(self, needed: int, block: int) -> int:
        """Returns the bytes that a worker takes at most: blocks are read ahead and written while one is computed.

        Args:
            needed: voxels of the input that a block needs.
            block: voxels of a block.
        """
        read = self.stored * needed
        reading = read + self.reading * needed + 2 * min(CONCURRENCY * self.chunk, 8 * read)
        computing = read + self.computing * needed + (self.made + self.written) * block
        writing = _WRITING * self.written * block
        return self.fixed + AHEAD * reading + computing + BEHIND * max(read, writing)


def cut(shape: Sequence[int], block: Sequence[int]) -> Iterator[Block]:
    """Yields the blocks of an output of that shape, the last axis fastest."""
    for first in itertools.product(*(range(0, count, along) for count, along in zip(shape, block))):
        yield Block(first, tuple(min(a + along, count) for a, along, count in zip(first, block, shape)))


def choose_chunk(shape: Sequence[int], asked: Optional[Sequence[int]]) -> tuple[int, ...]:
    """Returns the shape of chunks: what is asked for, or the module's own, and no larger than the output."""
    usual = [CHUNK if len(shape) == 3 else CHUNK_OF_PLANE] * len(shape)
    return tuple(min(along, count) for along, count in zip(asked or usual, shape))


def choose_block(shape: Sequence[int], chunk: Sequence[int], memory: int, workers: int, costs: Costs, need: Need) -> tuple[tuple[int, ...], int]:
    """Chooses the shape of blocks: whole chunks, as large as a worker's memory allows. Returns it, and the bytes that a worker takes at
    most.

    Args:
        shape: the output's shape along space.
        memory: bytes of a worker.
        workers: how many there are.
        need: the part of the input that a block needs.

    Raises:
        BadInputError: not even a block of one chunk fits.
    """
    largest = _LARGEST if len(shape) == 3 else _LARGEST_OF_PLANE
    counts = [max(1, min(largest, count) // along) for along, count in zip(chunk, shape)]
    while True:
        block = tuple(along * count for along, count in zip(chunk, counts))
        taken = _compute_bytes(shape, block, costs, need)
        if taken <= memory and (max(counts) == 1 or count_blocks(shape, block) >= _LEAST_BLOCKS * workers):
            return block, taken
        if max(counts) == 1:
            break
        # The longest axis is halved: blocks like cubes need the least around them.
        axis = max(range(len(counts)), key=lambda k: (counts[k] > 1) * chunk[k] * counts[k])
        counts[axis] = (counts[axis] + 1) // 2
    size = " x ".join(map(str, chunk[::-1]))
    raise BadInputError(
        f"There is too little memory: a worker is to have {readable_bytes(memory)}, and blocks of one chunk of {size} voxels need "
        f"{readable_bytes(taken)}. Allow more (memory, --memory), or make chunks smaller (chunk, --chunk)."
    )


def _compute_bytes(shape: Sequence[int], block: Sequence[int], costs: Costs, need: Need) -> int:
    """Returns the bytes that a worker takes at most for blocks of that shape."""
    needed = max(int(np.prod(need(one) or [0], dtype=np.int64)) for one in cut(shape, block))
    return costs.bytes(needed, int(np.prod(block, dtype=np.int64)))


def count_blocks(shape: Sequence[int], block: Sequence[int]) -> int:
    """Returns how many blocks an output of that shape has."""
    return int(np.prod([-(-count // along) for count, along in zip(shape, block)], dtype=np.int64))


def usual_memory() -> int:
    """Returns the bytes that all workers of this machine may take unless it is stated: a quarter of what is physically there, or of the
    limit of the process's control group where that is less. What other processes use does not matter, so that runs are alike."""
    return get_host_memory_limit() // 4
