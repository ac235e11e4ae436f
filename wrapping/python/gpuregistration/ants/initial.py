# SPDX-License-Identifier: Apache-2.0
"""The transforms that a registration begins with, and those that are applied to an image."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Optional, Sequence

import numpy as np

from .._affine import Affine
from .._composite import parts_of
from .._engine import BadInputError
from .._files import read_transform
from .._image import Image, host_array
from .._syn_options import Halves
from .._transforms import DisplacementField, Transform
from .parts import LINEAR_FORM, Kind, Part, grid_of, kind_of_stage, linear_part, part_of_file, part_of_halves, takes_place_of
from .registration_call import Initial, RegistrationCall

_MIDDLES, _MASSES, _ORIGINS = range(3)


@dataclass(frozen=True)
class Beginning:
    """Holds a transform that the registration begins with, read from its file.

    Attributes:
        initial: the transform as the command line gives it.
        parts: the file's parts, in the order of parts of the result: the last one is applied first to a point of the fixed image. None
            if there is no file.
    """

    initial: Initial
    parts: Optional[list[Part]] = None

    @property
    def kinds(self) -> list[Kind]:
        if self.parts is None:
            return [Kind("File" if self.initial.file else "Initial", LINEAR_FORM, True)]
        return [part.kind for part in self.parts]


@dataclass(frozen=True)
class Beginnings:
    """Holds the transforms that the registration begins with: those to the moving image, and those from the grid of the fixed image to its
    points."""

    moving: list[Beginning]
    fixed: list[Beginning]


def read_beginnings(call: RegistrationCall) -> Beginnings:
    """Reads the files of the transforms that a registration begins with.

    Raises:
        BadInputError: a file cannot be read, is of other dimensions than the call says, or is a deformation whose inverse is asked for.
    """
    moving = _read(call.initial, call.dimension) if call.state is None else [_read_state(call.state, call.dimension)]
    return Beginnings(moving, _read(call.initial_fixed, call.dimension))


def _read_state(file: str, dimension: int) -> Beginning:
    """Reads a state: the parts of a result, of which the last one is SyN's halves, or any composite."""
    parts = [part_of_file(one) for one in parts_of(read_part(file, False, dimension))[::-1]]
    fields = [part.transform for part in parts[-4:] if isinstance(part.transform, DisplacementField)]
    grids = [grid_of(field) for field in fields]
    if len(fields) == len(Halves._fields) and all(grid.has_grid_of(grids[0]) for grid in grids):
        parts[-4:] = [part_of_halves(Halves(*fields), grids[0])]
    return Beginning(Initial(file), parts)


def _read(initials: Sequence[Initial], dimension: int) -> list[Beginning]:
    read = []
    for initial in initials:
        if initial.file and initial.file != "Identity":
            transform = read_part(initial.file, initial.is_inverse, dimension)
            read.append(Beginning(initial, [part_of_file(one) for one in parts_of(transform)[::-1]]))
        else:
            read.append(Beginning(initial))
    return read


def list_kinds(call: RegistrationCall, begins: Beginnings) -> list[Kind]:
    """Returns the kinds of the parts that the result will have."""
    kinds = [kind for one in begins.moving for kind in one.kinds]
    for stage in call.stages:
        if call.merges and kinds and takes_place_of(stage.transform, kinds[-1]):
            kinds.pop()
        kinds.append(kind_of_stage(stage.transform))
    return kinds


def begin(begins: Sequence[Beginning], dimension: int, read: Callable[[str], Image]) -> list[Part]:
    """Makes the parts of the result that the registration begins with, from the fixed image's points to the moving one's.

    Args:
        read: reads an image by its name.

    Raises:
        BadInputError: a transform is of other dimensions, or an image has no centre of mass.
    """
    parts = []
    for one in begins:
        if one.parts is None:
            parts.append(_begin_without_file(one.initial, dimension, read))
        for part in one.parts or []:
            _check_dimension(part.transform, one.initial.file, dimension)
            parts.append(part)
    return parts


def _begin_without_file(initial: Initial, dimension: int, read: Callable[[str], Image]) -> Part:
    if initial.file:
        return linear_part("File", Affine(np.eye(dimension)))
    fixed, moving = (_find_point(read(name), initial.feature, name) for name in (initial.fixed, initial.moving))
    return linear_part("Initial", Affine(np.eye(dimension), moving - fixed, fixed))


def read_part(file: str, is_inverse: bool, dimension: int) -> Transform:
    """Reads a file's transform, or its inverse. dimension: 0 if any is possible.

    Raises:
        BadInputError: it cannot be read, is of other dimensions, or is a deformation whose inverse is asked for: that has a file of its
            own.
    """
    transform = read_transform(file)
    _check_dimension(transform, file, dimension or transform.dimension)
    if not is_inverse:
        return transform
    matrix = transform.matrix_of()
    if matrix is None:
        raise BadInputError(f"[{file},1]: it deforms; expected the file of its inverse, such as PREFIX1InverseWarp.nii.gz")
    return Affine.from_matrix(matrix, transform.center if isinstance(transform, Affine) else None).inverse()


def _check_dimension(transform: Transform, file: str, dimension: int) -> None:
    if transform.dimension != dimension:
        raise BadInputError(f"{file}: it is a transform of {transform.dimension} dimensions; expected one of {dimension}")


def _find_point(image: Image, feature: int, name: str) -> np.ndarray:
    """Returns an image's middle, centre of mass or origin, in mm."""
    if feature == _ORIGINS:
        return image.origin
    if feature == _MIDDLES:
        index = (np.array(image.size) - 1) / 2
    else:
        values = host_array(image).astype(np.float64)
        total = values.sum()
        if total == 0 or not np.isfinite(total):
            raise BadInputError(f"{name}: its values come to {total:g}, which leaves no centre of mass; expected -r [FIXED,MOVING,0]")
        d = values.ndim
        along = [values.sum(axis=tuple(other for other in range(d) if other != axis)) for axis in range(d)]
        index = np.array([sums @ np.arange(len(sums)) for sums in along[::-1]]) / total
    return (image.index_to_point @ np.append(index, 1.0))[:-1]
