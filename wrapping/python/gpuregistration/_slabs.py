# SPDX-License-Identifier: Apache-2.0
"""Has several threads work with NumPy, which uses one by itself and lets others run meanwhile: each on some slices of an array, or on
something else."""

from __future__ import annotations

from functools import partial
from typing import Any, Callable, Iterable, Sequence, TypeVar

import numpy as np

from . import _engine

# With more, the memory is what is waited for.
_MOST_THREADS = 16
# Numbers of an array above which it is looked at by several threads: fewer take one thread less time than asking others.
_MANY = 1 << 24

_T = TypeVar("_T")
_Item = TypeVar("_Item")


def in_slabs(work: Callable[[int, int], _T], count: int) -> list[_T]:
    """Calls `work` with the first slice and the one behind the last of each part of `count` slices, in threads, and returns what it
    returns, in the slices' order."""
    threads = _count_threads()
    parts = min(threads, count)
    if parts <= 1:
        return [work(0, count)]
    ends = [count * n // parts for n in range(parts + 1)]
    return _call("slabs", threads, [partial(work, *some) for some in zip(ends, ends[1:])])


def in_parts(look: Callable[[np.ndarray], _T], array: np.ndarray) -> list[_T]:
    """Returns what `look` finds in an array: in all of it or, if it is large, in parts of it, each of some slices, by threads."""
    if array.size < _MANY:
        return [look(array)]
    return in_slabs(lambda first, end: look(array[first:end]), len(array))


def cast(array: np.ndarray, dtype: Any) -> np.ndarray:
    """Converts an array to another type, in contiguous memory, by threads where it is large; an array that is so already is returned as it
    is."""
    if array.size < _MANY or (array.dtype == dtype and array.flags.c_contiguous):
        return np.ascontiguousarray(array, dtype)
    made: np.ndarray = np.empty(array.shape, dtype)

    def convert(first: int, end: int) -> None:
        made[first:end] = array[first:end]

    in_slabs(convert, len(array))
    return made


def at_once(work: Callable[[_Item], _T], items: Iterable[_Item], most: int = _MOST_THREADS) -> list[_T]:
    """Calls `work`, which may call the functions above, with each item, in threads, and returns what it returns, in the items' order.
    Raises the error of the first item that has one, when no thread works any more.

    Args:
        most: how many items are worked on at a time, at most.
    """
    return _call("items", min(most, _count_threads()), [partial(work, item) for item in items])


def _call(name: str, count: int, works: Sequence[Callable[[], _T]]) -> list[_T]:
    # The import takes 15 ms, for nothing where images are small.
    from ._threads import begin, end, wait

    waiting = [begin(name, count, work) for work in works]
    try:
        wait(waiting)
        return [one.result() for one in waiting]
    finally:
        # A signal may have ended the waiting.
        end(waiting)


def _count_threads() -> int:
    return max(1, min(_MOST_THREADS, _engine.thread_count()))
