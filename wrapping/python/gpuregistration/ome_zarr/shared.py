# SPDX-License-Identifier: Apache-2.0
"""Shares among the blocks of one output what all of them need: it lies in a folder, from which every worker reads it once."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional

import numpy as np

from .. import _engine
from .._affine import Affine
from .._composite import Composite, parts_of
from .._image import Image
from .._transforms import BSpline, DisplacementField, Transform

_CLASSES = {one.__name__: one for one in (Affine, BSpline, DisplacementField)}
_TRANSFORM = "transform-{}.npz"
_GRIDS = "grids.npz"
#: Names the file of an image's values.
VALUES = "values.npy"

_lock = threading.Lock()
#: Holds what this process has read last, by its folder: mostly a process works for one output at a time.
_read: dict[str, "Shared"] = {}


@dataclass(frozen=True)
class Shared:
    """Holds what every block is made with.

    Attributes:
        transform: from the output's points to the image's; None: points stay where they are.
        chain: the transform, for the engine.
        grid, moving: where the voxels of the whole output and of the whole image are; they have no values of their own.
        values: those of the whole image; None: blocks read their parts.
    """

    transform: Optional[Transform]
    chain: _engine.Chain
    grid: Image
    moving: Image
    values: Optional[np.ndarray] = None


def write_shared(folder: Path, transform: Optional[Transform], grid: Image, moving: Image) -> None:
    """Writes what read_shared() reads, to the bit."""
    stored: dict[str, Any]
    for number, step in enumerate(parts_of(transform)):
        if isinstance(step, Affine):
            stored = {"matrix": step.matrix, "translation": step.translation, "center": step.center}
        else:
            assert isinstance(step, (BSpline, DisplacementField))
            stored = {"array": step.host_array(), "spacing": step.spacing, "origin": step.origin, "direction": step.direction}
        np.savez(folder / _TRANSFORM.format(number), kind=np.array(type(step).__name__), **stored)
    grids: dict[str, Any] = {}
    for name, image in (("grid", grid), ("moving", moving)):
        grids.update({f"{name}_shape": np.array(image.shape), f"{name}_kind": np.array(image.content.dtype.str)})
        grids.update({f"{name}_{part}": getattr(image, part) for part in ("spacing", "origin", "direction")})
    np.savez(folder / _GRIDS, **grids)


def read_shared(folder: str) -> Shared:
    """Returns what write_shared() has written, which this process keeps until it reads another one."""
    with _lock:
        if folder not in _read:
            _read.clear()
            _read[folder] = _read_folder(Path(folder))
        return _read[folder]


def store_shared(folder: str, shared: Shared) -> None:
    """Has this process keep what read_shared() would read from a folder, which then need not be written."""
    with _lock:
        _read.clear()
        _read[folder] = shared


def forget_shared() -> None:
    """Gives back what this process keeps."""
    with _lock:
        _read.clear()


def _read_folder(folder: Path) -> Shared:
    steps: list[Transform] = []
    while os.path.exists(folder / _TRANSFORM.format(len(steps))):
        with np.load(folder / _TRANSFORM.format(len(steps)), allow_pickle=False) as stored:
            named = {name: stored[name] for name in stored.files if name != "kind"}
            steps.append(_CLASSES[str(stored["kind"])](**named))
    transform = Composite(steps) if steps else None
    with np.load(folder / _GRIDS, allow_pickle=False) as stored:
        grid, moving = (_read_grid(stored, name) for name in ("grid", "moving"))
    chain = _engine.Chain(grid.dimension) if transform is None else transform.chain()
    return Shared(transform, chain, grid, moving)


def _read_grid(stored: Any, name: str) -> Image:
    values = np.broadcast_to(np.zeros((), str(stored[f"{name}_kind"])), tuple(stored[f"{name}_shape"].tolist()))
    return Image(values, *(stored[f"{name}_{part}"] for part in ("spacing", "origin", "direction")))


def count_bytes(transform: Optional[Transform]) -> int:
    """Returns the bytes that a worker holds of a transform's vectors: as they are, and as doubles."""
    grids = [step.host_array() for step in parts_of(transform) if isinstance(step, (BSpline, DisplacementField))]
    return sum(array.nbytes + (0 if array.dtype == np.float64 and array.flags.c_contiguous else 8 * array.size) for array in grids)
