# SPDX-License-Identifier: Apache-2.0
"""Linear transforms as FSL's FLIRT has them (.mat).

FLIRT's matrix leads from the input (the moving image) to the reference (the fixed one), and its coordinates know no origin and no
direction: along each axis a voxel's index times the voxel's length, in mm; where the image's directions have a positive determinant, the
index along x is counted from the other end.
"""

from __future__ import annotations

from typing import Optional

import numpy as np

from ._engine import BadInputError
from ._image import Image


def _point_to_fsl(image: Image) -> np.ndarray:
    if image.dimension != 3:
        raise BadInputError(f"FSL's matrices are of 3 dimensions, and the image of {image.dimension}.")
    to_fsl = np.diag(np.append(image.spacing, 1.0))
    if np.linalg.det(image.direction) > 0:
        to_fsl[0, 0] *= -1
        to_fsl[0, 3] = image.spacing[0] * (image.size[0] - 1)
    return to_fsl @ np.linalg.inv(image.index_to_point)


def to_flirt_matrix(matrix: np.ndarray, fixed: Image, moving: Image) -> np.ndarray:
    """Of a homogeneous matrix from the fixed image's points to the moving one's."""
    whole = _point_to_fsl(moving) @ matrix @ np.linalg.inv(_point_to_fsl(fixed))
    if abs(np.linalg.det(whole)) == 0:
        raise BadInputError("The transform has no inverse, and FSL's matrix is that.")
    return np.linalg.inv(whole)


def from_flirt_matrix(matrix: np.ndarray, fixed: Image, moving: Image) -> np.ndarray:
    """The other way round."""
    if abs(np.linalg.det(matrix)) == 0:
        raise BadInputError("FSL's matrix has no inverse.")
    whole = np.linalg.inv(_point_to_fsl(moving)) @ np.linalg.inv(matrix) @ _point_to_fsl(fixed)
    whole[3] = [0, 0, 0, 1]
    return whole


def parse_flirt_matrix(name: str) -> Optional[np.ndarray]:
    """A text's four lines of four numbers; None if the file is no text.

    Raises:
        BadInputError: it is a text of something else.
    """
    with open(name, "rb") as file:
        content = file.read(1 << 16)
    if any(byte < 9 or byte > 126 for byte in content) or not content:
        return None
    lines = [line.split() for line in content.decode("ascii").splitlines() if line.strip()]
    try:
        matrix = np.array(lines, dtype=np.float64)
    except ValueError:
        matrix = np.empty(0)
    if matrix.shape != (4, 4) or not np.isfinite(matrix).all():
        raise BadInputError(f"The file {name} is a text, but not of FSL's four lines of four numbers.")
    if (matrix[3] != [0, 0, 0, 1]).any():
        raise BadInputError(f"The last line of {name} is not 0 0 0 1: it is no affine map.")
    return matrix


def write_flirt_matrix(name: str, matrix: np.ndarray) -> None:
    """With as many digits as a double has."""
    rows = np.vstack([matrix[:3], [0, 0, 0, 1]])
    with open(name, "w", encoding="ascii") as file:
        for row in rows:
            file.write("  ".join(f"{number:.17g}" for number in row) + "\n")
