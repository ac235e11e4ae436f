# SPDX-License-Identifier: Apache-2.0
"""Has several threads work on an array, each on some of its slices: NumPy uses one by itself, and lets others run meanwhile."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Callable, TypeVar

from . import _engine

# With more, the memory is what is waited for.
_MOST_THREADS = 16

_T = TypeVar("_T")


def in_slabs(work: Callable[[int, int], _T], count: int) -> list[_T]:
    """Calls `work` with the first slice and the one behind the last of each part of `count` slices, in threads, and returns what it returns, in the
    slices' order."""
    threads = max(1, min(_MOST_THREADS, _engine.thread_count(), count))
    ends = [count * n // threads for n in range(threads + 1)]
    if threads == 1:
        return [work(0, count)]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(work, ends[:-1], ends[1:]))
