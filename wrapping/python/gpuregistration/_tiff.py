# SPDX-License-Identifier: Apache-2.0
"""Checks that a TIFF is complete. The file says where each of its parts is; SimpleITK reads a file that lacks some without an error."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from ._engine import BadInputError

# By TIFF's number of a type: how struct reads the types of offsets and sizes, and how many bytes each type has.
_FORMATS = {3: "H", 4: "I", 16: "Q"}
_BYTES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4, 16: 8, 17: 8, 18: 8}
# Tags of strip and tile offsets, and of their sizes.
_PLACES, _SIZES = (273, 324), (279, 325)


class _CutOff(Exception):
    """There is less in the file than it says."""


@dataclass
class _Reader:
    file: BinaryIO
    order: str
    is_big: bool

    def numbers(self, place: int, layout: str) -> tuple[int, ...]:
        layout = self.order + layout
        content = self.bytes(place, struct.calcsize(layout))
        return struct.unpack(layout, content)

    def bytes(self, place: int, count: int) -> bytes:
        self.file.seek(place)
        content = self.file.read(count)
        if len(content) < count:
            raise _CutOff
        return content


def check_tiff_is_whole(path: Path) -> None:
    """Raises BadInputError if a page, or a part of one, lies behind the file's end."""
    with open(path, "rb") as file:
        begin = file.read(4)
        order = {b"II": "<", b"MM": ">"}.get(begin[:2], "")
        version = struct.unpack(f"{order}H", begin[2:])[0] if order and len(begin) == 4 else 0
        # SimpleITK's reader reports a file that is no TIFF.
        if version not in (42, 43):
            return
        reader, end = _Reader(file, order, version == 43), path.stat().st_size
        try:
            (place,) = reader.numbers(8, "Q") if reader.is_big else reader.numbers(4, "I")
            seen: set[int] = set()
            while place and place not in seen:
                seen.add(place)
                place = _check_page(reader, place, end)
        except _CutOff:
            raise BadInputError(f"The file {path} is cut off: its pages are not all there. Copy it again from where it is whole.") from None


def _check_page(reader: _Reader, place: int, end: int) -> int:
    """Returns where the next page's directory is, 0 behind the last one. Raises _CutOff if the page ends behind the file's end."""
    word, inline = ("Q", 8) if reader.is_big else ("I", 4)
    (count,) = reader.numbers(place, "Q" if reader.is_big else "H")
    place += 8 if reader.is_big else 2
    places: tuple[int, ...] = ()
    sizes: tuple[int, ...] = ()
    for _ in range(count):
        tag, kind, many = reader.numbers(place, f"HH{word}")
        there, size = place + 4 + inline, many * _BYTES.get(kind, 1)
        if size > inline:
            (there,) = reader.numbers(there, word)
        if there + size > end:
            raise _CutOff
        if tag in _PLACES + _SIZES and kind in _FORMATS:
            found = reader.numbers(there, f"{many}{_FORMATS[kind]}")
            places, sizes = (found, sizes) if tag in _PLACES else (places, found)
        place += 4 + 2 * inline
    if max((first + size for first, size in zip(places, sizes)), default=0) > end:
        raise _CutOff
    (following,) = reader.numbers(place, word)
    return following
