# SPDX-License-Identifier: Apache-2.0
"""Images of several files: a header's, and the values' beside it."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Optional


#: Formats of images that hold any type of value, and where voxels are.
IMAGES = (".nii.gz", ".nii", ".mha", ".mhd", ".nrrd", ".nhdr")


def metaimage_key(name: bytes, value: bytes) -> "re.Pattern[bytes]":
    """Returns the pattern of a line of a MetaImage's header, as freely as its reader takes it: values in any case, names in their own. The
    value ends its line."""
    return re.compile(rb"^[ \t]*" + name + rb"[ \t]*[=:][ \t]*(?i:" + value + rb")[ \t\r]*$", re.MULTILINE)


# The last line of a MetaImage's header: a file's name, LIST, or LOCAL if the values follow.
METAIMAGE_VALUES = metaimage_key(b"ElementDataFile", rb"(.+?)")
_NRRD_VALUES = re.compile(rb"^data ?file:\s*(.+?)\s*$", re.MULTILINE | re.IGNORECASE)
# A header of NRRD ends with an empty line.
_NRRD_END = re.compile(rb"\n\r?\n")
# This line of a header says where the values are.
_NAMES = {".mhd": METAIMAGE_VALUES, ".mha": METAIMAGE_VALUES, ".nhdr": _NRRD_VALUES, ".nrrd": _NRRD_VALUES}
_HEADER_BYTES = 1 << 16
# To write a file with this suffix may write one with one of these, too.
_WRITTEN = {".mhd": (".raw", ".zraw"), ".nhdr": (".raw", ".raw.gz"), ".hdr": (".img",), ".img": (".hdr",)}
# A header and its values, in any order.
_PAIR = re.compile(r"\.(hdr|img)(\.gz)?$", re.IGNORECASE)


@dataclass(frozen=True)
class Values:
    """Describes where a file's values are, which are as they are in memory, but that they may be packed.

    Attributes:
        path, begin: the file with them, and its byte at which they begin.
        is_packed: they are packed by zlib or gzip.
        packed_bytes: how many bytes that is, as far as it is stated.
    """

    path: Path
    begin: int
    is_packed: bool = False
    packed_bytes: int = 0


def parts_that_are_written(path: str) -> list[Path]:
    """Returns a file, and the files beside it in which its format may store the values."""
    whole = Path(path)
    return [whole, *(whole.with_suffix(suffix) for suffix in _WRITTEN.get(whole.suffix.lower(), ()))]


def find_beside(path: Path, kind: str) -> Optional[Path]:
    """Returns the file of a kind, "hdr" (NIfTI's header) or "img" (its values), beside another one, compressed or not, in
    capitals or not. None if there is none."""
    found = _PAIR.search(path.name)
    if found is None:
        return None
    if found.group(1).lower() == kind:
        return path
    for suffix in (f".{kind}{found.group(2) or ''}", f".{kind}", f".{kind}.gz"):
        for name in (suffix, suffix.upper()):
            beside = path.with_name(path.name[: found.start()] + name)
            if beside.is_file():
                return beside
    return None


def read_nrrd_header(path: Path) -> bytes:
    """Returns an NRRD's header, with the empty line that ends it; all of a file that has nothing else. Empty if it cannot be read."""
    content = _read_begin(path)
    end = _NRRD_END.search(content)
    return content[: end.end()] if end else content


def is_detached(nrrd_header: bytes) -> bool:
    """Returns whether the values are in other files."""
    return _NRRD_VALUES.search(nrrd_header) is not None


def parts_that_are_read(path: str) -> list[Path]:
    """Returns a file, and those files with its values that exist."""
    whole = Path(path)
    suffix = whole.suffix.lower()
    if _PAIR.search(whole.name):
        beside = (find_beside(whole, kind) for kind in ("hdr", "img"))
        return [whole, *(part for part in beside if part is not None and part != whole)]
    if suffix not in _NAMES:
        return [whole]
    header = read_nrrd_header(whole) if _NAMES[suffix] is _NRRD_VALUES else _read_begin(whole)
    found = _NAMES[suffix].search(header)
    if found is None or found.group(1).upper() == b"LOCAL":
        return [whole]
    names = [found.group(1)]
    if names[0].startswith(b"LIST"):
        names = [line.strip() for line in header[found.end() :].splitlines() if line.strip()]
    parts = [whole]
    for name in names:
        text = os.fsdecode(name)
        if "%" in text:
            # A name for each slice, such as "slice%03d.raw 1 60 1".
            pattern = Path(re.sub(r"%\d*d", "*", text.split()[0]))
            parts += sorted(one for one in (whole.parent / pattern.parent).glob(pattern.name) if one.is_file())
        elif (whole.parent / text).is_file():
            parts.append(whole.parent / text)
    return parts


def _read_begin(path: Path) -> bytes:
    """Returns the first bytes of a file, which contain its header; empty if it cannot be read."""
    try:
        with open(path, "rb") as file:
            return file.read(_HEADER_BYTES)
    except OSError:
        return b""
