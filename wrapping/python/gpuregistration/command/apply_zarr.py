# SPDX-License-Identifier: Apache-2.0
"""gpureg apply with an OUT that is an OME-Zarr: block by block."""

from __future__ import annotations

import argparse
import os
from dataclasses import asdict
from typing import TYPE_CHECKING, Optional

from . import inputs, options
from .applied_transforms import check_has_reference, read_transforms
from .errors import DONE, WrongUse
from .native import native_messages_off
from .output import print_json
from .progress import StatusLine, clock
from .times import Times

if TYPE_CHECKING:
    from ..ome_zarr import Progress

#: Options that only such an OUT has, by the names of their values.
_OPTIONS = {
    "memory": "--memory",
    "chunk": "--chunk",
    "devices": "--devices",
    "workers_per_device": "--workers-per-device",
    "scheduler": "--scheduler",
}


def refuse_options(arguments: argparse.Namespace) -> None:
    """Raises WrongUse for options that another OUT does not have."""
    for name, option in _OPTIONS.items():
        if getattr(arguments, name) is not None:
            raise WrongUse(f"{option} is of an OUT that ends on .zarr, and {arguments.output} does not: leave it out")


def run(arguments: argparse.Namespace) -> int:
    from ..ome_zarr import resample_zarr
    from ..ome_zarr.sides import open_grid, open_image

    times = Times()
    devices = _read_devices(arguments)
    chunk = _read_chunk(arguments.chunk)
    check_has_reference(arguments)
    inputs.check_stays([arguments.output], [arguments.image, arguments.reference, *arguments.transform])
    with native_messages_off(not arguments.debug), times.part("read"):
        image = open_image(arguments.image)
        reference = None if arguments.reference is None else open_grid(arguments.reference)
    grid = image if reference is None else reference
    inputs.check_dimensions(image.grid, arguments.image, grid.grid, arguments.reference or arguments.image)
    with native_messages_off(not arguments.debug), times.part("read transforms"):
        device = options.choose_device(devices[0] if devices else None) if arguments.inverse else ""
        transform = read_transforms(arguments, image.grid, grid.grid, device)
    line = None if arguments.quiet else _Line()
    try:
        with times.part("resample and write"):
            made = resample_zarr(
                image,
                arguments.output,
                transform,
                reference,
                arguments.interpolation,
                arguments.default,
                arguments.memory,
                chunk,
                devices,
                arguments.workers_per_device,
                arguments.scheduler,
                line,
            )
    finally:
        if line is not None:
            line.end()
    if arguments.json:
        print_json({**asdict(made), "warnings": arguments.warnings, "times": times.all()})
    if arguments.times:
        times.print()
    return DONE


class _Line:
    """Shows how far it is, on standard error."""

    def __init__(self) -> None:
        self._line = StatusLine()

    def __call__(self, progress: Progress) -> None:
        if progress.news:
            self._line.print_line(f"gpureg: {progress.news}")
        if self._line.is_due() or progress.done == progress.blocks:
            left = "" if progress.left is None or progress.done == progress.blocks else f", {clock(progress.left)} left"
            self._line.show(f"{progress.done}/{progress.blocks} blocks, level {progress.level} of {progress.levels}{left}")

    def end(self) -> None:
        self._line.end()


def _read_devices(arguments: argparse.Namespace) -> Optional[list[str]]:
    devices = options.read_workers(arguments)
    if arguments.device is None:
        is_named = devices is None and arguments.scheduler is None and os.environ.get("ITK_GPU_DEVICE")
        return [options.choose_device(None)] if is_named else devices
    if devices is not None or arguments.scheduler is not None:
        raise WrongUse("--device names one, and --devices or --scheduler others: leave one of them out")
    return [options.choose_device(arguments.device)]


def _read_chunk(text: Optional[str]) -> Optional[list[int]]:
    if text is None:
        return None
    parts = text.split("x")
    if not all(part.isascii() and part.isdigit() and int(part) > 0 for part in parts):
        raise WrongUse(f"--chunk {text} is not possible: give a whole number, or one for each axis, such as 64x64x32")
    return [int(part) for part in parts]
