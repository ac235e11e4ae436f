# SPDX-License-Identifier: Apache-2.0
"""Formats of images that ANTs reads or writes: those that this package has, and those that it has not."""

from __future__ import annotations

from typing import Iterable, Optional

import numpy as np

from .._engine import BadInputError
from .._files import MGH_SUFFIXES
from .._image import Image, host_array
from .._parts import IMAGES

#: Endings of images that are written.
WRITTEN = (*IMAGES, *MGH_SUFFIXES)
#: Endings of images that are not written.
_NOT_WRITTEN = (
    ".img", ".img.gz", ".hdr", ".nia", ".mnc", ".mnc2", ".gipl", ".gipl.gz", ".vtk", ".png", ".jpg", ".jpeg", ".tif", ".tiff",
    ".bmp", ".mrc",
)  # fmt: skip
#: Endings of images and transforms that are not read.
_NOT_READ = (".mnc", ".mnc2", ".xfm", ".mrc", ".nia")


def name_not_written(path: str) -> Optional[str]:
    """Names the format of an output, for hand_over, if ANTs alone writes it."""
    return _name(path, _NOT_WRITTEN, "writing")


def names_not_read(paths: Iterable[Optional[str]]) -> list[str]:
    """Names the formats of inputs, for hand_over, that ANTs alone reads."""
    named = [_name(path, _NOT_READ, "reading") for path in paths if path is not None]
    return [name for name in named if name is not None]


def name_of_several(path: Optional[str], what: str) -> list[str]:
    """Returns what to hand over if a file of FreeSurfer's format must hold several volumes or components, which ANTs alone supports.

    Args:
        path: the file; None: there is none.
        what: what it is to hold.
    """
    return [f"{what} in FreeSurfer's format ({path})"] if path is not None and path.lower().endswith(MGH_SUFFIXES) else []


def check_dimension(path: Optional[str], dimension: int) -> None:
    """Checks that the format of an output holds images of a dimension; 0: it is not known yet.

    Raises:
        BadInputError: it does not.
    """
    if path is not None and dimension == 2 and path.lower().endswith(MGH_SUFFIXES):
        raise BadInputError(
            f"-o/--output: {path} is of FreeSurfer's format, which holds volumes alone, and the images have 2 dimensions; expected a name that ends on "
            f"one of {' '.join(IMAGES)}"
        )


def check_type(path: str, kind: str, given: str) -> None:
    """Checks that the format of an output holds values of a type, where doubles become floats.

    Args:
        kind: NumPy's name of the type.
        given: the flag and its value, for the error.

    Raises:
        BadInputError: it does not.
    """
    from .._mgh import TYPES

    if path.lower().endswith(MGH_SUFFIXES) and kind not in (*TYPES, "float64"):
        raise BadInputError(f"{given}: {path} is of FreeSurfer's format, which does not hold it; expected uchar, short, int or float, or a .nii.gz")


def as_written(path: str, image: Image) -> Image:
    """Returns an image with the values that its file holds: FreeSurfer's files store floats in place of doubles."""
    values = host_array(image)
    if path.lower().endswith(MGH_SUFFIXES) and values.dtype == np.float64:
        return image.like(values.astype(np.float32))
    return image


def _name(path: str, suffixes: tuple[str, ...], what: str) -> Optional[str]:
    found = next((suffix for suffix in suffixes if path.lower().endswith(suffix)), None)
    return None if found is None else f"{what} {found} files ({path})"
