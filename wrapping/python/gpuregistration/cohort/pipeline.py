# SPDX-License-Identifier: Apache-2.0
"""What a worker's threads do: some read ahead, one has the device compute, and some write, so that the device waits for no file."""

from __future__ import annotations

import threading
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Callable, Optional, TypeVar

from .._devices import Device
from .._engine import DeviceLostError
from .._paths import readable
from . import pair

#: Pairs that are read ahead of the one that is registered, and pairs that are written behind it.
AHEAD = 3
BEHIND = 3
#: Pairs that a worker has in its hands at a time, which bounds its memory.
PLACES = 1 + AHEAD + BEHIND

_T = TypeVar("_T")


@dataclass
class Outcome:
    """What a pair came to, as it is sent back.

    Attributes:
        id: the pair's.
        record: what result.json says; None of a pair that failed.
        error_type, error, trace: why; "" of one that did not.
        device_lost: its device is of no more use to its process.
        spans: of "read", "register" and "write", when each began and ended, in seconds since 1970.
    """

    id: str
    record: Optional[dict[str, Any]] = None
    error_type: str = ""
    error: str = ""
    trace: str = ""
    device_lost: bool = False
    spans: dict[str, tuple[float, float]] = field(default_factory=dict)

    @property
    def failed(self) -> bool:
        return self.record is None


class Pipeline:
    """A device's threads, for all cohorts that a process serves.

    Args:
        device: that computes.
    """

    def __init__(self, device: Device) -> None:
        self.device = device
        self._places = threading.BoundedSemaphore(PLACES)
        self._readers = ThreadPoolExecutor(AHEAD, "cohort-read")
        self._computer = ThreadPoolExecutor(1, "cohort-register")
        self._writers = ThreadPoolExecutor(BEHIND, "cohort-write")

    def run(self, job: pair.Job, is_over: threading.Event) -> Outcome:
        """One pair, from its files to its files. For many threads at once. Raises nothing: what fails is in what it returns.

        Args:
            is_over: set when the pair's cohort is: then it goes no further than to the end of the part that it is at.
        """
        outcome = Outcome(job.row.id)
        with self._places:
            try:
                inputs = _part(self._readers, is_over, outcome, "read", lambda: pair.read(job))
                found = _part(self._computer, is_over, outcome, "register", lambda: pair.compute(job, inputs, self.device.name))
                outcome.record = _part(
                    self._writers,
                    is_over,
                    outcome,
                    "write",
                    lambda: pair.write(job, inputs, found, self.device, _times(outcome)),
                )
            # An error of any type is one pair's alone.
            except Exception as error:
                outcome.error_type, outcome.error = type(error).__name__, readable(" ".join(str(error).split()))
                outcome.trace = readable("".join(traceback.format_exception(type(error), error, error.__traceback__)))
                outcome.device_lost = isinstance(error, DeviceLostError)
        return outcome


def _part(pool: ThreadPoolExecutor, is_over: threading.Event, outcome: Outcome, name: str, work: Callable[[], _T]) -> _T:
    def timed() -> _T:
        if is_over.is_set():
            raise RuntimeError("The cohort has been ended.")
        begin = time.time()
        try:
            return work()
        finally:
            outcome.spans[name] = (begin, time.time())

    return pool.submit(timed).result()


def _times(outcome: Outcome) -> dict[str, Any]:
    """Seconds of the parts that are over, and when they were."""
    return {
        **{name: end - begin for name, (begin, end) in outcome.spans.items()},
        "wait for the device": outcome.spans["register"][0] - outcome.spans["read"][1],
        "spans": dict(outcome.spans),
    }
