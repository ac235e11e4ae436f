# SPDX-License-Identifier: Apache-2.0
"""A cohort's report: one page of all pairs, which needs nothing else."""

from __future__ import annotations

import json
import math
from html import escape
from typing import Any, Optional

from .._report_data import find_versions
from ..report import wording
from ..report.html import fill, frame, page_file
from ..report.pictures import bytes_uri
from ..report.write import write_whole
from .charts import histogram
from .folder import REPORT
from .pair import AFTER, BEFORE
from .results import NUMBERS, TABLE, Cohort, PairResult
from .words import count_of

PAGE = "report.html"
#: Bytes of pictures, at most: what browsers open at once. Of the pairs that are left over there are files.
MAX_PICTURES = 15_000_000
# So many warnings are seen at once; more of them are opened, for they would push all else away.
_OPEN_WARNINGS = 10

# Columns of numbers: their name in results.csv, their title, how they are written, and what their chart is called, if they have one.
_COLUMNS = (
    ("cost", "Cost", wording.number, "Cost of the last stage"),
    ("dice_before", "Dice before", lambda value: wording.fixed(value, 3), "Mean Dice before"),
    ("dice", "Dice", lambda value: wording.fixed(value, 3), "Mean Dice after"),
    ("smallest_determinant", "Smallest Jacobian", lambda value: wording.number(value, 3), "Smallest Jacobian determinant"),
    ("overlap", "Overlap", lambda value: wording.fixed(value, 3), ""),
    ("seconds", "Time", lambda value: wording.duration(1e3 * value), "Seconds on the device"),
)


def write_page(cohort: Cohort) -> None:
    """Writes report.html. Raises OSError if it cannot be written."""
    rows = [pair.numbers() for pair in cohort.pairs]
    parts = {
        "summary": _summary(cohort),
        "failures": _failures(cohort),
        "warnings": _warnings(cohort),
        "charts": _charts(rows),
        "table": _table(cohort, rows),
        "pictures": _pictures(cohort, rows),
        "command": _command(cohort.command),
        "devices": _devices(cohort),
        "facts": _facts(cohort),
        "files": f'<a href="{TABLE}">{TABLE}</a> and <a href="{NUMBERS}">{NUMBERS}</a>',
    }
    text = frame(
        f"Cohort of {count_of(len(rows), 'pair')}",
        escape(str(cohort.output)),
        fill(page_file(__package__, "page.html"), parts),
        page_file(__package__, "sort.js"),
        page_file(__package__, "style.css"),
    )
    write_whole(cohort.output / PAGE, text)


def _summary(cohort: Cohort) -> str:
    failed, before = len(cohort.failed), sum(pair.was_done for pair in cohort.pairs)
    items = [
        ("Done", f"{len(cohort.pairs) - failed:,} of {len(cohort.pairs):,}", f"{before:,} of them before" if before else "pairs", False),
        ("Failed", f"{failed:,}", "see below" if failed else "pairs", failed > 0),
    ]
    folded = sum(_is_folded(pair) for pair in cohort.pairs)
    if any(_determinant(pair) is not None for pair in cohort.pairs):
        items.append(("Folded", f"{folded:,}", "pairs, at some place", folded > 0))
    if cohort.done_now:
        items.append(("Time", wording.duration(1e3 * cohort.seconds), f"for {count_of(cohort.done_now, 'pair')} of this run", False))
        items.append(("Speed", f"{wording.number(cohort.pairs_per_second, 3)} pairs/s", "with workers ready", False))
    if cohort.done_now and cohort.shares:
        least, most = (100 * find(share.busy for share in cohort.shares) for find in (min, max))
        text = f"{most:.0f} %" if f"{least:.0f}" == f"{most:.0f}" else f"{least:.0f} to {most:.0f} %"
        items.append(("Devices busy", text, f"of the time, {count_of(len(cohort.shares), 'device')}", False))
    return "".join(
        f'<div><dt>{name}</dt><dd class="{"warn" if warn else "fine"}">{value}<small>{note}</small></dd></div>'
        for name, value, note, warn in items
    )


def _determinant(pair: PairResult) -> Optional[float]:
    return pair.numbers()["smallest_determinant"]


def _is_folded(pair: PairResult) -> bool:
    value = _determinant(pair)
    return value is not None and value <= 0


def _failures(cohort: Cohort) -> str:
    if not cohort.failed:
        return ""
    rows = []
    for pair in cohort.failed:
        trace = f"<details><summary>Where</summary><pre>{escape(pair.trace)}</pre></details>" if pair.trace else ""
        rows.append(
            f'<tr><th scope="row" class="warn">{escape(pair.row.id)}</th><td>{escape(pair.error_type)}</td>'
            f"<td>{escape(pair.error)}{trace}</td></tr>"
        )
    return (
        '<section aria-labelledby="failures-title"><h2 id="failures-title">Failed</h2>'
        '<p class="explain">The same command tries these pairs again, and no others.</p><div class="scroll">'
        '<table class="plain failures"><thead><tr><th>Pair</th><th>Error</th><th>What it says</th></tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div></section>"
    )


def _warnings(cohort: Cohort) -> str:
    rows = [
        f'<tr><th scope="row"><a href="#pair-{escape(pair.row.id)}">{escape(pair.row.id)}</a></th><td>{escape(warning)}</td></tr>'
        for pair in cohort.pairs
        for warning in pair.warnings
    ]
    if not rows:
        return ""
    return (
        '<section aria-labelledby="warnings-title"><h2 id="warnings-title">Warnings</h2>'
        '<p class="explain">These pairs are done, and something may have gone wrong.</p>'
        f'<details{" open" if len(rows) <= _OPEN_WARNINGS else ""}><summary>{count_of(len(rows), "warning")}</summary><div class="scroll">'
        '<table class="plain failures"><thead><tr><th>Pair</th><th>What it says</th></tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div></details></section>"
    )


def _charts(rows: list[dict[str, Any]]) -> str:
    charts = []
    for name, _, _, title in _COLUMNS:
        values = [row[name] for row in rows if _is_number(row[name])]
        if title and values:
            charts.append(histogram(title, values, "; at 0 and below it is folded" if name == "smallest_determinant" else ""))
    if not charts:
        return ""
    return (
        '<section aria-labelledby="charts-title"><h2 id="charts-title">How pairs are spread</h2>'
        f'<div class="spread">{"".join(charts)}</div></section>'
    )


def _is_number(value: Any) -> bool:
    return value is not None and math.isfinite(value)


def _table(cohort: Cohort, rows: list[dict[str, Any]]) -> str:
    columns = [column for column in _COLUMNS if any(_is_number(row[column[0]]) for row in rows)]
    with_reports = any(_has_report(pair) for pair in cohort.pairs)
    titles = [("Pair", ""), ("State", ""), *((title, "number") for _, title, _, _ in columns), ("Device", "")]
    head = "".join(f'<th class="{style}"><button type="button">{title}</button></th>' for title, style in titles)
    body = []
    # Failures first, as all else on this page.
    for pair, row in sorted(zip(cohort.pairs, rows), key=lambda one: not one[0].failed):
        id, state = escape(pair.row.id), escape(row["state"])
        name = id if pair.failed else f'<a href="#pair-{id}">{id}</a>'
        cells = [f'<th scope="row" data-value="{id}">{name}</th>']
        told = escape("\n".join(pair.warnings))
        mark = f' <span class="warn" title="{told}">with warnings</span>' if told else ""
        cells.append(f'<td data-value="{state}{" with warnings" if told else ""}"{" class=warn" if pair.failed else ""}>{state}{mark}</td>')
        for column, _, write, _ in columns:
            value = row[column]
            known = _is_number(value)
            style = "number warn" if column == "smallest_determinant" and known and value <= 0 else "number"
            cells.append(f'<td class="{style}" data-value="{value if known else ""}">{write(value) if known else "–"}</td>')
        device = escape(row["device"] or "")
        cells.append(f'<td data-value="{device}">{device or "–"}</td>')
        if with_reports:
            cells.append(f'<td><a href="{id}/{REPORT}">Report</a></td>' if _has_report(pair) else "<td></td>")
        body.append(f'<tr data-pair="{id}">{"".join(cells)}</tr>')
    return (
        f'<table class="plain pairs" id="pairs"><thead><tr>{head}{"<th></th>" if with_reports else ""}</tr></thead>'
        f"<tbody>{''.join(body)}</tbody></table>"
    )


def _has_report(pair: PairResult) -> bool:
    return pair.record is not None and REPORT in pair.record["outputs"]


def _pictures(cohort: Cohort, rows: list[dict[str, Any]]) -> str:
    figures, left = [], MAX_PICTURES
    shown = 0
    done = [(pair, row) for pair, row in zip(cohort.pairs, rows) if not pair.failed]
    for pair, row in done:
        id = escape(pair.row.id)
        folder = cohort.output / pair.row.id
        images = []
        for name, when in ((BEFORE, "before"), (AFTER, "after")):
            uri = bytes_uri((folder / name).read_bytes(), "jpeg")
            left -= len(uri)
            images.append(f'<span>{when}</span><img alt="{id} {when}" loading="lazy" src="{uri}">')
        if left < 0:
            break
        shown += 1
        cost = f" · cost {wording.number(row['cost'])}" if _is_number(row["cost"]) else ""
        dice = f" · Dice {wording.fixed(row['dice'], 3)}" if _is_number(row["dice"]) else ""
        caption = f"<figcaption><b>{id}</b>{cost}{dice}</figcaption>"
        figures.append(f'<figure id="pair-{id}" data-pair="{id}">{caption}{"".join(images)}</figure>')
    if not figures:
        return ""
    rest = len(done) - shown
    note = f" Of {count_of(rest, 'more pair')} they are in the pairs’ folders: this page would get too large." if rest else ""
    return (
        '<section aria-labelledby="pictures-title"><h2 id="pictures-title">Before and after</h2>'
        '<p class="explain">Squares of the fixed image and of the moving one by turns, in the planes through the middle: where they '
        f"lie on each other, edges run on from square to square. In the order of the table above.{note}</p>"
        f'<div class="gallery" id="gallery">{"".join(figures)}</div></section>'
    )


def _command(command: str) -> str:
    if not command:
        return ""
    return f'<p class="explain">This command goes on with what is left to do:</p><div class="command"><pre>{escape(command)}</pre></div>'


def _devices(cohort: Cohort) -> str:
    if not cohort.shares:
        return ""
    rows = "".join(
        f'<tr><th scope="row">{escape(share.device)}</th><td>{escape(share.description)}, {escape(share.host)}</td>'
        f'<td class="number">{share.pairs:,}</td><td class="number">{100 * share.busy:.0f} %</td></tr>'
        for share in cohort.shares
    )
    return (
        '<h3>Devices</h3><div class="scroll"><table class="plain"><thead><tr><th>Device</th><th>What it is</th>'
        f'<th class="number">Pairs</th><th class="number">Busy</th></tr></thead><tbody>{rows}</tbody></table></div>'
    )


def _facts(cohort: Cohort) -> str:
    rows = [("Stages", "; ".join(_describe_stage(stage) for stage in cohort.settings["stages"])), ("Seed", str(cohort.settings["seed"]))]
    rows += list(find_versions().items())
    return "".join(f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in rows)


def _describe_stage(stage: dict[str, Any]) -> str:
    settings = {name: value if isinstance(value, str) else json.dumps(value) for name, value in stage.items() if name != "name"}
    return f"{stage['name']} ({', '.join(f'{name} {value}' for name, value in settings.items())})"
