# SPDX-License-Identifier: Apache-2.0
"""The threads that compress gzip and unpack it."""

from __future__ import annotations

import functools
import os
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Callable, Generator, Iterable, TypeVar

from . import _engine

_Result = TypeVar("_Result")


def call_in_order(functions: Iterable[Callable[[], _Result]]) -> Generator[_Result, None, None]:
    """Yields what functions return, which the threads call, in their order. When this is closed, it waits for those that have begun; others
    are not called."""
    count = max(1, _engine.thread_count())
    threads = _threads(os.getpid(), count)
    waiting: deque[Future[_Result]] = deque()
    try:
        for function in functions:
            waiting.append(threads.submit(function))
            # No more in memory than keeps the threads busy.
            if len(waiting) > 2 * count:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        wait([one for one in waiting if not one.cancel()])


@functools.lru_cache(maxsize=1)
def _threads(process: int, count: int) -> ThreadPoolExecutor:
    """Returns the threads of a process. A child that was forked has none of its parent's."""
    return ThreadPoolExecutor(count, "gzip")
