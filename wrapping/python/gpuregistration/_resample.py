# SPDX-License-Identifier: Apache-2.0
"""Resampling."""

from __future__ import annotations

from typing import Any, Callable, Optional

import numpy as np

from ._devices import borrow_engine, choose_device
from ._engine import BadInputError
from ._image import Image, engine_map, engine_size, real_values
from ._kinds import read_image
from ._transforms import Transform, as_transform

_INTERPOLATIONS = ("linear", "nearest", "bspline")


def resample(
    image: Any,
    transform: Any = None,
    reference: Any = None,
    interpolation: str = "linear",
    default: float = 0.0,
    order: int = 3,
    extrapolate: bool = False,
    device: Any = None,
    progress: Optional[Callable[[float], Any]] = None,
) -> Any:
    """An image, moved by a transform, on the grid of a reference.

    Args:
        image: the moving image, of any kind (see Image and register).
        transform: from points of the reference's space to the image's: of this package, of SimpleITK or of ITK. None: points stay
            where they are.
        reference: an image of any kind, whose grid the output has. None: the image itself.
        interpolation: "linear", "nearest" (for labels) or "bspline".
        default: the value outside of the image.
        order: of the B-spline, 0 to 5.
        extrapolate: outside of the image its nearest voxel continues, in the place of the default.
        device: its name, such as "cuda:0"; None: the default one.
        progress: called with the share that is done, 0 to 1; may raise to end the work.

    Returns:
        An image of the kind and the type of values of `image`. Whole numbers are rounded to the nearest one, and to the ends of
        their type's range.

    Raises:
        BadInputError: no image, no transform, other dimensions, or no such interpolation.
        DeviceError: there is no such device.
        UnsupportedError: the device does not compute this.
    """
    moving, wrap = read_image(image, "moving")
    grid = moving if reference is None else read_image(reference, "reference")[0]
    if grid.dimension != moving.dimension:
        raise BadInputError(f"The image is of {moving.dimension} dimensions, and its reference of {grid.dimension}.")
    chain = as_transform(transform, moving.dimension) if transform is not None else None
    array = resample_array(moving, chain, grid, interpolation, default, order, extrapolate, choose_device(device), progress)
    return wrap(grid.like(array))


def resample_array(
    moving: Image,
    transform: Optional[Transform],
    grid: Image,
    interpolation: str,
    default: float,
    order: int,
    extrapolate: bool,
    device: str,
    progress: Optional[Callable[[float], Any]],
) -> np.ndarray:
    """The same of what has been read: an array of the grid's shape, and the moving image's type."""
    if interpolation not in _INTERPOLATIONS:
        raise BadInputError(f'There is no interpolation "{interpolation}"; there are: {", ".join(_INTERPOLATIONS)}.')
    from . import _engine

    chain = transform.chain() if transform is not None else _engine.Chain(moving.dimension)
    kind = moving.array.dtype
    is_whole = kind.kind in "biu"
    with borrow_engine("Resampler", device) as resampler:
        made = resampler.resample(
            real_values(moving.array, np.float64 if _engine.has_doubles(device) else np.float32),
            chain,
            engine_size(grid),
            engine_map(grid.index_to_point),
            engine_map(np.linalg.inv(moving.index_to_point)),
            interpolation,
            int(order),
            [float(default)],
            bool(extrapolate),
            is_whole,
            progress,
        )
    return to_type(made.reshape(grid.array.shape), kind)


def to_type(values: np.ndarray, kind: np.dtype) -> np.ndarray:
    """Values of another type: rounded, and no further than its range, where that is of whole numbers."""
    kind = kind.newbyteorder("=")
    if kind == bool:
        return values >= 0.5
    if kind.kind in "iu":
        limits = np.iinfo(kind)
        rounded = np.rint(values)
        low, high = rounded <= limits.min, rounded >= limits.max
        made = np.where(low | high, 0, rounded).astype(kind)
        made[low], made[high] = limits.min, limits.max
        return made
    return values.astype(kind, copy=False)
