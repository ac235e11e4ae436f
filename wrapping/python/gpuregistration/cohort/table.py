# SPDX-License-Identifier: Apache-2.0
"""Says what the table of a cohort has, which has one pair in each row."""

from __future__ import annotations

from pathlib import Path
from typing import Mapping, Sequence

from . import rows
from .rows import Form, Row, Table

__all__ = ["FILES", "FORM", "Row", "Table", "check_places", "read_table"]

#: Columns that name files, and their descriptions.
FILES = {
    "fixed": "the image that stays",
    "moving": "the image that is moved",
    "fixed_mask": "the fixed image's mask: voxels that are not 0 count",
    "moving_mask": "the moving image's mask",
    "initial": "a transform to begin with",
    "labels": "labels of the moving image, which are carried along",
    "fixed_labels": "the fixed image's, which they are compared with",
}


def _check_labels(files: Mapping[str, str]) -> list[str]:
    has_no_labels = "fixed_labels" in files and "labels" not in files
    return ["fixed_labels are compared with labels, which are empty"] if has_no_labels else []


FORM = Form(FILES, ("fixed", "moving"), ("results.csv", "results.json", "report.html"), check=_check_labels)


def read_table(table: Table) -> list[Row]:
    """Reads the rows of a cohort's table, as rows.read_rows() does."""
    return rows.read_rows(table, FORM)


def check_places(table: Table, pairs: Sequence[Row], output: Path) -> None:
    """Checks that a cohort writes neither the table nor a file that a row reads. Raises BadInputError."""
    rows.check_places(table, pairs, output, FORM.reserved)
