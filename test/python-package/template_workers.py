# SPDX-License-Identifier: Apache-2.0
"""Dask's workers that are killed while they write the results of a job of a template."""

import os
import time
from pathlib import Path

from cohort_data import Killed
from gpuregistration.cohort import worker

#: Names the folder in which they note that they were killed.
NOTES = "GPUREG_TEST_NOTES"
#: The job at which a worker is killed each time, or from outside.
KILLER = "PersonJob p1 of 2"
#: Jobs at which a worker is killed the first time, no two at once, and whether the first of their files has its place then.
ONCE = {
    "StartJob start of 0": True,
    "PersonJob p1 of 1": False,
    "MeanJob mean of 1": False,
    "PersonJob p0 of 2": True,
    "MeanJob mean of 2": True,
    "FinishJob p2 of 2": False,
}
#: A job at which a worker is killed the first time, where several workers average.
AVERAGING = "AveragingJob average 2 of 2 of 1"


def name_of(job):
    """Returns a name of a job that says what it does, for whom, and in which round."""
    number = job.number if hasattr(job, "number") else (job.registered.folder if hasattr(job, "registered") else job.folder).name
    return f"{type(job).__name__} {job.id} of {number}"


def _is_first(name):
    """Returns whether nobody has asked before for that name, in any process, and notes it."""
    try:
        Path(os.environ[NOTES], name).touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def run_or_die_once(job, setup):
    """worker.run, but that the worker is killed the first time that it writes one of ONCE, or AVERAGING."""
    name = name_of(job)
    kills = name in (*ONCE, AVERAGING) and _is_first(name)
    return worker.run(Killed(job, ONCE.get(name, False)) if kills else job, setup)


def run_or_wait(job, setup):
    """worker.run, but that a worker notes its process, and waits for its end, the first time that it gets KILLER."""
    if name_of(job) == KILLER and _is_first("asked"):
        Path(os.environ[NOTES], f"process-{os.getpid()}").touch()
        time.sleep(600)
    return worker.run(job, setup)


def run_or_die(job, setup):
    """worker.run, but that the worker is killed each time that it writes KILLER."""
    if name_of(job) == KILLER:
        with open(Path(os.environ[NOTES], "kills"), "a", encoding="ascii") as notes:
            notes.write("killed\n")
        job = Killed(job, is_moving=False)
    return worker.run(job, setup)
