# SPDX-License-Identifier: Apache-2.0
"""DICOM's files, which are known by what they begin with, not by their names; and their headers, which pydicom reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ._engine import BadInputError

_PREAMBLE, _MAGIC = 128, b"DICM"
# A file without a preamble begins with an element of one of these groups, up to the second number, and no longer than the third.
_FIRST_GROUPS, _LAST_FIRST, _LONGEST_FIRST = (0x0002, 0x0008), 0x0018, 255
# A value of more bytes than this is not read with the header.
_LONG = 1 << 14

#: Where an image's values are: whole numbers, floats of 32 and of 64 bits.
VALUES = ("PixelData", "FloatPixelData", "DoubleFloatPixelData")


def import_pydicom() -> Any:
    """Imports pydicom, which only DICOM needs. Raises an ImportError that says how to install it."""
    try:
        import pydicom
    except ImportError as error:
        raise ImportError("This needs pydicom: pip install gpuregistration[io]") from error
    return pydicom


def is_dicom(path: Path) -> bool:
    """Returns whether a file begins like a file of DICOM, with or without a preamble."""
    # Bytes that are read from a pipe are gone for other readers.
    if not path.is_file():
        return False
    with open(path, "rb") as file:
        begin = file.read(_PREAMBLE + len(_MAGIC))
    return begin[_PREAMBLE:] == _MAGIC or _begins_with_element(begin)


def _begins_with_element(begin: bytes) -> bool:
    if len(begin) < 8:
        return False
    order: Any
    for order in ("little", "big"):
        group, element = (int.from_bytes(begin[at : at + 2], order) for at in (0, 2))
        is_explicit = begin[4:6].isalpha() and begin[4:6].isupper()
        if group in _FIRST_GROUPS and element <= _LAST_FIRST:
            return is_explicit or (order == "little" and int.from_bytes(begin[4:8], order) <= _LONGEST_FIRST)
    return False


def read_header(path: Path) -> Any:
    """Reads a file's header as pydicom's data set, which reads long values when they are first used. None if the file is not DICOM's, or
    of DICOM, but no image.

    Raises:
        BadInputError: it is damaged.
        ImportError: there is no pydicom.
    """
    try:
        if not is_dicom(path):
            return None
    except OSError as error:
        raise BadInputError(f"The file {path} cannot be read: {(error.strerror or str(error)).lower()}.") from error
    pydicom = import_pydicom()
    try:
        header = pydicom.dcmread(path, force=True, defer_size=_LONG)
        syntax = header.file_meta.get("TransferSyntaxUID")
        # Values of a deflated file cannot be found again later, so all of them are read now.
        if syntax == pydicom.uid.DeflatedExplicitVRLittleEndian:
            header = pydicom.dcmread(path, force=True)
        kind = header.file_meta.get("MediaStorageSOPClassUID") or header.get("SOPClassUID")
        is_image = "Rows" in header and "Columns" in header
        # Each object says what it is, and how it is written.
        should_be = not kind or not syntax or "Image Storage" in pydicom.uid.UID(kind).name
    # It raises what it will of a damaged file.
    except Exception as error:
        raise damaged(path, error) from error
    if not any(keyword in header for keyword in VALUES) if is_image else should_be:
        raise BadInputError(f"The file {path} is cut off: it ends before the image's values. Copy it again from where it is whole.")
    if not syntax:
        header.file_meta.TransferSyntaxUID = _guessed_syntax(header)
    return header if is_image else None


def damaged(path: Path, error: Exception) -> BadInputError:
    """Returns the error to raise for a file or a folder for which pydicom raises its own error."""
    kind = "folder" if path.is_dir() else "file"
    return BadInputError(f"The {kind} {path} is damaged, or no DICOM: {error}. Copy it again from where it is whole.")


def _guessed_syntax(header: Any) -> str:
    """Returns the transfer syntax of a file that does not name one: the values are stored as the header is."""
    uid = import_pydicom().uid
    found = getattr(header, "original_encoding", None)
    # Versions of pydicom before 3 have these two attributes instead.
    is_implicit, is_little = found or (header.read_implicit_vr, header.read_little_endian)
    if is_implicit:
        return str(uid.ImplicitVRLittleEndian)
    return str(uid.ExplicitVRLittleEndian if is_little else uid.ExplicitVRBigEndian)
