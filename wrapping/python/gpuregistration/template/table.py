# SPDX-License-Identifier: Apache-2.0
"""Says what the table of a template has, which has one person in each row."""

from __future__ import annotations

from pathlib import Path
from typing import Mapping, Sequence

from .._engine import BadInputError
from .._paths import readable
from ..cohort import rows
from ..cohort.folder import RECORD, TEMPLATES_ROUNDS
from ..cohort.rows import Form, Row, Table

MOST_MODALITIES = 6
#: Names in a template's folder.
PAGE, NUMBERS, ROUNDS = "report.html", "results.json", TEMPLATES_ROUNDS
#: Names in a round's folder: a picture of the mean, and where the new template's voxels lie in the old one, displacements in mm.
PICTURE, SHAPE = "mean.jpg", "shape.npy"


def image_column(modality: int) -> str:
    """Returns the column of a modality's images: image, image2, …; modalities count from 0."""
    return _numbered("image", modality)


def template_file(modality: int) -> str:
    """Returns the name of a modality's template: template.nii.gz, template2.nii.gz, …."""
    return _numbered("template", modality) + ".nii.gz"


def mean_file(modality: int) -> str:
    """Returns the name of a modality's mean in a round's folder: mean.nii.gz, mean2.nii.gz, …."""
    return _numbered("mean", modality) + ".nii.gz"


def _numbered(name: str, modality: int) -> str:
    return name if modality == 0 else f"{name}{modality + 1}"


#: Columns that name files, and their descriptions.
FILES = {
    "image": "a person's image",
    "mask": "its mask: voxels that are not 0 count",
    **{
        image_column(n): "an image of another modality of the same person, in the same space, such as T2 beside T1" if n == 1 else "and so on"
        for n in range(1, MOST_MODALITIES)
    },
}
_MADE = [make(n) for make in (template_file, mean_file) for n in range(MOST_MODALITIES)]
FORM = Form(FILES, ("image",), (ROUNDS, PAGE, NUMBERS, PICTURE, SHAPE, RECORD, *_MADE), least_rows=2)


def read_table(table: Table) -> list[Row]:
    """Reads the rows of a template's table, as rows.read_rows() does, of two people at least, who have the same modalities.

    Raises:
        BadInputError: as of read_rows(), or a person lacks a modality.
    """
    people = rows.read_rows(table, FORM)
    modalities = count_modalities(people)
    wanted = [image_column(n) for n in range(modalities)]
    missing = [
        f"row {number}: {name} is empty, and other rows have one"
        for number, person in enumerate(people, 1)
        for name in wanted
        if name not in person.files
    ]
    if missing:
        name = readable(rows.name_of_table(table))
        raise BadInputError(f"{name} cannot be used: {'; '.join(missing)}. Each person needs all modalities, numbered without a gap.")
    return people


def count_modalities(people: Sequence[Row]) -> int:
    """Returns the number of the last modality that anybody has, counted from 1."""
    return max(n + 1 for n in range(MOST_MODALITIES) if any(image_column(n) in person.files for person in people))


def images_of(files: Mapping[str, str]) -> list[str]:
    """Returns the files of a person's images, one for each modality."""
    return [files[name] for name in (image_column(n) for n in range(MOST_MODALITIES)) if name in files]


def check_places(table: Table, people: Sequence[Row], output: Path, begins: Mapping[str, str]) -> None:
    """Checks that nothing is written in the place of the table or of a file that is read.

    Args:
        begins: files to begin with, by the names of arguments.

    Raises:
        BadInputError: something is.
    """
    templates = map(template_file, range(count_modalities(people)))
    rows.check_places(table, people, output, (ROUNDS, PAGE, NUMBERS, *templates), begins)
