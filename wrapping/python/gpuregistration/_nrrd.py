# SPDX-License-Identifier: Apache-2.0
"""What SimpleITK leaves out of a NRRD: whether its values are whole, and the unit of its lengths."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Optional

from ._engine import BadInputError
from ._parts import is_detached, parts_that_are_read, read_nrrd_header
from ._unpack import read_unpacked
from ._warnings import warn_of_input

_ENCODING = re.compile(rb"^encoding:\s*(\w+)", re.MULTILINE | re.IGNORECASE)
_LINES = re.compile(rb"^line ?skip:\s*(\d+)", re.MULTILINE | re.IGNORECASE)
# Behind a name and a colon; := stands behind words of the user's.
_FIELD = r"^%s:(?!=)[ \t]*(.*?)[ \t\r]*$"
_WORD = re.compile(r'"((?:[^"\\]|\\.)*)"|(\S+)')
# mm, by what units are called; "" is not said. Both of Unicode's signs for micro.
_UNITS = {
    **dict.fromkeys(("", "mm", "millimeter", "millimeters", "millimetre", "millimetres"), 1.0),
    **dict.fromkeys(("m", "meter", "meters", "metre", "metres"), 1000.0),
    **dict.fromkeys(("cm", "centimeter", "centimeters", "centimetre", "centimetres"), 10.0),
    **dict.fromkeys(("um", "\u00b5m", "\u03bcm", "micron", "microns", "micrometer", "micrometers", "micrometre", "micrometres"), 0.001),
    **dict.fromkeys(("nm", "nanometer", "nanometers", "nanometre", "nanometres"), 1e-6),
}
# Kinds of axes that are of space.
_OF_SPACE = ("domain", "space", "???", "none")


def check_nrrd_is_whole(name: str) -> None:
    """SimpleITK tells where values are missing; of what is compressed it looks at no checksum.

    Raises:
        BadInputError: values are damaged, in it or in the files beside it that it names, or compressed by bzip2, which is not read.
    """
    header = read_nrrd_header(Path(name))
    found = _ENCODING.search(header)
    encoding = found.group(1).lower() if found else b""
    if encoding in (b"bz2", b"bzip2"):
        raise BadInputError(f"The file {name} is compressed by bzip2, which cannot be read. Write it by gzip, or without compression.")
    if encoding not in (b"gz", b"gzip"):
        return
    skipped = _LINES.search(header)
    holders = parts_that_are_read(name)[1:] if is_detached(header) else [Path(name)]
    for path in holders:
        begin = _begin(path, 0 if is_detached(header) else len(header), int(skipped.group(1)) if skipped else 0)
        for _ in read_unpacked(path, begin):
            pass


def _begin(path: Path, begin: int, lines: int) -> int:
    """Where in a file values begin, behind so many lines."""
    with open(path, "rb") as file:
        file.seek(begin)
        for _ in range(lines):
            file.readline()
        return file.tell()


def find_nrrd_unit(name: str, dimension: int) -> float:
    """mm in the unit of a file's lengths: of ``space units``, else of ``units``. Warns of one that is not known, which is taken for mm.

    Args:
        dimension: of the image that SimpleITK has read of it.

    Raises:
        BadInputError: the axes' units differ.
    """
    header = read_nrrd_header(Path(name))
    try:
        text = header.decode("utf-8")
    except UnicodeDecodeError:
        text = header.decode("latin-1")
    units = _words(text, "space ?units")
    if units is None:
        units, kinds = _words(text, "units"), _words(text, "kinds")
        if units is not None and kinds is not None and len(kinds) == len(units):
            units = [unit for unit, kind in zip(units, kinds) if kind.lower() in _OF_SPACE]
    # What follows is time.
    units = [unit.strip() for unit in units or [""]][: min(3, dimension)]
    unknown = [unit for unit in units if unit.lower() not in _UNITS]
    lengths = {_UNITS.get(unit.lower(), unit) for unit in units}
    if len(lengths) > 1:
        raise BadInputError(f"The file {name} has axes of different units of length, {units}. Write it with all of them in mm.")
    if unknown:
        warn_of_input(f"The file {name} has lengths in a unit that is not known, {unknown[0]!r}: they are taken for mm. Mend the header.")
        return 1.0
    return float(lengths.pop())


def _words(header: str, name: str) -> Optional[list[str]]:
    """What a header has in a field, word by word, of which those with spaces are quoted; None if it has no such field."""
    found = re.search(_FIELD % name, header, re.MULTILINE | re.IGNORECASE)
    return None if found is None else [quoted or bare for quoted, bare in _WORD.findall(found.group(1))]
