# SPDX-License-Identifier: Apache-2.0
"""Checks that a file is a MetaImage, and that all its values are there."""

from __future__ import annotations

import math
import re
import sys
import zlib
from pathlib import Path
from typing import Optional

import numpy as np

from ._checks import is_singular
from ._engine import BadInputError
from ._parts import METAIMAGE_VALUES, Values, metaimage_key, parts_that_are_read
from ._simpleitk import import_simpleitk

# A header is no longer than that. It says whether the values follow it, and how many bytes they are if they are packed.
_HEADER_BYTES = 1 << 16
# SimpleITK's reader looks only at the first letter of yes and no.
_TEXT = metaimage_key(b"BinaryData", rb"[^T1\s].*?")
_SKIPPED = metaimage_key(b"HeaderSize", rb"(\d+)")
_PACKED = metaimage_key(b"CompressedData", rb"[T1].*?")
_PACKED_BYTES = metaimage_key(b"CompressedDataSize", rb"(\d+)")
_DIMENSIONS = metaimage_key(b"NDims", rb".+?")
_BIG_ENDIAN = metaimage_key(b"(?:BinaryData|Element)ByteOrderMSB", rb"[T1].*?")
# Types that have the same size on all machines.
_KIND = metaimage_key(b"ElementType", rb"MET_(U?CHAR|U?SHORT|U?INT|FLOAT|DOUBLE)")
# Where values begin, and what they mean, is left to SimpleITK then.
_CHANGED = metaimage_key(rb"(?:HeaderSize|ElementToIntensityFunction\w+)", rb".*?")
# Its names are older and newer ones of the same.
_MATRIX = metaimage_key(b"(?:TransformMatrix|Rotation|Orientation)", rb"([-+0-9.eE \t]+?)")
# This number makes zlib unpack either format: values are packed by zlib or by gzip.
_ZLIB_OR_GZIP = zlib.MAX_WBITS | 32
# So many bytes are unpacked at a time.
_PART_BYTES = 1 << 20


def check_metaimage_is_whole(name: str, unpacks: bool = True) -> None:
    """Checks that a MetaImage is complete. SimpleITK may not fail, or gives the reason of whatever failed last.

    Args:
        unpacks: packed values are unpacked once more for it. False: only their number of bytes is looked at.

    Raises:
        BadInputError: it is something else, its axes have no inverse, or values are missing at the end of it, or of the file beside it that
            it names, or they cannot be unpacked, or it does not say how many bytes they are packed.
    """
    header, last = check_metaimage_header(name)
    sitk = import_simpleitk()
    reader = sitk.ImageFileReader()
    reader.SetImageIO("MetaImageIO")
    reader.SetFileName(name)
    try:
        reader.ReadImageInformation()
    except RuntimeError:
        return
    if last is None:
        return
    is_following = last.group(1).upper() == b"LOCAL"
    holders = [Path(name)] if is_following else parts_that_are_read(name)[1:]
    # The number of bytes of values that are text is not known.
    if not holders or _TEXT.search(header):
        return
    # SimpleITK makes no image of other dimensions; another check reports them.
    if not 2 <= reader.GetDimension() <= 5:
        return
    voxel = sitk.Image([1] * reader.GetDimension(), reader.GetPixelID(), reader.GetNumberOfComponents())
    size = math.prod(reader.GetSize()) * voxel.GetNumberOfComponentsPerPixel() * voxel.GetSizeOfPixelComponent()
    skipped = _SKIPPED.search(header)
    begin = last.end() + 1 if is_following else int(skipped.group(1)) if skipped else 0
    if _PACKED.search(header) is None:
        for holder in holders:
            _check_size(holder, begin + size // len(holders))
        return
    if len(holders) > 1:
        # Its reader does not take those.
        return
    found = _PACKED_BYTES.search(header)
    packed_bytes = int(found.group(1)) if found else 0
    if is_following and packed_bytes == 0:
        # SimpleITK unpacks nothing then, and returns what was in memory.
        raise BadInputError(f"The file {name} is packed, and its header lacks CompressedDataSize, how many bytes that is. Write it again.")
    _check_size(holders[0], begin + packed_bytes)
    if unpacks and _unpack(holders[0], begin) < size:
        raise _damaged(holders[0])


def check_metaimage_header(name: str) -> "tuple[bytes, Optional[re.Match[bytes]]]":
    """Checks the header of a MetaImage, and returns it, with its last line. Raises what check_metaimage_is_whole() does of a header."""
    with open(name, "rb") as file:
        header = file.read(_HEADER_BYTES)
    last = METAIMAGE_VALUES.search(header)
    header = header[: last.end()] if last else header
    _check_header(name, header)
    return header, last


def find_values(name: str) -> Optional[Values]:
    """Finds the values of a MetaImage. None: they are in several files, of text, of another order of bytes than this machine's, of a type
    that is not known here, or changed by what the header says; or it is no MetaImage."""
    with open(name, "rb") as file:
        header = file.read(_HEADER_BYTES)
    last = METAIMAGE_VALUES.search(header)
    if last is None:
        return None
    header = header[: last.end()]
    kind = _KIND.search(header)
    is_other_order = (_BIG_ENDIAN.search(header) is not None) != (sys.byteorder == "big") and not (kind and kind.group(1).endswith(b"CHAR"))
    if kind is None or is_other_order or _TEXT.search(header) or _CHANGED.search(header):
        return None
    is_packed, stated = _PACKED.search(header) is not None, _PACKED_BYTES.search(header)
    packed_bytes = int(stated.group(1)) if is_packed and stated else 0
    if last.group(1).upper() == b"LOCAL":
        return None if is_packed and packed_bytes == 0 else Values(Path(name), last.end() + 1, is_packed, packed_bytes)
    if not _names_one(name, last.group(1)):
        return None
    return Values(parts_that_are_read(name)[1], 0, is_packed, packed_bytes)


def is_in_one_file(name: str) -> bool:
    """Returns whether a MetaImage's values are numbers in one file that is there, so that its size shows whether they are."""
    with open(name, "rb") as file:
        header = file.read(_HEADER_BYTES)
    last = METAIMAGE_VALUES.search(header)
    if last is None or _TEXT.search(header[: last.end()]):
        return False
    return last.group(1).upper() == b"LOCAL" or _names_one(name, last.group(1))


def _names_one(name: str, holder: bytes) -> bool:
    return len(parts_that_are_read(name)) == 2 and not holder.upper().startswith(b"LIST") and b"%" not in holder


def unpack_values(values: Values, target: memoryview) -> None:
    """Unpacks values into target. Raises BadInputError: they are damaged, or too few."""
    _check_size(values.path, values.begin + values.packed_bytes)
    if _unpack(values.path, values.begin, target) < len(target):
        raise _damaged(values.path)


def _check_header(name: str, header: bytes) -> None:
    """Checks a header. SimpleITK's error names only the last lines of a wrong header."""
    if _DIMENSIONS.search(header) is None:
        raise BadInputError(
            f"The file {name} is no image that can be read: it does not begin as a MetaImage does, which its name says: NDims is missing. Give "
            "NIfTI, MetaImage, NRRD or a folder of DICOM, each by a name that says what it is."
        )
    found = _MATRIX.search(header)
    try:
        numbers = np.array(found.group(1).split() if found else [], dtype=np.float64)
    except ValueError:
        return
    dimension = math.isqrt(numbers.size)
    if numbers.size and dimension**2 == numbers.size and is_singular(numbers.reshape(dimension, dimension)):
        raise BadInputError(
            f"The file {name} lies nowhere: its TransformMatrix has no inverse: {numbers.tolist()}. Write it with axes that point in "
            f"{dimension} directions."
        )


def _check_size(holder: Path, wanted: int) -> None:
    if holder.stat().st_size < wanted:
        raise BadInputError(f"The file {holder} is cut off: it is to hold {wanted} bytes. Copy it again from where it is whole.")


def _damaged(path: Path) -> BadInputError:
    return BadInputError(f"The file {path} is damaged: its values cannot be unpacked. Copy it again from where it is whole.")


def _unpack(path: Path, begin: int, target: Optional[memoryview] = None) -> int:
    """Unpacks a file's compressed values, from a place on, into target, if that is given, as far as they have room. Returns their number of
    bytes, whose checksum is right; -1 if they are damaged."""
    from . import _deflate

    unpacking, count = _deflate.library.decompressobj(wbits=_ZLIB_OR_GZIP), 0
    with open(path, "rb") as file:
        file.seek(begin)
        while not unpacking.eof:
            part = file.read(_PART_BYTES)
            if not part:
                return -1
            try:
                values = unpacking.decompress(part)
            except _deflate.ERRORS:
                return -1
            if target is not None:
                room = target[count : count + len(values)]
                room[:] = values[: len(room)]
            count += len(values)
    return count
