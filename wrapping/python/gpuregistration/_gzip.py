# SPDX-License-Identifier: Apache-2.0
"""Writes gzip by several threads at once."""

from __future__ import annotations

import functools
import os
import struct
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any, BinaryIO, Callable, Iterator

from . import _deflate, _engine

# A thread compresses so many bytes at a time: so many that the loss of deflate's window of 32 KiB hardly makes the file larger.
BLOCK = 1 << 20
_GZIP_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
# An empty one.
_LAST_BLOCK = b"\x03\x00"


def write_compressed(file: BinaryIO, *parts: Any, owner: Any = None) -> None:
    """Writes bytes, compressed as one member of gzip, which every reader takes.

    Args:
        parts: the bytes, one part after the other, in objects of contiguous memory; or functions that make such objects, some BLOCK bytes each,
            which the threads call.
        owner: an object that holds the memory of the parts. It is kept for as long as threads read there, which may be longer than this
            function runs, where an error or a signal ends it.

    Raises:
        OSError: the file cannot be written.
    """
    file.write(_GZIP_HEADER)
    count = max(1, _engine.thread_count())
    threads = _threads(os.getpid(), count)
    waiting: deque[Future[tuple[bytes, Any]]] = deque()
    check = size = 0

    def take() -> None:
        nonlocal check, size
        packed, block = waiting.popleft().result()
        file.write(packed)
        check, size = _deflate.library.crc32(block, check), size + len(block)

    try:
        for make in _blocks(parts):
            waiting.append(threads.submit(_compress, make, owner))
            # No more in memory than keeps the threads busy.
            if len(waiting) > 2 * count:
                take()
        while waiting:
            take()
    finally:
        for one in waiting:
            one.cancel()
    file.write(_LAST_BLOCK + struct.pack("<II", check, size & 0xFFFFFFFF))


def _blocks(parts: tuple[Any, ...]) -> Iterator[Callable[[], Any]]:
    """Yields functions that return the blocks of all parts."""
    for part in parts:
        if callable(part):
            yield part
            continue
        content = memoryview(part).cast("B")
        for begin in range(0, len(content), BLOCK):
            yield partial(content.__getitem__, slice(begin, begin + BLOCK))


@functools.lru_cache(maxsize=1)
def _threads(process: int, count: int) -> ThreadPoolExecutor:
    """Returns the threads of a process. A child that was forked has none of its parent's."""
    return ThreadPoolExecutor(count, "gzip")


def _compress(make: Callable[[], Any], owner: Any) -> tuple[bytes, memoryview]:
    """Compresses a block, and holds the owner of its memory until this is over. Returns what it has become, and the block."""
    block = memoryview(make()).cast("B")
    return _deflate.deflate(block), block
