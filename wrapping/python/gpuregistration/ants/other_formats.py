# SPDX-License-Identifier: Apache-2.0
"""Formats of images that ANTs reads or writes: those that this package has, and those that it has not."""

from __future__ import annotations

from typing import Iterable, Optional

import numpy as np

from .._files import MGH_SUFFIXES
from .._image import Image, host_array
from ..command.outputs import IMAGES

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


def as_written(path: str, image: Image) -> Image:
    """Returns an image with the values that its file holds: FreeSurfer's have no doubles, but floats."""
    values = host_array(image)
    if path.lower().endswith(MGH_SUFFIXES) and values.dtype == np.float64:
        return image.like(values.astype(np.float32))
    return image


def _name(path: str, suffixes: tuple[str, ...], what: str) -> Optional[str]:
    found = next((suffix for suffix in suffixes if path.lower().endswith(suffix)), None)
    return None if found is None else f"{what} {found} files ({path})"
