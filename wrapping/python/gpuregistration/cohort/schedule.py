# SPDX-License-Identifier: Apache-2.0
"""Hands a cohort's pairs to Dask's workers, and runs a pair whose worker ended once more.

Dask chooses the worker of each pair: the one that has the fewest. It also hands the pairs of a worker that ends to others, as often as its
scheduler's setting allowed-failures says (for the scheduler that is started here: never), and runs a pair again that ended on it before its
outcome was fetched. This module does what is left:

- Dask has at most PLACES pairs a worker at a time. Files are read and written while the device computes, also where a worker has one
  thread: pairs secede there, and Dask does not bound how many do. Its resources could, but they must be stated when a worker is started,
  which somebody else does: tasks that wait for a resource do not see that a running worker gets it.
- A pair that Dask gives up runs again when no other pair does. A worker that ends takes several pairs with it, of which one may be why,
  and Dask counts a failure for each of them.
"""

from __future__ import annotations

import queue
import time
import uuid
from collections import deque
from typing import Any, Iterable, Iterator, Optional, Sequence

from .. import __version__
from . import worker
from .cluster import import_distributed
from .errors import WorkerError
from .pipeline import PLACES, Job, Outcome, WorkerInfo

# Seconds between two looks at the workers.
_LOOK = 0.5
# How often a worker that ends before its device has started is started again.
_STARTS = 3
# Seconds to wait for the workers that were started here, and are started again, when none is left.
_ALONE = 60


class Schedule:
    """Runs a cohort's pairs on the workers of a scheduler.

    Args:
        client: Dask's.
        devices: the devices of the workers 0, 1, …, which were started here; None: somebody else's workers, which come, go and claim a
            device each.
        threads: the host's threads for each worker; 0: as many as there are.
        hint: what an error says to do where all workers, or the scheduler, have ended.

    Attributes:
        workers: how many there are.
    """

    def __init__(
        self, client: Any, devices: Optional[Sequence[str]], threads: int, hint: str = "Results of done pairs stay: run it again."
    ) -> None:
        self.workers = 0
        self._client = client
        self._hint = hint
        self._setup = worker.Setup(uuid.uuid4().hex, __version__, devices, threads)
        self._infos: dict[str, WorkerInfo] = {}
        self._running: dict[Any, Job] = {}
        self._retries: deque[Job] = deque()
        self._restarted: set[WorkerInfo] = set()
        self._ends: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._lost: list[Any] = []
        self._looked = float("-inf")
        self._had_workers = time.monotonic()
        self._news: list[str] = []

    def take_news(self) -> list[str]:
        """Returns what has happened to workers since the last call."""
        news, self._news = self._news, []
        return news

    def start(self) -> Iterator[None]:
        """Waits until a worker's device is ready; for workers that were started here, until all are. Yields now and then.

        Raises:
            WorkerError: a worker cannot work.
        """
        return self._start(1 if self._setup.devices is None else len(self._setup.devices))

    def run(self, jobs: Iterable[Job]) -> Iterator[Optional[Outcome]]:
        """Yields how each pair ended, in the order in which they end, and None now and then.

        Raises:
            WorkerError: a worker cannot work, or the scheduler has ended.
        """
        yield from self._run_all(deque(jobs), is_retry=False)
        yield from self._run_all(self._retries, is_retry=True)

    def end(self) -> None:
        """Takes back the pairs that Dask has: a worker goes no further than to the end of the part that a pair is at."""
        self._client.cancel(list(self._running), force=True)
        self._client.run(worker.stop, self._setup, on_error="ignore")

    def _start(self, wanted: int) -> Iterator[None]:
        for _ in range(_STARTS):
            while self._count_workers() < wanted:
                time.sleep(_LOOK)
                yield
            answers = self._client.run(worker.start, self._setup, on_error="return")
            for address, answer in answers.items():
                if isinstance(answer, WorkerInfo):
                    self._meet(answer)
                # An OSError says that the worker has ended meanwhile.
                elif not isinstance(answer, OSError):
                    raise WorkerError(f"The worker {address} cannot work: {answer}") from answer
            if sum(isinstance(answer, WorkerInfo) for answer in answers.values()) >= wanted:
                return
            # The scheduler soon sees which workers have ended.
            time.sleep(_LOOK)
            yield
        raise WorkerError(f"A worker ended {_STARTS} times while its device was started: try gpureg bench on that device, or leave it out.")

    def _run_all(self, waiting: deque[Job], is_retry: bool) -> Iterator[Optional[Outcome]]:
        while waiting or self._running:
            if is_retry and not self._running:
                # A worker that ends as soon as the scheduler has it is not started again by its nanny.
                yield from self._start(1)
            workers = self._count_workers()
            most = 1 if is_retry else PLACES * max(1, workers)
            jobs = [waiting.popleft() for _ in range(min(len(waiting), most - len(self._running)))]
            futures = self._client.map(worker.run, jobs, setup=self._setup, key="gpuregistration", pure=False)
            self._running.update(zip(futures, jobs))
            for future in futures:
                future.add_done_callback(self._ends.put)
            future = self._wait_for_an_end()
            if future is None:
                yield None
                continue
            outcome = self._finish(future, self._running.pop(future), is_retry)
            # Else Dask would run the pair once more if its worker ends.
            future.release()
            yield outcome

    def _wait_for_an_end(self) -> Any:
        """Returns the future of a pair that has ended, or None if none ends within _LOOK seconds."""
        # Dask calls nothing when a pair ends that it has run again.
        for future in [one for one in self._lost if one.status not in ("lost", "pending")]:
            self._lost.remove(future)
            self._ends.put(future)
        try:
            future = self._ends.get(timeout=_LOOK)
        except queue.Empty:
            return None
        if future.status != "lost":
            return future
        self._lost.append(future)
        return None

    def _count_workers(self) -> int:
        if time.monotonic() - self._looked < _LOOK:
            return self.workers
        self._looked = time.monotonic()
        try:
            self.workers = len(self._client.nthreads())
        except (OSError, RuntimeError) as error:
            raise WorkerError(f"The scheduler does not answer any more: {error}. {self._hint}") from error
        if self.workers or self._setup.devices is None:
            self._had_workers = time.monotonic()
        elif time.monotonic() - self._had_workers > _ALONE:
            raise WorkerError(f"All workers have ended, and none came back in {_ALONE} s. {self._hint}")
        return self.workers

    def _meet(self, info: WorkerInfo) -> None:
        if info.warning and info not in self._infos.values():
            self._news.append(f"The worker {info.name} on {info.host}: {info.warning}")
        self._infos[info.address] = info

    def _finish(self, future: Any, job: Job, is_retry: bool) -> Optional[Outcome]:
        """Returns how a pair ended, or None if it is to run once more."""
        address = ""
        if future.status != "cancelled":
            try:
                outcome = future.result()
            except import_distributed().KilledWorker as error:
                address = error.last_worker.address
            except Exception as error:
                raise WorkerError(f"A worker cannot work: {error}") from error
            else:
                self._meet(outcome.worker)
                if outcome.device_lost:
                    self._restart(outcome.worker)
                    if not is_retry:
                        self._retries.append(job)
                        return None
                return outcome
        if is_retry:
            why = "its worker was killed, twice: is there enough memory, and what does the system's log say?"
            return Outcome(job.id, error_type="WorkerKilled", error=why)
        self._retries.append(job)
        if address:
            self._news.append(f"{self._infos.get(address, f'The worker {address}')} has ended; {job.id} is tried again, by itself.")
        else:
            # The scheduler has forgotten it.
            self._news.append(f"It is not known how {job.id} ended; it is tried again, by itself.")
        return None

    def _restart(self, info: WorkerInfo) -> None:
        """Replaces the process of a worker that has lost its device."""
        if info in self._restarted:
            return
        self._restarted.add(info)
        try:
            self._client.restart_workers([info.address])
        except ValueError as error:
            raise WorkerError(f"The device of the worker {info.address} is lost, and it has no nanny that starts it again.") from error
        self._news.append(f"{info} has lost its device, and is started again.")
