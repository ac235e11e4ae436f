# SPDX-License-Identifier: Apache-2.0
"""Has several threads work with NumPy, which uses one by itself and lets others run meanwhile: each on some slices of an array, or on something
else."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor, wait
from functools import lru_cache
from typing import Any, Callable, Iterable, TypeVar

import numpy as np

from . import _engine

# With more, the memory is what is waited for.
_MOST_THREADS = 16
# Numbers of an array above which it is looked at by several threads: fewer take one thread less time than starting others.
_MANY = 1 << 24

_T = TypeVar("_T")
_Item = TypeVar("_Item")


def in_slabs(work: Callable[[int, int], _T], count: int) -> list[_T]:
    """Calls `work` with the first slice and the one behind the last of each part of `count` slices, in threads, and returns what it returns, in the
    slices' order."""
    threads = _count_threads()
    parts = min(threads, count)
    if parts <= 1:
        return [work(0, count)]
    ends = [count * n // parts for n in range(parts + 1)]
    return _call(_pool("slabs", os.getpid(), threads), work, ends[:-1], ends[1:])


def in_parts(look: Callable[[np.ndarray], _T], array: np.ndarray) -> list[_T]:
    """Returns what `look` finds in an array: in all of it or, if it is large, in parts of it, each of some slices, by threads."""
    if array.size < _MANY:
        return [look(array)]
    return in_slabs(lambda first, end: look(array[first:end]), len(array))


def to_dtype(array: np.ndarray, dtype: Any) -> np.ndarray:
    """Converts an array to another type, in contiguous memory, by threads where it is large; an array that is so already is returned as it is."""
    if array.size < _MANY or (array.dtype == dtype and array.flags.c_contiguous):
        return np.ascontiguousarray(array, dtype)
    made: np.ndarray = np.empty(array.shape, dtype)

    def convert(first: int, end: int) -> None:
        made[first:end] = array[first:end]

    in_slabs(convert, len(array))
    return made


def at_once(work: Callable[[_Item], _T], items: Iterable[_Item]) -> list[_T]:
    """Calls `work`, which may call the functions above, with each item, in threads, and returns what it returns, in the items' order. Raises the
    error of the first item that has one, when no thread works any more."""
    return _call(_pool("items", os.getpid(), _count_threads()), work, items)


def _call(pool: ThreadPoolExecutor, work: Callable[..., _T], *items: Iterable[Any]) -> list[_T]:
    waiting = [pool.submit(work, *some) for some in zip(*items)]
    wait(waiting)
    return [one.result() for one in waiting]


def _count_threads() -> int:
    return max(1, min(_MOST_THREADS, _engine.thread_count()))


@lru_cache(maxsize=2)
def _pool(name: str, process: int, count: int) -> ThreadPoolExecutor:
    """Returns threads of a process, which wait for the next call: to start some takes longer than what they do. A child that was forked has none
    of its parent's. Work that waits for slabs has other threads than these."""
    return ThreadPoolExecutor(count, name)
