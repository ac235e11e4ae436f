# SPDX-License-Identifier: Apache-2.0
"""Reads and checks tables of files, which have one piece of work in each row."""

from __future__ import annotations

import csv
import io
import os
import re
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Callable, Iterable, Mapping, Sequence, Union

from .._engine import BadInputError
from .._parts import parts_that_are_read
from .._paths import PathLike, has_another_name, name_of, readable
from .._zarr_names import is_zarr, split_name

Table = Union[PathLike, Iterable[Mapping[str, Any]]]

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_LONGEST_ID = 200
# An error lists at most so many problems, and the number of the others.
_LISTED = 20
# Spreadsheets put these between cells in place of commas.
_OTHER_SIGNS = {";": "semicolons", "\t": "tabs"}


@dataclass(frozen=True)
class Row:
    """One row.

    Attributes:
        id: its name, and that of its folder.
        files: absolute paths by the columns' names, in the order of the form.
    """

    id: str
    files: Mapping[str, str]


def _find_nothing(files: Mapping[str, str]) -> list[str]:
    return []


@dataclass(frozen=True)
class Form:
    """Describes a table's columns.

    Attributes:
        files: columns that name files, and their descriptions. Beside them there may be a column "id".
        needed: the columns that every row has.
        reserved: names in the output folder that no row may have.
        least_rows: how many rows there are at least.
        check: finds what is wrong with a row's files.
    """

    files: Mapping[str, str]
    needed: Sequence[str]
    reserved: Sequence[str]
    least_rows: int = 1
    check: Callable[[Mapping[str, str]], list[str]] = _find_nothing

    @property
    def columns(self) -> tuple[str, ...]:
        return ("id", *self.files)


def read_rows(table: Table, form: Form) -> list[Row]:
    """Reads the rows of a table.

    Args:
        table: a file of comma-separated values (of tabs where it ends on .tsv) with the names of the form's columns in its first line,
            whose paths are relative to its folder; or rows with these names, whose paths are relative to the current folder. Without an id
            the rows are called 0001, 0002, ….
        form: the columns that the table may have.

    Raises:
        BadInputError: columns, ids or files are missing or not possible; the error lists all of them.
    """
    if isinstance(table, (str, bytes, os.PathLike)):
        path = Path(name_of(table))
        return _read_rows(_read_file(path, form), path.parent, str(path), form)
    rows = [_read_cells(row, number) for number, row in enumerate(table, 1)]
    names = list(dict.fromkeys(name for row in rows for name in row))
    _check_columns(names, name_of_table(table), form)
    return _read_rows(rows, Path(), name_of_table(table), form)


def name_of_table(table: Table) -> str:
    """Returns how errors name a table: its file, if it has one."""
    return str(Path(name_of(table))) if isinstance(table, (str, bytes, os.PathLike)) else "The table"


def check_places(
    table: Table, rows: Sequence[Row], output: Path, written: Sequence[str], others: Mapping[str, str] = MappingProxyType({})
) -> None:
    """Checks that nothing is written in the place of the table or of a file that is read.

    Args:
        output: the folder of the results.
        written: names of files and folders in it that are replaced, beside the rows' folders.
        others: paths of further files that are read, by the names of arguments.

    Raises:
        BadInputError: something is; the error lists all such files of rows.
    """
    if isinstance(table, (str, bytes, os.PathLike)):
        path = name_of(table)
        if os.path.realpath(path) in [os.path.realpath(output / name) for name in written]:
            raise BadInputError(
                f"The table {readable(path)} would be replaced by a file of the results. Give it another name, or another output folder."
            )
    places = _Places(output, rows, written)
    for name, path in others.items():
        problem = places.find_problem(path)
        if problem:
            raise BadInputError(
                readable(f"{name}={path} is not possible: it {problem}; give another output folder, or a copy of the file that lies elsewhere.")
            )
    found = {path: places.find_problem(path) for path in dict.fromkeys(path for row in rows for path in row.files.values())}
    problems = [
        f"row {number}: the {name} file {path} {found[path]}"
        for number, row in enumerate(rows, 1)
        for name, path in row.files.items()
        if found[path]
    ]
    _raise(problems, name_of_table(table), "give another output folder")


class _Places:
    """Knows where results are written. Arguments are those of check_places()."""

    def __init__(self, output: Path, rows: Sequence[Row], written: Sequence[str]) -> None:
        self._output = set(_names_of(output))
        self._folders = {place: row.id for row in rows for place in _names_of(output / row.id)}
        self._written = {place for name in written for place in _names_of(output / name)}

    def find_problem(self, path: str) -> str:
        """Returns what is wrong with a file that is read, to go on behind its name; "" if nothing is."""
        parts = [place for part in parts_that_are_read(split_name(path)[0]) for place in _names_of(part)]
        for place in parts:
            for folder in (place, os.path.dirname(place)):
                if folder in self._folders:
                    return f"is {'in ' * (folder != place)}the folder that the results of {self._folders[folder]} are written to"
            if any(_is_within(place, one) for one in self._written):
                return "would be replaced by the results"
            # All below a Zarr is looked at for changes, and of other folders the files in them.
            if any(_is_within(one, place) if is_zarr(place) else one == place for one in self._output):
                return "is or holds the folder of the results"
        return ""


def _names_of(path: PathLike) -> tuple[str, str]:
    """Returns a path as it is called, and where it leads to by links."""
    return os.path.abspath(name_of(path)), os.path.realpath(name_of(path))


def _is_within(place: str, folder: str) -> bool:
    return place == folder or place.startswith(os.path.join(folder, ""))


def _read_cells(row: Any, number: int) -> dict[str, str]:
    """Reads a row in memory: paths, words and numbers. None, or NaN as in pandas, is an empty cell."""
    if not isinstance(row, Mapping):
        raise BadInputError(
            f"Row {number} of the table is a {type(row).__name__}. Hand in mappings of columns' names to cells, such as "
            'frame.to_dict("records") of pandas.'
        )
    return {str(name): _cell_of(value) for name, value in row.items()}


def _cell_of(value: Any) -> str:
    if isinstance(value, (bytes, os.PathLike)):
        return os.fsdecode(value)
    return "" if value is None or value != value else str(value)


def _read_file(path: Path, form: Form) -> list[dict[str, str]]:
    try:
        # Spreadsheets put a mark in front. Names of files are bytes, which may be of another encoding than UTF-8.
        with open(path, encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
            text = file.read()
        if "\0" in text:
            raise csv.Error("it has bytes of 0, as UTF-16 and the files of spreadsheets have")
        delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True, strict=True)
        lines = [[cell.strip() for cell in line] for line in reader]
    except OSError as error:
        raise BadInputError(f"The table {readable(str(path))} cannot be read: {error.strerror}.") from error
    except csv.Error as error:
        raise BadInputError(f"The table {readable(str(path))} is no file of comma-separated values in UTF-8: {error}.") from error
    lines = [line for line in lines if any(line)]
    if not lines:
        raise BadInputError(f"The table {path} is empty. Its first line is to name its columns: {','.join(form.needed)}.")
    names = lines[0]
    other = next((what for sign, what in _OTHER_SIGNS.items() if delimiter == "," and any(sign in name for name in names)), None)
    if other is not None:
        raise BadInputError(readable(f"{path} cannot be used: its first line has {other}; separate by commas, or by tabs in a file that ends on .tsv."))
    _check_columns(names, str(path), form)
    wrong = [n for n, line in enumerate(lines[1:], 1) if len(line) > len(names)]
    _raise([f"row {n} has more cells than there are columns" for n in wrong], str(path), "put cells with a comma in quotes")
    return [dict(zip(names, line)) for line in lines[1:]]


def _check_columns(names: Sequence[str], table: str, form: Form) -> None:
    problems = [f'there is no column "{name}"' for name in form.needed if name not in names]
    problems += [f'there is a column "{name}" of no use' for name in dict.fromkeys(names) if name not in form.columns]
    problems += [f'the column "{name}" is there twice' for name in form.columns if list(names).count(name) > 1]
    _raise(problems, table, f"columns are: {', '.join(form.columns)}; all but {' and '.join(form.needed)} may be left out")


def _read_rows(cells: Sequence[Mapping[str, str]], folder: Path, table: str, form: Form) -> list[Row]:
    problems: list[str] = []
    rows: list[Row] = []
    first_of: dict[str, int] = {}
    for number, row in enumerate(cells, 1):
        id = row.get("id", "") or f"{number:04}"
        if len(id) > _LONGEST_ID:
            problems.append(f"row {number}: the id has {len(id)} characters, and a folder's name up to {_LONGEST_ID}")
        elif not _ID.fullmatch(id) or id in form.reserved:
            problems.append(f'row {number}: the id "{id}" is no name of a folder; give one of letters, digits, ".", "_" and "-"')
        # Some disks do not distinguish "a" from "A".
        elif (first := first_of.setdefault(id.lower(), number)) != number:
            problems.append(f'row {number}: the id "{id}" is that of row {first}, too')
        files = {}
        for name in form.files:
            text = row.get(name, "")
            if text:
                path = files[name] = os.path.abspath(folder / text)
                if not os.path.exists(split_name(path)[0]):
                    problems.append(f"row {number}: there is no {name} file {path}{_hint_of_encoding(text)}")
            elif name in form.needed:
                problems.append(f"row {number}: {name} is empty")
        problems += [f"row {number}: {problem}" for problem in form.check(files)]
        rows.append(Row(id, files))
    if not rows:
        problems.append("there is no row")
    elif len(rows) < form.least_rows:
        problems.append(f"there is {len(rows)} row, and {form.least_rows} are needed")
    _raise(problems, table, "")
    return rows


def _hint_of_encoding(name: str) -> str:
    return ", or the table is no file of comma-separated values in UTF-8" if has_another_name(name) else ""


def _raise(problems: list[str], table: str, what_to_do: str) -> None:
    if not problems:
        return
    listed = "; ".join(problems[:_LISTED])
    more = f"; and {len(problems) - _LISTED} more" if len(problems) > _LISTED else ""
    ending = f"; {what_to_do}" if what_to_do else ""
    raise BadInputError(readable(f"{table} cannot be used: {listed}{more}{ending}."))
