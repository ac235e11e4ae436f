# SPDX-License-Identifier: Apache-2.0
"""Makes the report's text and tables, which its template lays out."""

from __future__ import annotations

import json
import math
from typing import NamedTuple, Optional

import numpy as np

from . import geometry, jacobian, moving_side, wording
from .data import ReportData
from .payload import Deformation
from .template import render, safe

# In the order in which they are read: each one defines what the next ones use.
SCRIPTS = (
    "volume.js",
    "colours.js",
    "plane.js",
    "viewer.js",
    "controls.js",
    "readout.js",
    "svg.js",
    "histograms.js",
    "costs.js",
    "start.js",
)

#: A large figure at the top: its name, its value, a note, and whether it is a warning.
_SummaryItem = tuple[str, str, str, bool]


class _Extremes(NamedTuple):
    """A table of a determinant's extremes. Rows are of a name, a value or None, its place in words, and as the viewer goes there."""

    rows: list[tuple[str, Optional[float], str, str]]
    usual: Optional[tuple[float, float]]
    folded: int
    voxels: int
    not_finite: int


def page(data: ReportData, deformation: Deformation | None, content: dict, notes: list[str]) -> str:
    """Makes the whole file.

    Args:
        data: the registration's images and numbers.
        deformation: the Jacobian's determinant; None without a displacement.
        content: the data that the viewer's script reads.
        notes: sentences on what the page leaves out.
    """
    # "<" can't stand in a script's data: "</script>" would end it.
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    is_masked = data.fixed_mask is not None and bool(np.any(data.fixed_mask))
    milliseconds = [float(time) for _, time, _ in data.stages]
    return render(
        "report.html.j2",
        title=data.title,
        subtitle=_subtitle(data),
        styles=["style.css"],
        scripts=SCRIPTS,
        content=safe(text),
        warnings=data.warnings,
        summary=_summary(data, deformation),
        dimension=data.dimension,
        extremes=_extremes(data, deformation),
        moving_side=moving_side.draw(data.moving_side) if data.moving_side is not None else [],
        inverse_errors=data.moving_side.errors if data.moving_side is not None else "",
        histogram_place="inside the fixed image’s mask" if is_masked else "in the whole image",
        costs=_costs(data),
        measures=_measures(data),
        times=_times(data),
        total_time=sum(milliseconds),
        command=data.command,
        made_of=[*_made_of(data), *((str(name), str(version)) for name, version in data.versions.items())],
        grid=_grid(data),
        notes=notes,
    )


def _subtitle(data: ReportData) -> str:
    size = " × ".join(str(n) for n in data.size)
    spacing = " × ".join(wording.trimmed(s, 4) for s in data.spacing)
    return f"Fixed image: {size} voxels of {spacing} mm{f' · {data.device}' if data.device else ''}"


def _summary(data: ReportData, deformation: Deformation | None) -> list[_SummaryItem]:
    items = []
    if data.stages:
        total = sum(float(milliseconds) for _, milliseconds, _ in data.stages)
        items.append(("Time", wording.duration(total), f"in {wording.count_of(len(data.stages), 'stage')}", False))
    for name in [data.headline] if data.headline in data.similarity else list(data.similarity)[:1]:
        note = f"before → after{'; less is better' if data.less_is_better else ''}"
        before, after = data.similarity[name]
        items.append((_title(name), f"{wording.number(float(before))} → {wording.number(float(after))}", note, False))
    values = [pair for pair in data.dice.values() if all(map(math.isfinite, pair))]
    if values:
        before, after = np.mean(values, axis=0)
        text = f"{wording.fixed(before, 3)} → {wording.fixed(after, 3)}"
        items.append(("Mean Dice", text, f"before → after, {wording.count_of(len(values), 'label')}", False))
    if deformation is not None:
        whole = deformation.whole
        if whole.minimum is not None:
            text = f"{wording.number(whole.minimum, 3)} to {wording.number(whole.maximum, 3)}"
            items.append(("Jacobian determinant", text, "smallest to largest", False))
        note = f"of {whole.voxels:,}" + (f": {wording.share(whole.folded, whole.voxels)}" if whole.folded else "")
        items.append(("Folded voxels", f"{whole.folded:,}", note, whole.folded > 0))
        if deformation.longest is not None:
            items.append(("Largest displacement", f"{wording.number(deformation.longest, 3)} mm", "the longest vector", False))
    return items


def _title(name: str) -> str:
    """Returns a measure's name as people read it: "Mean squares" of mean_squares."""
    text = str(name).replace("_", " ")
    return text[:1].upper() + text[1:]


def _extremes(data: ReportData, deformation: Deformation | None) -> list[tuple[str, _Extremes]]:
    if deformation is None:
        return []
    tables = [("In the whole image", _table_of(data, deformation.whole))]
    if deformation.inside is not None:
        tables.append(("Inside the fixed image’s mask", _table_of(data, deformation.inside)))
    return tables


def _table_of(data: ReportData, found: jacobian.Extremes) -> _Extremes:
    rows: list[tuple[str, Optional[float], str, str]] = []
    for name, value, index in (("Smallest", found.minimum, found.minimum_at), ("Largest", found.maximum, found.maximum_at)):
        if value is None or index is None:
            rows.append((name, None, "", ""))
            continue
        place = f"voxel {wording.row(index, 0)}; {wording.row(data.point(index), wording.length_decimals(data.spacing))} mm"
        rows.append((name, value, place, ",".join(map(str, index))))
    return _Extremes(rows, found.usual, found.folded, found.voxels, found.not_finite)


def _costs(data: ReportData) -> list[tuple[str, str, int, float, float]]:
    """Returns stages, levels, numbers of iterations, and the first and the last cost."""
    return [
        (str(name), str(level), len(costs), float(costs[0]), float(costs[-1]))
        for name, _, levels in data.stages
        for level, costs in levels
        if len(costs)
    ]


def _measures(data: ReportData) -> list[tuple[str, str, list[tuple[str, str, str, str]]]]:
    """Returns tables, each with its title and a text on its numbers. A row has a name, the values before and after, and the change."""
    tables = [
        ("Similarity", data.similarity_text, [_similarity_row(name, *values) for name, values in data.similarity.items()]),
        ("Dice’s coefficient by label", "", [_dice_row(name, *values) for name, values in data.dice.items()]),
    ]
    return [table for table in tables if table[2]]


def _similarity_row(name: str, before: float, after: float) -> tuple[str, str, str, str]:
    before, after = float(before), float(after)
    return _title(name), wording.number(before), wording.number(after), wording.signed(after - before, 3)


def _dice_row(name: str, before: float, after: float) -> tuple[str, str, str, str]:
    before, after = float(before), float(after)
    sign = "+" if after > before else ""
    return str(name), wording.fixed(before, 3), wording.fixed(after, 3), sign + wording.fixed(after - before, 3)


def _times(data: ReportData) -> list[tuple[str, float, float]]:
    """Returns stages, their times, and how long their bars are, per cent."""
    times = [(str(name), float(milliseconds)) for name, milliseconds, _ in data.stages]
    longest = max((t for _, t in times if math.isfinite(t)), default=0) or 1
    return [(name, t, max(0.0, 100 * t / longest) if math.isfinite(t) else 0.0) for name, t in times]


def _made_of(data: ReportData) -> list[tuple[str, str]]:
    """Returns when and where it was made, and of which files."""
    rows = [("Date", data.date)] if data.date else []
    rows += [(f"{str(name).replace('_', ' ').capitalize()} file", str(path)) for name, path in data.files.items()]
    return [*rows, ("Device", data.device or "not known")]


def _grid(data: ReportData) -> list[tuple[str, str]]:
    matrix = data.direction_matrix
    rows = [
        ("Size", " × ".join(map(str, data.size)) + " voxels"),
        ("Spacing", wording.row(data.spacing) + " mm"),
        ("Origin", wording.row(data.origin) + " mm"),
        ("Direction", "; ".join(wording.row(row) for row in matrix)),
    ]
    if data.dimension == 3:
        axes = [geometry.side(column / np.linalg.norm(column)) for column in matrix.T]
        rows.append(("Axes run to", ", ".join(axes)))
        tilt = geometry.tilt(matrix)
        if tilt > 0.5:
            rows.append(("Tilt", f"{tilt:.0f}° between the image’s axes and the patient’s; slices are along the image’s"))
    return rows
