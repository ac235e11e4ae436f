# SPDX-License-Identifier: Apache-2.0
"""Checks files of formats that SimpleITK reads without checking that they are complete."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Mapping

from ._engine import BadInputError
from ._unpack import Content
from ._warnings import warn_of_input

_COPY = "Copy it again from where it is whole."
_GIPL_HEADER, _BMP_HEADER = 256, 54
# Where a PNG says what its pixels are.
_PNG_KIND, _PNG_GREY_WITH_OPACITY = 25, b"\4"
# By BMP's codes.
_BMP_NOT_PACKED = (0, 3)
# The line before a VTK file's values.
_VTK_VALUES = re.compile(rb"^(?:LOOKUP_TABLE|COLOR_SCALARS|VECTORS|NORMALS|TENSORS)[^\n]*\n", re.MULTILINE)
_VTK_HEADER_BYTES = 1 << 12

_PACKED = {".gz": "gunzip", ".bz2": "bunzip2", ".xz": "unxz", ".zst": "unzstd", ".zip": "unzip"}

#: Endings of MINC's images and transforms.
MINC_SUFFIXES = (".mnc", ".mnc2", ".mnc.gz", ".xfm")


def refuse_minc(name: str) -> None:
    """Raises BadInputError for a name of MINC's: its points are right and anterior, and nothing here tests that they come out right."""
    if name.lower().endswith(".xfm"):
        raise BadInputError(
            f"The file {name} is a transform of MINC's, which is not read or written. Its matrix M leads from right and anterior points: "
            "gpuregistration.Affine.from_matrix(D @ M @ D), with D = numpy.diag([-1, -1, 1, 1]), is the same here."
        )
    if name.lower().endswith(MINC_SUFFIXES):
        _raise_minc(name)


def _raise_minc(name: str) -> None:
    raise BadInputError(f"The file {name} is of MINC, which is not read or written. Make NIfTI of it: mnc2nii IMAGE.mnc IMAGE.nii.")


def refuse_packed(name: str) -> None:
    """Raises BadInputError for a file that is compressed as a whole, but for those that may be."""
    lower = name.lower()
    for suffix, program in _PACKED.items():
        if lower.endswith(suffix) and not lower.endswith(".gipl.gz"):
            raise BadInputError(f"The file {name} is compressed as a whole, which is read of .nii.gz and .gipl.gz alone. Unpack it: {program}.")


def check_other_is_whole(name: str, image: Any) -> None:
    """Checks that a file is complete, as far as its format allows that.

    Args:
        image: the image that SimpleITK has read from it.

    Raises:
        BadInputError: values are missing, or damaged.
    """
    _check(name, _Count(int(image.GetNumberOfPixels() * image.GetNumberOfComponentsPerPixel()), int(image.GetSizeOfPixelComponent())))


def check_size(name: str, count: int, bytes: int) -> None:
    """Checks a file of GIPL, VTK or TIFF likewise, as far as its size shows that it is complete.

    Args:
        count, bytes: how many numbers it is to hold, and the bytes of each.
    """
    _check(name, _Count(count, bytes, False))


@dataclass(frozen=True)
class _Count:
    """Numbers that a file is to hold.

    Attributes:
        count, bytes: how many there are, and the bytes of each.
        looks: what is packed is unpacked, and text is read.
    """

    count: int
    bytes: int
    looks: bool = True

    @property
    def size(self) -> int:
        return self.count * self.bytes


def _check(name: str, wanted: _Count) -> None:
    lower = name.lower()
    for suffixes, check in _CHECKS.items():
        if lower.endswith(suffixes):
            check(Path(name), wanted)
            return


def warn_of_format(name: str, reader: str) -> None:
    """Warns of a format that is SimpleITK's alone.

    Args:
        reader: SimpleITK's name of the class that reads the file; "" if no class does: SimpleITK itself warns then.

    Raises:
        BadInputError: it is MINC by another name.
    """
    if reader == "MINCImageIO":
        _raise_minc(name)
    if reader and reader not in _KNOWN:
        warn_of_input(
            f"The file {name} is read as SimpleITK's {reader} does: where it lies and whether it is whole has not been looked at. Look at "
            "it, or give NIfTI, MetaImage or NRRD."
        )


def refuse_grey_with_opacity(name: str) -> None:
    """Raises BadInputError for a PNG of two channels, which SimpleITK has no type for."""
    with open(name, "rb") as file:
        header = file.read(_PNG_KIND + 1)
    if header[_PNG_KIND:] == _PNG_GREY_WITH_OPACITY:
        raise BadInputError(
            f"The file {name} is a PNG of grey and opacity, which is not read. Write it without opacity: magick FILE -alpha off new.png, or, "
            'of 8 bits, PIL.Image.open(FILE).getchannel("L").save("new.png").'
        )


def _check_gipl(path: Path, values: _Count) -> None:
    wanted, content = _GIPL_HEADER + values.size, Content(path)
    if not values.looks:
        content.check_size(wanted)
    elif content.count_rest() < wanted:
        raise BadInputError(f"The file {path} is cut off: it is to hold {wanted} bytes, unpacked. {_COPY}")


def _check_vtk(path: Path, values: _Count) -> None:
    with open(path, "rb") as file:
        header = file.read(_VTK_HEADER_BYTES)
    found = _VTK_VALUES.search(header)
    if found is None:
        return
    if re.search(rb"^ASCII\s*$", header[: found.start()], re.MULTILINE):
        if not values.looks:
            return
        count, wanted = len(path.read_bytes()[found.end() :].split()), values.count
    else:
        count, wanted = path.stat().st_size - found.end(), values.size
    if count < wanted:
        raise BadInputError(f"The file {path} is cut off: values are missing at its end. {_COPY}")


def _check_bmp(path: Path, values: _Count) -> None:
    with open(path, "rb") as file:
        header = file.read(_BMP_HEADER)
    begin, _, width, height, _, bits, packing = struct.unpack_from("<IIiiHHI", header, 10)
    # Rows are of whole words of four bytes.
    wanted = begin + (width * bits + 31) // 32 * 4 * abs(height)
    if packing in _BMP_NOT_PACKED and path.stat().st_size < wanted:
        raise BadInputError(f"The file {path} is cut off: it is to hold {wanted} bytes. {_COPY}")
    _check_picture(path, values)


def _check_picture(path: Path, values: _Count) -> None:
    """Checks a picture by Pillow, which reads all of it once more."""
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(path) as picture:
            picture.load()
    except (UnidentifiedImageError, Image.DecompressionBombError, NotImplementedError):
        # It does not know all kinds of pixels.
        return
    except (OSError, SyntaxError, EOFError, ValueError) as error:
        raise BadInputError(f"The file {path} is cut off, or damaged: {error}. {_COPY}") from error


def _check_tiff(path: Path, values: _Count) -> None:
    from ._tiff import check_tiff_is_whole

    check_tiff_is_whole(path)


_CHECKS: Mapping[tuple[str, ...], Callable[[Path, _Count], None]] = {
    (".gipl", ".gipl.gz"): _check_gipl,
    (".vtk",): _check_vtk,
    (".tif", ".tiff"): _check_tiff,
    (".bmp",): _check_bmp,
    (".jpg", ".jpeg"): _check_picture,
}
# Others' checks stand elsewhere; PNG's and HDF5's readers look themselves.
_KNOWN = (
    "NiftiImageIO",
    "MetaImageIO",
    "NrrdImageIO",
    "GDCMImageIO",
    "GiplImageIO",
    "VTKImageIO",
    "TIFFImageIO",
    "JPEGImageIO",
    "BMPImageIO",
    "PNGImageIO",
    "HDF5ImageIO",
)
