# SPDX-License-Identifier: Apache-2.0
"""Compression by several threads at once."""

from __future__ import annotations

import struct
import zlib
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import BinaryIO

from . import _engine

# What a thread compresses at a time: enough for one of deflate's windows, of 32 KiB, to be forgotten without loss.
BLOCK = 1 << 20
# Images of floats hardly get smaller by higher ones.
_LEVEL = 4
_GZIP_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"


def compress_file(source: Path, target: Path) -> None:
    """Writes a file's content, compressed as one member of gzip, as every reader takes it.

    Raises:
        OSError: one cannot be read, or the other not be written.
    """
    with open(source, "rb") as content, open(target, "wb") as made:
        made.write(_GZIP_HEADER)
        check, size = _write_blocks(content, made)
        made.write(struct.pack("<II", check, size & 0xFFFFFFFF))


def _write_blocks(content: BinaryIO, made: BinaryIO) -> tuple[int, int]:
    """Returns the content's check sum and size."""
    check, size = 0, 0
    count = max(1, _engine.thread_count())
    waiting: deque[Future[bytes]] = deque()
    with ThreadPoolExecutor(count) as pool:
        block = content.read(BLOCK)
        while True:
            following = content.read(BLOCK)
            check, size = zlib.crc32(block, check), size + len(block)
            waiting.append(pool.submit(_deflate, block, not following))
            # No more in memory than keeps the threads busy.
            while waiting and (len(waiting) > 2 * count or not following):
                made.write(waiting.popleft().result())
            if not following:
                return check, size
            block = following


def _deflate(block: bytes, is_last: bool) -> bytes:
    # Blocks end on a byte, so that one can follow the other.
    work = zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
    return work.compress(block) + work.flush(zlib.Z_FINISH if is_last else zlib.Z_FULL_FLUSH)
