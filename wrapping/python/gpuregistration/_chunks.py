# SPDX-License-Identifier: Apache-2.0
"""Reads and writes large files by chunks, several at a time: one thread copies a gigabyte or two a second from or to the system's memory, where
a disk or a cache gives more."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Callable

from . import _engine

# Bytes that a thread reads or writes at a time, and the number of threads beyond which reading gets no faster.
_CHUNK = 1 << 25
_MOST_THREADS = 8


def is_large(size: int) -> bool:
    """Returns whether a file of this size is read and written by chunks."""
    return size > 2 * _CHUNK and hasattr(os, "preadv") and hasattr(os, "pwrite")


def read_chunks(path: Path, begin: int, target: memoryview) -> int:
    """Reads a file from byte `begin` on into target, and returns how many bytes it read: fewer than target holds if the file ends first."""
    with open(path, "rb") as file:

        def read(first: int) -> int:
            part = target[first : first + _CHUNK]
            done = 0
            while done < len(part) and (some := os.preadv(file.fileno(), [part[done:]], begin + first + done)):
                done += some
            return done

        return sum(_for_each_chunk(len(target), read))


def write_chunks(file: int, begin: int, source: memoryview) -> None:
    """Writes source to an open file from byte begin on.

    Args:
        file: its descriptor.

    Raises:
        OSError: the disk is full, or fails.
    """

    def write(first: int) -> int:
        part = source[first : first + _CHUNK]
        done = 0
        while done < len(part):
            done += os.pwrite(file, part[done:], begin + first + done)
        return done

    _for_each_chunk(len(source), write)


def _for_each_chunk(size: int, work: Callable[[int], int]) -> list[int]:
    """Calls work() with the first byte of each chunk, on several threads, and returns the results. The first error is raised."""
    with ThreadPoolExecutor(max(1, min(_MOST_THREADS, _engine.thread_count()))) as pool:
        return list(pool.map(work, range(0, size, _CHUNK)))
