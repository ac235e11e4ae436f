# SPDX-License-Identifier: Apache-2.0
"""A cohort's registration."""

from __future__ import annotations

import fcntl
import os
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable, Iterator, Optional, Sequence

import numpy as np

from .._checks import MOST_SEED, check_progress, read_whole
from .._engine import BadInputError
from .._paths import PathLike, name_of, readable
from .._resample import read_default
from ..stages import read_stages
from .cluster import existing_client, import_distributed, local_client, plan_workers
from .folder import find_done, remove_leftovers
from .page import write_page
from .pair import Job
from .results import Cohort, PairResult, write_results
from .schedule import Done, Schedule
from .settings import Settings
from .shares import find_shares
from .table import Table, check_places, read_table

_LOCK = ".cohort-lock"


@dataclass(frozen=True)
class Progress:
    """Where a cohort is.

    Attributes:
        pairs: how many there are.
        done, failed: how many of them are over.
        before: how many of those that are done were so before.
        workers: how many are ready.
        left: seconds, about; None where that is not known yet.
        news: what has happened, such as that a pair failed; "" if nothing has.
    """

    pairs: int
    done: int
    failed: int
    before: int
    workers: int = 0
    left: Optional[float] = None
    news: str = ""


def register_cohort(
    table: Table,
    output: PathLike,
    transform: Any = "rigid",
    metric: Any = None,
    seed: int = 1,
    devices: Optional[Sequence[Any]] = None,
    workers_per_device: Optional[int] = None,
    scheduler: Optional[str] = None,
    reports: bool = False,
    progress: Optional[Callable[[Progress], Any]] = None,
    command: str = "",
    default: float = 0.0,
) -> Cohort:
    """Registers many pairs, each as register() does, to the bit. What is done is not done again, unless its settings or its files have
    changed. A pair that fails is told in the result, and the rest goes on.

    Workers are processes: call it under ``if __name__ == "__main__":``.

    Args:
        table: a file's name, or rows; see table.read_table.
        output: a folder; it is made if its parent is there. Each pair has a folder of its id in it, with warped.nii.gz, transform.tfm
            or .h5, labels.nii.gz, before.jpg, after.jpg and result.json, which is written last. When all are over there are results.csv,
            results.json and report.html.
        transform, metric, seed: as of register().
        devices: names of this machine's devices, or devices(); None: all GPUs, or else the host.
        workers_per_device: processes that share one; None: one, and of the host one for every four cores.
        scheduler: the address of a Dask scheduler, whose workers do the work, each on the device that ITK_GPU_DEVICE names there, or
            on a GPU that no other worker of that machine has; where all have one, they share, and progress says so. They see the same
            files under the same names.
        reports: whether each pair gets a report of its own, report.html in its folder.
        progress: called with a Progress now and then; may raise to end the work.
        command: the command line that repeats this, for who reads the report.
        default: the value outside of the moving image, as of register().

    Returns:
        A Cohort.

    Raises:
        BadInputError: a table, settings or devices that are not possible, before any work; or another process works in that folder.
        DeviceError: there is no such device.
        ImportError: there is no Dask, or no SimpleITK.
        WorkerError: workers end before they can work, or the scheduler ends.
        OSError: the folder or the results cannot be written.
        KeyboardInterrupt: Ctrl-C ends it; what is done stays.
    """
    begin = time.monotonic()
    check_progress(progress)
    # Whether a moving image's type holds it is known when that is read.
    outside = read_default(default, np.dtype(np.float64))
    settings = Settings(read_stages(transform, metric), read_whole("seed", seed, 0, MOST_SEED), bool(reports), outside)
    settings.check()
    rows = read_table(table)
    folder = Path(os.path.abspath(name_of(output)))
    check_places(table, rows, folder)
    if scheduler is not None and (devices is not None or workers_per_device is not None):
        raise BadInputError("Devices are of workers that are started here; those of a scheduler have theirs by ITK_GPU_DEVICE.")
    plan = plan_workers(devices, workers_per_device) if scheduler is None else None
    import_distributed()
    _make_folder(folder)
    with _locked(folder):
        remove_leftovers(folder)
        run = _Run(len(rows), progress)
        jobs = []
        for row in rows:
            record, why = find_done(folder / row.id, row, settings)
            if record is None:
                jobs.append(Job(row, settings, folder / row.id))
                if why:
                    run.tell(f"{row.id} is done again: {why}")
            else:
                run.results[row.id] = PairResult(row, record, was_done=True)
        run.tell("")
        if jobs:
            try:
                with local_client(plan) if plan is not None else existing_client(str(scheduler)) as client:
                    names, threads = (plan.devices, plan.threads) if plan is not None else (None, 0)
                    _run_jobs(run, jobs, Schedule(client, names, threads))
            finally:
                # Workers that were started here are gone; others put their own things away.
                if plan is not None:
                    remove_leftovers(folder)
        cohort = Cohort(
            output=folder,
            pairs=[run.results[row.id] for row in rows],
            settings=settings.describe(),
            seconds=time.monotonic() - begin,
            registering_seconds=run.registering_seconds,
            shares=find_shares(run.over, run.registering_seconds),
            command=command,
        )
        write_results(cohort)
        write_page(cohort)
        return cohort


@dataclass
class _Run:
    """What is known of a cohort so far."""

    pairs: int
    progress: Optional[Callable[[Progress], Any]]
    results: dict[str, PairResult] = field(default_factory=dict)
    over: list[Done] = field(default_factory=list)
    registering_seconds: float = 0.0

    def tell(self, news: str, workers: int = 0, left: Optional[float] = None) -> None:
        if self.progress is not None:
            results = self.results.values()
            done = [one for one in results if one.record is not None]
            before = sum(one.was_done for one in done)
            self.progress(Progress(self.pairs, len(done), len(results) - len(done), before, workers, left, news))

    def tell_all(self, news: Sequence[str], workers: int, left: Optional[float] = None) -> None:
        for one in news or [""]:
            self.tell(one, workers, left)


def _run_jobs(run: _Run, jobs: list[Job], schedule: Schedule) -> None:
    rows = {job.row.id: job.row for job in jobs}
    try:
        for _ in schedule.start():
            run.tell_all(schedule.take_news(), len(schedule.workers))
        begin = time.monotonic()
        for done in schedule.run(jobs):
            run.registering_seconds = time.monotonic() - begin
            news = schedule.take_news()
            if done is not None:
                run.over.append(done)
                outcome = done.outcome
                run.results[outcome.id] = PairResult(
                    rows[outcome.id], outcome.record, outcome.error_type, outcome.error, outcome.trace
                )
                if outcome.failed:
                    news.append(f"{outcome.id} failed: {outcome.error_type}: {outcome.error}")
            # Pairs that are over come in bursts at the begin: time left is of what follows the first ones.
            left = run.registering_seconds * (len(jobs) - len(run.over)) / len(run.over) if run.over else None
            run.tell_all(news, len(schedule.workers), left)
    finally:
        # What ended it is what is told, not that the scheduler is gone, too.
        with suppress(Exception):
            schedule.end()


def _make_folder(folder: Path) -> None:
    if not folder.parent.is_dir():
        raise BadInputError(readable(f"There is no folder {folder.parent} to make {folder.name} in: make it, or give another name."))
    if folder.exists() and not folder.is_dir():
        raise BadInputError(readable(f"{folder} is no folder: give another name."))
    folder.mkdir(exist_ok=True)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Two processes in one folder would have each other's files."""
    with open(folder / _LOCK, "w", encoding="ascii") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise BadInputError(f"Another process registers a cohort in {folder}: wait for it, or give another folder.") from error
        yield
