# SPDX-License-Identifier: Apache-2.0
"""benchmark/dense_table.py: Markdown of the rows that benchmark/compare_dense.py writes."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmark"))

import dense_table
from dense_rows import HEAD_COLUMNS, KNOWN_COLUMNS, RowFile, mean_rows, read_rows


def head_row(pair, program, dice, s, **others):
    scores = {"s_head": s, "least": 0.05, "folded": 0, "seconds": 1.234, "inv_mean": 0.01, "inv_max": 0.5}
    return {"contrast": "t1 <- t2", "pair": pair, "program": program, "dice": dice, "s": s, **scores, **others}


OTHER = {"settings": "greedy 1.4, -m NMI", "where": "4 threads"}
HEADS = [
    head_row("b <- a", "ours: greedy:radius=4", 0.6, 0.2, settings="3 runs", where="cuda:0"),
    head_row("a <- b", "ours: greedy:radius=4", 0.5, 0.3, settings="3 runs", where="cuda:0", least=0.02, folded=3, seconds=2.0, inv_max=0.75),
    {"contrast": "t1 <- t2", "pair": "a <- b", "program": "affine", "dice": 0.31},
    {"contrast": "t1 <- t2", "pair": "b <- a", "program": "affine", "dice": 0.33},
    head_row("a <- b", "greedy-nmi", 0.4567, 0.25, seconds=123.4, **OTHER),
    {"contrast": "t1 <- t2", "pair": "b <- a", "program": "greedy-nmi", "skipped": "not finished in 9 s", **OTHER},
]
MARKDOWN = """\
| T1 ← T2 | mean | a ← b | b ← a | least det J | folded voxels, most | inverse: mean, most | s |
|---|---|---|---|---|---|---|---|
| affine | 0.320 | 0.310 | 0.330 |  |  |  |  |
| `greedy-nmi` | 0.457 at 0.250 (1 of 2) | 0.457 at 0.250 | – | 0.050 | 0 | 0.01, 0.5 | 123 |
| our `greedy:radius=4` | 0.550 at 0.250 | 0.500 at 0.300 | 0.600 at 0.200 | 0.020 | 3 | 0.01, 0.75 | 1.62 |

- `greedy-nmi`: greedy 1.4, -m NMI; 4 threads
- no `greedy-nmi` of b ← a: not finished in 9 s
"""


def write(path, head, columns, rows):
    file = RowFile(path, head, columns)
    for row in rows:
        file.add(row)
    file.close()


def test_heads():
    assert dense_table.write_table(HEADS) == MARKDOWN


def test_files_of_one_contrast_come_into_one_table(tmp_path, capsys):
    write(tmp_path / "ours.csv", "Ours.\nOf 2 runs.", HEAD_COLUMNS, HEADS[:4])
    write(tmp_path / "others.csv", "Others.", HEAD_COLUMNS, HEADS[2:])
    assert dense_table.main([str(tmp_path / "ours.csv"), str(tmp_path / "others.csv")]) is None
    assert capsys.readouterr().out == MARKDOWN + "\nOurs.\nOf 2 runs.\nOthers.\n"


def test_known_deformations():
    scores = {"mean": 1.0, "median": 2.0, "p95": 3.0, "head_mean": 0.1234, "head_median": 0.05, "head_p95": 2.0}
    rest = {"s": 0.1, "s_head": 0.1, "least": 0.5, "folded": 0, "seconds": 45.67}
    rows = [{"contrast": "t1 <- t1", "pair": "thin plate 1", "program": "ours: ffd", **scores, **rest},
            {"contrast": "t1 <- t1", "pair": "thin plate 1", "program": "no deformation", **scores}]
    assert dense_table.write_table(rows).splitlines() == [
        "| T1 ← T1 | thin plate 1 | least det J | folded voxels, most | s |",
        "|---|---|---|---|---|",
        "| no deformation | 0.123, 0.050, 2.000 |  |  |  |",
        "| our `ffd` | 0.123, 0.050, 2.000 | 0.500 | 0 | 45.7 |",
    ]
    (mean,) = mean_rows(rows[:1], KNOWN_COLUMNS)
    assert mean["pair"] == "mean of 1" and mean["head_mean"] == 0.1234


def test_rows_are_in_the_file_before_it_is_closed(tmp_path):
    file = RowFile(tmp_path / "a.csv", "Head.", HEAD_COLUMNS)
    file.add(HEADS[0])
    comment, rows = read_rows(tmp_path / "a.csv")
    assert comment == "Head." and rows == [HEADS[0]]
    file.close()


def test_files_that_are_no_tables(tmp_path, capsys):
    path = tmp_path / "a.csv"
    assert dense_table.main([str(path)]).startswith("dense_table.py: ")
    path.write_text("x,y\n1,2\n")
    assert "has no column 'program'" in dense_table.main([str(path)])
    write(path, "Head.", HEAD_COLUMNS, [{**HEADS[0], "dice": "0.5x"}])
    assert f"{path}, line 2: a number is none" in dense_table.main([str(path)])
    assert dense_table.main([]) == dense_table.__doc__
