# SPDX-License-Identifier: Apache-2.0
"""Writes the report's file, whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from .._engine import BadInputError
from .._making import PART, WRITING
from .._paths import check_can_be_written, readable
from . import html, payload
from .data import ReportData

MAX_BYTES = 15_000_000
SUFFIXES = (".html", ".htm")


def write_report(path: str | os.PathLike, data: ReportData, max_bytes: int = MAX_BYTES) -> Path:
    """Writes one HTML file that needs no other file. The file appears under its name when it is complete.

    Args:
        max_bytes: bounds the images: if they need more, they are shown with fewer voxels.

    Raises:
        ValueError: the data do not fit together.
        BadInputError: no report can have that name, or there is no such folder.
        OSError: the disk is full, or fails.
    """
    path = Path(path)
    data.check()
    check_can_be_written(str(path))
    if path.suffix.lower() not in SUFFIXES:
        raise BadInputError(readable(f"The name {path} is none of a report, which is a page of HTML: let it end on {' or '.join(SUFFIXES)}."))
    deformation = payload.deformation_of(data)
    content, notes = payload.build(data, deformation, max_bytes)
    text = html.page(data, deformation, content, notes)
    write_whole(path, text)
    return path


def write_whole(path: Path, text: str) -> None:
    """Writes a file of text, which appears under its name when it is complete. Names that are no UTF-8 are written as they are shown.
    Raises OSError if it cannot be written."""
    try:
        _write_and_rename(path, readable(text))
    except OSError as error:
        raise OSError(error.errno, readable(f"the file {path} can't be written: {error.strerror or error}")) from error


def _write_and_rename(path: Path, text: str) -> None:
    handle, temporary = tempfile.mkstemp(prefix=WRITING, suffix=PART, dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
        # Only its owner may read a temporary file; others may read a result.
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, path)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise
