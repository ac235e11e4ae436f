# SPDX-License-Identifier: Apache-2.0
"""Reads and writes a pair's folder. result.json, which is written last, says that the pair is done, with which inputs and settings."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shutil
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Iterator, Mapping, Optional

from .._engine import BadInputError
from .._json import text_of
from .._making import FULL, PART, WRITING, naming, reworded_by_places
from .._paths import readable
from .._parts import parts_that_are_read
from .._zarr_names import is_zarr, split_name
from .settings import Settings
from .table import Row

RECORD = "result.json"
#: The table of a cohort's results, and the folder of a template's means.
COHORTS_TABLE, TEMPLATES_ROUNDS = "results.csv", "rounds"
REPORT = "report.html"
_LOCK = ".cohort-lock"
#: Begins the names of folders in which files are made.
_MAKING = ".making-"


def describe_files(files: Mapping[str, str]) -> dict[str, Any]:
    """Returns path, size and time of change of each file, by which changes are noticed. A folder has those of the files in it, and a Zarr those of
    all files and folders below it, and the number of its files.

    Raises:
        OSError: a file does not exist.
    """
    return {name: _describe_file(path) for name, path in files.items()}


def _describe_file(path: str) -> dict[str, Any]:
    place = split_name(path)[0]
    if is_zarr(place):
        return {"path": path, **_describe_tree(place)}
    inside = [one.stat() for one in os.scandir(place) if one.is_file()] if os.path.isdir(place) else []
    states = inside or [os.stat(part) for part in parts_that_are_read(place)]
    return {
        "path": path,
        "size": sum(state.st_size for state in states),
        "changed_ns": max(state.st_mtime_ns for state in states),
    }


def _describe_tree(place: str) -> dict[str, Any]:
    """Describes a folder with all that is below it, each folder once, also where links lead to it again. Folders count for the time, which
    changes where a file gets another name."""
    files, size, changed = 0, 0, 0
    seen = set()
    for folder, below, names in os.walk(place, followlinks=True):
        if os.path.realpath(folder) in seen:
            below.clear()
            continue
        seen.add(os.path.realpath(folder))
        changed = max(changed, os.stat(folder).st_mtime_ns)
        for name in names:
            # Another process may have removed the file, and a link may lead to none.
            with suppress(FileNotFoundError):
                state = os.stat(os.path.join(folder, name))
                files, size, changed = files + 1, size + state.st_size, max(changed, state.st_mtime_ns)
    return {"files": files, "size": size, "changed_ns": changed}


def find_done(folder: Path, row: Row, settings: Settings) -> tuple[Optional[dict[str, Any]], str]:
    """Returns the record of a pair that is done, or None and why the pair is done again: "" if it never was done.

    Raises:
        BadInputError: the folder has the results of a template, which would be removed.
    """
    record, why = read_record(folder)
    if record is None:
        return None, why
    check_record(folder, record, is_template=False)
    inputs, asked, outputs = record["inputs"], record["settings"], record["outputs"]
    if asked != settings.describe():
        return None, "its settings have changed"
    now = describe_files(row.files)
    changed = [name for name in {**now, **inputs} if now.get(name) != inputs.get(name)]
    if changed:
        return None, f"its {' and '.join(changed)} changed" if len(changed) > 1 else f"its {changed[0]} has changed"
    if settings.reports and REPORT not in outputs:
        return None, "its report was not asked for before"
    return record, ""


def read_record(folder: Path) -> tuple[Optional[dict[str, Any]], str]:
    """Returns the record of a folder in which all files are that it names, or None and why there is none: "" if it never was done."""
    try:
        record = json.loads((folder / RECORD).read_text("utf-8"))
        outputs = [folder / name for name in record["outputs"]]
        record["inputs"], record["settings"] = dict(record["inputs"]), dict(record["settings"])
    except FileNotFoundError:
        return None, ""
    except (ValueError, KeyError, TypeError):
        return None, f"its {RECORD} is none of this command's"
    missing = [path.name for path in outputs if not path.is_file()]
    return (None, f"{missing[0]} is missing") if missing else (record, "")


def check_is_for(output: Path, is_template: bool) -> None:
    """Raises BadInputError if a folder has the results of a template where those of a cohort are to be, or the other way round: files of the
    same names would be replaced, and folders of the same names removed."""
    place, whose = (output / COHORTS_TABLE, "a cohort") if is_template else (output / TEMPLATES_ROUNDS / "0" / RECORD, "a template")
    if place.is_file():
        raise BadInputError(readable(f"{output} has results of {whose}, which would be replaced: give another output folder."))


def check_record(folder: Path, record: Mapping[str, Any], is_template: bool) -> None:
    """Raises BadInputError if a folder's record is of a cohort and not of a template, or the other way round: a template's has a key. Its files
    would be removed."""
    if ("key" in record) != is_template:
        whose = "a cohort" if is_template else "a template"
        raise BadInputError(readable(f"{folder} has results of {whose}, which would be removed: give another output folder."))


@contextmanager
def making(folder: Path) -> Iterator[Path]:
    """Yields a folder beside a pair's folder, for files that are being made, and removes it at the end."""
    made = Path(tempfile.mkdtemp(prefix=_MAKING, dir=folder.parent))
    try:
        yield made
    except (OSError, BadInputError) as error:
        renamed = reworded_by_places(error, {made: folder}) or naming(error, folder)
        if renamed is None:
            raise
        raise renamed from error
    finally:
        shutil.rmtree(made, ignore_errors=True)


def publish(made: Path, folder: Path, record: Mapping[str, Any]) -> None:
    """Moves all new files to a pair's folder, and the record last. Files of an earlier run are removed first.

    Raises:
        OSError: the disk is full, or fails. Then there is no record, and the pair is not done.
    """
    # A full disk is noticed here, before anything of an earlier run is removed.
    (made / RECORD).write_text(text_of(record), "utf-8")
    folder.mkdir(exist_ok=True)
    _forget(folder)
    for name in record["outputs"]:
        os.replace(made / name, folder / name)
    os.replace(made / RECORD, folder / RECORD)


def _forget(folder: Path) -> None:
    """Removes an earlier run's files, the record first, since a pair with half of its files is not done."""
    try:
        before = json.loads((folder / RECORD).read_text("utf-8"))
        names = [str(name) for name in before["outputs"]]
    except FileNotFoundError:
        return
    except (ValueError, KeyError, TypeError):
        names = []
    (folder / RECORD).unlink()
    for name in names:
        # Anyone may have written that file: only the last part of a name counts.
        (folder / Path(name).name).unlink(missing_ok=True)


def remove_leftovers(output: Path) -> None:
    """Removes folders that killed workers left in a cohort's folder, and the file that a killed run was writing there."""
    for folder in output.glob(f"{_MAKING}*"):
        shutil.rmtree(folder, ignore_errors=True)
    for file in output.glob(f"{WRITING}*{PART}"):
        file.unlink(missing_ok=True)


def make_folder(folder: Path) -> None:
    """Makes a folder for results, unless it is there. Raises BadInputError if that is not possible."""
    if not folder.parent.is_dir():
        raise BadInputError(readable(f"There is no folder {folder.parent} to make {folder.name} in: make it, or give another name."))
    if folder.exists() and not folder.is_dir():
        raise BadInputError(readable(f"{folder} is no folder: give another name."))
    with writing_in(folder):
        folder.mkdir(exist_ok=True)


@contextmanager
def writing_in(folder: Path) -> Iterator[None]:
    """Raises BadInputError, which says what to do, for an OSError of what is written in a folder, unless the disk is full or fails."""
    try:
        yield
    except OSError as error:
        if error.errno in (*FULL, errno.EIO):
            raise
        raise BadInputError(readable(f"{folder} cannot be written: {error.strerror or error}; give a folder that you may write in.")) from error


@contextmanager
def locked(folder: Path, what: str = "registers a cohort") -> Iterator[None]:
    """Locks a folder for this process. Raises BadInputError if it cannot be written, or another process has it: each would remove the
    other's files.

    Args:
        what: the other process does there, for the error.
    """
    with writing_in(folder):
        opened = open(folder / _LOCK, "w", encoding="ascii")
    with opened as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise BadInputError(f"Another process {what} in {folder}: wait for it, or give another folder.") from error
        yield
