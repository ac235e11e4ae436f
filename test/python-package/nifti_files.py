# SPDX-License-Identifier: Apache-2.0
"""Makes NIfTI files for tests, byte by byte if necessary."""

import gzip
import struct

import numpy as np

# The matrix from indices to points, right, anterior and superior: rotated, and with three spacings.
AFFINE = np.array([[-1.5, 0.3, 0.0, 40.0], [0.25, 1.8, 0.0, -30.0], [0.0, 0.0, 2.5, 12.0], [0.0, 0.0, 0.0, 1.0]])
AFFINE[:3, 1] *= 1.8 / np.linalg.norm(AFFINE[:3, 1])
AFFINE[:3, 0] -= AFFINE[:3, 1] * (AFFINE[:3, 0] @ AFFINE[:3, 1]) / 1.8**2

# Offsets of numbers in a header.
DIM, INTENT_P1, INTENT, DATATYPE, PIXDIM, BEGIN, SLOPE, UNITS = 40, 56, 68, 70, 76, 108, 112, 123
TOFFSET, DESCRIP, QFORM_CODE, SFORM_CODE, QUATERNION, QOFFSET, SROW, INTENT_NAME, MAGIC = 136, 148, 252, 254, 256, 268, 280, 328, 344
_TYPES = {"u1": 2, "i2": 4, "i4": 8, "f4": 16, "f8": 64, "i1": 256, "u2": 512, "u4": 768, "i8": 1024, "u8": 1280, "c8": 32}


def make_header(shape, kind, order="<", affine=AFFINE, datatype=None, **changes):
    """A header of 348 bytes with an sform.

    Args:
        shape: voxels along each axis, x first.
        kind: of values, such as "f4".
        changes: by the constants' names in small letters, what to put there: (format of struct, numbers).
    """
    header = bytearray(348)

    def put(place, layout, *numbers):
        struct.pack_into(order + layout, header, place, *numbers)

    lengths = np.linalg.norm(affine[:3, :3], axis=0)
    put(0, "i", 348)
    put(DIM, "8h", len(shape), *shape, *[1] * (7 - len(shape)))
    put(DATATYPE, "2h", datatype or _TYPES[kind], 8 * np.dtype(kind).itemsize)
    put(PIXDIM, "8f", 1.0, *lengths, *[1.0] * 4)
    put(BEGIN, "3f", 352.0, 1.0, 0.0)
    put(UNITS, "B", 2)
    put(SFORM_CODE, "h", 1)
    put(SROW, "12f", *affine[:3].ravel())
    header[MAGIC : MAGIC + 4] = b"n+1\0"
    for name, (layout, *numbers) in changes.items():
        put(globals()[name.upper()], layout, *numbers)
    return header


def write_nifti(path, values, order="<", compress=None, **changes):
    """Writes a file of values [x, y, z, …], compressed if its name demands it."""
    kind = values.dtype.newbyteorder("=").str[1:]
    content = bytes(make_header(values.shape, kind, order, **changes)) + bytes(4) + values.astype(order + kind).tobytes(order="F")
    is_packed = str(path).lower().endswith(".gz") if compress is None else compress
    path.write_bytes(gzip.compress(content, 1) if is_packed else content)
    return path
