# SPDX-License-Identifier: Apache-2.0
"""Makes the Markdown tables of benchmark/README.md from files of compare_dense.py --csv.

  dense_table.py FILE.csv [FILE.csv …]

Rows of all files that have the same contrasts come into one table, a line per program: its mean over the pairs beside each pair. Overlap stands
at the deviation of log det J, "0.562 at 0.318"; errors of known deformations in mm as mean, median and 95th percentile within the head. A
mean over fewer pairs than the others have says how many: it does not compare with theirs.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Callable, Optional, Sequence

from dense_rows import HEAD_COLUMNS, KNOWN_COLUMNS, Row, mean_rows, read_rows

#: In place of a score that there is not.
NONE = "–"


def _overlap(row: Row) -> str:
    """Returns the overlap of a row at its deviation, which the affine transform has not."""
    return f"{row['dice']:.3f}" + (f" at {row['s']:.3f}" if "s" in row else "")


def _errors(row: Row) -> str:
    """Returns the errors of a row."""
    return ", ".join(f"{row[name]:.3f}" for name in ("head_mean", "head_median", "head_p95"))


def _seconds(row: Row) -> str:
    """Returns the seconds of a row: three digits, or those before the point."""
    seconds = row["seconds"]
    return f"{seconds:.0f}" if seconds >= 100 else f"{seconds:.1f}" if seconds >= 10 else f"{seconds:.2f}"


def _program(name: str) -> str:
    """Returns a program's name in Markdown."""
    own = name.removeprefix("ours: ")
    return f"our `{own}`" if own != name else name if " " in name or name == "affine" else f"`{name}`"


def write_table(rows: Sequence[Row]) -> str:
    """Returns the table of rows of one contrast, and behind it each program's settings, and the reasons for missing scores."""
    is_known = any("head_mean" in row for row in rows)
    cell: Callable[[Row], str] = _errors if is_known else _overlap
    means = {row["program"]: row for row in mean_rows(list(rows), KNOWN_COLUMNS if is_known else HEAD_COLUMNS)}
    pairs = sorted({row["pair"] for row in rows})
    found = {(row["program"], row["pair"]): row for row in rows if "skipped" not in row}
    heads = [rows[0]["contrast"].upper().replace("<-", "←"), *(["mean"] if len(pairs) > 1 else []), *(pair.replace("<-", "←") for pair in pairs)]
    heads += ["least det J", "folded voxels, most", *([] if is_known else ["inverse: mean, most"]), "s"]
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for program in dict.fromkeys(row["program"] for row in sorted(rows, key=_rank)):
        mean = means.get(program)
        scores = [found.get((program, pair)) for pair in pairs]
        own = [score for score in scores if score is not None]
        short = "" if len(own) == len(pairs) else f" ({len(own)} of {len(pairs)})"
        cells = [_program(program)]
        cells += [(cell(mean) if mean else NONE) + short] if len(pairs) > 1 else []
        cells += [NONE if score is None else cell(score) for score in scores]
        cells += [_least(own), _most(own), *([] if is_known else [_inverse(own)]), _seconds(mean) if mean and "seconds" in mean else ""]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join([*lines, "", *_describe(rows), *_explain(rows)]).rstrip() + "\n"


def _rank(row: Row) -> tuple[int, str]:
    """Returns what orders programs: what all start from, the others, this package's stages."""
    is_ours = row["program"].startswith("ours: ")
    return (2 if is_ours else 1 if "settings" in row else 0), "" if is_ours else row["program"]


def _least(rows: Sequence[Row]) -> str:
    dets = [row["least"] for row in rows if "least" in row]
    return f"{min(dets):.3f}" if dets else ""


def _most(rows: Sequence[Row]) -> str:
    folded = [row["folded"] for row in rows if "folded" in row]
    return f"{max(folded):.0f}" if folded else ""


def _inverse(rows: Sequence[Row]) -> str:
    errors = [(row["inv_mean"], row["inv_max"]) for row in rows if "inv_mean" in row]
    return f"{sum(mean for mean, _ in errors) / len(errors):.2g}, {max(most for _, most in errors):.2g}" if errors else ""


def _describe(rows: Sequence[Row]) -> list[str]:
    """Returns a line for each program: its settings, and where it ran."""
    described: dict[str, Row] = {}
    for row in sorted(rows, key=_rank):
        if "settings" in row:
            described.setdefault(row["program"], row)
    return [f"- {_program(name)}: {row['settings']}; {row['where']}" for name, row in described.items() if not name.startswith("ours: ")]


def _explain(rows: Sequence[Row]) -> list[str]:
    """Returns a line for each score that is not there."""
    return [f"- no {_program(row['program'])} of {row['pair'].replace('<-', '←')}: {row['skipped']}" for row in rows if "skipped" in row]


def main(arguments: Sequence[str]) -> Optional[str]:
    """Prints the tables of files, and what ran. Returns an error's text, or None."""
    if not arguments or arguments[0].startswith("-"):
        return __doc__
    comments, rows = [], []
    try:
        for name in arguments:
            comment, found = read_rows(Path(name))
            comments.append(comment)
            rows += found
    except (OSError, ValueError) as error:
        return f"dense_table.py: {error}"
    # Files of the same cases have the score of what programs start from each.
    unique = list({(row["contrast"], row["pair"], row["program"]): row for row in rows}.values())
    for is_known, contrast in dict.fromkeys((row["pair"].startswith("thin plate"), row["contrast"]) for row in unique):
        print(write_table([row for row in unique if (row["pair"].startswith("thin plate"), row["contrast"]) == (is_known, contrast)]))
    print("\n".join(comments))
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
