# SPDX-License-Identifier: Apache-2.0
"""Leads a template from round to round: finds what is done, has the rest done, and removes what is needed no longer."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any, Callable, Iterator, Mapping, Optional, Sequence

from .._engine import BadInputError
from ..cohort.folder import describe_files, making, read_record
from ..cohort.pipeline import Job, Outcome
from ..cohort.rows import Row
from ..cohort.shares import compute_shares
from . import places
from .averaging import AveragingJob, Registered
from .errors import TemplateError
from .finish import FinishJob
from .mean import MeanJob
from .person import PersonJob
from .places import round_folder
from .results import Person, Round, Template
from .settings import Settings, key_of
from .start import StartJob
from .table import ROUNDS, SHAPE, count_modalities, mean_file, template_file

# Changes when folders and records have another form than before, so that earlier ones are done again.
_FORMAT = 2
# One process averages fewer in 0.2 s.
_MANY_PEOPLE = 16
# With more the disk is what is waited for.
_MOST_PARTS = 16

#: Runs jobs at the same time, and yields how each ended or None, how many workers there are, and what has happened to them.
Run = Callable[[Sequence[Job]], Iterator[tuple[Optional[Outcome], int, list[str]]]]
#: Is called with the number of a round, its part, how many jobs of that have ended, how many there are, the number of workers, and news.
Report = Callable[[int, str, int, int, int, Sequence[str]], None]


class Rounds:
    """Leads a template from round to round.

    Args:
        folder: the template's folder.
        people: the table's people.
        settings: the template's settings.
        begins: files to begin with: "start" and "grid", as far as they are given.
        report: is called with the state of the work.
    """

    def __init__(self, folder: Path, people: Sequence[Row], settings: Settings, begins: Mapping[str, str], report: Report) -> None:
        self._folder = folder
        self._people = people
        self._settings = settings
        self._begins = begins
        self._report = report
        self._modalities = count_modalities(people)
        # Before files are read, so that the next run notices changes in the meantime.
        self._files = {person.id: {f"{name} of {person.id}": file for name, file in describe_files(person.files).items()} for person in people}
        self._inputs = {**describe_files(begins), **{name: file for files in self._files.values() for name, file in files.items()}}
        self._outcomes: list[Outcome] = []
        self._has_said_why = False
        self._workers = 0

    def build(self, run: Run, begin: float, command: str) -> Template:
        """Builds the template.

        Args:
            run: runs jobs.
            begin: the time.monotonic() from which seconds are counted.
            command: the command line that repeats it.

        Raises:
            BadInputError, TemplateError, OSError: a job failed.
        """
        (self._folder / ROUNDS).mkdir(exist_ok=True)
        began = time.monotonic()
        found = [self._start(run)]
        for number in range(1, len(self._settings.rounds) + 1):
            found.append(self._round(number, found[-1].record, run))
            # The people's transforms take in the last change of shape alone.
            places.remove_file(round_folder(self._folder, number - 1), SHAPE)
            if number < len(self._settings.rounds):
                self._remove_people(number)
        people = self._finish(found[-1].record, run)
        self._remove_people(len(self._settings.rounds))
        return Template(
            output=self._folder,
            files=self._publish(),
            rounds=found,
            people=people,
            seconds=time.monotonic() - begin,
            shares=compute_shares(self._outcomes, time.monotonic() - began),
            command=command,
        )

    def _start(self, run: Run) -> Round:
        folder = round_folder(self._folder, 0)
        default = self._settings.describe_registration(1)["default"]
        key = key_of(_FORMAT, self._inputs, [person.id for person in self._people], self._settings.normalize, default)
        record, why = places.find_done(folder, key, self._inputs)
        if record is not None:
            return Round(0, [], folder, record)
        self._report_why(0, why)
        begin = time.monotonic()
        start, grid = self._begins.get("start"), self._begins.get("grid")
        job = StartJob(key, self._people, self._inputs, self._settings, start, grid, folder)
        (record,) = self._run(run, 0, "mean", [job])
        return Round(0, [], folder, record, time.monotonic() - begin)

    def _round(self, number: int, before: Mapping[str, Any], run: Run) -> Round:
        folder = round_folder(self._folder, number)
        stages = [stage.name for stage in self._settings.rounds[number - 1]]
        key = key_of(self._key_of_registrations(number, before), self._settings.describe_mean())
        is_last = number == len(self._settings.rounds)
        record, why = places.find_done(folder, key, self._inputs, SHAPE if is_last else "")
        if record is not None:
            return Round(number, stages, folder, record)
        self._report_why(number, why)
        begin = time.monotonic()
        self._register(self._people, number, before, run)
        registered = Registered(self._people, self._modalities, self._settings.normalize, folder)
        # Several workers average a part each, where that takes longer than the files for it.
        parts = min(self._workers, _MOST_PARTS) if len(self._people) >= _MANY_PEOPLE else 1
        jobs = [AveragingJob(registered, part, parts) for part in range(parts)] if parts > 1 else []
        averaging = max((one["seconds"] for one in self._run(run, number, "mean", jobs)), default=0.0)
        job = MeanJob(key, registered, parts, averaging, self._inputs, self._settings, round_folder(self._folder, number - 1))
        (record,) = self._run(run, number, "mean", [job])
        places.remove_parts(folder)
        return Round(number, stages, folder, record, time.monotonic() - begin)

    def _key_of_registrations(self, number: int, before: Mapping[str, Any]) -> str:
        return key_of(before["key"], self._settings.describe_registration(number))

    def _register(self, people: Sequence[Row], number: int, before: Mapping[str, Any], run: Run) -> None:
        """Registers those people in a round who are not registered yet."""
        folder = round_folder(self._folder, number)
        folder.mkdir(exist_ok=True)
        key = self._key_of_registrations(number, before)
        jobs: list[Job] = []
        for person in people:
            if places.find_done(folder / person.id, key, self._files[person.id])[0] is None:
                initial, earlier = before["initial"][person.id], round_folder(self._folder, number - 1)
                files = self._files[person.id]
                jobs.append(PersonJob(key, person, number, files, self._settings, earlier, initial, folder / person.id))
        self._run(run, number, "images", jobs)

    def _finish(self, last: Mapping[str, Any], run: Run) -> list[Person]:
        """Writes the transforms of each person, unless they are written."""
        number = len(self._settings.rounds)
        folder = round_folder(self._folder, number)
        key = key_of("finish", last["key"])
        found: dict[str, dict[str, Any]] = {}
        for person in self._people:
            record, _ = places.find_done(self._folder / person.id, key, self._files[person.id])
            if record is not None:
                found[person.id] = record
        missing = [person for person in self._people if person.id not in found]
        if missing:
            before, _ = read_record(round_folder(self._folder, number - 1))
            assert before is not None
            # Their results of the last round have been removed, if that was finished.
            self._register(missing, number, before, run)
            jobs = [
                FinishJob(
                    key,
                    person,
                    self._files[person.id],
                    self._settings,
                    number,
                    last["initial"][person.id],
                    last["affine"],
                    folder,
                    self._folder / person.id,
                )
                for person in missing
            ]
            found.update(zip((person.id for person in missing), self._run(run, number, "transforms", jobs)))
        return [Person(person, self._folder / person.id, found[person.id]) for person in self._people]

    def _run(self, run: Run, number: int, part: str, jobs: Sequence[Job]) -> list[dict[str, Any]]:
        """Runs jobs, and returns their records, in their order. Raises the error of the first one that failed, when all have ended."""
        if not jobs:
            return []
        ended: dict[str, Outcome] = {}
        self._report(number, part, 0, len(jobs), self._workers, [])
        for outcome, self._workers, news in run(jobs):
            if outcome is not None:
                ended[outcome.id] = outcome
                self._outcomes.append(outcome)
            self._report(number, part, len(ended), len(jobs), self._workers, news)
        failed = [ended[job.id] for job in jobs if ended[job.id].failed]
        if failed:
            raise _error_of(failed, number, len(jobs))
        return [ended[job.id].record or {} for job in jobs]

    def _report_why(self, number: int, why: str) -> None:
        """Reports why the first of the rounds is done again; the rounds behind it are for that reason."""
        if why and not self._has_said_why:
            self._has_said_why = True
            self._report(number, "images" if number else "mean", 0, 0, self._workers, [f"round {number} is done again, and what follows: {why}"])

    def _remove_people(self, number: int) -> None:
        """Removes the large files that a round made for each person."""
        for person in self._people:
            places.remove(round_folder(self._folder, number) / person.id)

    def _publish(self) -> list[Path]:
        """Copies the last round's means to their names, each when it is whole, and returns their files."""
        last = round_folder(self._folder, len(self._settings.rounds))
        made = []
        for n in range(self._modalities):
            place = self._folder / template_file(n)
            with making(place) as folder:
                (folder / place.name).write_bytes((last / mean_file(n)).read_bytes())
                os.replace(folder / place.name, place)
            made.append(place)
        return made


def _error_of(failed: Sequence[Outcome], number: int, count: int) -> Exception:
    """Returns the error of a round of which some jobs have failed."""
    first = failed[0]
    if first.error_type == "BadInputError":
        return BadInputError(f"round {number}: {first.error}" if first.id == "start" else f"round {number}, {first.id}: {first.error}")
    why = f"round {number}: {first.id} failed: {first.error_type}: {first.error.rstrip('.')}"
    if len(failed) > 1:
        why += f"; {len(failed) - 1} more of {count} failed"
    end = "" if why.endswith("?") else "."
    return TemplateError(f"{why}{end} Results that are done stay: mend the cause, or take the row out, and run it again.")
