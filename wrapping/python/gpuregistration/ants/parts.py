# SPDX-License-Identifier: Apache-2.0
"""Describes the transforms that a result of antsRegistration consists of, and makes one of several."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Optional, Sequence

import numpy as np

from .._affine import Affine
from .._composite import Composite
from .._image import Image
from .._syn_options import Halves
from .._transforms import BSpline, DisplacementField, Transform, linear_matrix

LINEAR_FORM, FIELD, B_SPLINE = "linear", "field", "B-spline"

# The name of linear parts as one.
_JOINED = "GenericAffine"


class Kind(NamedTuple):
    """Describes a part of the result as far as it is known before the registration runs.

    Attributes:
        name: "Rigid", …, "SyN" or "BSpline" of a stage, "GenericAffine" of some linear ones as one, "Initial" of one computed from images,
            "File" of one of a file.
        form: LINEAR_FORM, FIELD or B_SPLINE.
        has_inverse: True if its inverse is known. ANTs knows no inverse of a field from a file, or of a B-spline.
    """

    name: str
    form: str
    has_inverse: bool

    def joins(self, other: Kind) -> bool:
        """Returns whether adjacent parts are merged when the result is collapsed, as ANTs does: two linear parts, two fields with inverses,
        or two fields without."""
        return self.form != B_SPLINE and self[1:] == other[1:]


#: A linear stage, by its transform, takes the place of these parts if it goes on from them: those of ITK's types with as many degrees of
#: freedom or fewer. A transform that is computed from images is of a rigid type, and one of a file is taken for an affine one.
_BEFORE: dict[str, tuple[str, ...]] = {"Translation": ("Translation",)}
_BEFORE["Rigid"] = (*_BEFORE["Translation"], "Initial", "Rigid")
_BEFORE["Similarity"] = (*_BEFORE["Rigid"], "Similarity")
_BEFORE["Affine"] = (*_BEFORE["Similarity"], "Affine", "File")


def takes_place_of(transform: str, kind: Kind) -> bool:
    """Returns whether a stage of a transform takes the place of a part before it, with --initialize-transforms-per-stage 1."""
    return kind.form == LINEAR_FORM and kind.name in _BEFORE.get(transform, ())


@dataclass
class Part:
    """A transform of the result, in the order of stages: the last one is applied first to a point of the fixed image.

    Attributes:
        name: as Kind has it.
        inverse: None where it is not known.
    """

    name: str
    transform: Transform
    inverse: Optional[Transform]

    @property
    def kind(self) -> Kind:
        if isinstance(self.transform, Affine):
            return Kind(self.name, LINEAR_FORM, self.inverse is not None)
        return Kind(self.name, B_SPLINE if isinstance(self.transform, BSpline) else FIELD, self.inverse is not None)


def kind_of_stage(transform: str) -> Kind:
    """Returns the kind of what a stage of that transform comes to."""
    form = {"SyN": FIELD, "BSpline": B_SPLINE}.get(transform, LINEAR_FORM)
    return Kind(transform, form, form != B_SPLINE)


def part_of_file(transform: Transform) -> Part:
    """Makes the part of a file's transform, which is no Composite."""
    return Part("File", transform, transform.inverse() if isinstance(transform, Affine) else None)


def part_of_halves(halves: Halves, grid: Image) -> Part:
    """Makes the part of a file's SyN, which has an inverse. grid: the fields' grid."""
    forward = Composite([halves.fixed_to_middle, halves.middle_to_moving])
    back = Composite([halves.moving_to_middle, halves.middle_to_fixed])
    return Part("File", forward.to_displacement_field(grid), back.to_displacement_field(grid))


def state_of(parts: Sequence[Part], halves: Optional[Halves]) -> Composite:
    """Returns the composite that ANTs saves as its state: the parts of the result, of which SyN's halves replace the last one.

    Args:
        halves: those of the last part; None if SyN did not make that part.
    """
    before = parts if halves is None else parts[:-1]
    return Composite([*(halves or [])][::-1] + [part.transform for part in reversed(before)])


def group(kinds: Sequence[Kind]) -> list[list[int]]:
    """Returns the numbers of the parts that become one, for each part of the collapsed result."""
    groups: list[list[int]] = []
    for number, kind in enumerate(kinds):
        if groups and kind.joins(kinds[number - 1]):
            groups[-1].append(number)
        else:
            groups.append([number])
    return groups


def collapse_kinds(kinds: Sequence[Kind]) -> list[Kind]:
    """Returns the kinds of what collapse() makes of parts of these kinds."""
    firsts = [kinds[numbers[0]] for numbers in group(kinds)]
    return [kind._replace(name=_JOINED) if kind.form == LINEAR_FORM else kind for kind in firsts]


def collapse(parts: Sequence[Part], device: Optional[str] = None) -> list[Part]:
    """Makes one part of each group of parts. Fields of a group have the same grid.

    Args:
        device: the name of the device that composes fields; None: the default one.
    """
    kinds = [part.kind for part in parts]
    made: list[Part] = []
    for numbers in group(kinds):
        together = [parts[number] for number in numbers]
        # ANTs keeps the type of a linear part that stands alone behind others.
        is_last_of_others = made and numbers[-1] == len(parts) - 1
        if kinds[numbers[0]].form == LINEAR_FORM and not (is_last_of_others and len(together) == 1):
            made.append(_join_linear(together))
        else:
            made.append(together[0] if len(together) == 1 else _join_fields(together, device))
    return made


def linear_part(name: str, transform: Affine) -> Part:
    """Makes a linear part."""
    return Part(name, transform, transform.inverse())


def merge(part: Part, following: Part) -> Part:
    """Makes one part of a linear one and the linear stage's behind it, whose name it has."""
    own = following.transform
    assert isinstance(own, Affine)
    return linear_part(following.name, Affine.from_matrix(matrix_of_parts([part, following], own.dimension), own.center))


def matrix_of_parts(parts: Sequence[Part], dimension: int) -> np.ndarray:
    """Returns the homogeneous matrix of the composed linear parts; the identity if there are none."""
    return linear_matrix(compose(parts), "transform") if parts else np.eye(dimension + 1)


def compose(parts: Sequence[Part]) -> Composite:
    """Returns all parts as one transform."""
    return Composite([part.transform for part in reversed(parts)])


def compose_inverses(parts: Sequence[Part]) -> Optional[Transform]:
    """Returns the inverse of all parts as one; None if one of them has none."""
    inverses = [part.inverse for part in parts if part.inverse is not None]
    return Composite(inverses) if len(inverses) == len(parts) else None


def grid_of(field: DisplacementField) -> Image:
    """Returns a field's grid, as an image of zeros."""
    shape = field.host_array().shape[:-1]
    return Image(np.broadcast_to(np.float64(0), shape), field.spacing, field.origin, field.direction)


def _join_linear(parts: Sequence[Part]) -> Part:
    first = parts[0].transform
    if len(parts) == 1:
        return Part(_JOINED, first, parts[0].inverse)
    center = first.center if isinstance(first, Affine) else None
    return linear_part(_JOINED, Affine.from_matrix(matrix_of_parts(parts, first.dimension), center))


def _join_fields(parts: Sequence[Part], device: Optional[str]) -> Part:
    """Composes fields at the voxels of their grid, as ANTs does."""
    inverse, last = compose_inverses(parts), parts[-1].transform
    assert isinstance(last, DisplacementField)
    grid = grid_of(last)
    forward = compose(parts).to_displacement_field(grid, device)
    return Part(parts[-1].name, forward, None if inverse is None else inverse.to_displacement_field(grid, device))
