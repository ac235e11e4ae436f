# SPDX-License-Identifier: Apache-2.0
"""Files of NIfTI, of which the reader takes zeros for what is missing, and for what is not a number, and says nothing."""

from __future__ import annotations

import gzip
import math
import os
import struct
import tempfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from ._engine import BadInputError
from ._gzip import BLOCK
from ._simpleitk import import_simpleitk


# Of a header: its length, and where in it are the type of values, where they begin, the slope and the offset that they are scaled by,
# and the word that says whether they follow, or are in a file of their own.
_LENGTH = 348
_DATATYPE, _BEGIN, _SCALE, _MAGIC = 70, 108, 112, 344
_FOLLOWING, _APART = b"n+1\0", b"ni1\0"
# Floats, and whole numbers of as many bits.
_FLOATS = {16: (8, np.float32), 64: (1024, np.float64)}


def read_floats(path: Path) -> Any:
    """A file of floats, with those that are not a number looked for. None of any other file, and of floats that are scaled, which
    SimpleITK is to read by itself.

    Raises:
        BadInputError: values are infinite, or not a number.
    """
    header = _read_header(path)
    if not header:
        return None
    order = "<" if header[:4] == struct.pack("<i", _LENGTH) else ">"
    (datatype,) = struct.unpack_from(f"{order}h", header, _DATATYPE)
    begin, slope, offset = struct.unpack_from(f"{order}3f", header, _BEGIN)
    # Where values are that begin inside of the header, its reader knows.
    if datatype not in _FLOATS or (header[_MAGIC:] == _FOLLOWING and begin < _LENGTH):
        return None
    as_whole, kind = _FLOATS[datatype]
    struct.pack_into(f"{order}h", header, _DATATYPE, as_whole)
    # Whole numbers are not to be scaled: their bits are floats'.
    struct.pack_into(f"{order}2f", header, _SCALE, 1.0, 0.0)
    header[_MAGIC:] = _APART
    bits = _read_bits(header, path)
    if bits is None:
        return None
    sitk = import_simpleitk()
    values = sitk.GetArrayViewFromImage(bits).view(kind)
    bad = values.size - int(np.count_nonzero(np.isfinite(values)))
    if bad:
        raise BadInputError(f"The file {path} has {bad} values that are infinite or not a number. Replace them in the file.")
    if (math.isfinite(slope) and slope not in (0.0, 1.0)) or (math.isfinite(offset) and offset != 0.0):
        return None
    return _make_image(values, bits)


def _read_header(path: Path) -> bytearray:
    """Empty if the file does not begin as one of NIfTI does."""
    try:
        with gzip.open(path) if path.suffix.lower() == ".gz" else open(path, "rb") as file:
            header = bytearray(file.read(_LENGTH))
    except (OSError, EOFError, zlib.error):
        return bytearray()
    begins = header[:4] in (struct.pack("<i", _LENGTH), struct.pack(">i", _LENGTH))
    return header if begins and header[_MAGIC:] in (_FOLLOWING, _APART) else bytearray()


def _read_bits(header: bytes, path: Path) -> Any:
    """The values of a file by another header, as SimpleITK's image. None if it does not read them."""
    sitk = import_simpleitk()
    values = _find_values(path)
    with tempfile.TemporaryDirectory(prefix="gpureg-") as folder:
        (Path(folder) / "bits.hdr").write_bytes(header)
        (Path(folder) / f"bits.img{'.gz' if values.suffix.lower() == '.gz' else ''}").symlink_to(values.resolve())
        try:
            return sitk.ReadImage(str(Path(folder) / "bits.hdr"), imageIO="NiftiImageIO")
        except RuntimeError:
            return None


def _make_image(values: np.ndarray, like: Any) -> Any:
    """SimpleITK's image of some values, with all else of another one."""
    made = import_simpleitk().GetImageFromArray(values, isVector=like.GetNumberOfComponentsPerPixel() > 1)
    made.CopyInformation(like)
    for key in like.GetMetaDataKeys():
        made.SetMetaData(key, like.GetMetaData(key))
    return made


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
    if path.suffix.lower() != ".gz":
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
            while block := content.read(BLOCK):
                found += len(block)
    except (EOFError, gzip.BadGzipFile, zlib.error):
        return False
    return found >= wanted
