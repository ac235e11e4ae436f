# SPDX-License-Identifier: Apache-2.0
"""Images of diffusion tensors: their files, and the logarithms that are interpolated in their place (Arsigny et al. 2006).

A tensor is six numbers, its matrix' upper triangle row by row: xx, xy, xz, yy, yz, zz. NIfTI's symmetric matrices are stored as the lower
triangle.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .._engine import BadInputError
from .._files import is_nifti_file, read_image, write_image
from .._image import Image, host_array
from .._paths import suffix_of, to_read
from .._whole_files import write_whole

#: Numbers of a tensor.
NUMBERS = 6
_OF_MATRIX = np.array([[0, 1, 2], [1, 3, 4], [2, 4, 5]])
_ROWS, _COLUMNS = np.triu_indices(3)
# Leads from NIfTI's order to the other one, and back.
_SWAPPED = [0, 1, 3, 2, 4, 5]
_SYMMETRIC_MATRIX = 1005


def read_tensors(path: str) -> Image:
    """Reads an image of tensors: NIfTI's symmetric matrices, or vectors of six numbers.

    Raises:
        BadInputError: it cannot be read, or holds no tensors.
    """
    image = check_tensors(read_image(path), path)
    with to_read(path) as there:
        if not is_nifti_file(there):
            return image
        from .._nifti import open_nifti

        if int(open_nifti(Path(there)).header["intent_code"]) != _SYMMETRIC_MATRIX:
            return image
    return image.like(host_array(image)[..., _SWAPPED])


def check_tensors(image: Image, name: str) -> Image:
    """Returns the image. Raises BadInputError if it holds no tensors of three dimensions."""
    if image.dimension != 3 or image.components != NUMBERS:
        raise BadInputError(
            f"{name} has {image.dimension} dimensions and {image.components} numbers a voxel; tensors are volumes of six numbers a voxel: "
            "xx, xy, xz, yy, yz, zz"
        )
    return image


def write_tensors(path: str, image: Image) -> None:
    """Writes an image of tensors: as NIfTI's symmetric matrices, in other formats as vectors.

    Raises:
        BadInputError: it cannot be written there.
        OSError: the disk is full, or fails.
    """
    if suffix_of(path) != ".nii":
        write_image(path, image)
        return
    from .._nifti_write import write_nifti

    stored = image.like(host_array(image)[..., _SWAPPED])
    write_whole(path, lambda there: write_nifti(there, stored, "symmetric matrix"))


def log_tensors(values: np.ndarray, default: float) -> np.ndarray:
    """Takes the matrix logarithm of tensors, ``(…, 6)``, in doubles. An eigenvalue below 0 counts as the middle one, as in ANTs.

    Args:
        default: the eigenvalues of voxels that have no tensor, but zeros, no numbers, or an eigenvalue 0; 0: their logarithm is 0.
    """
    values = np.asarray(values, np.float64)
    logs = np.tile(log_ball(default), (*values.shape[:-1], 1))
    there = np.isfinite(values).all(axis=-1) & values.any(axis=-1)
    eigenvalues, axes = np.linalg.eigh(values[there][:, _OF_MATRIX])
    for one in (0, 2):
        eigenvalues[:, one] = np.where(eigenvalues[:, one] < 0, eigenvalues[:, 1], eigenvalues[:, one])
    is_tensor = eigenvalues.all(axis=-1)
    there[there] = is_tensor
    logs[there] = join_tensors(np.log(np.abs(eigenvalues[is_tensor])), axes[is_tensor])
    return logs


def log_ball(size: float) -> np.ndarray:
    """Returns the logarithm of a tensor whose eigenvalues are all of one size; of size 0, zeros."""
    return np.where(_ROWS == _COLUMNS, np.log(size) if size > 0 else 0.0, 0.0)


def split_tensors(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns the eigenvalues of tensors, ``(voxels, 6)``, the largest one last, and their axes, as columns."""
    eigenvalues, axes = np.linalg.eigh(np.asarray(values, np.float64)[:, _OF_MATRIX])
    return eigenvalues, axes


def join_tensors(eigenvalues: np.ndarray, axes: np.ndarray) -> np.ndarray:
    """Returns the tensors of eigenvalues and axes."""
    matrices = (axes * eigenvalues[:, np.newaxis, :]) @ np.swapaxes(axes, -1, -2)
    joined: np.ndarray = matrices[:, _ROWS, _COLUMNS]
    return joined
