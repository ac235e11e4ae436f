# SPDX-License-Identifier: Apache-2.0
"""The page's text and tables."""

from __future__ import annotations

import json
import math
import re
from html import escape
from importlib import resources

import numpy as np

from . import geometry, jacobian, wording
from .data import ReportData
from .payload import Deformation

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


def page(data: ReportData, deformation: Deformation | None, content: dict, notes: list[str]) -> str:
    """The whole file."""
    # "<" can't stand in a script's data: "</script>" would end it.
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    parts = {
        "warnings": "".join(f'<p class="message">Warning: {escape(warning.rstrip(chr(46)))}.</p>' for warning in data.warnings),
        "summary": _summary(data, deformation),
        "deformation": _deformation(data, deformation),
        "histogram_text": _histogram_text(data),
        "costs": _costs(data),
        "measures": _measures(data),
        "times": _times(data),
        "command": _command(data),
        "versions": _facts([*_made_of(data), *((str(k), str(v)) for k, v in data.versions.items())]),
        "grid": _grid(data),
        "notes": "".join(f"<li>{escape(note)}</li>" for note in notes),
    }
    main = fill(page_file(__package__, "page.html"), parts)
    return frame(
        escape(data.title),
        _subtitle(data),
        main,
        "\n".join(page_file(__package__, name) for name in SCRIPTS),
        data=f'<script type="application/json" id="data">{text}</script>\n',
    )


def frame(title: str, subtitle: str, main: str, script: str, style: str = "", data: str = "") -> str:
    """A whole page in the manner of all reports, light or dark.

    Args:
        title, subtitle: HTML, as what follows.
        main: what is between the head and the scripts.
        script: what runs when the page is there.
        style: besides that of all reports.
        data: a script's element with what the script reads.
    """
    parts = {
        "title": title,
        "subtitle": subtitle,
        "style": page_file(__package__, "style.css") + style,
        # Before all else, so that no page is light first and dark then.
        "theme": page_file(__package__, "theme.js"),
        "main": main,
        "data": data,
        "script": f'(() => {{\n"use strict";\n{script}\n}})();',
    }
    return fill(page_file(__package__, "frame.html"), parts)


def fill(template: str, parts: dict[str, str]) -> str:
    """A template with its {{parts}} in their places."""
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match.group(1)], template)


def page_file(package: str, name: str) -> str:
    """A file that a package's pages are made of."""
    return resources.files(package).joinpath("page", name).read_text(encoding="utf-8")


def _subtitle(data: ReportData) -> str:
    size = " × ".join(str(n) for n in data.size)
    spacing = " × ".join(wording.trimmed(s, 4) for s in data.spacing)
    device = f" · {escape(data.device)}" if data.device else ""
    return f"Fixed image: {size} voxels of {spacing} mm{device}"


def _summary(data: ReportData, deformation: Deformation | None) -> str:
    items = []
    if data.stages:
        total = sum(float(milliseconds) for _, milliseconds, _ in data.stages)
        count = len(data.stages)
        items.append(("Time", escape(wording.duration(total)), f"in {count} stage{'s' if count > 1 else ''}", False))
    for name in [data.headline] if data.headline in data.similarity else list(data.similarity)[:1]:
        note = f"before → after{'; less is better' if data.less_is_better else ''}"
        items.append((escape(_title(name)), _change(*data.similarity[name]), note, False))
    values = [pair for pair in data.dice.values() if all(map(math.isfinite, pair))]
    if values:
        before, after = np.mean(values, axis=0)
        text = f"{wording.fixed(before, 3)} → {wording.fixed(after, 3)}"
        items.append(("Mean Dice", text, f"before → after, {len(values)} label{'s' if len(values) > 1 else ''}", False))
    if deformation is not None:
        whole = deformation.whole
        if whole.minimum is not None:
            text = f"{wording.number(whole.minimum, 3)} to {wording.number(whole.maximum, 3)}"
            items.append(("Jacobian determinant", text, "smallest to largest", False))
        note = (
            f"of {whole.voxels:,}" if not whole.folded else f"of {whole.voxels:,}: {wording.share(whole.folded, whole.voxels)}"
        )
        items.append(("Folded voxels", f"{whole.folded:,}", note, whole.folded > 0))
        if deformation.longest is not None:
            items.append(("Largest displacement", f"{wording.number(deformation.longest, 3)} mm", "the longest vector", False))
    style = {False: "fine", True: "warn"}
    return "".join(
        f'<div><dt>{name}</dt><dd class="{style[warn]}">{value}<small>{note}</small></dd></div>'
        for name, value, note, warn in items
    )


def _title(name: str) -> str:
    """A measure's name as people read it: "Mean squares" of mean_squares."""
    text = str(name).replace("_", " ")
    return text[:1].upper() + text[1:]


def _change(before: float, after: float) -> str:
    return f"{wording.number(float(before))} → {wording.number(float(after))}"


def _deformation(data: ReportData, deformation: Deformation | None) -> str:
    if deformation is None:
        return ""
    tables = [_extremes("In the whole image", data, deformation.whole)]
    if deformation.inside is not None:
        tables.append(_extremes("Inside the fixed image’s mask", data, deformation.inside))
    return (
        '<section aria-labelledby="deformation-title"><h2 id="deformation-title">Deformation</h2>'
        '<p class="explain">The Jacobian’s determinant is how many times its volume a voxel of the fixed image takes '
        "in the moving image: "
        "above 1 it takes more, below 1 less. At 0 and below, space is folded.</p>".replace(
            "volume", "volume" if data.dimension == 3 else "area"
        )
        + f'<div class="pair">{"".join(tables)}</div></section>'
    )


def _extremes(title: str, data: ReportData, extremes: jacobian.Extremes) -> str:
    rows = []
    for name, value, index in (
        ("Smallest", extremes.minimum, extremes.minimum_at),
        ("Largest", extremes.maximum, extremes.maximum_at),
    ):
        if value is None or index is None:
            rows.append(f"<tr><th>{name}</th><td>no finite value</td></tr>")
            continue
        place = f"voxel {wording.row(index, 0)}; {wording.row(data.point(index), wording.length_decimals(data.spacing))} mm"
        goto = ",".join(map(str, index))
        rows.append(
            f'<tr><th>{name}</th><td>{wording.number(value)} <button type="button" data-goto="{goto}" '
            f'aria-label="Show the {name.lower()} determinant">Show</button><br><span class="quiet">{place}</span></td></tr>'
        )
    if extremes.usual:
        low, high = (wording.number(v, 3) for v in extremes.usual)
        rows.append(f"<tr><th>98 % of voxels</th><td>{low} to {high}</td></tr>")
    warn = ' class="warn"' if extremes.folded else ""
    rows.append(
        f"<tr><th>Folded voxels</th><td><span{warn}>{extremes.folded:,}</span> of {extremes.voxels:,} "
        f"({wording.share(extremes.folded, extremes.voxels)})</td></tr>"
    )
    if extremes.not_finite:
        rows.append(f'<tr><th>Not finite</th><td class="warn">{extremes.not_finite:,} voxels, left out above</td></tr>')
    return f'<table class="facts"><caption>{title}</caption><tbody>{"".join(rows)}</tbody></table>'


def _histogram_text(data: ReportData) -> str:
    where = (
        "inside the fixed image’s mask" if data.fixed_mask is not None and np.any(data.fixed_mask) else "in the whole image"
    )
    return (
        f"How often each pair of intensities occurs {where}: the sharper, the better the one foretells the other. "
        "Both have the same scale, which is logarithmic."
    )


def _costs(data: ReportData) -> str:
    with_costs = [(name, levels) for name, _, levels in data.stages if any(len(costs) for _, costs in levels)]
    if not with_costs:
        return ""
    rows = []
    for name, levels in with_costs:
        for level, costs in levels:
            if not len(costs):
                continue
            first, last = (wording.number(float(costs[k]), 6) for k in (0, -1))
            rows.append(
                f'<tr><td>{escape(str(name))}</td><td>{escape(str(level))}</td><td class="number">{len(costs)}</td>'
                f'<td class="number">{first}</td><td class="number">{last}</td></tr>'
            )
    return (
        '<section aria-labelledby="costs-title"><h2 id="costs-title">Cost</h2>'
        '<p class="explain">The cost that each stage made smaller, by iteration. Levels are of different grids: compare within a level. '
        "Linear stages have one value for each level, the least that was found there.</p>"
        '<div class="charts two" id="costs"></div>'
        '<details><summary>First and last cost of each level</summary><div class="scroll">'
        '<table class="plain"><thead><tr><th>Stage</th><th>Level</th><th class="number">Iterations</th>'
        '<th class="number">First cost</th>'
        f'<th class="number">Last cost</th></tr></thead><tbody>{"".join(rows)}</tbody></table></div></details></section>'
    )


def _measures(data: ReportData) -> str:
    if not data.similarity and not data.dice:
        return ""
    tables = []
    for title, values, decimals, text in (
        ("Similarity", data.similarity, None, data.similarity_text),
        ("Dice’s coefficient by label", data.dice, 3, ""),
    ):
        if not values:
            continue
        rows = []
        for name, (before, after) in values.items():
            before, after = float(before), float(after)
            shown = _title(name) if decimals is None else str(name)
            show = wording.number if decimals is None else (lambda v: wording.fixed(v, 3))
            difference = wording.signed(after - before, 3) if decimals is None else wording.fixed(after - before, 3)
            if decimals is not None and after > before:
                difference = "+" + difference
            rows.append(
                f'<tr><th scope="row">{escape(shown)}</th><td class="number">{show(before)}</td>'
                f'<td class="number">{show(after)}</td><td class="number">{difference}</td></tr>'
            )
        explained = f'<p class="explain">{escape(text)}</p>' if text else ""
        tables.append(
            f'<div><h3>{title}</h3>{explained}<div class="scroll"><table class="plain"><thead><tr><th></th><th class="number">Before</th>'
            '<th class="number">After</th><th class="number">Change</th></tr></thead>'
            f"<tbody>{''.join(rows)}</tbody></table></div></div>"
        )
    return (
        '<section aria-labelledby="measures-title"><h2 id="measures-title">Before and after</h2>'
        f'<div class="pair">{"".join(tables)}</div></section>'
    )


def _times(data: ReportData) -> str:
    if not data.stages:
        return ""
    times = [(str(name), float(milliseconds)) for name, milliseconds, _ in data.stages]
    longest = max((t for _, t in times if math.isfinite(t)), default=0) or 1

    def percent(t: float) -> float:
        return max(0.0, 100 * t / longest) if math.isfinite(t) else 0.0

    rows = "".join(
        f'<tr><th scope="row">{escape(name)}</th><td class="length"><i style="width:{percent(t):.2f}%"></i></td>'
        f'<td class="number">{wording.duration(t)}</td></tr>'
        for name, t in times
    )
    total = wording.duration(sum(t for _, t in times))
    return (
        '<section aria-labelledby="times-title"><h2 id="times-title">Time by stage</h2>'
        f'<table class="times"><tbody>{rows}</tbody><tfoot><tr><th scope="row">Total</th><td></td>'
        f'<td class="number">{total}</td></tr></tfoot></table></section>'
    )


def _command(data: ReportData) -> str:
    if not data.command:
        return ""
    return (
        '<p class="explain">This command repeats the registration:</p><div class="command">'
        f'<pre id="command">{escape(data.command)}</pre><button type="button" id="copy">Copy</button></div>'
    )


def _made_of(data: ReportData) -> list[tuple[str, str]]:
    """When and where it was made, and of which files."""
    rows = [("Date", data.date)] if data.date else []
    rows += [(f"{str(name).replace('_', ' ').capitalize()} file", str(path)) for name, path in data.files.items()]
    return [*rows, ("Device", data.device or "not told")]


def _facts(rows: list[tuple[str, str]]) -> str:
    return "".join(f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in rows)


def _grid(data: ReportData) -> str:
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
    return _facts(rows)
