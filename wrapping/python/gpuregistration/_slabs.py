# SPDX-License-Identifier: Apache-2.0
"""Has several threads work with NumPy, which uses one by itself and lets others run meanwhile: each on some slices of an array, or on something
else."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Callable, Iterable, TypeVar

import numpy as np

from . import _engine

# With more, the memory is what is waited for.
_MOST_THREADS = 16
# Numbers of an array above which it is looked at by several threads: fewer take one thread less time than starting others.
_MANY = 1 << 21

_T = TypeVar("_T")
_Item = TypeVar("_Item")


def in_slabs(work: Callable[[int, int], _T], count: int) -> list[_T]:
    """Calls `work` with the first slice and the one behind the last of each part of `count` slices, in threads, and returns what it returns, in the
    slices' order."""
    threads = max(1, min(_MOST_THREADS, _engine.thread_count(), count))
    ends = [count * n // threads for n in range(threads + 1)]
    if threads == 1:
        return [work(0, count)]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(work, ends[:-1], ends[1:]))


def in_parts(look: Callable[[np.ndarray], _T], array: np.ndarray) -> list[_T]:
    """Returns what `look` finds in an array: in all of it or, if it is large, in parts of it, each of some slices, by threads."""
    if array.size < _MANY:
        return [look(array)]
    return in_slabs(lambda first, end: look(array[first:end]), len(array))


def at_once(work: Callable[[_Item], _T], items: Iterable[_Item]) -> list[_T]:
    """Calls `work` with each item, in threads, and returns what it returns, in the items' order. Raises the error of the first item that has
    one, when no thread works any more."""
    with ThreadPoolExecutor(max(1, min(_MOST_THREADS, _engine.thread_count()))) as pool:
        return list(pool.map(work, items))
