# SPDX-License-Identifier: Apache-2.0
"""Files of FreeSurfer's format: .mgh, and .mgz, which is compressed. nibabel reads and writes them."""

from __future__ import annotations

import struct
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

from ._engine import BadInputError
from ._image import Image
from ._kinds import common_values, ras_affine
from ._nibabel import image_of, import_nibabel, stored_of
from ._program import hidden
from ._unpack import Content
from ._warnings import warn_of_input

#: NumPy's names of the types of values that the format has.
TYPES = ("uint8", "int16", "int32", "float32")
_VERSION = 1
# A header's version, and behind the lengths, the type of values and the degrees of freedom its flag that it says where the image lies.
_BEGIN = struct.Struct(">i24xh")


def read_mgh(name: str, reads_values: bool = True) -> Image:
    """Reads a file.

    Args:
        reads_values: False: they are left out.

    Raises:
        BadInputError: it is none, is damaged, or holds several volumes.
    """
    begin = Content(Path(name)).take(_BEGIN.size)
    if len(begin) < _BEGIN.size:
        raise _unreadable(name, "it ends within its header")
    version, says_where_it_lies = _BEGIN.unpack(begin)
    # nibabel would print this error, too.
    if version != _VERSION:
        raise _unreadable(name, f"its version is {version}, and the format's is {_VERSION}")
    known = (OSError, EOFError, TypeError, ValueError, zlib.error, import_nibabel().filebasedimages.ImageFileError, _mghformat().MGHError)
    try:
        found = _mghformat().MGHImage.from_filename(name)
    except KeyError as error:
        raise _unreadable(name, f"its values are of a type that there is not, {error}") from error
    except known as error:
        raise _unreadable(name, str(error)) from error
    # Without values first, which checks the file's size.
    stored = replace(stored_of(found, False), name=f"file {name}")
    if reads_values:
        stored = replace(stored_of(found), name=stored.name)
    # nibabel sets the flag where it is not set.
    if not says_where_it_lies:
        warn_of_input(f"The file {name} does not say where it lies: it is taken for a coronal one around the middle, as FreeSurfer does.")
    return image_of(stored, "Give one volume of it.")


def write_mgh(path: str, image: Image, name: str) -> None:
    """Writes an image.

    Args:
        path: where it is written.
        name: the name of the file, for errors.

    Raises:
        BadInputError: it is no volume of single values, or of a type that the format does not have.
    """
    values = common_values(image)
    if image.dimension != 3 or image.is_vector:
        raise _not_held(
            name, f"has {image.dimension} dimensions and {image.components} numbers a voxel; the format holds volumes of one number", "Write a .nii.gz."
        )
    if values.dtype.name not in TYPES:
        raise _not_held(name, f"has values of type {values.dtype}; the format holds {', '.join(TYPES)}", "Convert them, or write a .nii.gz.")
    _mghformat().MGHImage(values.T, ras_affine(image)).to_filename(path)


def _not_held(name: str, why: str, advice: str) -> BadInputError:
    return BadInputError(f"The file {name} cannot be written: the image {why}. {advice}")


def _unreadable(name: str, why: str) -> BadInputError:
    return BadInputError(f"The file {name} is no image of FreeSurfer's that can be read: {why}. Is it whole?")


def _mghformat() -> Any:
    """Imports nibabel's module of the format."""
    import_nibabel()
    # See import_nibabel().
    with hidden("pydicom"):
        from nibabel.freesurfer import mghformat
    return mghformat
