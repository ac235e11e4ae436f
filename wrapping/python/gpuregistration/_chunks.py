# SPDX-License-Identifier: Apache-2.0
"""Reads and writes large files by chunks, several at a time: one thread copies a gigabyte or two a second from or to the system's memory,
where a disk or a cache gives more."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Callable

import numpy as np

from . import _engine

# Bytes that a thread reads or writes at a time, and the number of threads beyond which reading gets no faster.
_CHUNK = 1 << 25
_MOST_THREADS = 8
# Bytes of voxels with components that a thread takes at a time: they stay in its cache while they are put in another order.
_TURNED = 1 << 20


def is_large(size: int) -> bool:
    """Returns whether a file of this size is read and written by chunks."""
    return size > 2 * _CHUNK and hasattr(os, "preadv") and hasattr(os, "pwrite")


def read_chunks(path: Path, begin: int, target: memoryview) -> int:
    """Reads a file from byte `begin` on into target, and returns how many bytes it read: fewer than target holds if the file ends first."""
    with open(path, "rb") as file:
        return sum(_for_each_chunk(len(target), _CHUNK, lambda first: _read(file.fileno(), target[first : first + _CHUNK], begin + first)))


def read_components(path: Path, begin: int, target: np.ndarray) -> int:
    """Reads components, which stand one behind the other in a file, from byte `begin` on, into an array that has those of a voxel beside
    each other.

    Args:
        target: (voxels, components).

    Returns:
        The number of bytes that it read: fewer than target holds if the file ends first.
    """
    count, step, size = len(target), _voxels_of_chunk(target), target.itemsize
    with open(path, "rb") as file:

        def read(first: int) -> int:
            part = np.empty((target.shape[1], min(step, count - first)), target.dtype)
            done = sum(_read(file.fileno(), row.view(np.uint8).data, begin + (n * count + first) * size) for n, row in enumerate(part))
            target[first : first + step] = part.T
            return done

        return sum(_for_each_chunk(count, step, read))


def write_chunks(file: int, begin: int, source: memoryview) -> None:
    """Writes source to an open file from byte begin on.

    Args:
        file: its descriptor.

    Raises:
        OSError: the disk is full, or fails.
    """

    _for_each_chunk(len(source), _CHUNK, lambda first: _write(file, source[first : first + _CHUNK], begin + first))


def write_components(file: int, begin: int, source: np.ndarray) -> None:
    """Writes components one behind the other, of an array that has those of a voxel beside each other. Raises what write_chunks() does.

    Args:
        file: an open file's descriptor.
        begin: the byte to begin at.
        source: (voxels, components).
    """
    step, size = _voxels_of_chunk(source), source.itemsize

    def write(first: int) -> int:
        part = np.ascontiguousarray(source[first : first + step].T)
        return sum(_write(file, row.view(np.uint8).data, begin + (n * len(source) + first) * size) for n, row in enumerate(part))

    _for_each_chunk(len(source), step, write)


def _voxels_of_chunk(values: np.ndarray) -> int:
    return max(1, min(_CHUNK, _TURNED) // (values.shape[1] * values.itemsize))


def _read(file: int, target: memoryview, begin: int) -> int:
    """Returns how many bytes it read: fewer than target holds if the file ends first."""
    done = 0
    while done < len(target) and (some := os.preadv(file, [target[done:]], begin + done)):
        done += some
    return done


def _write(file: int, source: memoryview, begin: int) -> int:
    done = 0
    while done < len(source):
        done += os.pwrite(file, source[done:], begin + done)
    return done


def _for_each_chunk(size: int, step: int, work: Callable[[int], int]) -> list[int]:
    """Calls work() with the first byte, or voxel, of each chunk, on several threads, and returns the results. The first error is raised."""
    with ThreadPoolExecutor(max(1, min(_MOST_THREADS, _engine.thread_count()))) as pool:
        return list(pool.map(work, range(0, size, step)))
