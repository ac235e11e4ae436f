# SPDX-License-Identifier: Apache-2.0
"""Reads a file's header by SimpleITK, without the values."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np

from ._image import Image, no_values
from ._kinds import is_placed
from ._paths import suffix_of
from ._simpleitk import import_simpleitk

#: Names of files end with one of these that SimpleITK reads by one of its readers, and SimpleITK's names of those.
READERS = {".mha": "MetaImageIO", ".mhd": "MetaImageIO", ".nrrd": "NrrdImageIO", ".nhdr": "NrrdImageIO"}
# Others whose files are known to be whole, as far as that is known, without reading values.
_OTHERS = ("GiplImageIO", "VTKImageIO", "TIFFImageIO", "HDF5ImageIO")


@dataclass(frozen=True)
class Header:
    """Describes an image of any dimension.

    Attributes:
        size, spacing, origin, direction: as SimpleITK has them, x first, and rows of the matrix behind each other. Spacings may be below 0.
        kind: the type of its numbers.
        components: how many a voxel has.
        is_placed: as of an Image.
    """

    size: tuple[int, ...]
    spacing: tuple[float, ...]
    origin: tuple[float, ...]
    direction: tuple[float, ...]
    kind: np.dtype
    components: int
    is_placed: bool

    @property
    def count(self) -> int:
        """How many numbers there are."""
        return math.prod(self.size) * self.components

    def image(self, dimension: int, unit: float = 1.0) -> Image:
        """Returns an image along the first two or three axes, without values.

        Args:
            unit: of lengths, in mm.
        """
        # The reader of values turns axes round whose spacing is below 0.
        turned = np.reshape(self.direction, (len(self.size),) * 2) * np.where(np.array(self.spacing) < 0, -1, 1)
        spacing, direction = np.array(self.spacing[:dimension]), turned if dimension == len(self.size) else _cut_direction(turned, dimension)
        shape = (*self.size[dimension - 1 :: -1], *([self.components] if self.components > 1 else []))
        made = Image(no_values(self.kind, shape), unit * np.abs(spacing), unit * np.array(self.origin[:dimension]), direction, self.components > 1)
        made.is_placed = self.is_placed
        return made


def read_header(name: str, reader: str) -> Optional[Header]:
    """Reads a file's header.

    Args:
        reader: SimpleITK's name of the class that reads the file.

    Returns:
        None: SimpleITK cannot read it; to read the whole file raises the error.
    """
    sitk = import_simpleitk()
    header = sitk.ImageFileReader()
    header.SetImageIO(reader)
    header.SetFileName(name)
    try:
        header.ReadImageInformation()
        components = header.GetNumberOfComponents()
        voxel = sitk.Image([1] * header.GetDimension(), header.GetPixelID(), components)
        voxel.SetDirection(header.GetDirection())
        kind = sitk.GetArrayViewFromImage(voxel).dtype
    # SimpleITK raises the others for types of values that NumPy has not, and the first one also for a direction without an inverse.
    except (RuntimeError, TypeError, KeyError):
        return None
    size = tuple(int(n) for n in header.GetSize())
    return Header(size, header.GetSpacing(), header.GetOrigin(), header.GetDirection(), kind, components, is_placed(header))


def _cut_direction(direction: np.ndarray, dimension: int) -> np.ndarray:
    """Returns the direction of an image along the first axes of one of more axes, as SimpleITK's does that is cut out of it: where that has
    no inverse, it is another one."""
    sitk = import_simpleitk()
    whole = sitk.Image([1] * len(direction), sitk.sitkUInt8)
    whole.SetDirection(direction.ravel().tolist())
    cut = sitk.Extract(whole, [1] * dimension + [0] * (len(direction) - dimension))
    return np.reshape(cut.GetDirection(), (dimension, dimension))


def find_header(name: str) -> Optional[tuple[Header, float]]:
    """Reads the header of a file whose size shows whether the values are there, as far as anything does, and checks that, as a reader of
    values does.

    Returns:
        The header, and the unit of its lengths in mm. None: the whole file is to be read, which also says what is wrong.

    Raises:
        BadInputError: the file is cut off, or the header says what is not possible.
    """
    reader = READERS.get(suffix_of(name))
    return _find_other(name) if reader is None else _find_metaimage(name) if reader == "MetaImageIO" else _find_nrrd(name)


def _find_metaimage(name: str) -> Optional[tuple[Header, float]]:
    from ._metaimage import check_metaimage_is_whole, is_in_one_file

    if not is_in_one_file(name):
        return None
    check_metaimage_is_whole(name, unpacks=False)
    header = read_header(name, "MetaImageIO")
    return None if header is None or not _is_usual(header) else (header, 1.0)


def _find_nrrd(name: str) -> Optional[tuple[Header, float]]:
    from ._nrrd import check_nrrd_is_whole, find_nrrd_unit, is_in_one_file

    if not is_in_one_file(name):
        return None
    check_nrrd_is_whole(name, unpacks=False)
    header = read_header(name, "NrrdImageIO")
    return None if header is None or not _is_usual(header) else (header, find_nrrd_unit(name, len(header.size)))


def _find_other(name: str) -> Optional[tuple[Header, float]]:
    from ._other_formats import check_size, refuse_packed

    refuse_packed(name)
    reader: Any = import_simpleitk().ImageFileReader.GetImageIOFromFileName(name)
    header = read_header(name, reader) if reader in _OTHERS else None
    if header is None or not _is_usual(header):
        return None
    check_size(name, header.count, header.kind.itemsize)
    return header, 1.0


def _is_usual(header: Header) -> bool:
    """Returns whether the grid is what the header says, and no reader of values refuses or changes it."""
    return header.kind.kind in "iuf" and all(header.spacing) and 2 <= len(header.size) <= 4
