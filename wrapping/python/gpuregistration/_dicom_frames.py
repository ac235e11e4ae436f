# SPDX-License-Identifier: Apache-2.0
"""Reads what a DICOM header says of each frame: where it is, and what its numbers mean."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, Optional, Sequence

from ._dicom_places import find_directions
from ._engine import BadInputError

# Where the distance of voxels stands, the better one first: that in the patient, and, of projections, that on the detector.
_SPACINGS = ("PixelSpacing", "ImagerPixelSpacing", "NominalScannedPixelSpacing")
# A picture, which has no place, has only the proportion of its pixels.
_PROPORTION = "PixelAspectRatio"
# The group of what gives numbers a meaning.
_RESCALING = "PixelValueTransformationSequence"


@dataclass(frozen=True)
class Frame:
    """One slice.

    Attributes:
        path: its file.
        number: its place in it, from 0.
        count: how many frames the file has.
        position: the position of the frame's first voxel, in mm; None: the header has none, or no directions.
        axes: the directions of rows and of columns; None: the same.
        spacing: mm along x and y; None: the header has none.
        thickness: mm along z, if no other slice shows it.
        slope, intercept: the factor of stored numbers, and the number that is added to them.
        names_slope, names_intercept: True if the header has them.
        rescale_type: the quantity of the rescaled values, such as "HU"; None: the header does not say.
        time_point: its number among points in time; None: the same.
    """

    path: Path
    number: int
    count: int
    position: Optional[Sequence[Decimal]]
    axes: Optional[tuple[Decimal, ...]]
    spacing: Optional[Sequence[Decimal]]
    thickness: Optional[Decimal]
    slope: float
    intercept: float
    names_slope: bool
    names_intercept: bool
    rescale_type: Optional[str]
    time_point: Optional[Decimal]


def read_frames(header: Any, path: Path) -> list[Frame]:
    """Returns the frames of a file, in its order.

    Args:
        header: pydicom's data set.

    Raises:
        BadInputError: the header says what is not possible, or what is not read.
    """
    reader = _HeaderReader(header, path)
    return [reader.read_frame(number) for number in range(reader.count)]


def count_frames(header: Any, path: Path) -> int:
    """Returns the number of frames in a header; 1 if the header does not have it."""
    found = find_numbers(header, "NumberOfFrames", path, 1)
    count = 1 if found is None else int(found[0])
    if count < 1:
        raise BadInputError(f"The file {path} says that it has {count} frames (NumberOfFrames). Export it again from where it is whole.")
    return count


def find_numbers(header: Any, keyword: str, path: Path, count: Optional[int] = None) -> Optional[tuple[Decimal, ...]]:
    """Returns an element's numbers, with the digits that they have in the file. None if there is no such element, or it is empty.

    Args:
        count: how many there are to be; None: any.

    Raises:
        BadInputError: it has others, or what is no finite number.
    """
    if keyword not in header:
        return None
    try:
        value = header[keyword].value
        if value is None or value == "":
            return None
        if isinstance(value, bytes):
            raise TypeError("bytes, of no type that is known")
        several = not isinstance(value, str) and hasattr(value, "__len__")
        numbers = tuple(Decimal(str(one)) for one in (value if several else [value]))
        for number in numbers:
            if not math.isfinite(float(number)):
                raise ValueError(number)
    except (ValueError, TypeError, InvalidOperation, OverflowError) as error:
        raise BadInputError(f"The file {path} has a {keyword} that is no number: {error}. Export it again.") from error
    if not numbers:
        return None
    if count is not None and len(numbers) != count:
        raise BadInputError(f"The file {path} has a {keyword} of {len(numbers)} numbers, in the place of {count}. Export it again.")
    return numbers


class _HeaderReader:
    """Reads the header of one file. Multi-frame files state in functional groups what holds for one frame, or for all; others for the
    file."""

    def __init__(self, header: Any, path: Path) -> None:
        self.header = header
        self.path = path
        self.count = count_frames(header, path)
        self._own_groups = list(header.get("PerFrameFunctionalGroupsSequence") or [])
        self._shared_groups = list(header.get("SharedFunctionalGroupsSequence") or [])[:1]
        if self._own_groups and len(self._own_groups) != self.count:
            raise BadInputError(
                f"The file {path} has {self.count} frames, and says of {len(self._own_groups)} where they are "
                "(PerFrameFunctionalGroupsSequence). Export it again."
            )
        self._stack_axes: tuple[Decimal, ...] = ()
        self._positions = self._find_stack()

    def read_frame(self, number: int) -> Frame:
        axes: Optional[tuple[Decimal, ...]]
        position: Optional[Sequence[Decimal]]
        if self._positions is not None:
            axes, position = self._stack_axes, self._positions[number]
        else:
            axes = self._find(number, "PlaneOrientationSequence", "ImageOrientationPatient", 6)
            # The whole file's is the first one's, and nothing says where the others are.
            position = self._find_in_groups(number, "PlanePositionSequence", "ImagePositionPatient", 3)
        if axes is None or position is None:
            axes = position = None
        else:
            self._check_axes(axes)
        keywords = _SPACINGS if position is not None else (*_SPACINGS, _PROPORTION)
        spacing = next(filter(None, (self._find(number, "PixelMeasuresSequence", keyword, 2) for keyword in keywords)), None)
        if spacing is not None and min(spacing) <= 0:
            raise BadInputError(
                f"The file {self.path} has voxels of {spacing[0]}×{spacing[1]} mm (PixelSpacing); both are to be greater than 0. Mend the "
                "header."
            )
        slope, intercept = self._find_rescale(number)
        return Frame(
            self.path,
            number,
            self.count,
            position,
            axes,
            # A header's first is that between rows.
            None if spacing is None else spacing[::-1],
            self._find_thickness(number),
            1.0 if slope is None else slope,
            0.0 if intercept is None else intercept,
            slope is not None,
            intercept is not None,
            self._find_rescale_type(number),
            self._find_time_point(number),
        )

    def _find(self, number: int, group: str, keyword: str, count: int) -> Optional[tuple[Decimal, ...]]:
        """Returns numbers of a frame: from its own group, the group for all frames, or the whole file."""
        return self._find_in_groups(number, group, keyword, count) or find_numbers(self.header, keyword, self.path, count)

    def _find_in_groups(self, number: int, group: str, keyword: str, count: int) -> Optional[tuple[Decimal, ...]]:
        for groups in (*self._own_groups[number : number + 1], *self._shared_groups):
            for item in list(groups.get(group) or [])[:1]:
                found = find_numbers(item, keyword, self.path, count)
                if found is not None:
                    return found
        return None

    def _find_stack(self) -> Optional[list[list[Decimal]]]:
        """Returns the places of frames along the first one's normal, as in doses and nuclear medicine; None for other files."""
        detectors = list(self.header.get("DetectorInformationSequence") or [])
        holder = detectors[0] if len(detectors) == 1 and "ImagePositionPatient" not in self.header else self.header
        axes = find_numbers(holder, "ImageOrientationPatient", self.path, 6)
        first = find_numbers(holder, "ImagePositionPatient", self.path, 3)
        if axes is None or first is None:
            return None
        self._stack_axes = axes
        if self.count == 1:
            return [list(first)]
        self._check_axes(axes)
        offsets = self._find_dose_offsets(axes, first) or self._find_slice_offsets()
        if offsets is None:
            return None
        normal = [Decimal(float(part)) for part in find_directions(axes)[:, 2]]
        return [[start + offset * part for start, part in zip(first, normal)] for offset in offsets]

    def _find_dose_offsets(self, axes: tuple[Decimal, ...], first: Sequence[Decimal]) -> Optional[list[Decimal]]:
        """Returns the distances of a dose's frames from the first one, along the normal. The file has distances, or places along the
        patient's axis."""
        offsets = find_numbers(self.header, "GridFrameOffsetVector", self.path, self.count)
        if offsets is None:
            return None
        if offsets[0] == 0:
            return list(offsets)
        along = find_directions(axes)[2, 2]
        if abs(offsets[0] - first[2]) > Decimal("0.01") or abs(abs(along) - 1) > 1e-6:
            raise BadInputError(
                f"The file {self.path} has frames at distances that do not begin with 0, or with the place of the first one "
                f"(GridFrameOffsetVector: {offsets[0]}, …). Export it again."
            )
        return [(offset - offsets[0]) * (1 if along > 0 else -1) for offset in offsets]

    def _find_slice_offsets(self) -> Optional[list[Decimal]]:
        """Returns the distances of the slices of nuclear medicine, which have numbers. A negative distance lies before the first slice."""
        numbers = find_numbers(self.header, "SliceVector", self.path, self.count)
        distance = find_numbers(self.header, "SpacingBetweenSlices", self.path, 1)
        if numbers is None or distance is None or distance[0] == 0:
            return None
        return [(number - 1) * distance[0] for number in numbers]

    def _check_axes(self, axes: tuple[Decimal, ...]) -> None:
        try:
            find_directions(axes)
        except ValueError as error:
            raise BadInputError(
                f"The file {self.path} has directions that are not at right angles, or not of length 1 (ImageOrientationPatient: "
                f"{', '.join(map(str, axes))}). Mend the header."
            ) from error

    def _find_thickness(self, number: int) -> Optional[Decimal]:
        for keyword in ("SpacingBetweenSlices", "SliceThickness"):
            found = self._find(number, "PixelMeasuresSequence", keyword, 1)
            if found is not None and found[0] != 0:
                return abs(found[0])
        return None

    def _find_rescale(self, number: int) -> tuple[Optional[float], Optional[float]]:
        slope = find_numbers(self.header, "DoseGridScaling", self.path, 1) or self._find(number, _RESCALING, "RescaleSlope", 1)
        intercept = self._find(number, _RESCALING, "RescaleIntercept", 1)
        if slope is not None and slope[0] == 0:
            raise BadInputError(f"The file {self.path} has values that are multiplied by 0 (RescaleSlope). Export it again.")
        return None if slope is None else float(slope[0]), None if intercept is None else float(intercept[0])

    def _find_rescale_type(self, number: int) -> Optional[str]:
        for groups in (*self._own_groups[number : number + 1], *self._shared_groups):
            for item in list(groups.get(_RESCALING) or [])[:1]:
                if item.get("RescaleType"):
                    return str(item.RescaleType)
        return str(self.header.get("RescaleType") or "") or None

    def _find_time_point(self, number: int) -> Optional[Decimal]:
        found = self._find_in_groups(number, "FrameContentSequence", "TemporalPositionIndex", 1) or find_numbers(
            self.header, "TemporalPositionIdentifier", self.path, 1
        )
        return None if found is None else found[0]
