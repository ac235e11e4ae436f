# SPDX-License-Identifier: Apache-2.0
"""Threads that stay for the next call: to start some takes longer than what they do for an image."""

from __future__ import annotations

import os
from collections import deque
from concurrent.futures import Future, wait
from contextvars import copy_context
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Callable, Generator, Iterable, TypeVar, cast

import numpy as np

from . import _engine

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

_Result = TypeVar("_Result")


def begin(name: str, count: int, work: Callable[[], _Result]) -> "Future[_Result]":
    """Has one of some threads call a function, and returns what will have its result. When Python ends it starts no thread any more: then
    this thread calls the function at once.

    Args:
        name: of the threads. Work that waits for other work has other threads than that.
        count: how many threads there are of that name.
        work: sees the context variables and NumPy's error state as they are now.
    """
    context = copy_context()
    # NumPy 1 keeps its error state per thread, not in a context variable.
    in_state = np.errstate(call=cast(Any, np.geterrcall()), **np.geterr())(work)
    try:
        return _pool(name, count, os.getpid()).submit(context.run, in_state)
    except RuntimeError:
        return _call(work)


def call_in_order(name: str, functions: Iterable[Callable[[], _Result]]) -> Generator[_Result, None, None]:
    """Yields what functions return, in their order, which threads of a name call. When this is closed, it waits for those that have begun;
    others are not called. No more results wait than keep the threads busy."""
    count = max(1, _engine.thread_count())
    waiting: deque[Future[_Result]] = deque()
    try:
        for function in functions:
            waiting.append(begin(name, count, function))
            if len(waiting) > 2 * count:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        end(waiting)


def end(waiting: Iterable["Future[_Result]"]) -> None:
    """Waits for the work that has begun; other work is not done."""
    wait([one for one in waiting if not one.cancel()])


def _call(work: Callable[[], _Result]) -> "Future[_Result]":
    done: Future[_Result] = Future()
    try:
        done.set_result(work())
    except BaseException as error:
        done.set_exception(error)
    return done


# The names that there are, each with another number of threads meanwhile.
@lru_cache(maxsize=8)
def _pool(name: str, count: int, process: int) -> ThreadPoolExecutor:
    """Returns the threads of a process. A child that was forked has none of its parent's. Raises RuntimeError when Python ends."""
    # This import is not possible either when Python ends.
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(count, name)
