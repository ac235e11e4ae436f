# SPDX-License-Identifier: Apache-2.0
"""Moves images of each type that antsApplyTransforms has to the grid of a reference."""

from __future__ import annotations

from typing import NamedTuple, Optional, Sequence

import numpy as np

from .._image import Image, host_array
from .._resample import to_type
from .._transforms import Transform
from .interpolation import Interpolation, resample_by
from .tensors import NUMBERS, join_tensors, log_ball, log_tensors, split_tensors
from .turning import find_backward, turn_axes, turn_vectors

#: Types of images, by ANTs' numbers: numbers; vectors and tensors along the image's axes; series over time; several channels; five
#: dimensions; vectors along physical axes.
SCALARS, VECTORS, TENSORS, SERIES, CHANNELS, FIVE_DIMENSIONS, PHYSICAL = range(7)


# Logarithms that are smaller are zeros but for rounding, of voxels without a tensor: a device of floats interpolates those by splines.
_ROUNDING = 1e-6


class Making(NamedTuple):
    """How the output's values are made.

    Attributes:
        default: the value outside of the input; of tensors, the eigenvalues there.
        type: NumPy's name of their type.
    """

    interpolation: Interpolation
    default: float
    type: str


def move_image(image: Image, kind: int, transform: Transform, reference: Image, making: Making, device: Optional[str]) -> Image:
    """Resamples an image on a reference's grid, as doubles or floats, and converts it to the type that is asked for. Vectors and tensors
    are turned as the transform turns what it moves.

    Args:
        kind: SCALARS, VECTORS, TENSORS, CHANNELS or PHYSICAL; a volume of a series is one of SCALARS.
    """
    exact = np.dtype(np.float32 if making.type == "float32" else np.float64)
    values = host_array(image)
    if kind == TENSORS:
        return reference.like(_move_tensors(image, transform, reference, making, device).astype(exact, copy=False))
    values = values.astype(exact, copy=False)
    if not image.is_vector:
        moved = _move(image, values, transform, reference, making, making.default, device)
    else:
        if kind == VECTORS:
            # Along the reference's axes, as the default outside of the image is.
            values = values @ (reference.direction.T @ image.direction).T.astype(exact)
        moved = _move_each(image, values, transform, reference, making, [making.default] * image.components, device)
        if kind in (VECTORS, PHYSICAL):
            _turn(moved, transform, reference, kind == PHYSICAL, device)
    return reference.like(cut_to_type(moved, np.dtype(making.type)))


def cut_to_type(values: np.ndarray, kind: np.dtype) -> np.ndarray:
    """Returns values of another type, without their decimals where it is of whole numbers, as ANTs makes them. Values beyond its range
    become its ends, where ANTs has other numbers."""
    if kind.kind not in "biu" or values.dtype.kind not in "f":
        return values.astype(kind, copy=False)
    return to_type(np.trunc(values), kind)


def _move(
    image: Image, values: np.ndarray, transform: Transform, reference: Image, making: Making, default: float, device: Optional[str]
) -> np.ndarray:
    one = Image(values, image.spacing, image.origin, image.direction)
    moved: np.ndarray = resample_by(one, transform, reference, making.interpolation, default, device).array
    return moved


def _move_each(
    image: Image, values: np.ndarray, transform: Transform, reference: Image, making: Making, defaults: Sequence[float], device: Optional[str]
) -> np.ndarray:
    parts = [_move(image, values[..., n], transform, reference, making, default, device) for n, default in enumerate(defaults)]
    return np.stack(parts, axis=-1)


def _turn(moved: np.ndarray, transform: Transform, reference: Image, is_physical: bool, device: Optional[str]) -> None:
    """Turns vectors that have been moved, along physical axes or along the reference's, in their place."""
    there = moved.any(axis=-1) & np.isfinite(moved).all(axis=-1)
    axes = np.eye(reference.dimension) if is_physical else reference.direction
    moved[there] = turn_vectors(moved[there] @ axes.T, find_backward(transform, reference, there, device)) @ axes


def _move_tensors(image: Image, transform: Transform, reference: Image, making: Making, device: Optional[str]) -> np.ndarray:
    logs = log_tensors(host_array(image), making.default)
    moved = _move_each(image, logs, transform, reference, making, log_ball(making.default).tolist(), device)
    there = (np.abs(moved) > _ROUNDING).any(axis=-1) & np.isfinite(moved).all(axis=-1)
    eigenvalues, axes = split_tensors(moved[there])
    axes = image.direction @ axes
    axes = reference.direction.T @ turn_axes(axes, find_backward(transform, reference, there, device))
    made = np.zeros((*reference.shape, NUMBERS))
    made[there] = join_tensors(np.exp(eigenvalues), axes)
    return made
