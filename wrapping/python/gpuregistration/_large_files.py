# SPDX-License-Identifier: Apache-2.0
"""Reads and writes large files of MetaImage and NRRD by chunks, several at a time. SimpleITK, which copies them on one thread, reads and
writes their headers alone."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Optional

import numpy as np

from ._chunks import is_large, read_chunks, write_chunks
from ._engine import BadInputError
from ._image import Image
from ._kinds import common_values, to_simpleitk
from ._paths import suffix_of
from ._simpleitk import import_simpleitk
from ._simpleitk_header import READERS, read_header

# How the line of a header begins that has the image's size.
_SIZES = {"MetaImageIO": "DimSize = ", "NrrdImageIO": "sizes: "}


def read_large(name: str) -> Optional[Image]:
    """Reads a large file of two or three dimensions.

    Returns:
        None: the file is not large, its values are not as they are in memory, or it is of another kind: SimpleITK is to read it, and to say
        what is wrong.

    Raises:
        BadInputError: values are missing or damaged.
    """
    reader = READERS.get(suffix_of(name))
    if reader is None:
        return None
    is_metaimage = reader == "MetaImageIO"
    if is_metaimage:
        from ._metaimage import find_values
    else:
        from ._nrrd import find_values
    values = find_values(name)
    if values is None or not is_large(values.path.stat().st_size):
        return None
    header = read_header(name, reader)
    # NRRD's components may be along any axis.
    if header is None or len(header.size) not in (2, 3) or not (header.components == 1 or is_metaimage):
        return None
    # The reader turns axes of other spacings round.
    if min(header.spacing) <= 0 or header.kind.kind not in "iuf":
        return None
    unit = 1.0
    if is_metaimage:
        from ._metaimage import check_metaimage_header, unpack_values

        check_metaimage_header(name)
    else:
        from ._nrrd import check_nrrd_is_whole, find_nrrd_unit

        check_nrrd_is_whole(name)
        unit = find_nrrd_unit(name, len(header.size))
    grid = header.image(len(header.size), unit)
    array = np.empty(grid.content.shape, header.kind)
    target = array.reshape(-1).view(np.uint8).data
    if values.is_packed:
        unpack_values(values, target)
    elif read_chunks(values.path, values.begin, target) < len(target):
        wanted = values.begin + len(target)
        raise BadInputError(f"The file {values.path} is cut off: it is to hold {wanted} bytes. Copy it again from where it is whole.")
    return grid.like(array)


def write_large(path: str, image: Image) -> bool:
    """Writes a large image, with the bytes that SimpleITK writes.

    Returns:
        False: the image is not large, the file is of another format, or its header is not as expected. SimpleITK is to write all of it
        then.

    Raises:
        OSError: the disk is full, or fails.
    """
    reader = READERS.get(suffix_of(path))
    if reader is None or not is_large(image.content.dtype.itemsize * math.prod(image.content.shape)) or (image.is_vector and image.components == 1):
        return False
    values = common_values(image)
    # SimpleITK writes the header, of an image of one voxel, whose size is replaced.
    first = (slice(1),) * image.dimension
    voxel = to_simpleitk(Image(values[first], image.spacing, image.origin, image.direction, image.is_vector))
    import_simpleitk().WriteImage(voxel, path)
    beside = Path(path).with_suffix(".raw")
    written = Path(path).read_bytes()
    text = written if beside.exists() else written[: len(written) - image.components * values.dtype.itemsize]
    begin = _SIZES[reader] + (f"{image.components} " if image.is_vector and reader == "NrrdImageIO" else "")
    ones, sizes = (f"\n{begin}{' '.join(map(str, size))}\n".encode() for size in ([1] * image.dimension, image.size))
    if text.count(ones) != 1:
        return False
    header = text.replace(ones, sizes)
    Path(path).write_bytes(header)
    with open(beside if beside.exists() else path, "r+b") as file:
        write_chunks(file.fileno(), 0 if beside.exists() else len(header), values.reshape(-1).view(np.uint8).data)
    return True
