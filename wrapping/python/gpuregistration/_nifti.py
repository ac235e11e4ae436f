# SPDX-License-Identifier: Apache-2.0
"""Files of NIfTI, of which SimpleITK's reader takes zeros for what is missing, and for what is not a number, and says nothing; and which
it writes by one thread."""

from __future__ import annotations

import errno
import gzip
import math
import os
import struct
import tempfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional

import numpy as np

from ._engine import BadInputError
from ._gzip import BLOCK, write_compressed
from ._image import Image
from ._kinds import common_values, to_simpleitk
from ._simpleitk import import_simpleitk


# Of a header: its length, and where in it are how many voxels there are along the first axis, the type of values, where they begin, the
# slope and the offset that they are scaled by, and the word that says whether they follow, or are in a file of their own.
_LENGTH = 348
_SIZE, _DATATYPE, _BEGIN, _SCALE, _MAGIC = 42, 70, 108, 112, 344
_MOST_VOXELS = 32767
_FOLLOWING, _APART = b"n+1\0", b"ni1\0"
# Floats, and whole numbers of as many bits.
_FLOATS = {16: (8, np.float32), 64: (1024, np.float64)}


@dataclass
class Read:
    """What SimpleITK has read.

    Attributes:
        image: with whole numbers in the place of floats, where they are looked at here.
        floats: their type; None: the image's values are its own.
    """

    image: Any
    floats: Optional[Any] = None

    def array(self) -> np.ndarray:
        """A copy of the values, which outlives the image."""
        return self.view().copy()

    def view(self) -> np.ndarray:
        """The values, while the image is there."""
        values = import_simpleitk().GetArrayViewFromImage(self.image)
        return values if self.floats is None else values.view(self.floats)


def read_floats(path: Path) -> Optional[Read]:
    """A file of floats, with those that are not a number looked for. None of any other file, and of floats that are scaled, which
    SimpleITK is to read by itself.

    Raises:
        BadInputError: values are infinite, or not a number.
    """
    header = _read_header(path)
    if not header:
        return None
    order = "<" if header[:4] == struct.pack("<i", _LENGTH) else ">"
    (datatype,) = struct.unpack_from(f"{order}h", header, _DATATYPE)
    begin, slope, offset = struct.unpack_from(f"{order}3f", header, _BEGIN)
    # Where values are that begin inside of the header, its reader knows.
    if datatype not in _FLOATS or (header[_MAGIC:] == _FOLLOWING and begin < _LENGTH):
        return None
    as_whole, kind = _FLOATS[datatype]
    struct.pack_into(f"{order}h", header, _DATATYPE, as_whole)
    # Whole numbers are not to be scaled: their bits are floats'.
    struct.pack_into(f"{order}2f", header, _SCALE, 1.0, 0.0)
    header[_MAGIC:] = _APART
    bits = _read_bits(header, path)
    if bits is None:
        return None
    read = Read(bits, kind)
    values = read.view()
    bad = values.size - int(np.count_nonzero(np.isfinite(values)))
    if bad:
        raise BadInputError(f"The file {path} has {bad} values that are infinite or not a number. Replace them in the file.")
    if (math.isfinite(slope) and slope not in (0.0, 1.0)) or (math.isfinite(offset) and offset != 0.0):
        return None
    return read


def _read_header(path: Path) -> bytearray:
    """Empty if the file does not begin as one of NIfTI does."""
    try:
        with gzip.open(path) if path.suffix.lower() == ".gz" else open(path, "rb") as file:
            header = bytearray(file.read(_LENGTH))
    except (OSError, EOFError, zlib.error):
        return bytearray()
    begins = header[:4] in (struct.pack("<i", _LENGTH), struct.pack(">i", _LENGTH))
    return header if begins and header[_MAGIC:] in (_FOLLOWING, _APART) else bytearray()


def _read_bits(header: bytearray, path: Path) -> Any:
    """The values of a file by another header, as SimpleITK's image. None if it does not read them."""
    sitk = import_simpleitk()
    values = _find_values(path)
    with tempfile.TemporaryDirectory(prefix="gpureg-") as folder:
        (Path(folder) / "bits.hdr").write_bytes(header)
        (Path(folder) / f"bits.img{'.gz' if values.suffix.lower() == '.gz' else ''}").symlink_to(values.resolve())
        try:
            return sitk.ReadImage(str(Path(folder) / "bits.hdr"), imageIO="NiftiImageIO")
        except RuntimeError:
            return None


def write_nifti(path: str, image: Image) -> None:
    """Writes an image as SimpleITK does, to the byte, but compresses by many threads, from where the values are.

    Args:
        path: .nii or .nii.gz.

    Raises:
        BadInputError: NIfTI has no room for so many voxels along an axis.
        OSError: the disk is full, or fails.
    """
    if max(image.components, *image.size) > _MOST_VOXELS:
        raise BadInputError(
            f"The image has {max(image.size)} voxels along an axis and {image.components} components, and NIfTI has room for "
            f"{_MOST_VOXELS}. Write a .mha."
        )
    values = common_values(image)
    header = _make_header(image, values.dtype, Path(path).parent)
    if image.is_vector:
        # One component behind the other.
        values = np.ascontiguousarray(np.moveaxis(values, -1, 0))
    with open(path, "wb") as file:
        if path.endswith(".gz"):
            write_compressed(file, header, values, owner=image)
        else:
            file.write(header)
            file.write(values.data.cast("B"))


def _make_header(image: Image, dtype: np.dtype, place: Path) -> bytearray:
    """SimpleITK's, with what stands between it and the values: that of one voxel, with the image's size put in.

    Args:
        place: a folder, in which another one is made for a moment.
    """
    shape = (1,) * image.dimension + ((image.components,) if image.is_vector else ())
    one = to_simpleitk(Image(np.zeros(shape, dtype), image.spacing, image.origin, image.direction, image.is_vector))
    voxel = dtype.itemsize * image.components
    with tempfile.TemporaryDirectory(dir=place) as folder:
        path = Path(folder) / "one.nii"
        import_simpleitk().WriteImage(one, str(path), imageIO="NiftiImageIO")
        content = bytearray(path.read_bytes())
    # Its writer says nothing where the disk is full.
    if len(content) < _LENGTH + voxel:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    header = content[:-voxel]
    struct.pack_into(f"<{image.dimension}h", header, _SIZE, *image.size)
    return header


def check_nifti_is_whole(path: Path, image: Any) -> None:
    """Of what SimpleITK has read from a file; of files of other formats nothing is looked at.

    Raises:
        BadInputError: values are missing at its end.
    """
    if not (image.HasMetaDataKey("bitpix") and image.HasMetaDataKey("vox_offset")):
        return
    sides = [int(image.GetMetaData(f"dim[{n}]")) for n in range(1, 1 + int(image.GetMetaData("dim[0]")))]
    wanted = int(float(image.GetMetaData("vox_offset"))) + math.prod(sides) * int(image.GetMetaData("bitpix")) // 8
    holder = _find_values(path)
    if not _has_bytes(holder, wanted):
        raise BadInputError(f"The file {holder} is cut off: it is to hold {wanted} bytes, unpacked. Copy it again from where it is whole.")


def _find_values(path: Path) -> Path:
    """The file with the values, which may stand beside a header."""
    name = str(path)
    for header, values in ((".hdr.gz", ".img.gz"), (".hdr", ".img"), (".hdr", ".img.gz")):
        beside = Path(name[: -len(header)] + values)
        if name.endswith(header) and beside.is_file():
            return beside
    return path


def _has_bytes(path: Path, wanted: int) -> bool:
    if path.suffix.lower() != ".gz":
        return path.stat().st_size >= wanted
    with open(path, "rb") as file:
        file.seek(-min(4, path.stat().st_size), os.SEEK_END)
        ending = file.read()
    # How much a member of gzip holds stands at its end. Where that does not fit there are several members, or the end is missing.
    if len(ending) == 4 and struct.unpack("<I", ending)[0] == wanted % (1 << 32):
        return True
    found = 0
    try:
        with gzip.open(path) as content:
            while block := content.read(BLOCK):
                found += len(block)
    except (EOFError, gzip.BadGzipFile, zlib.error):
        return False
    return found >= wanted
