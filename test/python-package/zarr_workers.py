# SPDX-License-Identifier: Apache-2.0
"""Dask's workers that are killed, or fail, while they make one block of an OME-Zarr."""

import dataclasses
import os
import signal
import time
from pathlib import Path

from gpuregistration.cohort import worker
from gpuregistration.ome_zarr import storage
from gpuregistration.ome_zarr.blocks import Target
from gpuregistration.ome_zarr.storage import open_array

#: The block that they fail at, of 8 voxels along each axis.
BLOCK = "block 8, 16, 8 of level 0"
#: Names the folder in which they note that they have failed.
NOTES = "GPUREG_TEST_NOTES"


class Killed(Target):
    """Is killed when a part of the block's file is there: under its name, as a file system may leave it, and as zarr's own file beside it."""

    def write(self, values):
        super().write(values)
        (file,) = Path(self.folder, self.path, "c", *(str(a // 8) for a in self.block.first[:-1])).glob(str(self.block.first[-1] // 8))
        with open(file, "r+b") as shard:
            shard.truncate(file.stat().st_size // 2)
        file.with_suffix(".0123.partial").write_bytes(file.read_bytes())
        os.kill(os.getpid(), signal.SIGKILL)


def open_slowly(folder, path, mode="r"):
    """open_array, but that a second goes by before anything is written to the array."""
    array = open_array(folder, path, mode)
    if mode != "r":
        Path(os.environ[NOTES], "writing").touch()
        time.sleep(1)
    return array


def _with_target(job, kind):
    target = {field.name: getattr(job.target, field.name) for field in dataclasses.fields(job.target)}
    return dataclasses.replace(job, target=kind(**target))


def _is_first():
    """Returns whether nobody has asked before, in any process, and notes it."""
    try:
        Path(os.environ[NOTES], "asked").touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def run_or_die_once(job, setup):
    """worker.run, but that the worker is killed the first time that it makes BLOCK."""
    return worker.run(_with_target(job, Killed) if job.id == BLOCK and _is_first() else job, setup)


def run_or_wait(job, setup):
    """worker.run, but that a worker notes its process, and waits for its end, the first time that it gets BLOCK."""
    if job.id == BLOCK and _is_first():
        Path(os.environ[NOTES], f"process-{os.getpid()}").touch()
        time.sleep(600)
    return worker.run(job, setup)


def run_or_die(job, setup):
    """worker.run, but that a worker is killed each time that it makes BLOCK."""
    if job.id == BLOCK:
        with open(Path(os.environ[NOTES], "kills"), "a", encoding="ascii") as notes:
            notes.write("killed\n")
        job = _with_target(job, Killed)
    return worker.run(job, setup)


def run_or_fail(job, setup):
    """worker.run, but that BLOCK fails while another block is being written."""
    if job.id == BLOCK:
        while not Path(os.environ[NOTES], "writing").exists():
            time.sleep(0.05)
        job = dataclasses.replace(job, source=dataclasses.replace(job.source, path="not there"))
    storage.open_array = open_slowly
    return worker.run(job, setup)
