# SPDX-License-Identifier: Apache-2.0
"""Checks what formats of images hold: some of those that SimpleITK writes leave out, without an error, where an image lies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ._engine import BadInputError
from ._image import Image
from ._parts import IMAGES
from ._paths import readable, suffix_of

# Endings of formats that hold where any image lies, without .gz.
_HOLD_PLACES = (".nii", ".hdr", ".img", ".mha", ".mhd", ".nrrd", ".nhdr", ".h5", ".hdf5", ".hdf")
_PICTURES = (".png", ".jpg", ".jpeg", ".bmp")
# Formats may round lengths by this share of them, and places by this share of a voxel's edge.
_ROUNDING = 1e-3


def check_fits(name: str, image: Image) -> None:
    """Raises BadInputError if a format, that of a picture, cannot hold an image, before it is written."""
    suffix = suffix_of(name)
    if suffix in _PICTURES and image.dimension != 2:
        slice_of_it = "Image(image.array[0]), its one slice" if image.shape[0] == 1 else "one slice"
        raise BadInputError(
            f"The file {readable(name)} cannot hold an image of {image.dimension} dimensions: a {suffix} is a picture of two. Write a .nii.gz or a .mha, or "
            f"{slice_of_it}."
        )


def holds_places(name: str) -> bool:
    """Returns whether a file's format is known to hold where any image lies."""
    return suffix_of(name) in _HOLD_PLACES


def check_holds_place(made: str, name: str, image: Image, sitk: Any) -> None:
    """Checks that a file that was written, of a format of which that is not known, holds where its image lies.

    Args:
        made: the file.
        name: the name that it is to have.
        sitk: the module SimpleITK.

    Raises:
        BadInputError: it does not.
    """
    reader = sitk.ImageFileReader()
    reader.SetFileName(made)
    reader.ReadImageInformation()
    d = image.dimension
    lost = []
    # A slice may be one of a volume there.
    if reader.GetDimension() < d or tuple(reader.GetSize()[:d]) != image.size or any(n != 1 for n in reader.GetSize()[d:]):
        lost.append(f"size {image.size}")
    else:
        n = reader.GetDimension()
        direction = np.array(reader.GetDirection()).reshape(n, n)[:d, :d]
        for what, wanted, found, bound in (
            ("spacing", image.spacing, reader.GetSpacing()[:d], _ROUNDING * image.spacing),
            ("origin", image.origin, reader.GetOrigin()[:d], _ROUNDING * image.spacing),
            ("direction", image.direction, direction, _ROUNDING),
        ):
            if (np.abs(np.array(found) - wanted) > bound).any():
                lost.append(f"{what} {np.round(wanted, 6).tolist()}")
    if lost:
        plain = ", or Image(image.array), without its place" if d == 2 else ""
        raise BadInputError(
            f"A {suffix_of(name)} cannot hold where the image lies: {readable(name)} would lose its {', '.join(lost)}. Write a .nii.gz or a .mha{plain}."
        )


def has_no_writer(error: Exception) -> bool:
    """Returns whether SimpleITK has refused to write a file since it knows no format of its name."""
    return "Unable to determine ImageIO writer" in str(error)


def no_format(name: str) -> BadInputError:
    """Makes the error of a name that ends on no format of images."""
    suffix = Path(name).suffix
    ends = f"ends on {suffix}" if suffix else "has no ending"
    return BadInputError(readable(f"The name {name} {ends}, which is no format of images: let it end on one of {' '.join(IMAGES)}."))
