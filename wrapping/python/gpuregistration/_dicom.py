# SPDX-License-Identifier: Apache-2.0
"""Folders of DICOM's slices."""

from __future__ import annotations

import math
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, Optional, Sequence

import numpy as np

from ._engine import BadInputError
from ._simpleitk import import_simpleitk

# Tags of a slice's first voxel's place, and of the directions of its rows and columns.
_POSITION, _ORIENTATION = "0020|0032", "0020|0037"
# What distances between neighbours may differ by, as a share of them.
_MOST_UNEVEN = 0.01
# How far they may be shifted sideways, as a share of how far they reach: what rounded directions make of it.
_MOST_SIDEWAYS = 2e-3
# Nearer than that, slices are at one place: as a share of what distances are.
_ONE_PLACE = 1e-3
# Directions are rounded to that at the most.
_MOST_ROUNDED = 0.01


def read_dicom_folder(folder: Path) -> Any:
    """The one series in a folder, as SimpleITK's image; its slices in the order of their places.

    Raises:
        BadInputError: there is no series, there are several, a slice cannot be read, or slices are missing, twice there, or shifted sideways.
    """
    sitk = import_simpleitk()
    series = sitk.ImageSeriesReader.GetGDCMSeriesIDs(str(folder))
    if not series:
        raise BadInputError(f"The folder {folder} holds no series of DICOM. Name an image's file, or a folder of a series's slices.")
    if len(series) > 1:
        raise BadInputError(
            f"The folder {folder} holds {len(series)} series of DICOM: {', '.join(series)}. Give each a folder of its own, and name one."
        )
    names = sitk.ImageSeriesReader.GetGDCMSeriesFileNames(str(folder), series[0])
    reader = sitk.ImageSeriesReader()
    reader.SetImageIO("GDCMImageIO")
    reader.SetFileNames(names)
    # It keeps the headers, which it reads anyway.
    reader.MetaDataDictionaryArrayUpdateOn()
    image = reader.Execute()
    _check_places(folder, names, [_find_text(reader, n, _POSITION) for n in range(len(names))], _find_text(reader, 0, _ORIENTATION))
    return image


def _find_text(reader: Any, number: int, tag: str) -> str:
    """What a slice's header says. Empty if it does not have it."""
    return reader.GetMetaData(number, tag) if reader.HasMetaDataKey(number, tag) else ""


def _check_places(folder: Path, names: Sequence[str], positions: Sequence[str], orientation: str) -> None:
    """Whether slices are as far from each other as their image says, which has one spacing for all.

    Args:
        positions: the headers' texts. Where no slice has one nothing is looked at.
        orientation: the first header's. Where it is no orientation nothing is looked at, since others tell of it.

    Raises:
        BadInputError: two are at one place, distances differ, they are shifted sideways, or one has no position and others have.
    """
    read = [_parse_numbers(text, 3) for text in positions]
    axes = _parse_numbers(orientation, 6)
    if len(names) < 2 or axes is None or not any(read):
        return
    found = [numbers for numbers in read if numbers]
    if len(found) < len(names):
        lacking = Path(names[read.index(None)]).name
        raise BadInputError(
            f"The folder {folder} has slices with a position, and {lacking} with none (ImagePositionPatient). Move what is not of "
            "the volume to another folder."
        )
    normal: np.ndarray = np.cross(np.array(axes[:3], np.float64), np.array(axes[3:], np.float64))
    length = float(np.linalg.norm(normal))
    if not 0.5 < length < 2:
        return
    # Rounded directions are not of length 1.
    normal /= length
    points = np.array(found, np.float64)
    # Not by a product of matrices, which may round the places of equal positions differently.
    places = (points * normal).sum(axis=1)
    order = np.argsort(places, kind="stable")
    distances = np.diff(places[order])
    # Where each slice is there several times most distances are 0.
    spacing = float(np.median(distances[distances > 0])) if distances.any() else 0.0
    # Even places, rounded, are apart by one last digit more here than there; a missing slice is more than half a distance.
    rounding = 1.01 * float(np.abs(normal) @ [_last_digit([numbers[axis] for numbers in found]) for axis in range(3)])
    most = max(_MOST_UNEVEN * spacing, min(rounding, spacing / 2))
    closest, worst = int(np.argmin(distances)), int(np.argmax(np.abs(distances - spacing)))
    if distances[closest] <= _ONE_PLACE * spacing:
        first, second = (Path(names[order[n]]).name for n in (closest, closest + 1))
        raise BadInputError(
            f"The folder {folder} has two slices at one place: {first} and {second} (ImagePositionPatient). Give each volume "
            "a folder of its own, and each slice one file."
        )
    if abs(distances[worst] - spacing) > most:
        first, second = (Path(names[order[n]]).name for n in (worst, worst + 1))
        raise BadInputError(
            f"The folder {folder} has slices at uneven distances, so that some may be missing, or their positions are rounded: "
            f"{first} and {second} are {distances[worst]:.6g} mm apart, and others {spacing:.6g} mm (ImagePositionPatient). Add the "
            "slices that are missing, or make a volume of even distances of it."
        )
    sideways = np.linalg.norm(points - points[0] - np.outer(places - places[0], normal), axis=1).max()
    # Axes of the scanner's are exact; the normal of rounded directions is off by what both of them may be.
    is_whole = all(number == number.to_integral_value() for number in axes)
    slant = 0.0 if is_whole else 2**0.5 * min(_MOST_ROUNDED, _last_digit(axes))
    if sideways > most + max(_MOST_SIDEWAYS, slant) * float(np.ptp(places)):
        raise BadInputError(
            f"The folder {folder} has slices that are shifted sideways, by up to {sideways:.6g} mm, as of a tilted gantry, or of "
            "directions that are rounded (ImagePositionPatient, ImageOrientationPatient). Make an upright volume of it, which dcm2niix does."
        )


def _parse_numbers(text: str, count: int) -> Optional[list[Decimal]]:
    """A header's numbers, which a backslash parts. None if they are not so many."""
    try:
        numbers = [Decimal(part.strip()) for part in text.split("\\")]
    except InvalidOperation:
        return None
    return numbers if len(numbers) == count and all(math.isfinite(number) for number in numbers) else None


def _last_digit(numbers: Sequence[Decimal]) -> float:
    """What the last digit of numbers is worth, which are taken to be rounded to a tenth at the most."""
    return 10.0 ** min(-1, *(int(number.normalize().as_tuple().exponent) for number in numbers))
