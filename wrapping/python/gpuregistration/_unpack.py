# SPDX-License-Identifier: Apache-2.0
"""Reads files whose content may be compressed by gzip, and verifies their checksums."""

from __future__ import annotations

import itertools
import math
import struct
import zlib
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Iterator, Optional

import numpy as np

from ._chunks import is_large, read_chunks, read_components
from ._engine import BadInputError
from ._warnings import warn_of_input

if TYPE_CHECKING:
    from ._gzip_blocks import Blocks

#: Endings of names of files that gzip compresses.
PACKED = (".gz", ".mgz")
_MAGIC = b"\x1f\x8b"
# The bytes that are read at a time. Each part takes Python's lock once, for which a thread may wait 5 ms while another one imports a
# module.
_PART = 1 << 20
# The bytes of a packed file that are read first: a header is among what they unpack to, which may be a thousand times as much.
_FIRST_PART = 1 << 13
# The vectors of which one component is unpacked at a time.
_VECTORS = 1 << 22
# The bytes that unpack_ahead() unpacks at most.
_AHEAD = 1 << 28
# deflate packs no more than that into a byte.
_MOST_PACKED = 1032
# A member's header, and its flags; and what stands at its end: a checksum of what was packed, and how many bytes that has.
_FIXED_HEADER = 10
_HAS_CHECK, _HAS_EXTRA, _HAS_NAME, _HAS_COMMENT, _UNKNOWN_FLAGS = 0x02, 0x04, 0x08, 0x10, 0xE0
_TRAILER = struct.Struct("<II")
_COPY = "Copy it again from where it is whole."


class Content:
    """The content of a file, unpacked if it begins as gzip does, whatever its name is.

    Where an index says which blocks it has, several threads unpack those that are asked for, and count_rest() the others. If one is not
    what the index says, the file is read as one without an index.

    Args:
        path: the file's name.

    Raises:
        BadInputError: where it is taken: the file is cut off, or damaged.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with open(path, "rb") as file:
            self.is_packed = file.read(len(_MAGIC)) == _MAGIC
        self._blocks: Optional[Blocks] = _find_blocks(path) if self.is_packed else None
        self._parts = read_unpacked(path) if self.is_packed else _read_parts(path)
        self._rest = memoryview(b"")
        self.taken = 0

    def unpack_ahead(self) -> None:
        """Unpacks the first 256 MiB into memory, where the content is packed. Called before anything is taken. Errors are raised where the
        bytes are taken, as without it."""
        if self._blocks is not None:
            self._blocks.unpack_ahead(_AHEAD)
        elif self.is_packed:
            self._parts = _unpack_ahead(self._parts)

    def take(self, count: int) -> bytes:
        """Returns the next `count` bytes, or fewer at the end."""
        target = bytearray(count)
        return bytes(target[: self._take_into(memoryview(target))])

    def skip(self, count: int) -> None:
        """Leaves out the next `count` bytes, or fewer at the end."""
        end = self.taken + count
        if not self.is_packed:
            self.taken = min(end, self.path.stat().st_size)
            self._parts, self._rest = _read_parts(self.path, self.taken), memoryview(b"")
            return
        if self._blocks is not None and end <= self._blocks.size:
            self.taken = end
            return
        self.taken += self._leave_blocks()
        while self.taken < end and self._has_rest():
            some = min(len(self._rest), end - self.taken)
            self._rest = self._rest[some:]
            self.taken += some

    def take_array(self, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        """Returns the next bytes as an array, the first index the fastest.

        Raises:
            BadInputError: there are too few bytes.
        """
        wanted = self.taken + math.prod(shape) * dtype.itemsize
        self._check_most(wanted)
        array = np.empty(shape, dtype, order="F")
        target = array.ravel(order="K").view(np.uint8).data
        if not self.is_packed and is_large(len(target)):
            self.skip(read_chunks(self.path, self.taken, target))
        else:
            self._take_into(target)
        if self.taken < wanted:
            self._raise_cut_off(wanted)
        return array

    def take_vectors(self, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        """Returns the next bytes as take_array() does, but that the numbers along the last axis are beside each other in memory.

        Raises:
            BadInputError: there are too few bytes.
        """
        count = math.prod(shape[:-1])
        wanted = self.taken + count * shape[-1] * dtype.itemsize
        self._check_most(wanted)
        vectors = np.empty((count, shape[-1]), dtype)
        if not self.is_packed and is_large(vectors.nbytes):
            self.skip(read_components(self.path, self.taken, vectors))
        else:
            part = np.empty(min(count, _VECTORS), dtype)
            for n, first in itertools.product(range(shape[-1]), range(0, count, len(part))):
                some = part[: count - first]
                if self._take_into(some.view(np.uint8).data) < some.nbytes:
                    break
                vectors[first : first + len(some), n] = some
        if self.taken < wanted:
            self._raise_cut_off(wanted)
        return np.moveaxis(vectors.reshape(*shape[-2::-1], shape[-1]).T, 0, -1)

    def count_behind(self, wanted: int) -> int:
        """Reads to the end, as count_rest() does, and returns how many bytes follow the first `wanted` ones.

        Raises:
            BadInputError: there are fewer than `wanted`.
        """
        found = self.taken + self.count_rest()
        if found < wanted:
            self._raise_cut_off(wanted)
        return found - wanted

    def count_rest(self) -> int:
        """Reads to the end, where gzip has its checksum, and returns how many bytes were left."""
        if not self.is_packed:
            return max(0, self.path.stat().st_size - self.taken)
        left = self._leave_blocks()
        return left + len(self._rest) + sum(map(len, self._parts))

    def check_size(self, wanted: int) -> int:
        """Checks by the file's size alone whether it may hold so many bytes, and returns how many more it holds: 0 where that is not known.

        Raises:
            BadInputError: it is too short.
        """
        size = self.path.stat().st_size
        if self.is_packed:
            self._check_most(wanted)
            if self._blocks is None or self._blocks.end != size:
                return 0
            size = self._blocks.size
        if size < wanted:
            self._raise_cut_off(wanted)
        return size - wanted

    def _check_most(self, wanted: int) -> None:
        """Raises BadInputError if so many bytes cannot be in the file, however it is packed: headers of damaged files ask for any size."""
        if self.path.stat().st_size * (_MOST_PACKED if self.is_packed else 1) < wanted:
            self._raise_cut_off(wanted)

    def _take_into(self, target: memoryview) -> int:
        begin = self.taken
        self._take_of_blocks(target)
        while (done := self.taken - begin) < len(target) and self._has_rest():
            some = self._rest[: len(target) - done]
            target[done : done + len(some)] = some
            self._rest = self._rest[len(some) :]
            self.taken += len(some)
        return done

    def _take_of_blocks(self, target: memoryview) -> None:
        """Takes what the blocks have, where they are known, and leaves them if target has room for more."""
        if self._blocks is None:
            return
        from ._gzip_blocks import MisfitError

        some = target[: self._blocks.size - self.taken]
        try:
            if len(some):
                self._blocks.read_into(self.taken, some)
        except MisfitError:
            self._do_without_blocks()
            return
        self.taken += len(some)
        if len(some) < len(target):
            self._leave_blocks()

    def _leave_blocks(self) -> int:
        """Checks all blocks, where they are known, and goes on behind them. Returns how many of their bytes were not taken."""
        if self._blocks is None:
            return 0
        from ._gzip_blocks import MisfitError

        blocks = self._blocks
        try:
            blocks.check_all()
        except MisfitError:
            self._do_without_blocks()
            return 0
        self._blocks, self._parts = None, read_unpacked(self.path, blocks.end)
        return blocks.size - self.taken

    def _do_without_blocks(self) -> None:
        """Reads the file as one without an index: all of it, which raises an error that says what is wrong, and then on from where it
        was."""
        self._blocks = None
        for _ in read_unpacked(self.path):
            pass
        taken, self.taken = self.taken, 0
        self._parts = read_unpacked(self.path)
        self.skip(taken)

    def _has_rest(self) -> bool:
        """Returns whether there are more bytes, and makes some of them ready."""
        if not self._rest:
            self._rest = memoryview(next(self._parts, b""))
        return len(self._rest) > 0

    def _raise_cut_off(self, wanted: int) -> None:
        raise BadInputError(f"The file {self.path} is cut off: it is to hold {wanted} bytes{', unpacked' if self.is_packed else ''}. {_COPY}")


def _find_blocks(path: Path) -> Optional[Blocks]:
    from ._gzip_blocks import find_blocks

    return find_blocks(path)


def _unpack_ahead(parts: Iterator[bytes]) -> Iterator[bytes]:
    ahead: deque[bytes] = deque()
    failed = None
    size = 0
    try:
        while size < _AHEAD and (part := next(parts, b"")):
            ahead.append(part)
            size += len(part)
    except BadInputError as error:
        failed = error

    def give() -> Iterator[bytes]:
        while ahead:
            yield ahead.popleft()
        if failed is not None:
            raise failed
        yield from parts

    return give()


def warn_of_name(path: Path, is_packed: bool) -> None:
    """Warns where a file's name says that it is compressed, and it is not, or the other way round."""
    says_packed = path.suffix.lower() in PACKED
    if says_packed and not is_packed:
        warn_of_input(f"The file {path} is not compressed, though its name ends on {path.suffix}: it is read as what it is. Rename it.")
    elif is_packed and not says_packed:
        warn_of_input(f"The file {path} is compressed by gzip, and its name does not end on {' or '.join(PACKED)}: it is read as what it is. Rename it.")


def read_unpacked(path: Path, begin: int = 0) -> Iterator[bytes]:
    """Unpacks the members of gzip in a file, from the byte `begin` on, part by part.

    Raises:
        BadInputError: the file is cut off, or damaged: a checksum or a size is not that of what it unpacks to.
    """
    with open(path, "rb") as file:
        file.seek(begin)
        packed = file.read(min(_FIRST_PART, _PART))
        while packed.startswith(_MAGIC):
            packed = yield from _read_member(file, path, packed)
            packed += file.read(len(_MAGIC) - len(packed)) if len(packed) < len(_MAGIC) else b""
        behind = len(packed.strip(b"\0"))
        while packed := file.read(_PART):
            behind += len(packed.strip(b"\0"))
    # Zeros fill up blocks of tapes and disks.
    if behind:
        warn_of_input(f"The file {path} is whole, and {behind} bytes that are no part of it follow its end: they are left out.")


def _read_member(file: BinaryIO, path: Path, packed: bytes) -> Any:
    """Unpacks a member of gzip (RFC 1952), part by part, of which the first bytes have been read. Returns those that were read behind its
    end."""
    from . import _deflate

    packed = _skip_header(file, path, packed)
    work = _deflate.make_inflater()
    check = size = 0
    while True:
        try:
            part = work.decompress(packed)
        except _deflate.ERRORS as error:
            raise _damaged(path, str(error)) from error
        if part:
            check, size = _deflate.library.crc32(part, check), size + len(part)
            yield part
        if work.eof:
            break
        packed = file.read(_PART)
        if not packed:
            raise _cut_off(path)
    end = _fill(file, path, work.unused_data, _TRAILER.size)
    stated_check, stated_size = _TRAILER.unpack_from(end)
    if stated_check != check:
        raise _damaged(path, f"its checksum is {check:08x}, and {stated_check:08x} is stated")
    if stated_size != size % (1 << 32):
        raise _damaged(path, f"it has {size} bytes, and {stated_size} are stated")
    return end[_TRAILER.size :]


def _skip_header(file: BinaryIO, path: Path, packed: bytes) -> bytes:
    """Skips the header of a gzip member, and returns the bytes behind it. packed: the member's first bytes, which have been read."""
    packed = _fill(file, path, packed, _FIXED_HEADER)
    method, flags = packed[2], packed[3]
    if method != zlib.DEFLATED or flags & _UNKNOWN_FLAGS:
        raise _damaged(path, f"compression {method} with flags {flags} is not known")
    end = _FIXED_HEADER
    if flags & _HAS_EXTRA:
        packed = _fill(file, path, packed, end + 2)
        end += 2 + int.from_bytes(packed[end : end + 2], "little")
    for flag in (_HAS_NAME, _HAS_COMMENT):
        if flags & flag:
            while (found := packed.find(0, end)) < 0:
                packed = _fill(file, path, packed, len(packed) + 1)
            end = found + 1
    if flags & _HAS_CHECK:
        packed = _fill(file, path, packed, end + 2)
        if int.from_bytes(packed[end : end + 2], "little") != zlib.crc32(packed[:end]) & 0xFFFF:
            raise _damaged(path, "the checksum of its header is another one")
        end += 2
    return _fill(file, path, packed, end)[end:]


def _fill(file: BinaryIO, path: Path, packed: bytes, count: int) -> bytes:
    """Reads on until there are so many bytes. Raises BadInputError if the file ends before."""
    while len(packed) < count:
        more = file.read(_PART)
        if not more:
            raise _cut_off(path)
        packed += more
    return packed


def _damaged(path: Path, why: str) -> BadInputError:
    return BadInputError(f"The file {path} is damaged: it does not unpack to what was packed ({why}). {_COPY}")


def _cut_off(path: Path) -> BadInputError:
    return BadInputError(f"The file {path} is cut off: what is compressed in it has no end. {_COPY}")


def _read_parts(path: Path, begin: int = 0) -> Iterator[bytes]:
    with open(path, "rb") as file:
        file.seek(begin)
        while part := file.read(_PART):
            yield part
