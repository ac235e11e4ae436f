# SPDX-License-Identifier: Apache-2.0
"""Whether frames of DICOM can be slices of one volume, but for their places."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any, Callable, Optional, Sequence

import numpy as np

from ._dicom_frames import Frame
from ._dicom_places import Source
from ._engine import BadInputError

# What frames' directions may differ by, and how far apart their spacings may lay the last voxels of a row, as a share of a voxel.
_MOST_TURNED, _MOST_APART = 5e-4, 0.1


def check_are_alike(source: Source, frames: Sequence[Frame], names: Sequence[str], headers: dict[Path, Any]) -> None:
    """Raises BadInputError if frames differ in what a volume has one of: size, colours, system of coordinates, directions, spacing."""
    first = frames[0]
    longest = max(headers[first.path].Rows, headers[first.path].Columns)
    texts: tuple[tuple[str, str, Callable[[Any], str]], ...] = (
        ("sizes", "Rows, Columns", lambda header: f"{header.Columns}×{header.Rows} voxels"),
        ("colours", "PhotometricInterpretation", lambda header: str(header.get("PhotometricInterpretation"))),
        ("systems of coordinates", "FrameOfReferenceUID", lambda header: str(header.get("FrameOfReferenceUID"))),
    )
    for what, keywords, tell in texts:
        found = [tell(headers[frame.path]) for frame in frames]
        _check(source, names, what, keywords, found, [text == found[0] for text in found])
    axes = [frame.axes for frame in frames]
    _check(source, names, "directions", "ImageOrientationPatient", axes, [_are_near(one, axes[0], _MOST_TURNED) for one in axes])
    spacings = [frame.spacing for frame in frames]
    most = _MOST_APART / longest * (1 if first.spacing is None else float(min(first.spacing)))
    _check(source, names, "spacings", "PixelSpacing", spacings, [_are_near(one, spacings[0], most) for one in spacings])


def _check(source: Source, names: Sequence[str], what: str, keywords: str, found: Sequence[Any], are_alike: Sequence[bool]) -> None:
    if not all(are_alike):
        other = are_alike.index(False)
        raise BadInputError(
            f"{source} has {source.parts} of different {what}: {names[0]} has {_text(found[0])}, and {names[other]} {_text(found[other])} "
            f"({keywords}). Give each volume a {source.kind} of its own."
        )


def _are_near(numbers: Optional[Sequence[Decimal]], others: Optional[Sequence[Decimal]], most: float) -> bool:
    """Whether numbers are the same, but for rounding. What has none is not told of here."""
    if numbers is None or others is None or numbers == others:
        return True
    return bool(np.abs(np.array(numbers, np.float64) - np.array(others, np.float64)).max() <= most)


def _text(found: Any) -> str:
    return found if isinstance(found, str) else "\\".join(map(str, found))
