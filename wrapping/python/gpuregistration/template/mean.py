# SPDX-License-Identifier: Apache-2.0
"""The job that makes a round's mean: it averages what the registrations have found, sharpens it, and brings it to the mean shape.

The shape update is that of ANTs' antsMultivariateTemplateConstruction2.sh (Avants 2010). A person's transform leads a point x of the
template to A(x + u(x)). With the mean affine map B, without rotation and translation, and w = -step * mean of u, the new template at y is
the old one at w(w(w(w(B^-1 y)))), where w(x) stands for x + w(x). ANTs resamples w by B^-1 beforehand; here w stays where it was found, on
the points behind B^-1.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Callable, Mapping, Optional, Sequence

import numpy as np

from .._affine import Affine
from .._array_files import save_array
from .._composite import Composite
from .._devices import Device
from .._files import write_image
from .._filters import smooth
from .._image import Image
from .._resample import resample_array
from .._slabs import at_once, in_slabs, cast
from .._transforms import DisplacementField, Transform
from ..cohort.folder import making
from . import average, images, pictures, places
from .averaging import Registered, join_parts
from .settings import SHAPE_STEPS, Settings
from .start import seconds_of
from .table import PICTURE, SHAPE, mean_file

# Unsharp masking: the share of what a Gaussian of a voxel takes away that is added.
_UNSHARP_AMOUNT = 0.5


@dataclass
class Inputs:
    """Holds what a mean is made of.

    Attributes:
        grid: the template's grid.
        means: the means of each modality's warped images, in doubles.
        field: the mean displacement, mm, in floats; None of a round of linear registrations.
        stretch: the mean linear map without rotation, ``(d, d)``.
        matrices: each person's linear map, homogeneous.
        costs: each person's.
        seconds: the seconds of reading, waiting for the device and registering, a person's in the mean.
    """

    grid: Image
    means: list[np.ndarray]
    field: Optional[np.ndarray]
    stretch: np.ndarray
    matrices: list[np.ndarray]
    costs: list[float]
    seconds: dict[str, float]


@dataclass
class Found:
    """Holds a round's mean.

    Attributes:
        means: each modality's mean, in floats.
        shape: where its voxels lie in the mean before the shape update: displacements, mm, in floats; None without a shape update.
        affine: the mean affine map, homogeneous.
    """

    means: list[np.ndarray]
    shape: Optional[np.ndarray]
    affine: np.ndarray


@dataclass(frozen=True)
class MeanJob:
    """Describes the work for a round's mean.

    Attributes:
        key: the key of all that it depends on.
        registered: what the registrations have found.
        parts: how many jobs have averaged a part of it each; 1: none.
        averaging: the seconds that the longest of them has averaged.
        inputs: the states of all files, by which changes are noticed.
        settings: the template's settings.
        before: the folder of the mean that the people were registered to.
    """

    key: str
    registered: Registered
    parts: int
    averaging: float
    inputs: Mapping[str, Any]
    settings: Settings
    before: Path

    @property
    def id(self) -> str:
        return "mean"

    @property
    def folder(self) -> Path:
        """The folder that gets the mean."""
        return self.registered.folder

    def read(self) -> Inputs:
        """Averages what the registrations have found, or joins what other jobs have averaged. Raises BadInputError if a record is missing,
        or a mean does not exist."""
        grid = images.read(str(self.before / mean_file(0)))
        records = self.registered.read_records()
        averages = join_parts(self.registered, self.parts) if self.parts > 1 else self.registered.average(records)
        matrices = [np.array(record["matrix"]) for record in records]
        stretch = average.mean_stretch([matrix[:-1, :-1] for matrix in matrices])
        seconds = {
            f"{part}, a person": sum(record["times"][part] for record in records) / len(records)
            for part in ("read", "wait for the device", "register")
        }
        means = [mean.reshape(grid.shape) for mean in averages.images]
        field = None if averages.field is None else averages.field.reshape(*grid.shape, grid.dimension)
        return Inputs(grid, means, field, stretch, matrices, [record["cost"] for record in records], seconds)

    def compute(self, inputs: Inputs, device: str) -> Found:
        """Sharpens the means, and brings them to the mean shape."""
        settings, grid = self.settings, inputs.grid
        spacing = grid.spacing[::-1].tolist()
        sharp = [_sharpened(mean, grid, spacing, settings.sharpening, device) for mean in inputs.means]
        if settings.step == 0:
            return Found(sharp, None, np.eye(grid.dimension + 1))
        affine = average.about(inputs.stretch, average.centre_of_mass(inputs.means[0], grid.index_to_point))
        chain: list[Transform] = [Affine.from_matrix(np.linalg.inv(affine))]
        if inputs.field is not None:
            step = DisplacementField(-settings.step * inputs.field, grid.spacing, grid.origin, grid.direction)
            chain += [step] * SHAPE_STEPS
        vectors = cast(Composite(chain).to_displacement_field(grid, device).host_array(), np.float32)
        update = DisplacementField(vectors, grid.spacing, grid.origin, grid.direction)
        means = [resample_array(grid.like(mean), update, grid, "linear", device, settings.default) for mean in sharp]
        return Found(means, vectors, affine)

    def write(self, inputs: Inputs, found: Found, device: Device, times: Mapping[str, Any]) -> dict[str, Any]:
        """Writes the means, the shape update and the record. Raises OSError if the disk is full, or fails."""
        back = np.linalg.inv(found.affine)
        with making(self.folder) as made:
            numbers = {
                **self._write_means(made, inputs, found),
                # A person's linear map from the new template's points: the next round begins with it.
                "initial": {person.id: (matrix @ back).tolist() for person, matrix in zip(self.registered.people, inputs.matrices)},
                "affine": found.affine.tolist(),
                "scales": np.linalg.eigvalsh(inputs.stretch)[::-1].tolist(),
                "cost": sum(inputs.costs) / len(inputs.costs),
                "parts": {**inputs.seconds, **seconds_of(times, self.averaging)},
            }
            return places.put(made, self.folder, self.key, self.inputs, self.settings.describe_mean(), numbers)

    def _write_means(self, made: Path, inputs: Inputs, found: Found) -> dict[str, Any]:
        """Writes the means, their picture and the shape update, and returns what the record says of them. Threads do all of it at the same
        time, since the next round waits for it."""
        grid = inputs.grid
        spacing = grid.spacing[::-1].tolist()

        def draw() -> None:
            (made / PICTURE).write_bytes(pictures.draw(grid.like(found.means[0])))

        # The sharpness that the registrations have reached, without what the filter has added.
        measures: list[Callable[[], Any]] = [partial(average.sharpness, mean, spacing) for mean in inputs.means]
        writes: list[Callable[[], Any]] = [partial(write_image, made / mean_file(n), grid.like(mean)) for n, mean in enumerate(found.means)]
        if found.shape is not None and inputs.field is not None:
            writes.append(partial(save_array, made / SHAPE, found.shape))
        measures.append(partial(_measure_update, found.shape, found.means[0], grid))
        *sharpness, update = at_once(lambda work: work(), [*measures, draw, *writes])[: len(measures)]
        return {"sharpness": sharpness, "update": update}


def _sharpened(mean: np.ndarray, grid: Image, spacing: Sequence[float], how: str, device: str) -> np.ndarray:
    """Returns a sharpened mean, in floats."""
    if how == "laplacian":
        return average.sharpen_by_laplacian(mean, spacing).astype(np.float32)
    if how == "unsharp":
        dull = smooth(grid.like(mean), grid.spacing, device).array
        return (mean + _UNSHARP_AMOUNT * (mean - dull)).astype(np.float32)
    return mean.astype(np.float32)


def _measure_update(vectors: Optional[np.ndarray], mean: np.ndarray, grid: Image) -> Optional[dict[str, float]]:
    """Computes by how many voxels a shape update moves the head, in the mean and at most; None without an update."""
    if vectors is None:
        return None
    to_voxels = np.linalg.inv(grid.direction * grid.spacing)
    head = average.find_head(mean)

    def find(first: int, end: int) -> np.ndarray:
        inside = vectors[first:end][head[first:end]].astype(np.float64)
        lengths: np.ndarray = np.sqrt(np.square(inside @ to_voxels.T).sum(axis=-1))
        return lengths

    voxels = np.concatenate(in_slabs(find, len(vectors)))
    return {"mean": float(voxels.mean()), "largest": float(voxels.max())}
