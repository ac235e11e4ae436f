# SPDX-License-Identifier: Apache-2.0
"""Holds a cohort's results, and writes their table."""

from __future__ import annotations

import csv
import dataclasses
import io
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Mapping, Optional, Sequence

from .._json import text_of
from .._report_data import find_versions
from ..report.write import write_whole
from .folder import COHORTS_TABLE
from .shares import Share
from .table import FILES, Row

TABLE, NUMBERS = COHORTS_TABLE, "results.json"


@dataclass(frozen=True)
class PairResult:
    """Result of a pair.

    Attributes:
        row: the pair's row of the table.
        record: the content of its result.json; None if it failed.
        error_type, error, trace: why it failed, and where.
        was_done: an earlier run has done it.
        spans: when "read", "register" and "write" began and ended in this run, in seconds since 1970.
    """

    row: Row
    record: Optional[dict[str, Any]]
    error_type: str = ""
    error: str = ""
    trace: str = ""
    was_done: bool = False
    spans: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    @property
    def failed(self) -> bool:
        return self.record is None

    @property
    def warnings(self) -> list[str]:
        """Warnings of the pair's files and of all its stages. Records of earlier versions have none of files."""
        record = self.record or {}
        return [*record.get("warnings", []), *(warning for stage in record.get("stages", []) for warning in stage.get("warnings", []))]

    def numbers(self) -> dict[str, Any]:
        """Returns the pair's row in the table of results. Unknown values are None."""
        record = self.record or {}
        stages = record.get("stages", [])
        dice = list(record.get("dice", {}).values())
        return {
            "id": self.row.id,
            "state": "failed" if self.failed else "done before" if self.was_done else "done",
            "cost": record.get("cost"),
            "seconds": sum(stage["seconds"] for stage in stages) if stages else None,
            "overlap": _last_of(stages, "overlap"),
            "smallest_determinant": _last_of(stages, "smallest_determinant"),
            "dice_before": _mean([before for before, _ in dice]),
            "dice": _mean([after for _, after in dice]),
            "device": record.get("device"),
            "warnings": " | ".join(self.warnings) or None,
            "error_type": self.error_type or None,
            "error": self.error or None,
            **{name: self.row.files.get(name) for name in FILES},
        }


@dataclass(frozen=True)
class Cohort:
    """Result of a cohort.

    Attributes:
        output: its folder.
        pairs: in the table's order.
        settings: the registrations' settings, as plain data.
        seconds: the time of the whole run.
        registering_seconds: the time from when workers were ready until the last pair ended.
        shares: how busy each device was.
        command: the command line that repeats it.
    """

    output: Path
    pairs: list[PairResult]
    settings: dict[str, Any]
    seconds: float
    registering_seconds: float
    shares: list[Share]
    command: str = ""

    @property
    def failed(self) -> list[PairResult]:
        return [pair for pair in self.pairs if pair.failed]

    @property
    def done_now(self) -> int:
        """The number of pairs that this run has done."""
        return sum(not pair.failed and not pair.was_done for pair in self.pairs)

    @property
    def pairs_per_second(self) -> float:
        """Pairs that this run has done, per second with workers ready."""
        return self.done_now / self.registering_seconds if self.registering_seconds > 0 else 0.0

    def summary(self) -> dict[str, Any]:
        """Returns the numbers of the whole cohort, as plain data."""
        return {
            "pairs": len(self.pairs),
            "failed": len(self.failed),
            "done_now": self.done_now,
            "seconds": self.seconds,
            "registering_seconds": self.registering_seconds,
            "pairs_per_second": self.pairs_per_second,
            "devices": [dataclasses.asdict(share) for share in self.shares],
        }


def write_results(cohort: Cohort) -> None:
    """Writes results.csv and results.json. Raises OSError if they cannot be written."""
    rows = [pair.numbers() for pair in cohort.pairs]
    stream = io.StringIO()
    table = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
    table.writeheader()
    table.writerows([{name: "" if value is None else value for name, value in row.items()} for row in rows])
    write_whole(cohort.output / TABLE, stream.getvalue())
    content = {
        "summary": cohort.summary(),
        "settings": cohort.settings,
        "versions": find_versions(),
        "pairs": [{**row, **_more_of(pair)} for row, pair in zip(rows, cohort.pairs)],
    }
    write_whole(cohort.output / NUMBERS, text_of(content))


def _more_of(pair: PairResult) -> dict[str, Any]:
    """Returns the numbers that no cell of the table can hold. Only the pair's own record has the cost of each iteration."""
    record = pair.record or {}
    stages = [{name: value for name, value in stage.items() if name != "levels"} for stage in record.get("stages", [])]
    return {"trace": pair.trace, "stages": stages, "dice_by_label": record.get("dice", {}), "times": record.get("times", {})}


def _last_of(stages: Sequence[dict[str, Any]], name: str) -> Optional[float]:
    return next((stage[name] for stage in reversed(stages) if stage.get(name) is not None), None)


def _mean(values: Sequence[float]) -> Optional[float]:
    return sum(values) / len(values) if values else None
