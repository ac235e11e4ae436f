# SPDX-License-Identifier: Apache-2.0
"""Where the slices of a DICOM volume are, and whether they are one volume."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Sequence

import numpy as np

from ._engine import BadInputError

# Distances between neighbours may differ by this share of them.
_MOST_UNEVEN = 0.01
# How far they may be shifted sideways, as a share of how far they reach: what rounded directions make of it.
_MOST_SIDEWAYS = 2e-3
# Nearer than that, slices are at one place: as a share of what distances are.
_ONE_PLACE = 1e-3
# Directions are rounded to that at the most.
_MOST_ROUNDED = 0.01


@dataclass(frozen=True)
class Source:
    """Names the source of a volume in errors: a folder of slices, or a file of frames."""

    path: Path
    is_folder: bool

    @property
    def kind(self) -> str:
        return "folder" if self.is_folder else "file"

    @property
    def parts(self) -> str:
        return "slices" if self.is_folder else "frames"

    @property
    def part(self) -> str:
        """Returns what holds one slice."""
        return "file" if self.is_folder else "frame"

    def __str__(self) -> str:
        return f"The {self.kind} {self.path}"


# Most frames have the same.
@lru_cache(maxsize=256)
def find_directions(axes: tuple[Decimal, ...]) -> np.ndarray:
    """Returns the matrix whose columns are the orthogonal directions of rows, columns and normal. The caller must not change it.

    Args:
        axes: a header's ImageOrientationPatient, which may be rounded.

    Raises:
        ValueError: they are no directions at right angles.
    """
    row, column = np.array(axes[:3], np.float64), np.array(axes[3:], np.float64)
    lengths = [float(np.linalg.norm(axis)) for axis in (row, column)]
    if max(abs(length - 1) for length in lengths) > 2 * _MOST_ROUNDED or abs(row @ column) > 2 * _MOST_ROUNDED:
        raise ValueError("not at right angles")
    normal: np.ndarray = np.cross(row, column)
    normal /= np.linalg.norm(normal)
    row = np.cross(column, normal)
    row /= np.linalg.norm(row)
    # Adding 0 turns -0 into 0.
    return np.stack([row, np.cross(normal, row), normal], axis=1) + 0.0


def order_slices(
    source: Source, names: Sequence[str], positions: Sequence[Sequence[Decimal]], axes: tuple[Decimal, ...]
) -> tuple[np.ndarray, float]:
    """Returns the order of slices along their normal, and the one distance between neighbours, in mm.

    Args:
        names: the slices' names, at least two.
        positions: the positions of their first voxels, in mm.
        axes: their ImageOrientationPatient.

    Raises:
        BadInputError: two are at one place, distances differ, or they are shifted sideways.
    """
    normal = find_directions(axes)[:, 2]
    points = np.array(positions, np.float64)
    # Not by a product of matrices, which may round the places of equal positions differently.
    places = (points * normal).sum(axis=1)
    order = np.argsort(places, kind="stable")
    distances = np.diff(places[order])
    # Where each slice is there several times most distances are 0.
    spacing = float(np.median(distances[distances > 0])) if distances.any() else 0.0
    # Even places, rounded, are apart by one last digit more here than there; a missing slice is more than half a distance.
    rounding = 1.01 * float(np.abs(normal) @ [last_digit([numbers[axis] for numbers in positions]) for axis in range(3)])
    most = max(_MOST_UNEVEN * spacing, min(rounding, spacing / 2))
    closest, worst = int(np.argmin(distances)), int(np.argmax(np.abs(distances - spacing)))
    if distances[closest] <= _ONE_PLACE * spacing:
        first, second = (names[order[n]] for n in (closest, closest + 1))
        raise BadInputError(
            f"{source} has two {source.parts} at one place: {first} and {second} (ImagePositionPatient), as of two points in "
            f"time, echoes or b-values. Give each volume a {source.kind} of its own, and each slice one {source.part}."
        )
    if abs(distances[worst] - spacing) > most:
        first, second = (names[order[n]] for n in (worst, worst + 1))
        raise BadInputError(
            f"{source} has {source.parts} at uneven distances, so that some may be missing, or their positions are rounded: "
            f"{first} and {second} are {distances[worst]:.6g} mm apart, and others {spacing:.6g} mm (ImagePositionPatient). Add the "
            f"{source.parts} that are missing, or make a volume of even distances of it."
        )
    sideways = np.linalg.norm(points - points[0] - np.outer(places - places[0], normal), axis=1).max()
    # Axes of the scanner's are exact; the normal of rounded directions is off by what both of them may be.
    is_whole = all(number == number.to_integral_value() for number in axes)
    slant = 0.0 if is_whole else 2**0.5 * min(_MOST_ROUNDED, last_digit(axes))
    if sideways > most + max(_MOST_SIDEWAYS, slant) * float(np.ptp(places)):
        raise BadInputError(
            f"{source} has {source.parts} that are shifted sideways, by up to {sideways:.6g} mm, as of a tilted gantry, or of "
            "directions that are rounded (ImagePositionPatient, ImageOrientationPatient). Make an upright volume of it, which dcm2niix does."
        )
    return order, float(np.ptp(places)) / (len(names) - 1)


def last_digit(numbers: Sequence[Decimal]) -> float:
    """Returns the value of the last digit that any of the numbers has, such as 0.001; at most 0.1."""
    return 10.0 ** min(-1, *(int(number.normalize().as_tuple().exponent) for number in numbers))
