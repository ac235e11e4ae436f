# SPDX-License-Identifier: Apache-2.0
"""Writes affine maps into .mat files as ITK does: two vectors in MATLAB's format of version 4. SimpleITK, which writes them too, takes a third of a
second to import."""

from __future__ import annotations

import struct

import numpy as np

from ._transforms import Affine

# MATLAB's type of doubles in columns, the lower byte first; and that of numbers without an imaginary part.
_DOUBLES, _REAL = 0, 0


def write_mat_transform(path: str, transform: Affine) -> None:
    """Writes an itk::AffineTransform of doubles: its parameters, and its center as the fixed ones.

    Raises:
        OSError: the file cannot be written.
    """
    d = transform.dimension
    with open(path, "wb") as file:
        file.write(_vector(f"AffineTransform_double_{d}_{d}", transform.parameters) + _vector("fixed", transform.center))


def _vector(name: str, numbers: np.ndarray) -> bytes:
    text = name.encode("ascii") + b"\0"
    return struct.pack("<5i", _DOUBLES, len(numbers), 1, _REAL, len(text)) + text + numbers.astype("<f8").tobytes()
