# SPDX-License-Identifier: Apache-2.0
"""Runs the jobs of an output: in this process where there is one device, or else on Dask's workers."""

from __future__ import annotations

import builtins
import os
import queue
import socket
import threading
from contextlib import ExitStack, suppress
from typing import Any, Iterator, Optional, Sequence

from .._devices import describe_device
from .._engine import BadInputError, DeviceLostError, OutOfMemoryError, UnsupportedError
from ..cohort.cluster import Plan, existing_client, local_client
from ..cohort.errors import WorkerError
from ..cohort.pipeline import PLACES, Job, Outcome, Pipeline, WorkerInfo
from ..cohort.schedule import Schedule

# Seconds between two looks of who waits for jobs, so that Ctrl-C is noticed.
_LOOK = 0.5
_ERRORS = {one.__name__: one for one in (BadInputError, UnsupportedError, OutOfMemoryError, DeviceLostError)}


def is_here(plan: Optional[Plan]) -> bool:
    """Tells whether this process does the work."""
    return plan is not None and len(plan.devices) == 1


class Runner:
    """Runs jobs, within a with statement.

    Args:
        plan: of the workers to start on this machine; None: those of a scheduler.
        scheduler: its address.
    """

    def __init__(self, plan: Optional[Plan], scheduler: Optional[str]) -> None:
        self._plan = plan
        self._scheduler = scheduler
        self._schedule: Optional[Schedule] = None
        self._stack = ExitStack()
        self._has_ended = threading.Event()
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> "Runner":
        return self

    def __exit__(self, *error: Any) -> None:
        self._has_ended.set()
        # Nothing is written behind this: the folder may be removed.
        for thread in self._threads:
            thread.join()
        self._stack.close()

    def run(self, jobs: Sequence[Job]) -> Iterator[Optional[Outcome]]:
        """Yields how each job ended, in the order in which they end, and None now and then.

        Raises:
            BadInputError, UnsupportedError, OutOfMemoryError, OSError, WorkerError: a job failed, as it failed.
        """
        for outcome in self._run_here(jobs) if is_here(self._plan) else self._run_on_workers(jobs):
            if outcome is not None and outcome.failed:
                raise _error_of(outcome)
            yield outcome

    def _run_here(self, jobs: Sequence[Job]) -> Iterator[Outcome | None]:
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
                    yield None
            yield outcome

    def _run_on_workers(self, jobs: Sequence[Job]) -> Iterator[Outcome | None]:
        if self._schedule is None:
            opened = local_client(self._plan) if self._plan is not None else existing_client(str(self._scheduler))
            names, threads = (self._plan.devices, self._plan.threads) if self._plan is not None else (None, 0)
            client = self._stack.enter_context(opened)
            self._schedule = Schedule(client, names, threads)
            self._stack.callback(self._end)
            for _ in self._schedule.start():
                yield None
        yield from self._schedule.run(jobs)

    def _end(self) -> None:
        # The error that ended the work is told, not that the scheduler is gone, too.
        with suppress(Exception):
            assert self._schedule is not None
            self._schedule.end()


def _error_of(outcome: Outcome) -> Exception:
    """Returns the error that a job failed by, of its own type where that is one of those that are told."""
    known = _ERRORS.get(outcome.error_type)
    if known is not None:
        return known(outcome.error)
    kind = getattr(builtins, outcome.error_type, None)
    if isinstance(kind, type) and issubclass(kind, OSError):
        return OSError(outcome.error)
    return WorkerError(f"{outcome.id} failed: {outcome.error_type}: {outcome.error}")
