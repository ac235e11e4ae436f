# SPDX-License-Identifier: Apache-2.0
"""Small cohorts for tests, and workers that fail as they are asked to."""

import dataclasses
import os
import signal
import threading
import time
from pathlib import Path

import gpuregistration as gr
import numpy as np
import pytest
from conftest import make_head, turn
from gpuregistration import _engine
from gpuregistration.cohort import claims, pipeline, worker

distributed = pytest.importorskip("distributed")

GRID = {"shape": (20, 24, 22), "spacing": (4.0, 4.0, 4.0)}
#: Bytes that a pair of such heads fits into, and a pair of heads of more voxels does not.
LITTLE_MEMORY = 1_500_000


def make_cohort(folder, count, labels=False):
    """Writes a table of heads that are moved, pair-0, pair-1, …, and their files. Returns its name."""
    fixed = make_head(**GRID)
    gr.write_image(folder / "fixed.nii.gz", fixed)
    columns = ["id", "fixed", "moving"] + (["labels", "fixed_labels"] if labels else [])
    if labels:
        gr.write_image(folder / "fixed_labels.nii.gz", fixed.like((fixed.array // 40).astype(np.uint8)))
    lines = [",".join(columns)]
    for n in range(count):
        there = gr.Affine(turn(2.0 * n - 4), [n - 2.0, 2.0, -n])
        moving = make_head(there.inverse().transform_points, **GRID)
        gr.write_image(folder / f"moving-{n}.nii.gz", moving)
        cells = [f"pair-{n}", "fixed.nii.gz", f"moving-{n}.nii.gz"]
        if labels:
            gr.write_image(folder / f"labels-{n}.nii.gz", moving.like((moving.array // 40).astype(np.uint8)))
            cells += [f"labels-{n}.nii.gz", "fixed_labels.nii.gz"]
        lines.append(",".join(cells))
    (folder / "pairs.csv").write_text("\n".join(lines) + "\n")
    return folder / "pairs.csv"


def assert_nothing_half_done(folder):
    """Nothing of what is made beside its place is left, and no folder of a pair is without its record."""
    assert [path.name for path in folder.iterdir() if path.name.startswith(".") and path.name != ".cohort-lock"] == []
    for pair in folder.iterdir():
        assert not pair.is_dir() or (pair / "result.json").is_file(), pair


def run_or_die(job, setup):
    """worker.run, but of a pair "killer", whose worker is killed, and of "once", whose worker is killed the first time."""
    if job.row.id == "killer" or (job.row.id == "once" and _is_first(job, "once")):
        os.kill(os.getpid(), signal.SIGKILL)
    return worker.run(job, setup)


class Killed:
    """A job, but that its worker is killed when its files are made.

    Args:
        job: a job that has a folder.
        is_moving: whether the first of its files gets its place before, while the record is missing.
    """

    def __init__(self, job, is_moving):
        self._job = job
        self._is_moving = is_moving
        self.id, self.read, self.compute = job.id, job.read, job.compute

    def write(self, *arguments):
        thread, replace = threading.get_ident(), os.replace

        def replace_and_die(source, target):
            is_its = threading.get_ident() == thread and self._job.folder in (Path(target), Path(target).parent)
            if self._is_moving or not is_its:
                replace(source, target)
            if is_its:
                os.kill(os.getpid(), signal.SIGKILL)

        os.replace = replace_and_die
        return self._job.write(*arguments)


def run_or_die_writing(job, setup):
    """worker.run, but that the worker is killed the first time that it has made the files of pair-1."""
    return worker.run(Killed(job, is_moving=False) if job.row.id == "pair-1" and _is_first(job, "pair-1") else job, setup)


def run_slowly(job, setup):
    """Replaces worker.run(): it takes a moment, and no device."""
    dask_worker = distributed.get_worker()
    if dask_worker.state.nthreads < pipeline.PLACES:
        distributed.secede()
    begin = time.time()
    time.sleep(0.3)
    worker_info = pipeline.WorkerInfo(str(dask_worker.name), dask_worker.address, 1, "here", "host", "A host")
    return pipeline.Outcome(job.row.id, {}, spans={"register": (begin, time.time())}, worker=worker_info)


def run_and_note(job, setup):
    """Replaces worker.run(): it notes that it runs. The worker of job 1 is killed when the file "die" is there, the first time."""
    folder = _note(job)
    if job.id == 1 and not (folder / "died").exists():
        _wait_for(folder / "die")
        (folder / "died").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return _outcome_of(job)


def run_and_wait_again(job, setup):
    """Replaces worker.run(): it notes that it runs. From the second time on that a job runs it waits for the file "go"."""
    folder = _note(job)
    if (folder / "runs").read_text("ascii").split().count(str(job.id)) > 1:
        _wait_for(folder / "go")
    return _outcome_of(job)


def _note(job):
    """Notes that a job runs, in the file "runs" of a folder, and returns the folder."""
    folder = Path(os.environ["TEST_NOTES"])
    with open(folder / "runs", "a", encoding="ascii") as notes:
        notes.write(f"{job.id}\n")
    return folder


def _wait_for(path):
    while not path.exists():
        time.sleep(0.05)


def _outcome_of(job):
    dask_worker = distributed.get_worker()
    info = pipeline.WorkerInfo(str(dask_worker.name), dask_worker.address, os.getpid(), "here", "host", "A host")
    return pipeline.Outcome(job.id, {}, worker=info)


def run_with_little_memory(job, setup):
    """worker.run, but that the host has no more than LITTLE_MEMORY bytes in a worker's process."""
    _engine.set_memory_limit("host", LITTLE_MEMORY)
    return worker.run(job, setup)


async def die(setup, dask_worker):
    """Replaces worker.start(): the process ends."""
    os.kill(os.getpid(), signal.SIGKILL)


def run_or_lose_device(job, setup):
    """Calls worker.run(), but the device is lost to the first process that registers pair-1."""
    outcome = worker.run(job, setup)
    if job.row.id == "pair-1" and _is_first(job, "lost"):
        return dataclasses.replace(outcome, record=None, error_type="DeviceLostError", error="it is lost", device_lost=True)
    (job.folder.parent.parent / f"{job.row.id}-by-{os.getpid()}").touch()
    return outcome


def _is_first(job, name):
    """Returns whether nobody has asked before, in any process."""
    try:
        Path(job.folder.parent.parent / f"asked-{name}").touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def ended_cohorts():
    """Returns how many cohorts have ended in a worker's process."""
    return len(worker._ended)


async def start_with_two_devices(setup, dask_worker):
    """Replaces worker.start() on a machine that has two GPUs, as far as the worker knows."""
    claims.find_gpus = lambda: ["opencl:0", "opencl:1"]
    claims.PREFIX = "\0" + os.environ["TEST_CLAIMS"]
    return await worker.start(setup, dask_worker)


def claim_of_process():
    """Returns what a worker has claimed."""
    return claims.claim_device()
