# SPDX-License-Identifier: Apache-2.0
"""Reads what SimpleITK does not from a NRRD: whether its values are complete, and the unit of its lengths."""

from __future__ import annotations

import math
import re
import sys
from pathlib import Path
from typing import Optional

from ._engine import BadInputError
from ._parts import Values, is_detached, parts_that_are_read, read_nrrd_header
from ._unpack import read_unpacked
from ._warnings import warn_of_input

# A value has the bytes of the first of these words that its type's name contains, such as "unsigned short int" or "uint16_t".
_BYTES = {b"64": 8, b"32": 4, b"16": 2, b"8": 1, b"char": 1, b"short": 2, b"long": 8, b"float": 4, b"double": 8, b"int": 4}
_WORD = re.compile(r'"((?:[^"\\]|\\.)*)"|(\S+)')
# mm, by what units are called; "" is not said. Both of Unicode's signs for micro.
_UNITS = {
    **dict.fromkeys(("", "mm", "millimeter", "millimeters", "millimetre", "millimetres"), 1.0),
    **dict.fromkeys(("m", "meter", "meters", "metre", "metres"), 1000.0),
    **dict.fromkeys(("cm", "centimeter", "centimeters", "centimetre", "centimetres"), 10.0),
    **dict.fromkeys(("um", "\u00b5m", "\u03bcm", "micron", "microns", "micrometer", "micrometers", "micrometre", "micrometres"), 0.001),
    **dict.fromkeys(("nm", "nanometer", "nanometers", "nanometre", "nanometres"), 1e-6),
}
# Encodings by gzip.
_GZIP = (b"gz", b"gzip")
# Kinds of axes that are of space.
_OF_SPACE = ("domain", "space", "???", "none")


def check_nrrd_is_whole(name: str, unpacks: bool = True) -> None:
    """Checks that an NRRD file is complete. SimpleITK reports missing text, but does not check checksums, and gives no cause for other
    errors.

    Args:
        unpacks: False: values that gzip has packed are not looked at.

    Raises:
        BadInputError: values are missing or damaged, in it or in the files beside it that it names, or compressed by bzip2, which is not
            read.
    """
    header = read_nrrd_header(Path(name))
    encoding = (_value(header, b"encoding") or b"").lower()
    if encoding in (b"bz2", b"bzip2"):
        raise BadInputError(f"The file {name} is compressed by bzip2, which cannot be read. Write it by gzip, or without compression.")
    if encoding == b"raw":
        _check_is_not_cut_off(name, header)
    if encoding not in _GZIP or not unpacks:
        return
    holders = parts_that_are_read(name)[1:] if is_detached(header) else [Path(name)]
    for path in holders:
        begin = _begin(path, 0 if is_detached(header) else len(header), _number(header, b"line ?skip"))
        for _ in read_unpacked(path, begin):
            pass


def find_values(name: str) -> Optional[Values]:
    """Finds the values of an NRRD. None: they are in several files, packed, text, in blocks, behind bytes or lines that are left out, or of
    another order of bytes than this machine's; or the header is long, or it is no NRRD."""
    header = read_nrrd_header(Path(name))
    kind, holder, order = (_value(header, field) for field in (b"type", b"data ?file", b"endian"))
    if kind is None or b"block" in kind.lower() or (_value(header, b"encoding") or b"").lower() != b"raw":
        return None
    if any(_value(header, field) for field in (b"byte ?skip", b"line ?skip")) or (order or sys.byteorder.encode()).lower() != sys.byteorder.encode():
        return None
    if holder is None:
        return Values(Path(name), len(header)) if header.replace(b"\r", b"").endswith(b"\n\n") else None
    return Values(parts_that_are_read(name)[1], 0) if _names_one(name, holder) else None


def is_in_one_file(name: str) -> bool:
    """Returns whether an NRRD's values are numbers, packed or not, in one file that is there."""
    header = read_nrrd_header(Path(name))
    holder = _value(header, b"data ?file")
    return (_value(header, b"encoding") or b"").lower() in (b"raw", *_GZIP) and (holder is None or _names_one(name, holder))


def _names_one(name: str, holder: bytes) -> bool:
    return len(parts_that_are_read(name)) == 2 and not holder.startswith(b"LIST") and b"%" not in holder


def _check_is_not_cut_off(name: str, header: bytes) -> None:
    """Checks values that are neither compressed nor text, in one file. SimpleITK itself refuses other files and incomplete headers."""
    kind, sizes, holder = (_value(header, field) for field in (b"type", b"sizes", b"data ?file"))
    size_of_value = next((count for word, count in _BYTES.items() if word in (kind or b"").lower()), 0)
    if sizes is None or not sizes.replace(b" ", b"").isdigit() or (holder is not None and (holder.startswith(b"LIST") or b"%" in holder)):
        return
    for path in parts_that_are_read(name)[1:] if holder is not None else [Path(name)]:
        # A skip of -1 says that the values end with their file.
        skipped, lines = (_number(header, field) for field in (b"byte ?skip", b"line ?skip"))
        begin = 0 if holder is not None else len(header)
        begin = _begin(path, begin, lines) + skipped if skipped >= 0 else begin
        wanted = begin + math.prod(map(int, sizes.split())) * size_of_value
        if path.stat().st_size < wanted:
            raise BadInputError(f"The file {path} is cut off: it is to hold {wanted} bytes. Copy it again from where it is whole.")


def _value(header: bytes, field: bytes) -> Optional[bytes]:
    """Returns the text behind a field's name; None if there is no such field."""
    found = re.search(rb"^" + field + rb":(?!=)[ \t]*(.*?)[ \t\r]*$", header, re.MULTILINE | re.IGNORECASE)
    return None if found is None else found.group(1)


def _number(header: bytes, field: bytes) -> int:
    """Returns a field's whole number; 0 if it has none."""
    found = re.match(rb"-?\d+$", _value(header, field) or b"")
    return int(found.group()) if found else 0


def _begin(path: Path, begin: int, lines: int) -> int:
    """Returns the place in a file at which values begin, behind a number of lines."""
    with open(path, "rb") as file:
        file.seek(begin)
        for _ in range(lines):
            file.readline()
        return file.tell()


def find_nrrd_unit(name: str, dimension: int) -> float:
    """Returns the unit of a file's lengths in mm: of ``space units``, else of ``units``. Warns of one that is not known, which is taken for
    mm.

    Args:
        dimension: the dimension of the image that SimpleITK has read from it.

    Raises:
        BadInputError: the axes' units differ.
    """
    header = read_nrrd_header(Path(name))
    units = _words(header, b"space ?units")
    if units is None:
        units, kinds = _words(header, b"units"), _words(header, b"kinds")
        if units is not None and kinds is not None and len(kinds) == len(units):
            units = [unit for unit, kind in zip(units, kinds) if kind.lower() in _OF_SPACE]
    # The remaining axes are time.
    units = [unit.strip() for unit in units or [""]][: min(3, dimension)]
    unknown = [unit for unit in units if unit.lower() not in _UNITS]
    lengths = {_UNITS.get(unit.lower(), unit) for unit in units}
    if len(lengths) > 1:
        raise BadInputError(f"The file {name} has axes of different units of length, {units}. Write it with all of them in mm.")
    if unknown:
        warn_of_input(f"The file {name} has lengths in a unit that is not known, {unknown[0]!r}: they are taken for mm. Mend the header.")
        return 1.0
    return float(lengths.pop())


def _words(header: bytes, field: bytes) -> Optional[list[str]]:
    """Returns the words of a header's field, of which those with spaces are quoted; None if there is no such field."""
    value = _value(header, field)
    if value is None:
        return None
    try:
        text = value.decode("utf-8")
    except UnicodeDecodeError:
        text = value.decode("latin-1")
    return [quoted or bare for quoted, bare in _WORD.findall(text)]
