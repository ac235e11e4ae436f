# SPDX-License-Identifier: Apache-2.0
"""Compression by several threads at once."""

from __future__ import annotations

import functools
import os
import struct
import zlib
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, BinaryIO

from . import _engine

# What a thread compresses at a time: enough for one of deflate's windows, of 32 KiB, to be forgotten without loss.
BLOCK = 1 << 20
# Images hardly get smaller by higher ones.
_LEVEL = 4
# Of a block, what tells how it is compressed best.
_SAMPLE = 1 << 16
_GZIP_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
# An empty one.
_LAST_BLOCK = b"\x03\x00"


def write_compressed(file: BinaryIO, *parts: Any, owner: Any = None) -> None:
    """Writes some bytes, compressed as one member of gzip, as every reader takes it.

    Args:
        parts: the bytes, one behind the other, in whatever has contiguous memory.
        owner: what else holds that memory. Threads may still read it when this has ended by an error, or by a signal, which comes anywhere.

    Raises:
        OSError: they cannot be written.
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
                waiting.append(threads.submit(_deflate, block, owner))
                check, size = zlib.crc32(block, check), size + len(block)
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
    """Those of a process: a child that was forked has none of its parent's."""
    return ThreadPoolExecutor(count, "gzip")


def _deflate(block: memoryview, owner: Any) -> bytes:
    """Floats that were interpolated hardly repeat but in runs of zeros, which zlib finds in a quarter of the time that it takes to look for
    all that repeats. Of a sample that is all the same, as labels' background is, either way tells nothing: then it looks.

    Args:
        owner: of the block's memory, which is held until this is over.
    """
    sample = block[len(block) // 2 :][:_SAMPLE]
    has_runs_alone = len(_deflate_by(sample, zlib.Z_RLE)) < len(_deflate_by(sample, zlib.Z_DEFAULT_STRATEGY))
    return _deflate_by(block, zlib.Z_RLE if has_runs_alone else zlib.Z_DEFAULT_STRATEGY)


def _deflate_by(block: memoryview, strategy: int) -> bytes:
    work = zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS, zlib.DEF_MEM_LEVEL, strategy)
    # Blocks end on a byte, so that one can follow the other.
    return work.compress(block) + work.flush(zlib.Z_FULL_FLUSH)
