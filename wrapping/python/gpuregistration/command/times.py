# SPDX-License-Identifier: Apache-2.0
"""How long the parts of a command take."""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from typing import Iterator, Mapping

from .output import print_notes

_WIDTH = 24


class Times:
    """Seconds by name, in the order in which they begin. Parts that run at the same time are counted each."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._start = time.perf_counter()
        self._before = _process_age()
        self.seconds["start"] = self._before

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Counts what is done inside to that name."""
        begin = time.perf_counter()
        self.seconds.setdefault(name, 0.0)
        try:
            yield
        finally:
            self.seconds[name] += time.perf_counter() - begin

    def all(self) -> dict[str, float]:
        """Returns all times that are known, and the total since the process's start."""
        return {**self.seconds, "total": self._before + time.perf_counter() - self._start}

    def print(self) -> None:
        """Prints the times on standard error, a line each."""
        print_times(self.all())


def print_times(times: Mapping[str, float]) -> None:
    """Prints seconds by name, a line each, on standard error, in columns."""
    width = max([_WIDTH, *map(len, times)])
    print_notes(*(f"{name:{width}} {seconds:8.3f} s" for name, seconds in times.items()))


def _process_age() -> float:
    """Returns the seconds since the process began, Python's start included; 0 if the system does not report it."""
    try:
        with open("/proc/self/stat", encoding="ascii", errors="replace") as file:
            # The command's name, which may hold anything, ends with the last bracket; the 22nd value is when it began.
            ticks = int(file.read().rpartition(")")[2].split()[19])
        return max(0.0, time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK"))
    except (OSError, ValueError, IndexError, AttributeError):
        return 0.0
