# SPDX-License-Identifier: Apache-2.0
"""Makes a cohort's report: one page of all pairs, which needs no other file."""

from __future__ import annotations

import json
import math
from typing import Any, NamedTuple, Optional

from .._report_data import find_versions
from ..report import wording
from ..report.pictures import bytes_uri
from ..report.template import render, safe
from ..report.write import write_whole
from .charts import histogram
from .folder import REPORT
from .pair import AFTER, BEFORE
from .results import NUMBERS, TABLE, Cohort, PairResult

PAGE = "report.html"
#: The most bytes of pictures, which browsers open at once. The pictures of further pairs are files.
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


class _Row(NamedTuple):
    """A pair, as the table has it. A cell is of what it is sorted by, what it shows, and whether that is a warning."""

    id: str
    state: str
    is_failed: bool
    warnings: str
    cells: list[tuple[Any, str, bool]]
    device: str
    report: str


class _Figure(NamedTuple):
    """A pair's pictures: when each one is of, and its data."""

    id: str
    cost: Optional[float]
    dice: Optional[float]
    pictures: list[tuple[str, str]]


def write_page(cohort: Cohort) -> None:
    """Writes report.html. Raises OSError if it cannot be written."""
    rows = [pair.numbers() for pair in cohort.pairs]
    columns = [column for column in _COLUMNS if any(_is_number(row[column[0]]) for row in rows)]
    warnings = [(pair.row.id, warning) for pair in cohort.pairs for warning in pair.warnings]
    done = [(pair, row) for pair, row in zip(cohort.pairs, rows) if not pair.failed]
    figures = _figures(cohort, done)
    text = render(
        "cohort.html.j2",
        title=f"Cohort of {wording.count_of(len(rows), 'pair')}",
        subtitle=str(cohort.output),
        styles=["style.css", "cohort.css"],
        scripts=["sort.js"],
        summary=_summary(cohort),
        failed=cohort.failed,
        warnings=warnings,
        warnings_open=len(warnings) <= _OPEN_WARNINGS,
        charts=_charts(rows),
        files=[TABLE, NUMBERS],
        titles=[("Pair", ""), ("State", ""), *((title, "number") for _, title, _, _ in columns), ("Device", "")],
        with_reports=any(_has_report(pair) for pair in cohort.pairs),
        # Failures first, as all else on this page.
        rows=[_row(pair, row, columns) for pair, row in sorted(zip(cohort.pairs, rows), key=lambda one: not one[0].failed)],
        figures=figures,
        left_out=len(done) - len(figures),
        command=cohort.command,
        shares=cohort.shares,
        made_of=_made_of(cohort),
    )
    write_whole(cohort.output / PAGE, text)


def _summary(cohort: Cohort) -> list[tuple[str, str, str, bool]]:
    """Returns what stands large at the top: names, values, notes, and whether they are warnings."""
    failed, before = len(cohort.failed), sum(pair.was_done for pair in cohort.pairs)
    items = [
        ("Done", f"{len(cohort.pairs) - failed:,} of {len(cohort.pairs):,}", f"{before:,} of them before" if before else "pairs", False),
        ("Failed", f"{failed:,}", "see below" if failed else "pairs", failed > 0),
    ]
    determinants = [value for value in (pair.numbers()["smallest_determinant"] for pair in cohort.pairs) if value is not None]
    if determinants:
        folded = sum(value <= 0 for value in determinants)
        items.append(("Folded", f"{folded:,}", "pairs, at some place", folded > 0))
    if cohort.done_now:
        items.append(
            ("Time", wording.duration(1e3 * cohort.seconds), f"for {wording.count_of(cohort.done_now, 'pair')} of this run", False)
        )
        items.append(("Speed", f"{wording.number(cohort.pairs_per_second, 3)} pairs/s", "with workers ready", False))
    if cohort.done_now and cohort.shares:
        least, most = (100 * find(share.busy for share in cohort.shares) for find in (min, max))
        text = f"{most:.0f} %" if f"{least:.0f}" == f"{most:.0f}" else f"{least:.0f} to {most:.0f} %"
        items.append(("Devices busy", text, f"of the time, {wording.count_of(len(cohort.shares), 'device')}", False))
    return items


def _charts(rows: list[dict[str, Any]]) -> list[Any]:
    charts = []
    for name, _, _, title in _COLUMNS:
        values = [row[name] for row in rows if _is_number(row[name])]
        if title and values:
            note = "; at 0 and below it is folded" if name == "smallest_determinant" else ""
            charts.append(safe(histogram(title, values, note)))
    return charts


def _is_number(value: Any) -> bool:
    return value is not None and math.isfinite(value)


def _row(pair: PairResult, row: dict[str, Any], columns: Any) -> _Row:
    cells = []
    for column, _, write, _ in columns:
        value = row[column]
        is_known = _is_number(value)
        is_folded = column == "smallest_determinant" and is_known and value <= 0
        cells.append((value if is_known else "", write(value) if is_known else "–", is_folded))
    report = f"{pair.row.id}/{REPORT}" if _has_report(pair) else ""
    return _Row(pair.row.id, row["state"], pair.failed, "\n".join(pair.warnings), cells, row["device"] or "", report)


def _has_report(pair: PairResult) -> bool:
    return pair.record is not None and REPORT in pair.record["outputs"]


def _figures(cohort: Cohort, done: list[tuple[PairResult, dict[str, Any]]]) -> list[_Figure]:
    """Returns the pictures of pairs that are done, the first ones of them where all would be too large."""
    figures, left = [], MAX_PICTURES
    for pair, row in done:
        folder = cohort.output / pair.row.id
        pictures = [(when, bytes_uri((folder / name).read_bytes(), "jpeg")) for name, when in ((BEFORE, "before"), (AFTER, "after"))]
        left -= sum(len(uri) for _, uri in pictures)
        if left < 0:
            break
        cost, dice = (row[name] if _is_number(row[name]) else None for name in ("cost", "dice"))
        figures.append(_Figure(pair.row.id, cost, dice, pictures))
    return figures


def _made_of(cohort: Cohort) -> list[tuple[str, str]]:
    stages = "; ".join(_describe_stage(stage) for stage in cohort.settings["stages"])
    return [("Stages", stages), ("Seed", str(cohort.settings["seed"])), *find_versions().items()]


def _describe_stage(stage: dict[str, Any]) -> str:
    settings = {name: value if isinstance(value, str) else json.dumps(value) for name, value in stage.items() if name != "name"}
    return f"{stage['name']} ({', '.join(f'{name} {value}' for name, value in settings.items())})"
