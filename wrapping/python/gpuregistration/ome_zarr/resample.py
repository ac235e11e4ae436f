# SPDX-License-Identifier: Apache-2.0
"""Resamples images that do not fit into memory: resample_zarr()."""

from __future__ import annotations

import math
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Optional, Sequence, Union

from .._checks import check_progress, read_choice, read_whole
from .._engine import BadInputError
from .._kinds import ImageLike
from .._paths import PathLike, name_of
from .._resample import INTERPOLATIONS, read_default
from .._transform_like import as_transform
from .._transforms import TransformLike
from ..cohort.cluster import plan_workers
from ..cohort.pipeline import Job
from .output import Content, along_axes, check_output, create, making, publish
from .plan import count_blocks
from .run import Runner
from .shared import forget_shared
from .sides import Opened, open_grid, open_image
from .work import Work, shrink_jobs

# The parts of a block's making, and what a worker's spans call them.
_PARTS = {"read": "read", "compute": "register", "write": "write"}


@dataclass(frozen=True)
class Progress:
    """Describes how far a resampling is.

    Attributes:
        level, levels: which level is made, from 0 on, and how many there are.
        done, blocks: how many blocks of all levels are made, and how many there are.
        left: the estimated time left, in seconds; None if it is not known yet.
        news: an event, such as that a worker has ended and a block is made again; "" if there is none.
    """

    level: int
    levels: int
    done: int
    blocks: int
    left: Optional[float] = None
    news: str = ""


@dataclass(frozen=True)
class Made:
    """Describes what resample_zarr() has made.

    Attributes:
        output: its name.
        shape: the finest level's shape, with channels and points in time.
        levels: the shape along space of each level.
        chunk, block: the shapes of chunks, and of the blocks in which the finest level was made, along space.
        blocks: how many blocks all levels have.
        workers: how many processes made them; 0: those of a scheduler.
        memory: bytes that each may take.
        planned: bytes that each takes at most.
        seconds: in all.
        parts: seconds of each level: "whole", from its begin to its end; and "read", "compute" and "write", each added up over its blocks,
            of which several are read and written at a time. Coarser levels are computed while they are read.
    """

    output: str
    shape: tuple[int, ...]
    levels: list[tuple[int, ...]]
    chunk: tuple[int, ...]
    block: tuple[int, ...]
    blocks: int
    workers: int
    memory: int
    planned: int
    seconds: float
    parts: list[dict[str, float]]


def resample_zarr(
    image: Union[PathLike, ImageLike, Opened],
    output: PathLike,
    transform: Optional[TransformLike] = None,
    reference: Optional[Union[PathLike, ImageLike, Opened]] = None,
    interpolation: str = "linear",
    default: float = 0.0,
    memory: Optional[int] = None,
    chunk: Optional[Sequence[int]] = None,
    devices: Optional[Sequence[Any]] = None,
    workers_per_device: Optional[int] = None,
    scheduler: Optional[str] = None,
    progress: Optional[Callable[[Progress], Any]] = None,
) -> Made:
    """Resamples an image block by block, into an OME-Zarr, each channel and each point in time. Every voxel has the bits that resample()
    gives it. With several devices or a scheduler workers are processes: call it under ``if __name__ == "__main__":``.

    Args:
        image: the moving image: the name of an OME-Zarr, whose finest level is read, or with "#2" behind the name its level 2; an image
            file's name; or an image of any kind. One that is no OME-Zarr is held as a whole. While it is read, other files than a plain
            .nii take up to about twice their values, which `memory` does not count. A file of four dimensions has points in time.
        output: a name that ends on .zarr. An OME-Zarr image of this name stays until the output is whole, and is then replaced; nothing
            else is, nor one with more than its levels, such as labels.
        transform: from points of the reference's space to the image's, in mm. None: points stay where they are.
        reference: an image as for `image`, of which only the grid counts. Its axes are to be parallel to x, y and z; where they lead the
            other way, or in another order, the output has the same voxels in the order in which x, y and z grow. None: the image itself.
        interpolation: "linear", "nearest" (for labels; coarser levels are then made of the most frequent values) or "bspline", of order 3,
            whose blocks each need the whole image in memory.
        default: the value outside of the image, which its type holds.
        memory: bytes that all workers of this machine may take together, or each of a scheduler's workers, beside what a process needs for
            itself; with the values of an image that is no OME-Zarr, of which several workers have a copy on the disk. None: a quarter of
            this machine's memory, or of the limit of the process's control group where that is less, beside such values.
        chunk: voxels of a chunk along x, y (and z). None: those of an OME-Zarr that is the reference, or else 128 each, in two dimensions
            1024. Chunks lie together in files, shards, of one block each.
        devices, workers_per_device, scheduler: as register_cohort() takes them.
        progress: called with a Progress now and then; may raise to end the work.

    Returns:
        A Made.

    Raises:
        BadInputError: an image or an argument is not possible, the memory is too little, a chunk cannot be read, or another process makes
            the same output.
        DeviceError: there is no such device.
        ImportError: there is no zarr, or for several workers no Dask.
        OutOfMemoryError: a device, or this machine, has too little memory for what is allowed.
        WorkerError: workers end before they can work, a block's worker is killed and, when that block is made again by itself, once more,
            or the scheduler ends.
        OSError: the disk is full, or fails.

    After an error there is no output, nothing remains of it, and what had its name before is as it was.
    """
    begin = time.monotonic()
    check_progress(progress)
    read_choice("interpolation", interpolation, INTERPOLATIONS)
    place = name_of(output)
    check_output(place)
    limit = None if memory is None else read_whole("memory", memory, 1, sys.maxsize)
    plan = plan_workers(devices, workers_per_device, scheduler)
    opened = open_image(image)
    of_grid = opened if reference is None else open_grid(reference)
    grid = of_grid.grid
    for zarr in (opened.zarr, of_grid.zarr):
        if zarr is not None:
            _check_apart(place, zarr.folder)
    moving = opened.grid
    if moving.dimension != grid.dimension:
        raise BadInputError(f"The image is of {moving.dimension} dimensions, and its reference of {grid.dimension}: give two of the same.")
    chain = None if transform is None else as_transform(transform, moving.dimension)
    outside = read_default(default, moving.content.dtype)
    work = Work(opened, along_axes(grid, "image" if reference is None else "reference"), chain, interpolation, outside, plan, limit)
    content = work.plan(of_grid, chunk)
    work.read()
    with making(place) as folder:
        made = folder / Path(place.rstrip("/")).name
        try:
            create(made, content)
            work.prepare(folder)
            with Runner(plan, scheduler) as runner:
                parts = _run(runner, work, folder, made, content, progress)
        finally:
            forget_shared()
        publish(made, place)
    return Made(
        output=place,
        shape=(*content.leading, *content.levels[0].shape),
        levels=[level.shape for level in content.levels],
        chunk=content.levels[0].chunk,
        block=content.levels[0].block,
        blocks=_count_blocks(content),
        workers=0 if plan is None else len(plan.devices),
        memory=work.memory,
        planned=work.planned,
        seconds=time.monotonic() - begin,
        parts=parts,
    )


def _run(
    runner: Runner, work: Work, folder: Path, made: Path, content: Content, progress: Optional[Callable[[Progress], Any]]
) -> list[dict[str, float]]:
    """Makes all levels, one after the other, and returns what Made has as parts."""
    begin, done, blocks, levels = time.monotonic(), 0, _count_blocks(content), len(content.levels)
    parts = []
    for number in range(levels):
        begin_of_level, taken = time.monotonic(), dict.fromkeys(_PARTS, 0.0)
        jobs: list[Job] = list(work.resample_jobs(folder, made, content) if number == 0 else shrink_jobs(made, content, number))
        for outcome, news in runner.run(jobs):
            if outcome is not None:
                done += 1
                for part, name in _PARTS.items():
                    first, last = outcome.spans[name]
                    taken[part] += last - first
            if progress is not None:
                left = (time.monotonic() - begin) * (blocks - done) / done if done else None
                for one in news or [""]:
                    progress(Progress(number, levels, done, blocks, left, one))
        parts.append({"whole": time.monotonic() - begin_of_level, **taken})
    return parts


def _count_blocks(content: Content) -> int:
    return math.prod(content.leading) * sum(count_blocks(level.shape, level.block) for level in content.levels)


def _check_apart(output: str, folder: str) -> None:
    """Raises BadInputError if an output would take the place of what is read, or lie in it."""
    place, read = os.path.realpath(output), os.path.realpath(folder)
    if place == read or os.path.commonpath([place, read]) in (place, read):
        raise BadInputError(f"{output} is read, or lies in what is read, and would be replaced: give the output another name.")
