# SPDX-License-Identifier: Apache-2.0
"""Returns whether frames of DICOM can be slices of one volume, but for their places."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any, Callable, Optional, Sequence

import numpy as np

from ._dicom_frames import Frame
from ._dicom_places import Source
from ._engine import BadInputError

# These elements name the quantity of the values, and the patient. PET has the first of the units, and a dose the second. An element that a
# header lacks is not known, and does not differ.
_UNITS = ("Units", "DoseUnits")
_QUANTITIES = (("patients", "PatientID"), *(("quantities", keyword) for keyword in ("SUVType", "DecayCorrection", "DoseType")))

# Directions of frames may differ by the first number. Different spacings may move the last voxels of a row apart by the second, a share of
# a voxel.
_MOST_TURNED, _MOST_APART = 5e-4, 0.1


def check_are_consistent(source: Source, frames: Sequence[Frame], names: Sequence[str], headers: dict[Path, Any]) -> None:
    """Raises BadInputError if frames differ in what a volume has one of: size, colours, system of coordinates, patient, quantity, point in
    time, directions, spacing."""
    first = frames[0]
    longest = max(headers[first.path].Rows, headers[first.path].Columns)
    texts: tuple[tuple[str, str, Callable[[Any], str]], ...] = (
        ("sizes", "Rows, Columns", lambda header: f"{header.Columns}×{header.Rows} voxels"),
        ("colours", "PhotometricInterpretation", lambda header: str(header.get("PhotometricInterpretation"))),
        ("systems of coordinates", "FrameOfReferenceUID", lambda header: str(header.get("FrameOfReferenceUID"))),
    )
    for what, keywords, read in texts:
        _check_same(source, names, what, keywords, _read_all(frames, headers, read))
    _check_quantities(source, frames, names, headers)
    axes = [frame.axes for frame in frames]
    _check(source, names, "directions", "ImageOrientationPatient", axes, [_are_near(one, axes[0], _MOST_TURNED) for one in axes])
    spacings = [frame.spacing for frame in frames]
    most = _MOST_APART / longest * (1 if first.spacing is None else float(min(first.spacing)))
    _check(source, names, "spacings", "PixelSpacing", spacings, [_are_near(one, spacings[0], most) for one in spacings])


def _check_quantities(source: Source, frames: Sequence[Frame], names: Sequence[str], headers: dict[Path, Any]) -> None:
    """Raises BadInputError if values are of different quantities, of different patients, or of several points in time."""

    def find(keyword: str) -> list[Optional[str]]:
        return _read_all(frames, headers, lambda header: str(header.get(keyword) or "") or None)

    for keyword in _UNITS:
        _check_same(source, names, "units", keyword, [text or "none" for text in find(keyword)])
    for what, keyword in _QUANTITIES:
        _check_known(source, names, what, keyword, find(keyword))
    _check_known(source, names, "quantities", "RescaleType", [frame.rescale_type for frame in frames])
    slopes = [str(frame.slope) if frame.names_slope else "none" for frame in frames]
    intercepts = [str(frame.intercept) if frame.names_intercept else "none" for frame in frames]
    for what, keyword, found, neutral in (("slopes", "RescaleSlope", slopes, "1.0"), ("intercepts", "RescaleIntercept", intercepts, "0.0")):
        # Each may have its own, but if one lacks it, it is not known whether it is of the others' quantity.
        telling = next((n for n, text in enumerate(found) if text not in ("none", neutral)), None)
        if telling is not None and "none" in found:
            other = found.index("none")
            _check_same(source, [names[telling], names[other]], what, keyword, [found[telling], found[other]])
    if all(frame.time_point is not None for frame in frames):
        time_points = [str(frame.time_point) for frame in frames]
        _check_same(source, names, "points in time", "TemporalPositionIdentifier, TemporalPositionIndex", time_points)


def _read_all(frames: Sequence[Frame], headers: dict[Path, Any], read: Callable[[Any], Any]) -> list[Any]:
    """Returns read(header) of each frame; a file that holds several frames is read once."""
    values = {path: read(header) for path, header in headers.items()}
    return [values[frame.path] for frame in frames]


def _check_known(source: Source, names: Sequence[str], what: str, keyword: str, found: Sequence[Optional[str]]) -> None:
    """Checks the texts that are not None as _check_same() does."""
    known = [(name, text) for name, text in zip(names, found) if text is not None]
    if known:
        _check_same(source, [name for name, _ in known], what, keyword, [text for _, text in known])


def _check_same(source: Source, names: Sequence[str], what: str, keywords: str, found: Sequence[str]) -> None:
    _check(source, names, what, keywords, found, [text == found[0] for text in found])


def _check(source: Source, names: Sequence[str], what: str, keywords: str, found: Sequence[Any], are_consistent: Sequence[bool]) -> None:
    if not all(are_consistent):
        other = are_consistent.index(False)
        raise BadInputError(
            f"{source} has {source.parts} of different {what}: {names[0]} has {_text(found[0])}, and {names[other]} {_text(found[other])} "
            f"({keywords}). Give each volume a {source.kind} of its own."
        )


def _are_near(numbers: Optional[Sequence[Decimal]], others: Optional[Sequence[Decimal]], most: float) -> bool:
    """Returns whether numbers are equal but for rounding. Missing numbers count as equal: they are checked elsewhere."""
    if numbers is None or others is None or numbers == others:
        return True
    return bool(np.abs(np.array(numbers, np.float64) - np.array(others, np.float64)).max() <= most)


def _text(found: Any) -> str:
    return found if isinstance(found, str) else "\\".join(map(str, found))
