# SPDX-License-Identifier: Apache-2.0
"""Holds a template's results, and writes their numbers."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional

from .._json import text_of
from .._report_data import find_versions
from ..cohort.rows import Row
from ..cohort.shares import Share
from ..report.write import write_whole
from .table import NUMBERS

# Voxels of a last shape update from which on another round is of use.
_LARGE_UPDATE = 0.5


@dataclass(frozen=True)
class Round:
    """Result of a round.

    Attributes:
        number: from 1 on; 0 is the mean that the first round begins with.
        stages: names of the stages of its registrations.
        folder: has its mean, mean.nii.gz, and further modalities', mean2.nii.gz, ….
        record: the content of its result.json.
        seconds: how long it took in this run; None if an earlier run has done it.
    """

    number: int
    stages: list[str]
    folder: Path
    record: dict[str, Any]
    seconds: Optional[float] = None

    @property
    def was_done(self) -> bool:
        """Returns whether an earlier run has done it."""
        return self.seconds is None

    def numbers(self) -> dict[str, Any]:
        """Returns the round's numbers, as plain data. A number that is not known is None.

        "sharpness": each modality's mean gradient in the head, divided by its mean intensity there, per mm, before the mean is sharpened.
        "update": the mean and the largest displacement of the head by the shape update, in voxels.
        "scales": the scales of the mean affine map, the largest first.
        "cost": the mean cost of the registrations.
        "seconds": the time that the round took in this run.
        "parts": the times of the round's parts: those for a person, averaged over people, and those for the mean.
        """
        record = self.record
        return {
            "round": self.number,
            "stages": self.stages,
            "sharpness": record["sharpness"],
            "update": record.get("update"),
            "scales": record.get("scales"),
            "cost": record.get("cost"),
            "seconds": self.seconds,
            "parts": record["parts"],
        }


@dataclass(frozen=True)
class Person:
    """Result of a person.

    Attributes:
        row: the person's row of the table.
        folder: has affine.mat, warp.nii.gz and inverse_warp.nii.gz.
        record: the content of its result.json.
    """

    row: Row
    folder: Path
    record: dict[str, Any]

    def numbers(self) -> dict[str, Any]:
        """Returns the person's numbers, as plain data. Unknown ones are None."""
        stages = self.record["stages"]
        determinants = [stage["smallest_determinant"] for stage in stages if stage.get("smallest_determinant") is not None]
        return {
            "id": self.row.id,
            "cost": self.record["cost"],
            "smallest_determinant": determinants[-1] if determinants else None,
            "inverse_errors": self.record["inverse_errors"],
            "seconds": sum(stage["seconds"] for stage in stages),
            "device": self.record["device"],
            "warnings": self.record["warnings"],
            "files": dict(self.row.files),
        }


@dataclass(frozen=True)
class Template:
    """Result of a template.

    Attributes:
        output: its folder.
        files: the templates, one for each modality.
        rounds: from the start, which is round 0, to the last one.
        people: in the table's order.
        seconds: the time of the whole run.
        shares: how busy each device was.
        command: the command line that repeats it.
    """

    output: Path
    files: list[Path]
    rounds: list[Round]
    people: list[Person]
    seconds: float
    shares: list[Share]
    command: str = ""

    @property
    def done_now(self) -> int:
        """The number of rounds that this run has done."""
        return sum(not one.was_done for one in self.rounds[1:])

    @property
    def warnings(self) -> list[str]:
        """Returns sentences that warn of what may have gone wrong, each of which begins with what it is about."""
        texts = list(self.rounds[0].record["warnings"])
        texts += [f"{person.row.id}: {warning}" for person in self.people for warning in person.record["warnings"]]
        last, before = self.rounds[-1].record, self.rounds[-2].record
        update: Optional[dict[str, float]] = last.get("update")
        if update is not None and update["mean"] > _LARGE_UPDATE:
            texts.append(
                f"template: the last round still moved the mean shape by {update['mean']:.2g} voxels in the mean: more rounds bring it closer"
            )
        if last["sharpness"][0] < before["sharpness"][0]:
            texts.append(
                f"template: the mean of the last round is less sharp than that of the round before ({last['sharpness'][0]:.3g} and "
                f"{before['sharpness'][0]:.3g} per mm): do all images show the same, and do they lie on each other?"
            )
        return texts

    def summary(self) -> dict[str, Any]:
        """Returns the numbers of the whole template, as plain data."""
        return {
            "people": len(self.people),
            "rounds": len(self.rounds) - 1,
            "rounds_now": self.done_now,
            "seconds": self.seconds,
            "files": [str(file) for file in self.files],
            "devices": [dataclasses.asdict(share) for share in self.shares],
        }


def write_results(template: Template) -> None:
    """Writes results.json. Raises OSError if it cannot be written."""
    content = {
        "summary": template.summary(),
        "rounds": [one.numbers() for one in template.rounds],
        "people": [one.numbers() for one in template.people],
        "warnings": template.warnings,
        "versions": find_versions(),
    }
    write_whole(template.output / NUMBERS, text_of(content))
