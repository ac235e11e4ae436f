# SPDX-License-Identifier: Apache-2.0
"""What subcommands print on standard output."""

from __future__ import annotations

import json
from typing import Any, Sequence

from .._json import plain


def print_json(content: dict[str, Any]) -> None:
    """One JSON object on one line. What is not a finite number is null: JSON has none."""
    print(json.dumps(plain(content), allow_nan=False))


def print_table(names: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Columns as wide as they need to be; the first one and the last one to the left."""
    table = [list(names), *[list(row) for row in rows]]
    widths = [max(len(row[n]) for row in table) for n in range(len(names))]
    for row in table:
        cells = [text.ljust(width) if n in (0, len(names) - 1) else text.rjust(width) for n, (text, width) in enumerate(zip(row, widths))]
        print("  ".join(cells).rstrip())
