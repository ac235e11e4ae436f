# SPDX-License-Identifier: Apache-2.0
"""Runs a worker's jobs, such as pairs: some are read ahead and some are written while the device computes one, so that it waits for no
file."""

from __future__ import annotations

import threading
import time
import traceback
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Callable, Mapping, Optional, Protocol, TypeVar

from .._devices import Device
from .._engine import DeviceLostError
from .._paths import readable

#: Pairs that are read at a time, and pairs that are written.
AHEAD = 3
BEHIND = 3
#: Pairs that a process has in memory at a time.
PLACES = 1 + AHEAD + BEHIND

_T = TypeVar("_T")

#: Shared by all cohorts and workers of a process, so that its memory is bounded.
_places, _reading, _writing = (threading.BoundedSemaphore(count) for count in (PLACES, AHEAD, BEHIND))
#: Only one pair computes at a time, because a process has one device.
_computing = threading.Lock()
#: One thread at a time waits for those that write: two would each keep what the other one waits for.
_waiting = threading.Lock()


def wait_for_writers(seconds: float) -> None:
    """Waits until all jobs that write now have written, at most for some seconds."""
    end, taken = time.monotonic() + seconds, 0
    with _waiting:
        try:
            while taken < BEHIND and _writing.acquire(timeout=max(0.0, end - time.monotonic())):
                taken += 1
        finally:
            for _ in range(taken):
                _writing.release()


@dataclass(frozen=True)
class WorkerInfo:
    """Describes a worker.

    Attributes:
        name, address: the scheduler's for it.
        process: its number on its machine.
        host: the machine's name.
        device, description: the device that it computes on, and what that is.
        warning: the device's warning; "" if there is none.
    """

    name: str
    address: str
    process: int
    host: str
    device: str
    description: str
    warning: str = ""

    def __str__(self) -> str:
        return f"The worker {self.name} on {self.host} ({self.device})"


class Job(Protocol):
    """A job of three parts, which other threads do for other jobs meanwhile, such as the work for one pair. It reaches a worker's process
    by pickle."""

    @property
    def id(self) -> str:
        """Its name, which no other job at the same time has."""

    def read(self) -> Any:
        """Reads its files, and does all work that needs no device."""

    def compute(self, inputs: Any, device: str) -> Any:
        """Does all work that needs the device, on what read() has returned."""

    def write(self, inputs: Any, found: Any, device: Device, times: Mapping[str, Any]) -> dict[str, Any]:
        """Writes its files, and returns its record.

        Args:
            found: the result of compute().
            times: seconds of each part.
        """


@dataclass
class Outcome:
    """How a job ended.

    Attributes:
        id: the job's.
        record: the result of the job's write(), such as the content of result.json; None if the job failed.
        error_type, error, trace: why it failed; "" if it did not.
        device_lost: the device computes nothing more for its process.
        spans: when "read", "register" and "write" began and ended, in seconds since 1970.
        worker: the worker that ran it; None if that was killed.
    """

    id: str
    record: Optional[dict[str, Any]] = None
    error_type: str = ""
    error: str = ""
    trace: str = ""
    device_lost: bool = False
    spans: dict[str, tuple[float, float]] = field(default_factory=dict)
    worker: Optional[WorkerInfo] = None

    @property
    def failed(self) -> bool:
        return self.record is None


@dataclass(frozen=True)
class Pipeline:
    """Runs pairs on one device.

    Attributes:
        device: that computes.
        worker: whose device it is.
    """

    device: Device
    worker: WorkerInfo

    def run(self, job: Job, has_ended: Callable[[], bool]) -> Outcome:
        """Runs one job, from its files to its files. Several threads may call it at once. It raises nothing: errors are in the Outcome.

        Args:
            has_ended: returns whether the pair's cohort has ended: then the pair ends with its current part.
        """
        outcome = Outcome(job.id, worker=self.worker)

        def do(name: str, permit: AbstractContextManager[Any], work: Callable[[], _T]) -> _T:
            with permit:
                if has_ended():
                    raise RuntimeError("The cohort has been ended.")
                begin = time.time()
                try:
                    return work()
                finally:
                    outcome.spans[name] = (begin, time.time())

        with _places:
            try:
                inputs = do("read", _reading, job.read)
                found = do("register", _computing, lambda: job.compute(inputs, self.device.name))
                outcome.record = do("write", _writing, lambda: job.write(inputs, found, self.device, _times(outcome)))
            # An error of any type is one pair's alone.
            except Exception as error:
                outcome.error_type, outcome.error = type(error).__name__, readable(" ".join(str(error).split()))
                outcome.trace = readable("".join(traceback.format_exception(type(error), error, error.__traceback__)))
                outcome.device_lost = isinstance(error, DeviceLostError)
        return outcome


def _times(outcome: Outcome) -> dict[str, Any]:
    """Returns the seconds that each finished part took, and when it began and ended."""
    return {
        **{name: end - begin for name, (begin, end) in outcome.spans.items()},
        "wait for the device": outcome.spans["register"][0] - outcome.spans["read"][1],
        "spans": dict(outcome.spans),
    }
