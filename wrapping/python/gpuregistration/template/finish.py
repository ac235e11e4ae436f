# SPDX-License-Identifier: Apache-2.0
"""The job that writes one person's transforms from the finished template."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Mapping, Optional, Sequence

import numpy as np

from .._affine import Affine
from .._composite import Composite
from .._devices import Device
from .._files import write_transform
from .._image import Image
from .._inverse import InverseErrors
from .._slabs import cast
from .._transforms import DisplacementField, Transform
from ..cohort.folder import making, read_record
from ..cohort.rows import Row
from . import images, places
from .person import FIELD
from .settings import Settings
from .table import SHAPE, mean_file

#: The files of a person's transforms, as antsApplyTransforms takes them: -t warp.nii.gz -t affine.mat.
AFFINE, WARP, INVERSE = "affine.mat", "warp.nii.gz", "inverse_warp.nii.gz"


@dataclass
class Inputs:
    """Holds what the transforms are made of.

    Attributes:
        grid: the template's grid.
        shape: the last round's shape update; None if there was none, or it was linear.
        field: the field that the last round has found for the person; None if its transform is linear.
    """

    grid: Image
    shape: Optional[DisplacementField]
    field: Optional[DisplacementField]


@dataclass
class Found:
    """Holds the deformation from the template's points, its inverse, and how good that is; None where all is linear."""

    warp: Optional[DisplacementField]
    inverse: Optional[DisplacementField]

    @property
    def errors(self) -> Optional[InverseErrors]:
        return None if self.inverse is None else self.inverse.inverse_errors


@dataclass(frozen=True)
class FinishJob:
    """Describes the work for a person's transforms. In the last round the person's transform led from the mean before the shape update: it
    is composed with the update, so that it leads from the template.

    Attributes:
        key: the key of all that it depends on.
        person: the person's row of the table.
        inputs: the states of the person's files, by which changes are noticed.
        settings: the template's settings.
        number: the last round's number.
        matrix: the person's linear map from the template's points, homogeneous.
        affine: the last round's mean affine map, homogeneous.
        last: the folder of the last round.
        folder: gets the transforms.
    """

    key: str
    person: Row
    inputs: Mapping[str, Any]
    settings: Settings
    number: int
    matrix: Sequence[Sequence[float]]
    affine: Sequence[Sequence[float]]
    last: Path
    folder: Path

    @property
    def id(self) -> str:
        return self.person.id

    def read(self) -> Inputs:
        """Reads the field of the last round and its shape update."""
        grid = images.read(str(self.last / mean_file(0)))
        return Inputs(grid, _field_of(self.last / SHAPE, grid), _field_of(self.last / self.id / FIELD, grid))

    def compute(self, inputs: Inputs, device: str) -> Found:
        """Composes the person's deformation with the shape update, and inverts it."""
        if inputs.field is None:
            return Found(None, None)
        if inputs.shape is None:
            warp = inputs.field
        else:
            # With the person's linear map A, and the mean one B, A (id + u) shape = A B^-1 (B (id + u) shape).
            chain: list[Transform] = [inputs.shape, inputs.field, Affine.from_matrix(self.affine)]
            vectors = cast(Composite(chain).to_displacement_field(inputs.grid, device).host_array(), np.float32)
            warp = DisplacementField(vectors, inputs.grid.spacing, inputs.grid.origin, inputs.grid.direction)
        return Found(warp, warp.inverse(device=device))

    def write(self, inputs: Inputs, found: Found, device: Device, times: Mapping[str, Any]) -> dict[str, Any]:
        """Writes the transforms and the record. Raises OSError if the disk is full, or fails."""
        before, _ = read_record(self.last / self.id)
        warnings = [*(before or {}).get("warnings", []), *(found.errors.warnings() if found.errors is not None else [])]
        with making(self.folder) as made:
            write_transform(made / AFFINE, Affine.from_matrix(self.matrix))
            for name, field in ((WARP, found.warp), (INVERSE, found.inverse)):
                if field is not None:
                    write_transform(made / name, field)
            numbers = {
                "id": self.id,
                "cost": (before or {}).get("cost"),
                "device": (before or {}).get("device"),
                "stages": (before or {}).get("stages", []),
                "inverse_errors": None if found.errors is None else found.errors._asdict(),
                "warnings": warnings,
                "times": times,
            }
            settings = self.settings.describe_registration(self.number)
            return places.put(made, self.folder, self.key, self.inputs, settings, numbers)


def _field_of(path: Path, grid: Image) -> Optional[DisplacementField]:
    if not path.is_file():
        return None
    return DisplacementField(np.load(path, allow_pickle=False), grid.spacing, grid.origin, grid.direction)
