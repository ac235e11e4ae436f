# SPDX-License-Identifier: Apache-2.0
"""Chooses a worker for each pair, and tries the pairs of a killed worker again.

Dask's own retries and resources do not do that. Where a worker is killed, Dask counts a failure for each task that it was given, also for
those that only waited there, and how many failures it allows is a setting of the scheduler, which may be somebody else's. A task that has
seceded, as pairs do to be read ahead, no longer counts when Dask looks for the worker with the least work.
"""

from __future__ import annotations

import queue
import time
import uuid
from collections import deque
from dataclasses import dataclass, field
from typing import Any, Iterable, Iterator, Optional, Sequence

from .. import __version__
from . import worker
from .errors import WorkerError
from .pair import Job
from .pipeline import PLACES, Outcome
from ..report.wording import count_of

# Seconds between two looks at which workers there are.
_LOOK = 0.5
# A worker that ends before its device has started is started again so often.
_STARTS = 3
# Seconds without any worker of those that were started here, and are started again.
_ALONE = 60


@dataclass
class _Worker:
    """One that the scheduler has.

    Attributes:
        starting: the future of who it is.
        info: who it is, when that is known.
        jobs: its pairs, by their futures.
    """

    starting: Any
    info: Optional[worker.WorkerInfo] = None
    jobs: dict[Any, Job] = field(default_factory=dict)


@dataclass(frozen=True)
class Done:
    """A pair that is over.

    Attributes:
        outcome: what it came to.
        worker: who did it; None where that one was killed.
    """

    outcome: Outcome
    worker: Optional[worker.WorkerInfo]


class Schedule:
    """Gives each worker so many pairs that it always has one to register, and no more, so that all end at about the same time.

    A worker that is killed has taken several pairs with it, of which one may be why. Each is tried again, by itself in a worker; one
    that is alone when its worker is killed has failed.

    Args:
        client: Dask's.
        devices: of the workers 0, 1, …, which were started here; None: they are a scheduler's, come and go, and take each one for itself.
        threads: of the host, of each worker.
    """

    def __init__(self, client: Any, devices: Optional[Sequence[str]], threads: int) -> None:
        self._client = client
        self._setup = worker.Setup(uuid.uuid4().hex, devices, threads)
        self._workers: dict[str, _Worker] = {}
        self._waiting: deque[Job] = deque()
        self._suspects: deque[Job] = deque()
        self._second_tries: set[str] = set()
        self._events: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._looked = float("-inf")
        self._had_workers = time.monotonic()
        self._deaths = 0
        self._restarting: set[str] = set()
        self._news: list[str] = []

    @property
    def workers(self) -> list[worker.WorkerInfo]:
        """Those that are ready."""
        return [one.info for one in self._workers.values() if one.info is not None]

    def take_news(self) -> list[str]:
        """What is to be told of workers, once."""
        news, self._news = self._news, []
        return news

    def start(self) -> Iterator[None]:
        """Waits until a worker is ready; of workers that were started here, until all are. Yields now and then.

        Raises:
            WorkerError: one cannot work.
        """
        wanted = 1 if self._setup.devices is None else len(self._setup.devices)
        while len(self.workers) < wanted:
            self._look()
            self._await_event()
            yield None

    def run(self, jobs: Iterable[Job]) -> Iterator[Optional[Done]]:
        """Yields what each pair comes to, as they end, and None now and then.

        Raises:
            WorkerError: a worker cannot work.
        """
        self._waiting.extend(jobs)
        while self._waiting or self._suspects or any(one.jobs for one in self._workers.values()):
            yield from self._look()
            self._hand_out()
            yield self._await_event()

    def end(self) -> None:
        """Takes back what was handed out: a worker goes no further than to the end of the registration that it is at."""
        futures = [future for one in self._workers.values() for future in one.jobs]
        if futures:
            self._client.cancel(futures, force=True)
        if self._workers:
            self._client.run(worker.stop, self._setup, workers=list(self._workers), on_error="ignore")

    def _look(self) -> list[Done]:
        """At which workers there are. Returns the pairs that have failed by a worker's end."""
        if time.monotonic() - self._looked < _LOOK:
            return []
        self._looked = time.monotonic()
        try:
            addresses = set(self._client.nthreads())
        except (OSError, RuntimeError) as error:
            raise WorkerError(f"The scheduler does not answer any more: {error}. What is done stays; run the same again.") from error
        if addresses or self._setup.devices is None:
            self._had_workers = time.monotonic()
        elif time.monotonic() - self._had_workers > _ALONE:
            raise WorkerError(f"All workers have ended, and none was started again in {_ALONE} s. What is done stays; run the same again.")
        for address in addresses - set(self._workers):
            self._workers[address] = _Worker(self._submit(address, worker.start, self._setup))
        over = []
        for address in set(self._workers) - addresses:
            # Those of a scheduler come and go.
            ended = "was killed" if self._setup.devices is not None else "has ended"
            over += self._bury(self._workers.pop(address), "was started again" if address in self._restarting else ended)
        # Dask has waited until they were there again: what is left has come back under its own address, and if it ends, it ends anew.
        self._restarting.clear()
        for one in self._workers.values():
            # What the scheduler knows nothing of any more.
            forgotten = [future for future in one.jobs if future.status in ("cancelled", "lost")]
            over += self._fail({future: one.jobs.pop(future) for future in forgotten}, one.info, "was forgotten by the scheduler")
        return over

    def _bury(self, lost: _Worker, what: str) -> list[Done]:
        if lost.info is None:
            self._deaths += 1
            # One of a scheduler's many may end as it likes.
            if self._deaths >= _STARTS and (self._setup.devices is not None or not self.workers):
                raise WorkerError(
                    f"A worker ended {_STARTS} times while its device was started: try gpureg bench on that device, or leave it out."
                )
        return self._fail(lost.jobs, lost.info, what)

    def _fail(self, jobs: dict[Any, Job], info: Optional[worker.WorkerInfo], what: str) -> list[Done]:
        """Pairs that a worker will not end: they are tried again, or have failed. Returns the latter.

        Args:
            what: has become of the worker, as it is told where pairs are tried again; what has failed tells it by itself.
        """
        if jobs:
            self._client.cancel(list(jobs), force=True)
        failed = []
        for job in jobs.values():
            if not self._try_again(job):
                error = "its worker was killed, twice: is there enough memory, and what does the system's log say?"
                failed.append(Done(Outcome(job.row.id, error_type="WorkerKilled", error=error), info))
        again = len(jobs) - len(failed)
        if again and info is not None:
            how = "is tried again, by itself" if again == 1 else "are tried again, each by itself"
            self._news.append(f"{_name(info)} {what}; its {count_of(again, 'pair')} {how}.")
        return failed

    def _try_again(self, job: Job) -> bool:
        """Whether there is to be a second time."""
        if job.row.id in self._second_tries:
            return False
        self._second_tries.add(job.row.id)
        self._suspects.append(job)
        return True

    def _hand_out(self) -> None:
        ready = {address: one for address, one in self._workers.items() if one.info is not None}
        while self._suspects:
            idle = next((address for address, one in ready.items() if not one.jobs), None)
            if idle is None:
                break
            self._give(idle, self._suspects.popleft())
        if self._suspects and ready:
            # One that is about to be idle gets nothing more, so that a suspect has it for itself.
            ready.pop(min(ready, key=lambda address: len(ready[address].jobs)))
        for address in [address for address, one in ready.items() if self._has_suspect(one)]:
            ready.pop(address)
        while self._waiting and ready:
            address = min(ready, key=lambda address: len(ready[address].jobs))
            if len(ready[address].jobs) >= PLACES:
                break
            self._give(address, self._waiting.popleft())

    def _has_suspect(self, one: _Worker) -> bool:
        return any(job.row.id in self._second_tries for job in one.jobs.values())

    def _give(self, address: str, job: Job) -> None:
        self._workers[address].jobs[self._submit(address, worker.run, job, self._setup)] = job

    def _submit(self, address: str, work: Any, *arguments: Any) -> Any:
        future = self._client.submit(work, *arguments, workers=[address], allow_other_workers=False, pure=False, retries=0)
        future.add_done_callback(self._events.put)
        return future

    def _await_event(self) -> Optional[Done]:
        """What a pair came to, if one ends soon."""
        try:
            future = self._events.get(timeout=_LOOK)
        except queue.Empty:
            return None
        for address, one in self._workers.items():
            if future is one.starting:
                self._welcome(address, one)
            elif future in one.jobs:
                return self._finish(address, one, future)
        # Of a worker that is gone, which was seen to before.
        return None

    def _welcome(self, address: str, one: _Worker) -> None:
        if one.starting.status != "finished":
            if one.starting.status == "error":
                error = one.starting.exception()
                raise WorkerError(f"The worker {address} cannot work: {error}") from error
            return
        info = one.starting.result()
        if info.version != __version__:
            raise WorkerError(f"The worker {address} has gpuregistration {info.version}, and this is {__version__}: install the same.")
        self._deaths = 0
        one.info = info
        if info.warning:
            self._news.append(f"The worker {info.name} on {info.host}: {info.warning}")

    def _finish(self, address: str, one: _Worker, future: Any) -> Optional[Done]:
        if future.status in ("cancelled", "lost"):
            # Its worker is gone, or the scheduler has begun anew: the next look sees to it.
            return None
        job = one.jobs.pop(future)
        if future.status == "error":
            error = future.exception()
            # Dask's own name for it, where a process has come up again under the same address.
            if type(error).__name__ == "KilledWorker":
                return next(iter(self._fail({future: job}, one.info, "was killed")), None)
            return Done(Outcome(job.row.id, error_type=type(error).__name__, error=" ".join(str(error).split())), one.info)
        outcome = future.result()
        if outcome.device_lost:
            self._restart(address)
            if self._try_again(job):
                return None
        return Done(outcome, one.info)

    def _restart(self, address: str) -> None:
        """A new process for a worker whose device is lost to the one that it has."""
        if address in self._restarting:
            return
        self._restarting.add(address)
        try:
            self._client.restart_workers([address])
        except ValueError as error:
            raise WorkerError(f"The device of the worker {address} is lost, and it has no nanny that starts it again.") from error
        info = self._workers[address].info
        if info is not None:
            self._news.append(f"{_name(info)} has lost its device, and is started again.")


def _name(info: worker.WorkerInfo) -> str:
    """A worker, as it is told of."""
    return f"The worker {info.name} on {info.host} ({info.device})"
