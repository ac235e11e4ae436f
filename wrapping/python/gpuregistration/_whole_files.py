# SPDX-License-Identifier: Apache-2.0
"""Gives files their names when they are whole, and notices a disk that became full where a writer does not say so."""

from __future__ import annotations

import errno
import os
import re
import tempfile
from pathlib import Path
from typing import Any, Callable

from ._engine import BadInputError, Error
from ._making import WRITING
from ._paths import check_can_be_written, plain, readable, to_write_in

# Bytes: more than what may be left of a disk's last block.
_PROBE = 1 << 16


def write_whole(name: str, write: Callable[[str], Any]) -> None:
    """Has `write` make a file under another name, and renames it when it is whole."""
    check_can_be_written(name)
    target, shown = Path(name), readable(name)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=WRITING) as folder, to_write_in(folder) as place:
        there = place / with_lower_suffix(plain(target.name))
        try:
            try:
                write(str(there))
            finally:
                # Not all errors of SimpleITK say that the disk is full.
                for made in filter(Path.is_file, Path(folder).iterdir()):
                    _check_disk_space(made)
        except OSError as error:
            raise OSError(error.errno, f"The file {shown} cannot be written: {error.strerror}") from error
        except Error:
            # An error of computing the values while they are written.
            raise
        except RuntimeError as error:
            raise BadInputError(f"The file {shown} cannot be written: {last_line(error).replace(str(there), shown)}") from error
        for made in sorted(Path(folder).iterdir()):
            # A file beside a header has the header's name with another suffix.
            os.replace(made, target if made.name == there.name else target.parent / made.name.replace(there.stem, target.stem, 1))


def check_holds(made: Path, image: Any) -> None:
    """Raises OSError if the files that were made are smaller than the values of the image: some writers do not report a full disk."""
    wanted = image.GetNumberOfPixels() * image.GetNumberOfComponentsPerPixel() * image.GetSizeOfPixelComponent()
    if sum(part.stat().st_size for part in made.parent.iterdir()) < wanted:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _check_disk_space(made: Path) -> None:
    """Checks that the disk has space left. Some writers end without an error where it is full.

    Raises:
        OSError: it does not.
    """
    with open(made, "r+b", buffering=0) as file:
        size = file.seek(0, os.SEEK_END)
        try:
            file.write(bytes(_PROBE))
        finally:
            file.truncate(size)


def with_lower_suffix(name: str) -> str:
    """Returns a name with its suffix, such as .nii.gz, in small letters."""
    found = re.search(r"(\.nii|\.hdr|\.img)?\.[A-Za-z0-9]+$", name, re.IGNORECASE)
    return name if found is None else name[: found.start()] + found.group().lower()


def last_line(error: Exception) -> str:
    """Returns the last line of an error of SimpleITK, which is the cause."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    # Without who says it: "ITK ERROR: NiftiImageIO(0x7f13…): ".
    return re.sub(r"^(sitk::ERROR: |ITK ERROR: \w+\(0x[0-9a-fA-F]+\): )", "", lines[-1]) if lines else type(error).__name__
