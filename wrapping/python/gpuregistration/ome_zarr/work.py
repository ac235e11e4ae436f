# SPDX-License-Identifier: Apache-2.0
"""Plans an output's levels and blocks, and lists the jobs that make them."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Iterator, Optional, Sequence

import numpy as np

from .. import _engine
from .._array_files import save_array
from .._engine import BadInputError
from .._image import Image
from .._paths import readable
from .._transforms import Transform
from ..cohort.cluster import Plan
from .blocks import ResampleJob, ShrinkJob, Source, Target, find_needed
from .metadata import Axis, readable_bytes, unit_of
from .output import Content, LevelPlan
from .plan import Block, Costs, Need, choose_block, choose_chunk, cut, usual_memory
from .pyramid import plan_levels
from .run import is_here
from .shared import VALUES, Shared, count_bytes, store_shared, write_shared
from .sides import Opened

# Bytes that Blosc takes at a time.
_MOST_OF_CHUNK = 2_000_000_000
# Bytes of a whole number of 64 bits beside its own, where the nearest is found by the values' numbers among all.
_NUMBERS = 24


@dataclass
class Work:
    """Describes the output to make.

    Args:
        opened: the image.
        grid: the output's grid.
        transform: from the output's points to the image's; None: points stay where they are.
        interpolation, default: as resample() takes them.
        workers: that are started here; None: a scheduler's.
        limit: bytes that all workers of this machine may take, or each of a scheduler's. None: as many as usual, beside values that are
            held.

    Attributes:
        memory: bytes that each worker may take.
        planned: bytes that each takes at most.
    """

    opened: Opened
    grid: Image
    transform: Optional[Transform]
    interpolation: str
    default: float
    workers: Optional[Plan]
    limit: Optional[int]
    memory: int = field(default=0, init=False)
    planned: int = field(default=0, init=False)
    _values: Optional[np.ndarray] = field(default=None, init=False)

    def plan(self, of_grid: Opened, chunk: Optional[Sequence[int]]) -> Content:
        """Plans the output.

        Args:
            of_grid: whose grid the output has: the reference, or the image itself. Of an OME-Zarr the chunks are taken, too.
            chunk: voxels along x, y (and z), as they are asked for.

        Raises:
            BadInputError: the memory is too little, or chunks are not possible.
        """
        shape, kind, zarr = self.grid.shape, self.opened.grid.content.dtype, self.opened.zarr
        d = self.grid.dimension
        if chunk is not None:
            chunks: Optional[tuple[int, ...]] = _read_chunk(chunk, d)
        else:
            chunks = None if of_grid.zarr is None else of_grid.zarr.levels[of_grid.level].chunks[-d:]
        chosen = choose_chunk(shape, chunks)
        chunk_bytes = math.prod(chosen) * kind.itemsize
        if chunk_bytes > _MOST_OF_CHUNK:
            raise BadInputError(
                f"Chunks of {' x '.join(map(str, chosen[::-1]))} voxels have {readable_bytes(chunk_bytes)}, and Blosc packs 2 GB at most: ask "
                "for smaller ones (chunk, --chunk)."
            )
        is_exact = self.interpolation == "nearest"
        spacing = self.grid.spacing[::-1].tolist()
        count = 1 if self.workers is None else len(self.workers.devices)
        fixed = self._share_memory(count)
        reading = self._costs(kind, fixed)
        block, self.planned = self._choose_block(shape, chosen, count, reading, self._needed_shape)
        levels = [LevelPlan(shape, chosen, block, (1,) * d, (1,) * d)]
        for size, factors in plan_levels(shape, spacing, chosen):
            # A shard that is read whole is in memory as it is packed, too.
            costs = Costs(kind.itemsize, chunk_bytes, kind.itemsize, 0, 0, kind.itemsize, fixed)
            before = levels[-1].shape

            def need(one: Block, factors: Sequence[int] = factors, before: Sequence[int] = before) -> Sequence[int]:
                return [min(factor * b, most) - factor * a for factor, a, b, most in zip(factors, one.first, one.end, before)]

            smaller = choose_chunk(size, chosen)
            block, taken = self._choose_block(size, smaller, count, costs, need)
            self.planned = max(self.planned, taken)
            scale = tuple(a * b for a, b in zip(levels[-1].scale, factors))
            levels.append(LevelPlan(size, smaller, block, factors, scale))
        unit = unit_of(zarr) or unit_of(of_grid.zarr) or "millimeter"
        lead = self.opened.axes[:-d]
        leading_scale, leading_translation = self.opened.leading_places
        return Content(
            name=_name_of(self.opened),
            axes=(*lead, *(Axis(name, "space", unit) for name in "zyx"[-d:])),
            leading=self.opened.leading,
            leading_scale=leading_scale,
            leading_translation=leading_translation,
            grid=self.grid,
            kind=kind,
            levels=tuple(levels),
            is_of_labels=is_exact,
            display=None if zarr is None else zarr.display,
        )

    def _share_memory(self, count: int) -> int:
        """Finds how many bytes each worker may take, and returns those that it holds beside all blocks.

        Args:
            count: the number of workers.

        Raises:
            BadInputError: the memory is too little for what is held.
        """
        vectors = count_bytes(self.transform)
        held = self.opened.held.bytes if self.opened.held is not None and is_here(self.workers) else 0
        # This process reads the transform for workers, too, and writes values that are held to the disk.
        beside = vectors if self.workers is not None and not is_here(self.workers) else 0
        if self.limit is not None:
            self._check_limit(beside)
        limit = usual_memory() + held if self.limit is None else self.limit
        self.memory = (limit - beside) // count
        if self.memory <= 0:
            raise BadInputError(f"There is too little memory: the transform alone takes {vectors} bytes. Allow more (memory, --memory).")
        return vectors + held

    def _choose_block(self, shape: Sequence[int], chunk: Sequence[int], count: int, costs: Costs, need: Need) -> tuple[tuple[int, ...], int]:
        try:
            return choose_block(shape, chunk, self.memory, count, costs, need)
        except BadInputError as error:
            held = self.opened.held
            if held is None or not is_here(self.workers):
                raise
            size = readable_bytes(held.bytes)
            raise BadInputError(f"{error} Of that, {size} are {self.opened.name}, which is no OME-Zarr, and is held as a whole.") from error

    def _check_limit(self, beside: int) -> None:
        """Raises BadInputError if the values that are held are more than this process may hold beside other bytes."""
        held = self.opened.held
        assert self.limit is not None
        if held is None or self.workers is None or held.bytes + beside < self.limit:
            return
        raise BadInputError(
            f"There is too little memory: {self.opened.name} is no OME-Zarr, and is held as a whole, {readable_bytes(held.bytes)}; the workers "
            f"are to have {readable_bytes(self.limit)} in all. Allow more (memory, --memory), or make it an OME-Zarr first, where there is more."
        )

    def read(self) -> None:
        """Reads the values of an image that is no OME-Zarr. Raises BadInputError if its file is damaged."""
        if self.opened.held is not None:
            self._values = self.opened.held.read()

    def prepare(self, folder: Path) -> None:
        """Hands this process, or by a folder the workers, what all blocks share."""
        values, self._values = self._values, None
        if is_here(self.workers):
            chain = _engine.Chain(self.grid.dimension) if self.transform is None else self.transform.chain()
            store_shared(str(folder), Shared(self.transform, chain, self.grid, self.opened.grid, values))
            return
        if values is not None:
            # Workers read parts of it.
            save_array(folder / VALUES, values)
        write_shared(folder, self.transform, self.grid, self.opened.grid)

    def resample_jobs(self, folder: Path, made: Path, content: Content) -> Iterator[ResampleJob]:
        """Yields the jobs that make the finest level.

        Args:
            folder: that prepare() was given.
            made: the output, as long as it is made.
        """
        if self.opened.zarr is None:
            source = Source(str(folder / VALUES), "")
        else:
            # Workers may run in other folders.
            source = Source(os.path.abspath(self.opened.zarr.folder), self.opened.zarr.levels[self.opened.level].path)
        level = content.levels[0]
        for leading in np.ndindex(*content.leading):
            for block in cut(level.shape, level.block):
                target = Target(str(made), "0", leading, block)
                yield ResampleJob(_name_job(target), str(folder), source, target, self.interpolation, self.default)

    def _needed_shape(self, block: Block) -> Optional[tuple[int, ...]]:
        found = find_needed(self.transform, self.grid, self.opened.grid, block, self.interpolation)
        return None if found is None else tuple(b - a for a, b in zip(*found))

    def _costs(self, kind: np.dtype, fixed: int) -> Costs:
        """Returns what blocks of the finest level take. fixed: as of Costs."""
        is_native = kind.kind == "f" and kind.itemsize > 2
        numbers = _NUMBERS if self.interpolation == "nearest" and kind.kind in "iu" and kind.itemsize == 8 else 0
        chunk = 0 if self.opened.zarr is None else int(np.prod(self.opened.zarr.levels[self.opened.level].chunks)) * kind.itemsize
        computing = (8 if self.interpolation == "bspline" else 0) if is_native else 8 + numbers
        made = 4 if kind.kind == "f" and kind.itemsize < 8 else 8
        return Costs(kind.itemsize, chunk, 0, computing, made, kind.itemsize, fixed)


def shrink_jobs(made: Path, content: Content, number: int) -> Iterator[ShrinkJob]:
    """Yields the jobs that make a level from the one before it."""
    level, before = content.levels[number], content.levels[number - 1]
    source = Source(str(made), str(number - 1))
    for leading in np.ndindex(*content.leading):
        for block in cut(level.shape, level.block):
            target = Target(str(made), str(number), leading, block)
            yield ShrinkJob(_name_job(target), source, target, before.shape, level.factors, content.is_of_labels)


def _name_job(target: Target) -> str:
    return f"block {', '.join(map(str, (*target.leading, *target.block.first)))} of level {target.path}"


def _name_of(opened: Opened) -> str:
    if opened.zarr is not None and opened.zarr.name:
        return opened.zarr.name
    return readable(Path(opened.name.rstrip("/")).name)


def _read_chunk(chunk: Sequence[int], dimension: int) -> tuple[int, ...]:
    sizes = tuple(int(size) for size in np.ravel(chunk))
    sizes = sizes * dimension if len(sizes) == 1 else sizes
    if len(sizes) != dimension or min(sizes) < 1:
        raise BadInputError(f"chunk={chunk!r} is not possible; it is to be one whole number, or {dimension}, along x, y (and z), above 0.")
    return sizes[::-1]
