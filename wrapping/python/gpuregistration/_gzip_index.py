# SPDX-License-Identifier: Apache-2.0
"""The index of a gzip member's blocks, by which several threads can unpack what several threads have packed.

It is a subfield of the member's header (RFC 1952, section 2.3.1.1), which other readers skip: a byte of its version, three that are 0, and
for each block three numbers of 32 bits, the lowest byte first: how many bytes it has, how many when packed, and its checksum, CRC-32. The
blocks follow each other without gaps, each packed by itself and ending on a byte. An empty last one, which is not among them, and the
member's end follow.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from ._checksum import join

#: The bytes of a block: so many that the loss of deflate's window of 32 KiB hardly makes the file larger.
BLOCK = 1 << 20
#: Behind all blocks stands an empty one, and the member's checksum and number of bytes.
LAST_BLOCK = b"\x03\x00"
TRAILER = struct.Struct("<II")

_VERSION, _NO_INDEX = 1, 0
_NAME = b"GP"
_ENTRY = struct.Struct("<III")
_MAGIC, _HAS_EXTRA = b"\x1f\x8b\x08", 0x04
# Time and flags are not set, and the system is not known.
_BARE_HEADER = _MAGIC + b"\x00\x00\x00\x00\x00\x00\xff"
_HEADER = struct.Struct("<10sH2sHB3x")
# It has so many bytes that count as extra ones, and as the subfield's.
_EXTRA, _SUBFIELD = 8, 4
# So many have room in the header. Some of them are for blocks that are shorter than the others, such as the last ones of components.
_MOST_BLOCKS = (0xFFFF - _EXTRA) // _ENTRY.size
_SHORT_BLOCKS = 64
# One thread reads fewer blocks in a few hundredths of a second.
_FEWEST_BLOCKS = 8
# A reader has several blocks in memory: longer ones have no index.
_MOST_BYTES = 1 << 28


@dataclass
class Block:
    """A block of a member.

    Attributes:
        size: how many bytes it has.
        packed: how many it has when packed.
        check: the checksum of the unpacked ones.
    """

    size: int
    packed: int
    check: int


@dataclass
class Index:
    """The blocks of a member.

    Attributes:
        begin: where in the file the first block begins.
        blocks: all of them.
        end: where in the file the member ends.
    """

    begin: int
    blocks: list[Block]
    end: int


def choose_block(total: int) -> int:
    """Chooses how many bytes blocks have, so that so many bytes in all have room in an index: a whole number of times BLOCK."""
    return BLOCK * max(1, -(-total // (BLOCK * (_MOST_BLOCKS - _SHORT_BLOCKS))))


def make_header(count: int) -> bytes:
    """Makes a member's header with room for the index of so many blocks, unless they are too few or too many for one."""
    if not _FEWEST_BLOCKS <= count <= _MOST_BLOCKS:
        return _BARE_HEADER
    return _header(count, _NO_INDEX) + bytes(_ENTRY.size * count)


def make_indexed_header(blocks: list[Block]) -> Optional[bytes]:
    """Makes a header as make_header() does, with the index. None: there is no index of such blocks."""
    if not _FEWEST_BLOCKS <= len(blocks) <= _MOST_BLOCKS or _are_too_long(blocks):
        return None
    return _header(len(blocks), _VERSION) + b"".join(_ENTRY.pack(one.size, one.packed, one.check) for one in blocks)


def _are_too_long(blocks: list[Block]) -> bool:
    return max(max(one.size, one.packed) for one in blocks) > _MOST_BYTES


def _header(count: int, version: int) -> bytes:
    size = _ENTRY.size * count
    start = _MAGIC + bytes([_HAS_EXTRA]) + _BARE_HEADER[len(_MAGIC) + 1 :]
    return _HEADER.pack(start, _EXTRA + size, _NAME, _SUBFIELD + size, version)


def read_index(path: Path) -> Optional[Index]:
    """Reads the index of the member with which a file begins. None: it has none, or one that does not fit what stands at the member's
    end."""
    with open(path, "rb") as file:
        header = file.read(_HEADER.size)
        if len(header) < _HEADER.size or not header.startswith(_MAGIC) or header[3] != _HAS_EXTRA:
            return None
        _, extra, name, length, version = _HEADER.unpack(header)
        size = length - _SUBFIELD
        if name != _NAME or extra != _EXTRA + size or version != _VERSION or size <= 0 or size % _ENTRY.size:
            return None
        entries = file.read(size)
        if len(entries) < size:
            return None
        blocks = [Block(*entry) for entry in _ENTRY.iter_unpack(entries)]
        if _are_too_long(blocks):
            return None
        begin = _HEADER.size + size
        file.seek(begin + sum(one.packed for one in blocks))
        end = file.read(len(LAST_BLOCK) + TRAILER.size)
        check = 0
        for one in blocks:
            check = join(check, one.check, one.size)
        if end != LAST_BLOCK + TRAILER.pack(check, sum(one.size for one in blocks) & 0xFFFFFFFF):
            return None
        return Index(begin, blocks, file.tell())
