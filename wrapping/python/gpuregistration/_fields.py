# SPDX-License-Identifier: Apache-2.0
"""Fields of displacements in files of images, of this package and of other programs, each by what its header says that it is."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from ._engine import BadInputError
from ._image import Image
from ._nibabel import Stored, find_unit, image_of
from ._transforms import DisplacementField
from ._warnings import warn_of_input

# Codes of intent: NIfTI's of displacements, whose axes are its own, and of vectors, which ITK and ANTs write theirs as; FSL's own.
_NONE, _DISPLACEMENTS, _VECTORS = 0, 1006, 1007
_FSL = {
    2006: "displacements of FSL's FNIRT",
    2007: "cubic B-spline coefficients of FSL's FNIRT",
    2008: "cosine coefficients of FSL's FNIRT",
    2009: "quadratic B-spline coefficients of FSL's FNIRT",
    2016: "cubic B-spline coefficients of FSL's topup",
    2017: "quadratic B-spline coefficients of FSL's topup",
    2018: "a field of FSL's topup",
}
# NiftyReg's, by intent_p1.
_POSITIONS_OF_NIFTYREG, _DISPLACEMENTS_OF_NIFTYREG = 0, 1
_NIFTYREG = {2: "a cubic B-spline", 3: "velocities", 4: "velocities", 5: "a B-spline of velocities", 6: "a linear B-spline"}
# A header that has one of these words describes velocities, which must be integrated first.
_VELOCITIES = re.compile(r"\b(flow|veloc|svf\b)", re.IGNORECASE)
# From axes right and anterior to left and posterior.
_TURN = np.array([-1.0, -1.0, 1.0])


def field_of_image(image: Image, name: str) -> DisplacementField:
    """Returns a field whose vectors are ITK's: displacements in mm, left, posterior and superior.

    Raises:
        BadInputError: it has another number of components than of dimensions, or values that are not finite.
    """
    if image.components != image.dimension or not image.is_vector:
        raise BadInputError(
            f"The image {name} has {image.components} components a voxel; a field of displacements of {image.dimension} dimensions has "
            f"{image.dimension}."
        )
    return DisplacementField(image.array, image.spacing, image.origin, image.direction)


def field_of_nifti(stored: Stored, name: str) -> DisplacementField:
    """Returns the field of a NIfTI file that ITK, ANTs, NiftyReg or SPM wrote.

    Raises:
        BadInputError: its header says that it is something else, or its values are none of a field.
    """
    header = stored.header
    intent, intent_name = int(header["intent_code"]), _text(header["intent_name"])
    if intent in _FSL:
        raise BadInputError(
            f"The file {name} holds {_FSL[intent]} (intent_code {intent}), which have a meaning with FSL's two images alone. Convert it: "
            "wb_command -convert-warpfield -from-fnirt FIELD SOURCE -to-itk new.nii.gz."
        )
    kind = _kind_of_niftyreg(float(header["intent_p1"]), name) if intent_name == "NREG_TRANS" else None
    if kind is not None and kind not in (_POSITIONS_OF_NIFTYREG, _DISPLACEMENTS_OF_NIFTYREG):
        raise BadInputError(
            f"The file {name} holds {_NIFTYREG.get(kind, 'a transform')} of NiftyReg's (intent_p1 {kind}), which is no field of displacements. "
            "Make it one: reg_transform -ref FIXED -disp FILE new.nii.gz."
        )
    if intent not in (_NONE, _DISPLACEMENTS, _VECTORS):
        raise BadInputError(
            f"The file {name} is no field of displacements: its header says that it holds something else (intent_code {intent}). Where it is "
            "one of ITK's, set intent_code to 1007."
        )
    if find_unit(stored) != 1.0:
        raise BadInputError(
            f"The file {name} is a field, and its header's lengths are not in mm (xyzt_units): programs do not agree on what its vectors "
            "are in. Write it in mm."
        )
    if (kind is not None or intent_name == "Mapping") and int(header["sform_code"]) <= 0 and int(header["qform_code"]) <= 0:
        raise BadInputError(
            f"The file {name} holds positions or displacements in a space that its header does not say: its qform_code and sform_code "
            "are both 0. Write it with an sform."
        )
    field = field_of_image(image_of(stored, "A field of displacements has 2 or 3, and as many components a voxel."), name)
    if kind == _DISPLACEMENTS_OF_NIFTYREG:
        return _turned(field)
    if kind == _POSITIONS_OF_NIFTYREG or intent_name == "Mapping":
        return _from_positions(_turned(field))
    for words in (intent_name, _text(header["descrip"])):
        if _VELOCITIES.search(words):
            raise BadInputError(
                f"The file {name} is no field of displacements: its header calls it {words!r}. Have the program that wrote it make "
                "displacements or a deformation of it."
            )
    # NIfTI's own displacements may have any name.
    if intent != _DISPLACEMENTS and intent_name and "displacement" not in intent_name.lower():
        raise BadInputError(
            f"The file {name} has vectors of which it is not known what they are: its header calls them {intent_name!r} (intent_name). Where they are "
            "ITK's displacements, make intent_name empty."
        )
    if intent == _DISPLACEMENTS:
        if field.dimension == 2:
            raise BadInputError(
                f"The file {name} holds displacements in two dimensions by intent_code 1006, of which programs read the axes in two ways. "
                "Write them with 1007, left and posterior, as ITK does."
            )
        return _turned(field)
    if intent == _NONE:
        warn_of_input(
            f"The file {name} does not say what its vectors are (intent_code 0): they are taken for ITK's displacements, in mm, left, "
            "posterior and superior. Set intent_code to 1007 if they are."
        )
    return field


def _kind_of_niftyreg(number: float, name: str) -> int:
    """Returns the kind of a transform of NiftyReg, its intent_p1. Raises BadInputError if that is no whole number."""
    if not number.is_integer():
        raise BadInputError(
            f"The file {name} does not say which of NiftyReg's transforms it is: its intent_p1 is {number:g}, which is to be a whole number. Make "
            "it again: reg_transform -ref FIXED -disp FILE new.nii.gz."
        )
    return int(number)


def _text(value: Any) -> str:
    return bytes(value.item()).decode("latin-1").strip("\0 ")


def _turned(field: DisplacementField) -> DisplacementField:
    """Converts vectors whose first axes point right and anterior to ITK's."""
    return DisplacementField(field.array * _TURN[: field.dimension], field.spacing, field.origin, field.direction)


def _from_positions(field: DisplacementField) -> DisplacementField:
    """Converts the positions to which voxels are mapped to displacements."""
    size = field.array.shape[-2::-1]
    steps = field.direction * field.spacing
    points = field.origin
    for axis, count in enumerate(size):
        along = [1] * len(size)
        along[len(size) - 1 - axis] = count
        points = points + np.arange(count).reshape(*along, 1) * steps[:, axis]
    return DisplacementField(field.array - points, field.spacing, field.origin, field.direction)
