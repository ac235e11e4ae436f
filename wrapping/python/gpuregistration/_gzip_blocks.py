# SPDX-License-Identifier: Apache-2.0
"""Unpacks gzip by several threads, where an index says which blocks it has."""

from __future__ import annotations

import os
import weakref
from bisect import bisect_left, bisect_right
from contextlib import closing
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Optional

import numpy as np

from . import _deflate
from ._gzip_index import LAST_BLOCK, Index, read_index
from ._threads import call_in_order


class MisfitError(Exception):
    """Is raised where a block is not what the index says of it: the file is damaged, or the index is wrong."""


class Blocks:
    """The blocks of a file's first member of gzip, each of which is unpacked by itself, in any order: it ends on a byte, and the next one
    begins there without anything of it.

    Attributes:
        size: how many bytes they have, unpacked.
        end: where in the file the member ends.
    """

    def __init__(self, path: Path, index: Index) -> None:
        self._file = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
        weakref.finalize(self, os.close, self._file)
        self._blocks = index.blocks
        # Where each block begins, in the file and unpacked; and where the last one ends.
        self._places = list(accumulate((one.packed for one in index.blocks), initial=index.begin))
        self._begins = list(accumulate((one.size for one in index.blocks), initial=0))
        self._is_checked = bytearray(len(index.blocks))
        # Blocks that were unpacked, and are not taken yet, or not all of them.
        self._kept: dict[int, bytes] = {}
        self.size, self.end = self._begins[-1], index.end

    def unpack_ahead(self, count: int) -> None:
        """Unpacks the first `count` bytes into memory, up to a block that is not what the index says; read_into() raises its error."""
        numbers = range(bisect_left(self._begins, min(count, self.size)))
        try:
            with closing(call_in_order("gzip", (partial(self._unpack, number) for number in numbers))) as done:
                self._kept.update(zip(numbers, done))
        except MisfitError:
            pass

    def read_into(self, begin: int, target: memoryview) -> None:
        """Unpacks the bytes from `begin` on into all of target. Raises MisfitError."""
        numbers = range(bisect_right(self._begins, begin) - 1, bisect_left(self._begins, begin + len(target)))
        for number in [one for one in self._kept if one < numbers.start]:
            del self._kept[number]
        work = [partial(self._put, number, begin, target) for number in numbers]
        if len(work) == 1:
            # No thread is started for a header.
            work.pop()()
        with closing(call_in_order("gzip", work)) as done:
            for _ in done:
                pass

    def check_all(self) -> None:
        """Checks the blocks that were not read. Raises MisfitError. With this the member's checksum is right, which the index agrees
        with."""
        self._kept.clear()
        with closing(call_in_order("gzip", (partial(self._check, number) for number, is_checked in enumerate(self._is_checked) if not is_checked))) as done:
            for _ in done:
                pass

    def _check(self, number: int) -> None:
        self._unpack(number)

    def _put(self, number: int, begin: int, target: memoryview) -> None:
        """Puts that part of a block into target, which has the bytes from `begin` on, that belongs there."""
        content = self._kept.pop(number, None)
        content = self._unpack(number) if content is None else content
        first, end = self._begins[number], begin + len(target)
        if self._begins[number + 1] > end:
            self._kept[number] = content
        part = np.frombuffer(content, np.uint8)[max(0, begin - first) : end - first]
        place = max(0, first - begin)
        # NumPy copies without Python's lock.
        np.frombuffer(target, np.uint8)[place : place + len(part)] = part

    def _unpack(self, number: int) -> bytes:
        """Returns what is in a block."""
        block = self._blocks[number]
        packed = os.pread(self._file, block.packed, self._places[number])
        work = _deflate.make_inflater()
        try:
            content: bytes = work.decompress(packed, block.size + 1)
            # The block ends on a byte, with nothing left, if an empty last one is whole behind it.
            is_whole = not work.eof and not work.unconsumed_tail and work.decompress(LAST_BLOCK) == b"" and work.eof and not work.unused_data
        except _deflate.ERRORS as error:
            raise MisfitError from error
        if not is_whole or len(content) != block.size or _deflate.library.crc32(content) != block.check:
            raise MisfitError
        self._is_checked[number] = True
        return content


def find_blocks(path: Path) -> Optional[Blocks]:
    """Finds the blocks of a file whose first bytes are those of gzip. None: there is no index of them, or this system cannot read at a
    place."""
    index = read_index(path) if hasattr(os, "pread") else None
    return None if index is None else Blocks(path, index)
