# SPDX-License-Identifier: Apache-2.0
"""Writes gzip by several threads at once."""

from __future__ import annotations

import functools
import os
import struct
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, BinaryIO

from . import _deflate, _engine

# What a thread compresses at a time: enough for one of deflate's windows, of 32 KiB, to be forgotten without loss.
BLOCK = 1 << 20
_GZIP_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
# An empty one.
_LAST_BLOCK = b"\x03\x00"


def write_compressed(file: BinaryIO, *parts: Any, owner: Any = None) -> None:
    """Writes bytes, compressed as one member of gzip, which every reader takes.

    Args:
        parts: the bytes, one part after the other, in objects of contiguous memory.
        owner: an object that holds the memory of the parts. It is kept for as long as threads read there, which may be longer than this
            function runs, where an error or a signal ends it.

    Raises:
        OSError: the file cannot be written.
    """
    file.write(_GZIP_HEADER)
    count = max(1, _engine.thread_count())
    threads = _threads(os.getpid(), count)
    waiting: deque[Future[bytes]] = deque()
    check, size = 0, 0
    try:
        for part in parts:
            content = memoryview(part).cast("B")
            for begin in range(0, len(content), BLOCK):
                block = content[begin : begin + BLOCK]
                waiting.append(threads.submit(_compress, block, owner))
                check, size = _deflate.library.crc32(block, check), size + len(block)
                # No more in memory than keeps the threads busy.
                if len(waiting) > 2 * count:
                    file.write(waiting.popleft().result())
        while waiting:
            file.write(waiting.popleft().result())
    finally:
        for one in waiting:
            one.cancel()
    file.write(_LAST_BLOCK + struct.pack("<II", check, size & 0xFFFFFFFF))


@functools.lru_cache(maxsize=1)
def _threads(process: int, count: int) -> ThreadPoolExecutor:
    """Returns the threads of a process. A child that was forked has none of its parent's."""
    return ThreadPoolExecutor(count, "gzip")


def _compress(block: memoryview, owner: Any) -> bytes:
    """Compresses a block, and holds the owner of its memory until this is over."""
    return _deflate.deflate(block)
