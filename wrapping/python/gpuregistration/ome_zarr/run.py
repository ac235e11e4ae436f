# SPDX-License-Identifier: Apache-2.0
"""Runs the jobs of an output: in this process where there is one device, or else on Dask's workers."""

from __future__ import annotations

import builtins
import os
import queue
import socket
import threading
from typing import Any, Iterator, Optional, Sequence

from .._devices import describe_device
from .._engine import BadInputError, DeviceLostError, OutOfMemoryError, UnsupportedError
from ..cohort.cluster import Plan
from ..cohort.errors import WorkerError
from ..cohort.pipeline import PLACES, Job, Outcome, Pipeline, WorkerInfo
from ..cohort.workers import Event, Workers

# Seconds between two looks of who waits for jobs, so that Ctrl-C is noticed.
_LOOK = 0.5
_ERRORS = {one.__name__: one for one in (BadInputError, UnsupportedError, OutOfMemoryError, DeviceLostError)}


def is_here(plan: Optional[Plan]) -> bool:
    """Returns whether this process does the work."""
    return plan is not None and len(plan.devices) == 1


class Runner:
    """Runs jobs, within a with statement.

    Args:
        plan: the workers to start on this machine; None: a scheduler's workers.
        scheduler: its address.
    """

    def __init__(self, plan: Optional[Plan], scheduler: Optional[str]) -> None:
        self._plan = plan
        self._workers = Workers(plan, scheduler, "There is no output: run it again.")
        self._has_ended = threading.Event()
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> "Runner":
        return self

    def __exit__(self, *error: Any) -> None:
        self._has_ended.set()
        # Nothing is written behind this: the folder may be removed.
        for thread in self._threads:
            thread.join()
        self._workers.__exit__(*error)

    def run(self, jobs: Sequence[Job]) -> Iterator[tuple[Optional[Outcome], list[str]]]:
        """Yields how each job ended, in the order in which they end, and None now and then; and what has happened to workers.

        Raises:
            BadInputError, UnsupportedError, OutOfMemoryError, OSError, WorkerError: a job failed, as it failed.
        """
        for outcome, _, news in self._run_here(jobs) if is_here(self._plan) else self._workers.run(jobs):
            if outcome is not None and outcome.failed:
                if news:
                    yield None, news
                raise _error_of(outcome)
            yield outcome, news

    def _run_here(self, jobs: Sequence[Job]) -> Iterator[Event]:
        """Runs jobs in threads of this process."""
        assert self._plan is not None
        (device,) = self._plan.devices
        found = describe_device(device)
        info = WorkerInfo("0", "", os.getpid(), socket.gethostname(), device, found.description)
        pipeline = Pipeline(found, info)
        waiting: queue.SimpleQueue[Job] = queue.SimpleQueue()
        ended: queue.SimpleQueue[Outcome] = queue.SimpleQueue()
        for job in jobs:
            waiting.put(job)

        def work() -> None:
            while not self._has_ended.is_set():
                try:
                    job = waiting.get_nowait()
                except queue.Empty:
                    return
                ended.put(pipeline.run(job, self._has_ended.is_set))

        self._threads = [threading.Thread(target=work, daemon=True) for _ in range(min(PLACES, len(jobs)))]
        for thread in self._threads:
            thread.start()
        for _ in range(len(jobs)):
            outcome = None
            while outcome is None:
                try:
                    outcome = ended.get(timeout=_LOOK)
                except queue.Empty:
                    yield None, 1, []
            yield outcome, 1, []


def _error_of(outcome: Outcome) -> Exception:
    """Returns the error that a job failed by, of its own type if that is one of the types that callers expect."""
    known = _ERRORS.get(outcome.error_type)
    if known is not None:
        return known(outcome.error)
    # Python's own, and NumPy's.
    if outcome.error_type.endswith("MemoryError"):
        return OutOfMemoryError(f"{outcome.id} has too little memory: {outcome.error or outcome.error_type}. Allow less (memory, --memory), or free some.")
    kind = getattr(builtins, outcome.error_type, None)
    if isinstance(kind, type) and issubclass(kind, OSError):
        return OSError(outcome.error)
    return WorkerError(f"{outcome.id} failed: {outcome.error_type}: {outcome.error}")
