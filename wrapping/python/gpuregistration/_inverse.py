# SPDX-License-Identifier: Apache-2.0
"""Inverses of deformations, as displacement fields."""

from __future__ import annotations

from typing import NamedTuple, Optional

import numpy as np

from . import _engine
from ._checks import are_finite
from ._devices import DeviceLike, borrow_engine, choose_device
from ._engine import BadInputError
from ._image import Image, engine_map, engine_size
from ._vectors import as_volume, from_volume


class InverseErrors(NamedTuple):
    """Measures how well an inverse undoes its deformation. At each voxel of the inverse's grid the inverse leads to a point, and the
    deformation leads that point to another place than the voxel: the error is the distance, in voxels.

    Attributes:
        mean: over the voxels to which the grid is mapped.
        largest: over the same voxels.
        off_voxels: the number of those voxels with an error above 0.1.
        unmapped_voxels: the number of voxels to which no point of the grid is mapped, near the grid's edge.
        folded_voxels: the number of voxels at which the deformation folds: there several points are mapped to one, and the inverse leads to
            one of them.
    """

    mean: float
    largest: float
    off_voxels: int
    unmapped_voxels: int
    folded_voxels: int

    def warnings(self) -> list[str]:
        """Returns sentences that warn of voxels without an inverse."""
        texts = []
        if self.folded_voxels:
            texts.append(f"the deformation folds at {self.folded_voxels} voxels: there its inverse leads to one of several points")
        if self.off_voxels:
            texts.append(f"the inverse is off by up to {self.largest:.3g} voxels, and by more than 0.1 at {self.off_voxels} voxels")
        return texts


def read_errors(errors: _engine.InverseErrors) -> InverseErrors:
    """Converts the engine's errors."""
    return InverseErrors(errors.mean, errors.largest, errors.off_voxels, errors.unmapped_voxels, errors.folded_voxels)


def invert_vectors(
    vectors: np.ndarray, index_to_point: np.ndarray, device: Optional[DeviceLike]
) -> tuple[np.ndarray, InverseErrors]:
    """Inverts a displacement field.

    Args:
        vectors: displacements in mm, ``[z, y, x, 3]`` or ``[y, x, 2]``.
        index_to_point: homogeneous, ``(d + 1, d + 1)``, from voxels' indices to mm.
        device: a device's name; None: the default one.

    Returns:
        The inverse's displacements, in the same shape, in floats; and its errors.

    Raises:
        BadInputError: a displacement is too large for a float.
    """
    dimension = vectors.shape[-1]
    with np.errstate(over="ignore"):
        floats = vectors.astype(np.float32, copy=False)
    if not are_finite(floats):
        raise BadInputError("A deformation with displacements too large for floats of 32 bits has no inverse here.")
    with borrow_engine(_engine.FieldInverter, choose_device(device)) as engine:
        inverse, errors = engine.invert(dimension, np.ascontiguousarray(as_volume(floats)), engine_map(index_to_point))
    return from_volume(np.asarray(inverse), dimension), read_errors(errors)


def invert_chain(chain: _engine.Chain, grid: Image, device: Optional[DeviceLike]) -> tuple[np.ndarray, InverseErrors]:
    """Inverts a deformation, as the transform moves points.

    Args:
        chain: of the deformation alone.
        grid: where the inverse is to be known.
        device: a device's name; None: the default one.

    Returns:
        The inverse's displacements, ``[z, y, x, 3]`` or ``[y, x, 2]``, in mm, in floats; and its errors.

    Raises:
        BadInputError: a displacement is too large for a float.
    """
    with borrow_engine(_engine.FieldInverter, choose_device(device)) as engine:
        inverse, errors = engine.invert_transform(chain, engine_size(grid), engine_map(grid.index_to_point))
    return from_volume(np.asarray(inverse), grid.dimension), read_errors(errors)
