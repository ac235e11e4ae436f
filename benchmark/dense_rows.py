# SPDX-License-Identifier: Apache-2.0
"""Rows of the comparison of dense registrations: their columns, their file, and their means."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any, Iterable, Optional, TextIO

import numpy as np

HEAD_COLUMNS = {
    "dice": "{:.4f}", "s": "{:.3f}", "s_head": "{:.3f}", "least": "{:.3f}", "folded": "{:.0f}",
    "seconds": "{:.2f}", "inv_mean": "{:.2g}", "inv_max": "{:.2g}",
}
KNOWN_COLUMNS = {
    "mean": "{:.4f}", "median": "{:.4f}", "p95": "{:.4f}", "head_mean": "{:.4f}", "head_median": "{:.4f}", "head_p95": "{:.4f}",
    "s": "{:.3f}", "s_head": "{:.3f}", "least": "{:.3f}", "folded": "{:.0f}", "seconds": "{:.2f}",
}
#: A row has these words besides numbers; skipped: why it has no numbers.
WORDS = ("contrast", "pair", "program", "settings", "where", "skipped")

Row = dict[str, Any]


class RowFile:
    """A CSV file to which rows are added as they come, so that it has what was measured if the run is stopped. It begins with a comment."""

    def __init__(self, path: Optional[Path], head: str, columns: Iterable[str]) -> None:
        """Creates the file of a path, and writes the comment head and the names of columns; None: writes nothing, ever."""
        self._file: Optional[TextIO] = None
        if path is not None:
            self._file = open(path, "w", newline="")
            self._file.writelines(f"# {line}\n" for line in head.splitlines())
            self._writer = csv.DictWriter(self._file, [*WORDS[:-1], *columns, WORDS[-1]])
            self._writer.writeheader()
            self._file.flush()

    def add(self, row: Row) -> None:
        """Writes a row, at once."""
        if self._file is not None:
            self._writer.writerow(row)
            self._file.flush()

    def close(self) -> None:
        """Closes the file."""
        if self._file is not None:
            self._file.close()


def read_rows(path: Path) -> tuple[str, list[Row]]:
    """Reads a file of RowFile: the comment it begins with, and its rows, whose numbers are floats.

    Raises:
        ValueError: it has no column "program", or a number is none.
    """
    with open(path, newline="") as file:
        lines = file.read().splitlines(keepends=True)
    comment = "".join(line[2:] for line in lines if line.startswith("# "))
    reader = csv.DictReader(line for line in lines if not line.startswith("# "))
    if "program" not in (reader.fieldnames or ()):
        raise ValueError(f"{path} has no column 'program': it is not a file of compare_dense.py --csv.")
    rows = []
    for row in reader:
        try:
            rows.append({name: text if name in WORDS else float(text) for name, text in row.items() if text})
        except (TypeError, ValueError):
            # The last line of a run that was killed.
            raise ValueError(f"{path}, line {reader.line_num}: a number is none. Remove the line if the run was stopped there.") from None
    return comment.strip(), rows


def mean_rows(rows: list[Row], columns: Iterable[str]) -> list[Row]:
    """Returns the mean of each program over its pairs, contrast by contrast; least det J is the least of all."""
    means = []
    for contrast, program in dict.fromkeys((row["contrast"], row["program"]) for row in rows):
        own = [row for row in rows if (row["contrast"], row["program"]) == (contrast, program) and "skipped" not in row]
        if own:
            numbers = {name: (min if name == "least" else np.mean)([row[name] for row in own]) for name in columns if name in own[0]}
            means.append({"contrast": contrast, "pair": f"mean of {len(own)}", "program": program, **numbers})
    return means


def format_row(row: Row, columns: dict[str, str], width: int) -> str:
    """Returns a row of the printed table. width: of the column of programs."""
    cells = [form.format(row[name]) if name in row else "" for name, form in columns.items()]
    text = f"skipped: {row['skipped']}" if "skipped" in row else "".join(f"{cell:>13}" for cell in cells)
    return f"{row['pair']:<16} {row['program']:<{width}}{text}"
