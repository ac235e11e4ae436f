# SPDX-License-Identifier: Apache-2.0
"""The job that makes the mean that the first round begins with: of all images, each with its centre of mass on the grid's."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Mapping, Optional, Sequence

import numpy as np

from .. import __version__
from .._affine import Affine
from .._devices import Device
from .._engine import BadInputError
from .._files import write_image
from .._image import Image
from .._resample import resample_array
from .._slabs import at_once
from .._slices import check_is_same_slice, check_planes
from ..cohort.folder import making
from ..cohort.rows import Row
from . import average, images, pictures, places
from .settings import Settings
from .table import PICTURE, image_column, images_of, mean_file

# More people at a time take more memory than time: each may be unpacked 256 MiB ahead.
_READERS = 4


@dataclass
class Inputs:
    """Holds what the start is made of.

    Attributes:
        people: each person's images, one for each modality.
        grid: the template's grid.
        shifts: for each person the homogeneous matrix from the grid's points to the image's.
    """

    people: list[list[Image]]
    grid: Image
    shifts: list[np.ndarray]


@dataclass(frozen=True)
class StartJob:
    """Describes the work for the start.

    Attributes:
        key: the key of all that it depends on.
        people: the table's people.
        inputs: the states of all files, by which changes are noticed.
        settings: the template's settings.
        start: a file of the mean of the first modality to begin with; None: the mean of the images.
        grid: a file whose grid the template has; None: the start's, or that of the first person's image.
        folder: gets the means.
    """

    key: str
    people: Sequence[Row]
    inputs: Mapping[str, Any]
    settings: Settings
    start: Optional[str]
    grid: Optional[str]
    folder: Path

    @property
    def id(self) -> str:
        return "start"

    def read(self) -> Inputs:
        """Reads all images. Raises BadInputError if they do not fit to each other; the message names the row."""
        stored = at_once(lambda person: [images.read_stored(path) for path in images_of(person.files)], self.people, most=_READERS)
        place = self.grid or self.start
        grid = stored[0][0] if place is None else images.read_stored(place)
        for number, (person, some) in enumerate(zip(self.people, stored), 1):
            for n, image in enumerate(some):
                file = f"{image_column(n)} file {person.files[image_column(n)]}"
                if images.flat(image).dimension != images.flat(grid).dimension:
                    raise BadInputError(
                        f"row {number}: the {file} has {images.flat(image).dimension} dimensions, and the template "
                        f"{images.flat(grid).dimension}: all are to have the same."
                    )
                check_planes(image, grid, f"{file} of row {number}", f"file {place or self.people[0].files[image_column(0)]}")
                if n > 0:
                    check_is_same_slice(image, some[0], f"{file} of row {number}", f"{image_column(0)} file {person.files[image_column(0)]}")
                if image.array.min() == image.array.max():
                    raise BadInputError(f"row {number}: the {file} is constant: is it the right image?")
        people, first = [[images.flat(image) for image in some] for some in stored], images.flat(grid)
        centres = [average.centre_of_mass(read[0].array, read[0].index_to_point) for read in people]
        # The first person's image stays where it is, unless there is another one that says where the template is.
        middle = average.centre_of_mass(first.array, first.index_to_point)
        shifts = [Affine(translation=centre - middle).matrix_of() for centre in centres]
        return Inputs(people, first, shifts)

    def compute(self, inputs: Inputs, device: str) -> list[np.ndarray]:
        """Averages the images, each moved. Returns the mean of each modality, in floats."""
        made = []
        for n in range(len(inputs.people[0])):
            if n == 0 and self.start is not None:
                made.append(images.read(self.start).array)
                continue
            moved = [
                resample_array(read[n], Affine.from_matrix(shift), inputs.grid, "linear", device, self.settings.default)
                for read, shift in zip(inputs.people, inputs.shifts)
            ]
            levels = checked_levels(at_once(average.level_of, moved), self.people, n) if self.settings.normalize else None
            made.append(average.mean_of_images(moved, levels, np.float32))
        return made

    def write(self, inputs: Inputs, found: list[np.ndarray], device: Device, times: Mapping[str, Any]) -> dict[str, Any]:
        """Writes the means and the record. Raises OSError if the disk is full, or fails."""
        with making(self.folder) as made:
            for n, mean in enumerate(found):
                write_image(made / mean_file(n), inputs.grid.like(mean))
            (made / PICTURE).write_bytes(pictures.draw(inputs.grid.like(found[0])))
            spacing = inputs.grid.spacing[::-1].tolist()
            numbers = {
                "version": __version__,
                "initial": {person.id: shift.tolist() for person, shift in zip(self.people, inputs.shifts)},
                "sharpness": [average.sharpness(mean, spacing) for mean in found],
                "warnings": _warnings_of(self.people, inputs.people) + self._warnings_of_grid(inputs.grid),
                "parts": seconds_of(times),
            }
            return places.put(made, self.folder, self.key, self.inputs, self.settings.describe_mean(), numbers)

    def _warnings_of_grid(self, grid: Image) -> list[str]:
        """Returns the warnings of the file that says where the template is; those of the first person's image are that person's."""
        name = "grid" if self.grid is not None else "start"
        return [] if self.grid is None and self.start is None else [f"{name}: {warning}" for warning in grid.warnings]


def seconds_of(times: Mapping[str, Any], averaging: float = 0.0) -> dict[str, float]:
    """Returns the seconds of a mean's parts by what they do. averaging: what other jobs have taken for it."""
    return {"average": averaging + times["read"], "sharpen and warp": times["register"]}


def checked_levels(levels: Sequence[float], people: Sequence[Row], modality: int) -> Sequence[float]:
    """Returns the mean intensity of each person's image of a modality in the template's space. Raises BadInputError if one is not above 0;
    the message names the person, the column and the file."""
    column = image_column(modality)
    for person, level in zip(people, levels):
        if not level > 0:
            raise BadInputError(
                f"{person.id}: the mean intensity of the {column} file {person.files[column]} in the template's space is {level:.6g}; images are divided by it, so it is to be above 0. "
                "Average them as they are, by normalize=False or --no-normalize."
            )
    return levels


def _warnings_of(people: Sequence[Row], read: Sequence[Sequence[Image]]) -> list[str]:
    return [f"{person.id}: {warning}" for person, some in zip(people, read) for image in some for warning in image.warnings]
