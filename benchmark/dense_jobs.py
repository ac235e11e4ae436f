# SPDX-License-Identifier: Apache-2.0
"""Jobs of the comparison of dense registrations: each registers a case by one program and scores it, in a process of its own, several at once."""

from __future__ import annotations

import dataclasses
import multiprocessing
import queue
import shutil
import time
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any, Callable, Iterator, Optional, Sequence

import dense_programs as programs
import gpuregistration as gr
from dense_rows import Row

#: The number of processes for each device: while one of them registers on it, the others read images or score.
PROCESSES = 3


@dataclasses.dataclass
class Limits:
    """How jobs run.

    Attributes:
        devices: of this package's stages; one job at a time registers on each.
        jobs: other programs at a time; 1: and only after this package's stages.
        threads: of every program.
        times: runs of this package's stages, of which the least time counts.
        end: time.time() after which no program begins, and others than this package's stages are stopped; None: never.
    """

    devices: Sequence[str]
    jobs: int
    threads: int
    times: int = 1
    end: Optional[float] = None

    def seconds_left(self) -> Optional[float]:
        """Returns the seconds until the deadline; None without a deadline. Raises Skipped once it has passed."""
        if self.end is None:
            return None
        left = self.end - time.time()
        if left <= 0:
            raise programs.Skipped("not begun before the time was up")
        return left


@dataclasses.dataclass
class Job:
    """A program and what it registers.

    Attributes:
        case: of dense_cases.
        program: of OTHERS, or this package's stage as text; "": none, what the programs start from is scored.
        is_ours: it is this package's stage, or none.
        iterations: of each level; None: the program's own.
        number: of the job; names its folder.
    """

    case: Any
    program: str
    is_ours: bool
    iterations: Optional[Sequence[int]]
    number: int

    def label(self) -> str:
        """Returns the program's name as tables have it."""
        return f"ours: {self.program}" if self.is_ours else self.program

    def minutes(self) -> float:
        """Returns about how long one core takes."""
        return 0.0 if self.is_ours else programs.OTHERS[self.program].minutes


def run_all(cases: Sequence[Any], jobs: Sequence[Job], limits: Limits) -> Iterator[Row]:
    """Prepares all cases, and runs the jobs, the longest first. Yields a row for each as it ends. A job that fails or runs out of time has the
    reason in `skipped`.

    Raises:
        Exception: a case cannot be prepared.
    """
    devices: queue.SimpleQueue[str] = queue.SimpleQueue()
    for device in [*limits.devices] * PROCESSES:
        devices.put(device)

    def use_device(function: Callable[..., Any], *arguments: Any) -> Any:
        device = devices.get()
        try:
            return _run_apart(function, *arguments, limits, device)
        finally:
            devices.put(device)

    own = [job for job in jobs if job.is_ours]
    others = sorted((job for job in jobs if not job.is_ours), key=Job.minutes, reverse=True)
    with ThreadPoolExecutor(PROCESSES * len(limits.devices)) as beside, ThreadPoolExecutor(limits.jobs) as at_once:
        for prepared in [beside.submit(use_device, _prepare, case) for case in cases]:
            prepared.result()
        waiting = {beside.submit(use_device, run_job, job): job for job in own}
        if limits.jobs == 1:
            yield from _collect(waiting)
            waiting = {}
        waiting.update({at_once.submit(_run_apart, run_job, job, limits, ""): job for job in others})
        yield from _collect(waiting)


def _collect(waiting: dict[Future[Row], Job]) -> Iterator[Row]:
    for done in as_completed(waiting):
        job = waiting[done]
        try:
            yield done.result()
        except Exception as error:
            # One job that crashes must not end the others.
            reason = " ".join(f"broke off: {type(error).__name__}: {error}".split())
            yield {"contrast": job.case.contrast, "pair": job.case.name, "program": job.label(), "skipped": reason}


def _run_apart(function: Callable[..., Any], *arguments: Any) -> Any:
    """Calls a function in a new process, and returns what it returns, or raises what it raises."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as process:
        return process.submit(function, *arguments).result()


def _prepare(case: Any, limits: Limits, device: str) -> None:
    gr.set_threads(limits.threads)
    case.prepare(device)


def run_job(job: Job, limits: Limits, device: str) -> Row:
    """Runs a job, and returns its row. device: of this package's stages."""
    gr.set_threads(limits.threads)
    folder = job.case.folder / f"job{job.number}"
    row: Row = {"contrast": job.case.contrast, "pair": job.case.name, "program": job.label()}
    try:
        limits.seconds_left()
        if job.is_ours and not job.program:
            return {**row, **job.case.score_start()}
        folder.mkdir()
        found = _run_ours(job, limits, device, row) if job.is_ours else _run_other(job, limits, folder, row)
        row.update(job.case.score(found), seconds=found.seconds)
    except (programs.Skipped, gr.Error) as error:
        row["skipped"] = str(error)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return row


def _run_ours(job: Job, limits: Limits, device: str, row: Row) -> programs.Found:
    stage = programs.parse_stage(job.program, job.iterations)
    pair = programs.read_pair(job.case.folder)
    row.update(settings=f"{limits.times} runs", where=device)
    with programs.alone_on(device):
        limits.seconds_left()
        return programs.run_ours(stage, pair, device, limits.times)


def _run_other(job: Job, limits: Limits, folder: Path, row: Row) -> programs.Found:
    other = programs.OTHERS[job.program]
    settings = other.settings(job.iterations).format(fixed="…", moving="…")
    row.update(settings=f"{programs.PACKAGES[other.package].version()}, {settings}", where=f"{limits.threads} threads")
    return programs.run_other(job.program, job.case.folder, folder, limits.threads, job.iterations, limits.seconds_left())
