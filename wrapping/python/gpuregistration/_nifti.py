# SPDX-License-Identifier: Apache-2.0
"""Whether a file of NIfTI is whole: its reader takes zeros for what is missing, and says nothing."""

from __future__ import annotations

import gzip
import math
import os
import struct
import zlib
from pathlib import Path
from typing import Any

from ._engine import BadInputError

_BLOCK = 1 << 20


def check_nifti_is_whole(path: Path, image: Any) -> None:
    """Of what SimpleITK has read from a file; of files of other formats nothing is looked at.

    Raises:
        BadInputError: values are missing at its end.
    """
    if not (image.HasMetaDataKey("bitpix") and image.HasMetaDataKey("vox_offset")):
        return
    sides = [int(image.GetMetaData(f"dim[{n}]")) for n in range(1, 1 + int(image.GetMetaData("dim[0]")))]
    wanted = int(float(image.GetMetaData("vox_offset"))) + math.prod(sides) * int(image.GetMetaData("bitpix")) // 8
    holder = _find_values(path)
    if not _has_bytes(holder, wanted):
        raise BadInputError(f"The file {holder} is cut off: it is to hold {wanted} bytes, unpacked. Copy it again from where it is whole.")


def _find_values(path: Path) -> Path:
    """The file with the values, which may stand beside a header."""
    name = str(path)
    for header, values in ((".hdr.gz", ".img.gz"), (".hdr", ".img"), (".hdr", ".img.gz")):
        beside = Path(name[: -len(header)] + values)
        if name.endswith(header) and beside.is_file():
            return beside
    return path


def _has_bytes(path: Path, wanted: int) -> bool:
    if path.suffix != ".gz":
        return path.stat().st_size >= wanted
    with open(path, "rb") as file:
        file.seek(-min(4, path.stat().st_size), os.SEEK_END)
        ending = file.read()
    # How much a member of gzip holds stands at its end. Where that does not fit there are several members, or the end is missing.
    if len(ending) == 4 and struct.unpack("<I", ending)[0] == wanted % (1 << 32):
        return True
    found = 0
    try:
        with gzip.open(path) as content:
            while block := content.read(_BLOCK):
                found += len(block)
    except (EOFError, gzip.BadGzipFile, zlib.error):
        return False
    return found >= wanted
