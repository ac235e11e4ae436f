# SPDX-License-Identifier: Apache-2.0
"""Reads and writes affine maps in .mat files as ITK does: two vectors in MATLAB's format of version 4. SimpleITK, which does so, too, takes
a third of a second to import."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Optional

import numpy as np

from ._affine import Affine
from ._engine import BadInputError

# MATLAB's types of doubles and floats in columns, the lower byte first; and that of numbers without an imaginary part.
_DOUBLES, _FLOATS, _REAL = 0, 10, 0
_HEAD = struct.Struct("<5i")
# ITK's classes whose parameters are a matrix and a translation, and whose fixed parameters are the centre.
_AFFINE = {
    f"{kind}_{number}_{d}_{d}": d
    for kind in ("AffineTransform", "MatrixOffsetTransformBase")
    for number in ("double", "float")
    for d in (2, 3)
}


def write_mat_transform(path: str, transform: Affine) -> None:
    """Writes an itk::AffineTransform of doubles: its parameters, and its center as the fixed ones.

    Raises:
        OSError: the file cannot be written.
    """
    d = transform.dimension
    with open(path, "wb") as file:
        file.write(_vector(f"AffineTransform_double_{d}_{d}", transform.parameters) + _vector("fixed", transform.center))


def read_mat_transform(path: str) -> Optional[Affine]:
    """Reads an affine map. Returns None for what else a file may hold, such as rotations by their angles.

    Raises:
        BadInputError: an affine map's file is cut off, or has other numbers than that.
    """
    content = Path(path).read_bytes()
    first = _parse_vector(content, 0)
    d = None if first is None else _AFFINE.get(first[0])
    if first is None or d is None:
        return None
    second = _parse_vector(content, first[2])
    if second is None or second[0] != "fixed" or second[2] != len(content) or first[1].size != d * d + d or second[1].size != d:
        raise BadInputError(f"The file {path} is cut off, or has other numbers than an affine map of {d} dimensions. Write it again.")
    return Affine(first[1][: d * d].reshape(d, d), first[1][d * d :], second[1])


def _parse_vector(content: bytes, begin: int) -> Optional[tuple[str, np.ndarray, int]]:
    """Returns the name and the numbers of a vector that begins at a byte, and the byte behind it; None if there is none."""
    if begin + _HEAD.size > len(content):
        return None
    kind, rows, columns, imaginary, length = _HEAD.unpack_from(content, begin)
    numbers = {_DOUBLES: "<f8", _FLOATS: "<f4"}.get(kind)
    if numbers is None or imaginary != _REAL or columns != 1 or rows < 0 or length < 1:
        return None
    data = begin + _HEAD.size + length
    end = data + rows * np.dtype(numbers).itemsize
    if end > len(content):
        return None
    name = content[begin + _HEAD.size : data].rstrip(b"\0").decode("latin-1")
    return name, np.frombuffer(content[data:end], numbers).astype(np.float64), end


def _vector(name: str, numbers: np.ndarray) -> bytes:
    text = name.encode("ascii") + b"\0"
    return _HEAD.pack(_DOUBLES, len(numbers), 1, _REAL, len(text)) + text + numbers.astype("<f8").tobytes()
