# SPDX-License-Identifier: Apache-2.0
"""Checks that a file is a MetaImage, and that all its values are there."""

from __future__ import annotations

import math
import zlib
from pathlib import Path

import numpy as np

from ._checks import is_singular
from ._engine import BadInputError
from ._parts import METAIMAGE_VALUES, metaimage_key, parts_that_are_read
from ._simpleitk import import_simpleitk

# A header is no longer than that. It says whether the values follow it, and how many bytes they are if they are packed.
_HEADER_BYTES = 1 << 16
# SimpleITK's reader looks only at the first letter of yes and no.
_TEXT = metaimage_key(b"BinaryData", rb"[^T1\s].*?")
_SKIPPED = metaimage_key(b"HeaderSize", rb"(\d+)")
_PACKED = metaimage_key(b"CompressedData", rb"[T1].*?")
_PACKED_BYTES = metaimage_key(b"CompressedDataSize", rb"(\d+)")
_DIMENSIONS = metaimage_key(b"NDims", rb".+?")
# Its names are older and newer ones of the same.
_MATRIX = metaimage_key(b"(?:TransformMatrix|Rotation|Orientation)", rb"([-+0-9.eE \t]+?)")
# This number makes zlib unpack either format: values are packed by zlib or by gzip.
_ZLIB_OR_GZIP = zlib.MAX_WBITS | 32
# So many bytes are unpacked at a time.
_PART_BYTES = 1 << 20


def check_metaimage_is_whole(name: str) -> None:
    """Checks that a MetaImage is complete. SimpleITK may not fail, or gives the reason of whatever failed last. Packed values are unpacked
    once more for it.

    Raises:
        BadInputError: it is something else, its axes have no inverse, or values are missing at the end of it, or of the file beside it that
            it names, or they cannot be unpacked, or it does not say how many bytes they are packed.
    """
    with open(name, "rb") as file:
        header = file.read(_HEADER_BYTES)
    last = METAIMAGE_VALUES.search(header)
    _check_header(name, header[: last.end()] if last else header)
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
    header = header[: last.end()]
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
    if _unpacked_bytes(holders[0], begin) < size:
        raise BadInputError(f"The file {holders[0]} is damaged: its values cannot be unpacked. Copy it again from where it is whole.")


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


def _unpacked_bytes(path: Path, begin: int) -> int:
    """Returns the number of bytes of a file's compressed values, from a place on, whose checksum is right; -1 if they are damaged."""
    unpacking, count = zlib.decompressobj(wbits=_ZLIB_OR_GZIP), 0
    with open(path, "rb") as file:
        file.seek(begin)
        while not unpacking.eof:
            part = file.read(_PART_BYTES)
            if not part:
                return -1
            try:
                count += len(unpacking.decompress(part))
            except zlib.error:
                return -1
    return count
