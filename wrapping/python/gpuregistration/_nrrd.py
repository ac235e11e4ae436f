# SPDX-License-Identifier: Apache-2.0
"""Whether a NRRD's compressed values are whole."""

from __future__ import annotations

import re
from pathlib import Path

from ._engine import BadInputError
from ._parts import is_detached, parts_that_are_read, read_nrrd_header
from ._unpack import read_unpacked

_ENCODING = re.compile(rb"^encoding:\s*(\w+)", re.MULTILINE | re.IGNORECASE)
_LINES = re.compile(rb"^line ?skip:\s*(\d+)", re.MULTILINE | re.IGNORECASE)


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
