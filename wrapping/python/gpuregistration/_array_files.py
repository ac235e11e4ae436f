# SPDX-License-Identifier: Apache-2.0
"""Writes arrays as NumPy's files, which other processes read where they look at them."""

from __future__ import annotations

from pathlib import Path

import numpy as np


def save_array(path: Path, array: np.ndarray) -> None:
    """Writes an array as NumPy's file; one that is not contiguous in parts along its first axis. Raises OSError if the disk is full, or
    fails."""
    format = np.lib.format
    with open(path, "wb") as file:
        format.write_array_header_1_0(file, {"descr": format.dtype_to_descr(array.dtype), "fortran_order": False, "shape": array.shape})
        # NumPy's own writer does not say that a disk is full.
        for part in [array] if array.flags.c_contiguous else array:
            file.write(np.ascontiguousarray(part).data.cast("B"))


def load_array(path: Path) -> np.ndarray:
    """Returns an array of NumPy's file, which is read where it is looked at."""
    loaded: np.ndarray = np.load(path, mmap_mode="r", allow_pickle=False)
    return loaded
