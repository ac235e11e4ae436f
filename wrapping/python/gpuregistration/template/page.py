# SPDX-License-Identifier: Apache-2.0
"""A template's report: one page of all rounds, which needs nothing else."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

from .._paths import readable
from .._report_data import find_versions
from ..report import wording
from ..report.pictures import bytes_uri
from ..report.template import render
from ..report.write import write_whole
from .results import Round, Template
from .table import PAGE, PICTURE


_TITLES = ("Update, mean", "Update, largest", "Scales of the mean map", "Mean cost", "Time")


class _Figure(NamedTuple):
    """A round's mean: its title, a line on it, and its picture."""

    title: str
    text: str
    picture: str


def write_page(template: Template) -> None:
    """Writes report.html. Raises OSError if it cannot be written."""
    text = render(
        "template.html.j2",
        title=f"Template of {len(template.people)} people",
        subtitle=str(template.output),
        styles=["style.css", "cohort.css", "template.css"],
        scripts=[],
        summary=_summary(template),
        warnings=template.warnings,
        figures=[_figure(one) for one in template.rounds],
        titles=["Round", "Stages", *_titles_of_sharpness(len(template.files)), *_TITLES],
        rounds=[_row(one) for one in template.rounds],
        people=[_person(one.numbers()) for one in template.people],
        files=[file.name for file in template.files],
        command=template.command,
        shares=template.shares,
        made_of=_made_of(template),
    )
    write_whole(template.output / PAGE, text)


def _summary(template: Template) -> list[tuple[str, str, str, bool]]:
    """Returns what stands large at the top: names, values, notes, and whether they are warnings."""
    first, last = template.rounds[0].numbers(), template.rounds[-1].numbers()
    now, before = last["sharpness"][0], first["sharpness"][0]
    items = [
        ("People", f"{len(template.people):,}", "1 modality" if len(template.files) == 1 else f"{len(template.files)} modalities", False),
        ("Rounds", f"{len(template.rounds) - 1}", f"{template.done_now} of them now", False),
        ("Sharpness", f"{100 * now:.3g} %/mm", f"{100 * before:.3g} %/mm at the start", now < before),
    ]
    if last["update"] is not None:
        items.append(("Last update", f"{wording.fixed(last['update']['mean'], 2)} voxels", "in the mean of the head", False))
    if template.done_now:
        items.append(("Time", wording.duration(1e3 * template.seconds), f"for {wording.count_of(template.done_now, 'round')}", False))
    return items


def _titles_of_sharpness(modalities: int) -> list[str]:
    return ["Sharpness"] if modalities == 1 else [f"Sharpness {n + 1}" for n in range(modalities)]


def _name(one: Round) -> str:
    return f"Round {one.number}" if one.number else "Start"


def _figure(one: Round) -> _Figure:
    numbers = one.numbers()
    parts = [", ".join(one.stages) or _describe_start(one)]
    parts.append(f"sharpness {100 * numbers['sharpness'][0]:.3g} %/mm")
    if numbers["update"] is not None:
        parts.append(f"shape moved by {wording.fixed(numbers['update']['mean'], 2)} voxels")
    return _Figure(_name(one), "; ".join(parts), bytes_uri((one.folder / PICTURE).read_bytes(), "jpeg"))


def _describe_start(start: Round) -> str:
    """Describes the mean to begin with. Its record has the files that the template was begun with."""
    file = start.record["inputs"].get("start")
    return "images with their centres of mass on each other" if file is None else readable(f"the image {file['path']}")


def _row(one: Round) -> tuple[str, str, list[str]]:
    """Returns a round's name, its stages, and its cells."""
    numbers = one.numbers()
    update: Optional[dict[str, float]] = numbers["update"]
    cells = [f"{100 * sharpness:.3g} %/mm" for sharpness in numbers["sharpness"]]
    cells += [f"{wording.fixed(update[name], 2)} voxels" if update else "–" for name in ("mean", "largest")]
    cells.append(", ".join(f"{scale:.3f}" for scale in numbers["scales"]) if numbers["scales"] else "–")
    cells.append(wording.number(numbers["cost"]))
    cells.append("before" if one.seconds is None else wording.duration(1e3 * one.seconds))
    return _name(one), ", ".join(one.stages) or "–", cells


def _person(numbers: dict[str, Any]) -> tuple[str, list[str], str]:
    """Returns a person's id, cells and device."""
    errors = numbers["inverse_errors"]
    cells = [
        wording.number(numbers["cost"]),
        wording.number(numbers["smallest_determinant"], 3),
        wording.number(None if errors is None else errors["mean"], 2),
        wording.duration(1e3 * numbers["seconds"]),
    ]
    return numbers["id"], cells, numbers["device"] or "–"


def _made_of(template: Template) -> list[tuple[str, str]]:
    settings = template.rounds[-1].record["settings"]
    shown = [
        ("Rounds", "; ".join(", ".join(one.stages) for one in template.rounds[1:])),
        ("Shape update", "four times " + str(settings["step"]) if settings["step"] else "none"),
        ("Sharpening", settings["sharpening"]),
        ("Intensities", "divided by their means" if settings["normalize"] else "as they are"),
    ]
    return [*shown, *find_versions().items()]
