# SPDX-License-Identifier: Apache-2.0
"""Names the folders of a template, and determines which work is done there.

rounds/0 has the mean that round 1 begins with, rounds/N the mean of round N, and rounds/N/ID what round N has found for a person, until
that mean is done. Each folder has a result.json, written last, with the key of all that its files depend on.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any, Iterable, Mapping, Optional

from .._json import text_of
from ..cohort.folder import RECORD, check_record, making, publish, read_record, remove_leftovers
from .table import ROUNDS

# No person's folder begins so.
_PART = ".part-"


def round_folder(output: Path, number: int) -> Path:
    return output / ROUNDS / str(number)


def part_folder(folder: Path, part: int) -> Path:
    """Names the folder, in a round's one, of what a job has averaged, until the mean is done."""
    return folder / f"{_PART}{part}"


def remove_parts(folder: Path) -> None:
    """Removes all such folders of a round, as far as that is possible."""
    for one in folder.glob(f"{_PART}*"):
        remove(one)


def check_folders(folders: Iterable[Path]) -> None:
    """Raises BadInputError if a folder for results has those of a cohort, which would be removed."""
    for folder in folders:
        record, _ = read_record(folder)
        if record is not None:
            check_record(folder, record, is_template=True)


def find_done(folder: Path, key: str, inputs: Mapping[str, Any], needed: str = "") -> tuple[Optional[dict[str, Any]], str]:
    """Returns the record of work that is done, or None and why it is done again: "" if it never was done.

    Args:
        key: the key of all that the work depends on.
        inputs: path, size and time of change of each file, by which a changed one is named.
        needed: a file of the work that is to be there still; see remove_file().
    """
    record, why = read_record(folder)
    if record is None:
        return None, why
    if record.get("key") == key:
        return (None, f"its {needed} was removed by a later round") if needed in record.get("removed", []) else (record, "")
    before = record["inputs"]
    changed = [name for name in {**inputs, **before} if inputs.get(name) != before.get(name)]
    return None, f"changed: {', '.join(changed)}" if changed else "its settings have changed, or those of a round before"


def put(made: Path, folder: Path, key: str, inputs: Mapping[str, Any], settings: Mapping[str, Any], numbers: Mapping[str, Any]) -> dict[str, Any]:
    """Moves all new files to their folder, and the record, which it returns, last.

    Args:
        made: the folder that the files have been made in.
        settings: the settings with which the work was done, for people.
        numbers: the record's other numbers.

    Raises:
        OSError: the disk is full, or fails. Then there is no record.
    """
    outputs = sorted(one.name for one in made.iterdir())
    record = {"key": key, "inputs": dict(inputs), "settings": dict(settings), **numbers, "outputs": outputs}
    publish(made, folder, record)
    return record


def remove(folder: Path) -> None:
    """Removes a folder in a round's one, such as that of a person's results, as far as that is possible."""
    shutil.rmtree(folder, ignore_errors=True)


def remove_file(folder: Path, name: str) -> None:
    """Removes a file of work that is done, which no later work needs, and notes that in the record.

    Raises:
        OSError: the disk is full, or fails.
    """
    record, _ = read_record(folder)
    if record is None:
        return
    removed = record.get("removed", [])
    if name in record["outputs"]:
        record["outputs"] = [one for one in record["outputs"] if one != name]
        record["removed"] = [*removed, name]
        # The record first: without it the file would be missed.
        with making(folder / RECORD) as made:
            (made / RECORD).write_text(text_of(record), "utf-8")
            os.replace(made / RECORD, folder / RECORD)
    elif name not in removed:
        return
    # Also the file of a run that was killed behind the record.
    (folder / name).unlink(missing_ok=True)


def remove_all_leftovers(output: Path) -> None:
    """Removes folders that killed workers, and a run that was ended, left in a template's folder."""
    for folder in (output, output / ROUNDS, *(output / ROUNDS).glob("*")):
        remove_leftovers(folder)
        remove_parts(folder)
