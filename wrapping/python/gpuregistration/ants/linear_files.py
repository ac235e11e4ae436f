# SPDX-License-Identifier: Apache-2.0
"""Files of linear transforms, of the types that antsRegistration writes for each stage."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._affine import Affine
from .._files import write_simpleitk_transform, write_transform
from .._simpleitk import import_simpleitk

# SimpleITK's name of a stage's type, behind which the dimension stands where it is of one alone.
_TYPES = {"Initial": "Euler{}DTransform", "Translation": "TranslationTransform", "Rigid": "Euler{}DTransform", "Similarity": "Similarity{}DTransform"}
# Largest errors by which a type of file may round a matrix, and the points that it maps, mm.
_ROUNDING = 1e-6


def write_stage(path: str, name: str, transform: Affine) -> None:
    """Writes a stage's linear transform as the type that antsRegistration has for it, or, where that type does not hold it, as an affine
    one.

    Args:
        path: the file's name, which ends on .mat.
        name: the name of the part of the result: "Initial", "Translation", "Rigid", "Similarity" or "Affine".
    """
    made = _of_type(name, transform)
    if made is None:
        write_transform(path, transform)
    else:
        write_simpleitk_transform(path, made)


def _of_type(name: str, transform: Affine) -> Any:
    """Returns the transform as a stage's type; None if that does not hold it."""
    if name not in _TYPES:
        return None
    sitk, d = import_simpleitk(), transform.dimension
    made = getattr(sitk, _TYPES[name].format(d))(*([d] if name == "Translation" else []))
    if name == "Translation":
        if np.abs(transform.matrix - np.eye(d)).max() > _ROUNDING:
            return None
        made.SetOffset(transform.offset.tolist())
        return made
    try:
        made.SetCenter(transform.center.tolist())
        made.SetMatrix(transform.matrix.ravel().tolist(), _ROUNDING)
    except RuntimeError:
        # The matrix is none of the type's.
        return None
    made.SetTranslation(transform.translation.tolist())
    return made if np.abs(np.reshape(made.GetMatrix(), (d, d)) - transform.matrix).max() <= _ROUNDING else None
