# SPDX-License-Identifier: Apache-2.0
"""Registers a cohort: register_cohort() and its progress."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable, Optional, Sequence

import numpy as np

from .._checks import MOST_SEED, check_progress, read_whole
from .._paths import PathLike, name_of
from .._resample import read_default
from ..stages import read_stages
from .cluster import existing_client, import_distributed, local_client, plan_workers
from .folder import check_is_for, find_done, locked, make_folder, remove_leftovers
from .page import write_page
from .pair import Job
from .pipeline import Outcome
from .results import Cohort, PairResult, write_results
from .schedule import Schedule
from .settings import Settings
from .shares import compute_shares
from .table import Table, check_places, read_table


@dataclass(frozen=True)
class Progress:
    """Describes how far a cohort is.

    Attributes:
        pairs: the number of pairs.
        done, failed: how many of them have ended.
        before: how many of the done ones were done by an earlier run.
        workers: how many workers there are.
        left: the estimated time left, in seconds; None if it is not known yet.
        news: an event, such as that a pair failed; "" if there is none.
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
    """Registers many pairs, each with the bits that register() gives. Pairs that an earlier run has done are skipped, unless their settings
    or files have changed. If a pair fails, the result says so, and the others continue.

    Workers are processes: call it under ``if __name__ == "__main__":``.

    Args:
        table: a file's name, or rows; see table.read_table.
        output: a folder; it is made if its parent exists. It gets a folder for each pair, named after the pair's id, with warped.nii.gz,
            transform.tfm or .h5, labels.nii.gz, before.jpg, after.jpg and result.json, which is written last. In the end it gets
            results.csv, results.json and report.html.
        transform, metric, seed: as register() takes them.
        devices: names of this machine's devices, or devices(); None: all GPUs, or else the host.
        workers_per_device: how many processes share a device; None: one, and on the host one for every four cores.
        scheduler: the address of a Dask scheduler, whose workers do the work, each on the device that its ITK_GPU_DEVICE names, or
            on a GPU that no other worker of its machine has; if all GPUs have a worker, workers share them, and progress says so. They
            must see the same files under the same names.
        reports: writes a report for each pair, report.html in its folder.
        progress: called with a Progress now and then; may raise to end the work.
        command: the command line that repeats this; the report shows it.
        default: the value outside of the moving image, as register() takes it.

    Returns:
        A Cohort.

    Raises:
        BadInputError: the table, settings or devices are not possible, before any work; or another process works in that folder.
        DeviceError: there is no such device.
        ImportError: there is no Dask, or no SimpleITK.
        WorkerError: workers end before they can work, or the scheduler ends.
        OSError: the folder or the results cannot be written.
        KeyboardInterrupt: Ctrl-C ends it; what is done stays.
    """
    begin = time.monotonic()
    check_progress(progress)
    # A moving image's type is not known yet.
    outside = read_default(default, np.dtype(np.float64))
    settings = Settings(read_stages(transform, metric), read_whole("seed", seed, 0, MOST_SEED), bool(reports), outside)
    settings.check()
    rows = read_table(table)
    folder = Path(os.path.abspath(name_of(output)))
    check_places(table, rows, folder)
    check_is_for(folder, is_template=False)
    plan = plan_workers(devices, workers_per_device, scheduler)
    import_distributed()
    make_folder(folder)
    with locked(folder):
        remove_leftovers(folder)
        run = _Run(len(rows), progress)
        jobs = []
        for row in rows:
            record, why = find_done(folder / row.id, row, settings)
            if record is None:
                jobs.append(Job(row, settings, folder / row.id))
                if why:
                    run.report_news(f"{row.id} is done again: {why}")
            else:
                run.results[row.id] = PairResult(row, record, was_done=True)
        run.report_news("")
        if jobs:
            try:
                with local_client(plan) if plan is not None else existing_client(str(scheduler)) as client:
                    names, threads = (plan.devices, plan.threads) if plan is not None else (None, 0)
                    _run_jobs(run, jobs, Schedule(client, names, threads))
            finally:
                # Also those of a scheduler's workers that were killed. One that still writes has no folder then, and nobody waits for it.
                remove_leftovers(folder)
        cohort = Cohort(
            output=folder,
            pairs=[run.results[row.id] for row in rows],
            settings=settings.describe(),
            seconds=time.monotonic() - begin,
            registering_seconds=run.registering_seconds,
            shares=compute_shares(run.outcomes, run.registering_seconds),
            command=command,
        )
        write_results(cohort)
        write_page(cohort)
        return cohort


@dataclass
class _Run:
    """Collects a cohort's results, and reports them to its progress function."""

    pairs: int
    progress: Optional[Callable[[Progress], Any]]
    results: dict[str, PairResult] = field(default_factory=dict)
    outcomes: list[Outcome] = field(default_factory=list)
    registering_seconds: float = 0.0

    def report_news(self, news: str, workers: int = 0, left: Optional[float] = None) -> None:
        if self.progress is not None:
            results = self.results.values()
            done = [one for one in results if one.record is not None]
            before = sum(one.was_done for one in done)
            self.progress(Progress(self.pairs, len(done), len(results) - len(done), before, workers, left, news))

    def report_all(self, news: Sequence[str], workers: int, left: Optional[float] = None) -> None:
        for one in news or [""]:
            self.report_news(one, workers, left)


def _run_jobs(run: _Run, jobs: list[Job], schedule: Schedule) -> None:
    rows = {job.row.id: job.row for job in jobs}
    try:
        for _ in schedule.start():
            run.report_all(schedule.take_news(), 0)
        begin = time.monotonic()
        for outcome in schedule.run(jobs):
            run.registering_seconds = time.monotonic() - begin
            news = schedule.take_news()
            if outcome is not None:
                run.outcomes.append(outcome)
                row = rows[outcome.id]
                run.results[row.id] = PairResult(
                    row, outcome.record, outcome.error_type, outcome.error, outcome.trace, spans=outcome.spans
                )
                if outcome.failed:
                    news.append(f"{outcome.id} failed: {outcome.error_type}: {outcome.error}")
            # The first pairs end nearly at once, so the time left is a rough estimate until several have ended.
            ended = len(run.outcomes)
            left = run.registering_seconds * (len(jobs) - ended) / ended if ended else None
            run.report_all(news, schedule.workers, left)
    finally:
        # The error that ended the cohort is reported, not that the scheduler is gone, too.
        with suppress(Exception):
            schedule.end()
