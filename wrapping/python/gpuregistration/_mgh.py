# SPDX-License-Identifier: Apache-2.0
"""Files of FreeSurfer's format: .mgh, and .mgz, which is compressed. nibabel reads and writes them."""

from __future__ import annotations

import gzip
from dataclasses import replace
from typing import Any

from ._engine import BadInputError
from ._image import Image
from ._kinds import common_values, ras_affine
from ._nibabel import image_of, import_nibabel, stored_of
from ._program import hidden
from ._warnings import warn_of_input

_TYPES = ("uint8", "int16", "int32", "float32")


def read_mgh(name: str) -> Image:
    """Reads a file.

    Raises:
        BadInputError: it is none, is damaged, or holds several volumes.
    """
    try:
        found = _mgh_image().from_filename(name)
    except (OSError, EOFError, TypeError, ValueError, import_nibabel().filebasedimages.ImageFileError) as error:
        raise BadInputError(f"The file {name} is no image of FreeSurfer's that can be read: {error}. Is it whole?") from error
    stored = replace(stored_of(found), name=f"file {name}")
    if not _says_where_it_lies(name):
        warn_of_input(f"The file {name} does not say where it lies: it is taken for a coronal one around the middle, as FreeSurfer does.")
    return image_of(stored, "Give one volume of it.")


def write_mgh(path: str, image: Image) -> None:
    """Writes an image.

    Raises:
        BadInputError: it is no volume of single values, or of a type that the format does not have.
    """
    values = common_values(image)
    if image.dimension != 3 or image.is_vector:
        raise BadInputError(
            f"The image has {image.dimension} dimensions and {image.components} numbers a voxel; a .mgz holds volumes of one number. Write a .nii.gz."
        )
    if values.dtype.name not in _TYPES:
        raise BadInputError(f"The image has values of type {values.dtype}; a .mgz holds {', '.join(_TYPES)}. Convert them, or write a .nii.gz.")
    _mgh_image()(values.T, ras_affine(image)).to_filename(path)


def _says_where_it_lies(name: str) -> bool:
    """Returns a flag of a file's header, which nibabel sets where it is not set."""
    with (gzip.open if name.lower().endswith(".mgz") else open)(name, "rb") as file:
        return bool(file.read(30)[28:].strip(b"\0"))


def _mgh_image() -> Any:
    import_nibabel()
    # See import_nibabel().
    with hidden("pydicom"):
        from nibabel.freesurfer import MGHImage
    return MGHImage
