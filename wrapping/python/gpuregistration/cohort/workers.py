# SPDX-License-Identifier: Apache-2.0
"""Dask's workers for several batches of jobs, one after the other."""

from __future__ import annotations

from contextlib import ExitStack, suppress
from typing import Any, Iterator, Optional, Sequence

from .cluster import Plan, existing_client, local_client
from .pipeline import Job, Outcome
from .schedule import Schedule

#: How a job ended, or None now and then; how many workers there are; and what has happened to them.
Event = tuple[Optional[Outcome], int, list[str]]


class Workers:
    """Dask's workers, which start when there is work, and end with the block that this object manages.

    Args:
        plan: the workers to start on this machine; None: a scheduler's workers.
        scheduler: its address.
        hint: as Schedule takes it.
    """

    def __init__(self, plan: Optional[Plan], scheduler: Optional[str], hint: str) -> None:
        self._plan = plan
        self._scheduler = scheduler
        self._hint = hint
        self._schedule: Optional[Schedule] = None
        self._stack = ExitStack()

    def __enter__(self) -> "Workers":
        return self

    def __exit__(self, *error: Any) -> None:
        self._stack.close()

    def run(self, jobs: Sequence[Job]) -> Iterator[Event]:
        """Runs jobs at the same time, and yields how each ended, in the order in which they end. Raises WorkerError."""
        if self._schedule is None:
            opened = local_client(self._plan) if self._plan is not None else existing_client(str(self._scheduler))
            names, threads = (self._plan.devices, self._plan.threads) if self._plan is not None else (None, 0)
            client = self._stack.enter_context(opened)
            self._schedule = Schedule(client, names, threads, self._hint)
            self._stack.callback(self._end)
            for _ in self._schedule.start():
                yield None, 0, self._schedule.take_news()
        for outcome in self._schedule.run(jobs):
            yield outcome, self._schedule.workers, self._schedule.take_news()

    def _end(self) -> None:
        # The error that ended the work is reported, not that the scheduler is gone, too.
        with suppress(Exception):
            assert self._schedule is not None
            self._schedule.end()
