# SPDX-License-Identifier: Apache-2.0
"""Averages what a round's registrations have found: in one process, or some voxels in each of several workers."""

from __future__ import annotations

import math
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Mapping, Optional, Sequence

import numpy as np

from .._array_files import load_array
from .._devices import Device
from .._engine import BadInputError
from ..cohort.folder import making, read_record
from ..cohort.rows import Row
from . import average
from .person import FIELD, save, warped_file
from .places import part_folder
from .start import checked_levels


@dataclass
class Averages:
    """Holds means over people, or some numbers of them.

    Attributes:
        images: the mean of each modality's warped images, in doubles, as a flat array.
        field: the mean displacement, mm, in floats, as a flat array; None of a round of linear registrations.
    """

    images: list[np.ndarray]
    field: Optional[np.ndarray]


@dataclass(frozen=True)
class Registered:
    """Names what the registrations of a round have found.

    Attributes:
        people: the table's people.
        modalities: how many there are.
        normalize: images are divided by their mean intensities before they are averaged.
        folder: the round's; it has a folder with each person's results.
    """

    people: Sequence[Row]
    modalities: int
    normalize: bool
    folder: Path

    def read_records(self) -> list[dict[str, Any]]:
        """Reads the people's records, in the table's order. Raises BadInputError if one is missing."""
        return [self._read_record(person) for person in self.people]

    def _read_record(self, person: Row) -> dict[str, Any]:
        record, why = read_record(self.folder / person.id)
        if record is None:
            raise BadInputError(f"The results of {person.id} in {self.folder} have gone ({why or 'no record'}): run it again.")
        return record

    def average(self, records: Sequence[Mapping[str, Any]], part: int = 0, parts: int = 1) -> Averages:
        """Averages one of several parts, in the table's order, so that the bits do not depend on how many parts there are.

        Args:
            records: the people's.

        Raises:
            BadInputError: images that are not above 0 in the mean are to be divided by that.
        """
        means = []
        for n in range(self.modalities):
            # In a record a level that is no number is None.
            levels = [math.nan if record["levels"][n] is None else record["levels"][n] for record in records]
            checked = checked_levels(levels, self.people, n) if self.normalize else None
            means.append(average.mean_of_images(self._load(warped_file(n), part, parts), checked))
        field = None
        if all(FIELD in record["outputs"] for record in records):
            field = average.mean_of_images(self._load(FIELD, part, parts), kind=np.float32)
        return Averages(means, field)

    def _load(self, name: str, part: int, parts: int) -> list[np.ndarray]:
        arrays = [load_array(self.folder / person.id / name).reshape(-1) for person in self.people]
        return [array[array.size * part // parts : array.size * (part + 1) // parts] for array in arrays]


@dataclass(frozen=True)
class AveragingJob:
    """Describes the work for one of several parts of a round's averages.

    Attributes:
        registered: what is averaged.
        part, parts: the part's number, from 0 on, and how many there are.
    """

    registered: Registered
    part: int
    parts: int

    @property
    def id(self) -> str:
        return f"average {self.part + 1} of {self.parts}"

    @property
    def folder(self) -> Path:
        """The folder that gets the part."""
        return part_folder(self.registered.folder, self.part)

    def read(self) -> Averages:
        """Averages the part. Raises BadInputError."""
        return self.registered.average(self.registered.read_records(), self.part, self.parts)

    def compute(self, inputs: Averages, device: str) -> Averages:
        return inputs

    def write(self, inputs: Averages, found: Averages, device: Device, times: Mapping[str, Any]) -> dict[str, Any]:
        """Writes the averages, for join_parts(), and returns how long averaging has taken. Raises OSError if the disk is full, or fails."""
        with making(self.folder) as made:
            save(made, found.images, found.field)
            shutil.rmtree(self.folder, ignore_errors=True)
            try:
                os.replace(made, self.folder)
            except OSError:
                # A worker that was believed to be lost may have put its own there meanwhile, which has the same bits.
                if not self.folder.is_dir():
                    raise
        return {"seconds": times["read"]}


def join_parts(registered: Registered, parts: int) -> Averages:
    """Returns the averages of which so many jobs have written a part each."""
    folders = [part_folder(registered.folder, part) for part in range(parts)]
    means = [np.concatenate([load_array(folder / warped_file(n)) for folder in folders]) for n in range(registered.modalities)]
    has_field = (folders[0] / FIELD).is_file()
    return Averages(means, np.concatenate([load_array(folder / FIELD) for folder in folders]) if has_field else None)

