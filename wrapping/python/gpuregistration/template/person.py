# SPDX-License-Identifier: Apache-2.0
"""The job that registers one person's images to a round's mean."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Mapping, Optional, Sequence

import numpy as np

from .._affine import Affine
from .._also import Further, ImagePair, read_also
from .._array_files import save_array
from .._composite import Composite, parts_of
from .._devices import Device
from .._image import Image
from .._register import register_pair
from .._resample import resample_array
from .._result import Result
from .._sides import Pair, read_pair
from .._transforms import DisplacementField, Transform, lies_on
from ..cohort.folder import making
from ..cohort.rows import Row
from ..stages import DEFORMING
from . import average, images, places
from .settings import Settings
from .table import images_of, mean_file

FIELD = "field.npy"


def warped_file(modality: int) -> str:
    return f"warped-{modality + 1}.npy"


@dataclass
class Inputs:
    """Holds a person's inputs.

    Attributes:
        pair: the mean and the person's first image.
        further: the other modalities.
        moving: the person's images, one for each modality, flat if they are slices.
        grid: the template's grid.
        warnings: the warnings of the mask's file; the start has those of images.
    """

    pair: Pair
    further: list[Further]
    moving: list[Image]
    grid: Image
    warnings: list[str]


@dataclass
class Found:
    """Holds what the registration has found.

    Attributes:
        result: the registration's result.
        warped: the person's images on the template's grid, in floats.
        matrix: the linear part of the transform, homogeneous, which maps what the field leads to.
        field: displacements on the template's grid, mm, in floats; None if the transform is linear.
    """

    result: Result
    warped: list[np.ndarray]
    matrix: np.ndarray
    field: Optional[np.ndarray]


@dataclass(frozen=True)
class PersonJob:
    """Describes the work for one person in one round.

    Attributes:
        key: the key of all that it depends on.
        person: the person's row of the table.
        number: the round's, from 1 on.
        inputs: the states of the person's files, by which changes are noticed.
        settings: the template's settings.
        mean: the folder of the mean that the person is registered to.
        initial: the linear map to begin with, homogeneous, from the template's points to the image's.
        folder: gets the results.
    """

    key: str
    person: Row
    number: int
    inputs: Mapping[str, Any]
    settings: Settings
    mean: Path
    initial: Sequence[Sequence[float]]
    folder: Path

    @property
    def id(self) -> str:
        return self.person.id

    def read(self) -> Inputs:
        """Reads the person's files and the means, unless this process has read them before. Raises BadInputError."""
        files = self.person.files
        paths = images_of(files)
        # As they are stored: of slices the mask is to be of the image's one.
        stored = [images.read_stored(path) for path in paths]
        means = [images.read(str(self.mean / mean_file(n))) for n in range(len(paths))]
        mask = images.read_stored(files["mask"]) if "mask" in files else None
        masked = {"moving_mask": files["mask"]} if "mask" in files else {}
        pair = read_pair(means[0], stored[0], None, mask, {}, {"moving": paths[0], **masked})
        stages = self.settings.rounds[self.number - 1]
        also = [
            ImagePair(mean, image, moving_mask=mask, weight=weight)
            for mean, image, weight in zip(means[1:], stored[1:], self.settings.weights[1:])
        ]
        # A round of linear stages compares the first modality alone.
        further = read_also(also, pair, stages, {}, files=[{"moving": path, **masked} for path in paths[1:]]) if self._compares_all else []
        warnings = [] if mask is None else list(mask.warnings)
        return Inputs(pair, further, [images.flat(image) for image in stored], means[0], warnings)

    @property
    def _compares_all(self) -> bool:
        return any(isinstance(stage, DEFORMING) for stage in self.settings.rounds[self.number - 1])

    def compute(self, inputs: Inputs, device: str) -> Found:
        """Registers the images. Raises what register() raises."""
        settings = self.settings
        stages = list(settings.rounds[self.number - 1])
        initial = Affine.from_matrix(self.initial)
        result = register_pair(
            inputs.pair, stages, initial, device, settings.seed, default=settings.default, further=inputs.further
        )
        warped = [result.warped.array]
        result._release_device_memory()
        for image in inputs.moving[1:]:
            warped.append(resample_array(image, result.transform, inputs.grid, "linear", device, settings.default))
        matrix, deformation = split(result.transform)
        field = None if deformation is None else _vectors_of(deformation, inputs.grid, device)
        return Found(result, warped, matrix, field)

    def write(self, inputs: Inputs, found: Found, device: Device, times: Mapping[str, Any]) -> dict[str, Any]:
        """Writes the warped images, the field and the record. Raises OSError if the disk is full, or fails."""
        with making(self.folder) as made:
            save(made, found.warped, found.field)
            numbers = {
                "id": self.id,
                "device": device.name,
                "device_description": device.description,
                "cost": found.result.cost,
                "matrix": found.matrix.tolist(),
                "levels": [average.level_of(one) for one in found.warped],
                "stages": [{name: value for name, value in one.numbers().items() if name != "levels"} for one in found.result.stages],
                "warnings": [*inputs.warnings, *found.result.warnings],
                "times": times,
            }
            settings = self.settings.describe_registration(self.number)
            return places.put(made, self.folder, self.key, self.inputs, settings, numbers)


def save(folder: Path, warped: Sequence[np.ndarray], field: Optional[np.ndarray]) -> None:
    """Writes images, one for each modality, and the field, if there is one. Raises OSError if the disk is full, or fails."""
    for n, one in enumerate(warped):
        save_array(folder / warped_file(n), one)
    if field is not None:
        save_array(folder / FIELD, field)


def split(transform: Transform) -> tuple[np.ndarray, Optional[Transform]]:
    """Splits a transform into its linear parts at the end, as one homogeneous matrix, and what is before them, or None."""
    parts = parts_of(transform)
    linear: list[Transform] = []
    while parts and parts[-1].matrix_of() is not None:
        linear.insert(0, parts.pop())
    matrix = Composite(linear).matrix_of() if linear else np.eye(transform.dimension + 1)
    assert matrix is not None
    return matrix, Composite(parts) if parts else None


def _vectors_of(deformation: Transform, grid: Image, device: str) -> np.ndarray:
    """Returns the displacements of a deformation on a grid, in floats."""
    parts = parts_of(deformation)
    if len(parts) == 1 and isinstance(parts[0], DisplacementField) and lies_on(parts[0], grid):
        return np.ascontiguousarray(parts[0].host_array(), dtype=np.float32)
    return np.ascontiguousarray(deformation.to_displacement_field(grid, device).host_array(), dtype=np.float32)
