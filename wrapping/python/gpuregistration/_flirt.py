# SPDX-License-Identifier: Apache-2.0
"""Linear transforms as FSL's FLIRT has them (.mat).

FLIRT's matrix leads from the input (the moving image) to the reference (the fixed one), in coordinates of its own: see the engine's
MakeIndexToFLIRT. FSL counts x from the other end where the determinant of the file's sform is positive, or of its qform where the sform's
code is 0; where both are, it does not. nibabel's grid of such a file has a negative determinant, so that the same rule holds for it; ITK's
has a positive one, and so it is distinguished (Image.is_placed).
"""

from __future__ import annotations

from typing import Optional

import numpy as np

from . import _engine
from ._checks import is_singular
from ._engine import BadInputError
from ._image import Image, matrix_of_map


def _point_to_fsl(image: Image) -> np.ndarray:
    if image.dimension != 3:
        raise BadInputError(
            f"FSL's matrices are of 3 dimensions, and the image of {image.dimension}: take a file of ITK's, such as a .tfm."
        )
    determinant = np.linalg.det(image.direction) if image.is_placed else -1.0
    to_fsl = _engine.make_index_to_flirt(image.spacing.tolist(), determinant, image.size[0])
    return matrix_of_map(to_fsl, 3) @ np.linalg.inv(image.index_to_point)


def to_flirt_matrix(matrix: np.ndarray, fixed: Image, moving: Image) -> np.ndarray:
    """Converts a homogeneous matrix (4, 4), from the fixed image's points to the moving image's points in mm, to FLIRT's matrix (4, 4).

    Raises:
        BadInputError: it has no inverse, or it, or an image, is not of 3 dimensions.
    """
    if matrix.shape != (4, 4):
        raise BadInputError(
            f"FSL's matrices are of 3 dimensions, and the transform of {len(matrix) - 1}: write a file of ITK's, such as a .tfm."
        )
    whole = _point_to_fsl(moving) @ matrix @ np.linalg.inv(_point_to_fsl(fixed))
    if is_singular(whole[:3, :3]):
        raise BadInputError("The transform has no inverse, and FSL's matrix is that. Write a .tfm.")
    return np.linalg.inv(whole)


def from_flirt_matrix(matrix: np.ndarray, fixed: Image, moving: Image) -> np.ndarray:
    """Converts FLIRT's matrix (4, 4) to a homogeneous matrix, with the errors of to_flirt_matrix()."""
    if is_singular(matrix[:3, :3]):
        raise BadInputError("FSL's matrix has no inverse: take that of a registration.")
    whole = np.linalg.inv(_point_to_fsl(moving)) @ np.linalg.inv(matrix) @ _point_to_fsl(fixed)
    whole[3] = [0, 0, 0, 1]
    return whole


def parse_flirt_matrix(name: str) -> Optional[np.ndarray]:
    """Returns a text's four lines of four numbers; None if the file is no text.

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
    """Writes a matrix with all digits of a double."""
    rows = np.vstack([matrix[:3], [0, 0, 0, 1]])
    with open(name, "w", encoding="ascii") as file:
        for row in rows:
            file.write("  ".join(f"{number:.17g}" for number in row) + "\n")
