# SPDX-License-Identifier: Apache-2.0
"""A pair's folder: result.json, which is put there last, says that the pair is done, and of what."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Iterator, Mapping, Optional

from .._engine import BadInputError
from .._json import text_of
from .._making import told_by_places
from .._parts import parts_that_are_read
from .settings import Settings
from .table import Row

RECORD = "result.json"
REPORT = "report.html"
#: What folders begin with in which files are made.
_MAKING = ".making-"


def describe_files(files: Mapping[str, str]) -> dict[str, Any]:
    """What tells that files have changed. A folder is known by the files in it.

    Raises:
        OSError: one is not there.
    """
    return {name: _describe_file(path) for name, path in files.items()}


def _describe_file(path: str) -> dict[str, Any]:
    inside = [one.stat() for one in os.scandir(path) if one.is_file()] if os.path.isdir(path) else []
    states = inside or [os.stat(part) for part in parts_that_are_read(path)]
    return {
        "path": path,
        "size": sum(state.st_size for state in states),
        "changed_ns": max(state.st_mtime_ns for state in states),
    }


def find_done(folder: Path, row: Row, settings: Settings) -> tuple[Optional[dict[str, Any]], str]:
    """The record of a pair that is done, or None and why it is to be done again: "" where it never was."""
    try:
        record = json.loads((folder / RECORD).read_text("utf-8"))
        outputs, inputs, asked = [folder / name for name in record["outputs"]], dict(record["inputs"]), record["settings"]
    except FileNotFoundError:
        return None, ""
    except (ValueError, KeyError, TypeError):
        return None, f"its {RECORD} is none of this command's"
    missing = [path.name for path in outputs if not path.is_file()]
    if missing:
        return None, f"{missing[0]} is missing"
    if asked != settings.describe():
        return None, "its settings have changed"
    now = describe_files(row.files)
    changed = [name for name in {**now, **inputs} if now.get(name) != inputs.get(name)]
    if changed:
        return None, f"its {' and '.join(changed)} changed" if len(changed) > 1 else f"its {changed[0]} has changed"
    if settings.reports and folder / REPORT not in outputs:
        return None, "its report was not asked for before"
    return record, ""


@contextmanager
def making(folder: Path) -> Iterator[Path]:
    """A folder beside a pair's, for files that are made. It is gone at the end, whatever comes."""
    made = Path(tempfile.mkdtemp(prefix=_MAKING, dir=folder.parent))
    try:
        yield made
    except (OSError, BadInputError) as error:
        told = told_by_places(error, {made: folder})
        if told is None:
            raise
        raise told from error
    finally:
        shutil.rmtree(made, ignore_errors=True)


def publish(made: Path, folder: Path, record: Mapping[str, Any]) -> None:
    """Puts all files that were made in a pair's folder, and then its record. What an earlier run left there goes first.

    Raises:
        OSError: the disk is full, or fails. Then the pair is not done.
    """
    # While there is room or not: before anything of an earlier run goes.
    (made / RECORD).write_text(text_of(record), "utf-8")
    folder.mkdir(exist_ok=True)
    _forget(folder)
    for name in record["outputs"]:
        os.replace(made / name, folder / name)
    os.replace(made / RECORD, folder / RECORD)


def _forget(folder: Path) -> None:
    """Removes an earlier run's files, the record first: what is half there is not done."""
    try:
        before = json.loads((folder / RECORD).read_text("utf-8"))
        names = [str(name) for name in before["outputs"]]
    except FileNotFoundError:
        return
    except (ValueError, KeyError, TypeError):
        names = []
    (folder / RECORD).unlink()
    for name in names:
        # Its name is from a file that anyone may have written.
        (folder / Path(name).name).unlink(missing_ok=True)


def remove_leftovers(output: Path) -> None:
    """Removes what killed workers left half made in a cohort's folder."""
    for folder in output.glob(f"{_MAKING}*"):
        shutil.rmtree(folder, ignore_errors=True)
