# SPDX-License-Identifier: Apache-2.0
"""Resampling."""

from __future__ import annotations

from typing import Any, Callable, Optional

import numpy as np

from . import _engine
from ._checks import check_finite, check_progress, read_choice, read_numbers, read_whole
from ._devices import DeviceLike, borrow_engine
from ._engine import BadInputError
from ._gpu_arrays import GpuArray, choose_device_of
from ._image import Image, engine_map, engine_size, host_array, real_values, require_scalar
from ._kinds import ImageLike, Kind, read_image
from ._transforms import Transform, TransformLike, as_transform

_INTERPOLATIONS = ("linear", "nearest", "bspline")


def resample(
    image: Kind,
    transform: Optional[TransformLike] = None,
    reference: Optional[ImageLike] = None,
    interpolation: str = "linear",
    default: float = 0.0,
    order: int = 3,
    extrapolate: bool = False,
    device: Optional[DeviceLike] = None,
    progress: Optional[Callable[[float], Any]] = None,
) -> Kind:
    """An image, moved by a transform, on the grid of a reference.

    Args:
        image: the moving image, of any kind (see Image and register).
        transform: from points of the reference's space to the image's: of this package, of SimpleITK or of ITK. None: points stay
            where they are.
        reference: an image of any kind, whose grid the output has. None: the image itself.
        interpolation: "linear", "nearest" (for labels, which stay the numbers that they are; on a GPU's array those up to 2^53) or
            "bspline".
        default: the value outside of the image, of each component.
        order: of the B-spline, 0 to 5.
        extrapolate: outside of the image its nearest voxel continues, in the place of the default.
        device: its name, such as "cuda:0"; None: that of an image on a GPU, else the default one.
        progress: called with the share that is done, 0 to 1; may raise to end the work. Not of an image on a GPU, where the output
            stays, in one piece.

    Returns:
        An image of the kind and the type of values of `image`. Whole numbers are rounded to the nearest one, and to the ends of
        their type's range. What is interpolated of a value that is not a number is none either; an infinite float becomes the
        largest one, as in ITK.

    Raises:
        BadInputError: no image, no transform, other dimensions, no such interpolation, values that are not finite for "bspline", or an
            image on another GPU than is to compute.
        DeviceError: there is no such device.
        UnsupportedError: the device does not compute this.
    """
    check_progress(progress)
    moving, wrap = read_image(image, "moving")
    grid = moving if reference is None else read_image(reference, "reference")[0]
    if grid.dimension != moving.dimension:
        raise BadInputError(
            f"The image is of {moving.dimension} dimensions, and its reference of {grid.dimension}: give two images of the same, such as "
            "one slice of the larger one."
        )
    chain = as_transform(transform, moving.dimension) if transform is not None else None
    name = choose_device_of(device, image=moving.content)
    array = resample_array(moving, chain, grid, interpolation, name, default, order, extrapolate, progress)
    return wrap(grid.like(array))


def resample_array(
    moving: Image,
    transform: Optional[Transform],
    grid: Image,
    interpolation: str,
    device: str,
    default: float = 0.0,
    order: int = 3,
    extrapolate: bool = False,
    progress: Optional[Callable[[float], Any]] = None,
) -> Any:
    """The same of what has been read: an array of the grid's shape, of the moving one's type and components, and where that is."""
    interpolation, order = read_choice("interpolation", interpolation, _INTERPOLATIONS), read_whole("order", order, 0, 5)
    content = moving.content
    outside = _read_default(default, content.dtype)
    of_others = np.float64 if _engine.has_doubles(device) else np.float32
    if interpolation == "nearest" and not isinstance(content, GpuArray) and _are_too_large(content, of_others):
        # Each of the values that there are is resampled by its number.
        there, numbers = np.unique(np.append(content, to_type(np.array([outside]), content.dtype)), return_inverse=True)
        numbered = moving.like(numbers[:-1].reshape(content.shape).astype(np.int32))
        found = resample_array(
            numbered, transform, grid, interpolation, device, float(numbers[-1]), order, extrapolate, progress
        )
        return there[found]
    if interpolation == "bspline" and order > 1 and not isinstance(content, GpuArray):
        # Its coefficients are found along whole lines.
        check_finite("image that B-splines are to interpolate", content)
    if moving.is_vector and interpolation == "bspline":
        # The engine's splines are of one component.
        parts = [
            resample_array(
                moving.like(host_array(moving)[..., n]), transform, grid, interpolation, device, default, order, extrapolate, progress
            )
            for n in range(moving.components)
        ]
        return np.stack(parts, axis=-1)
    chain = _chain_of(transform, moving)
    asked = _ask(moving, grid)
    asked.interpolation = interpolation
    asked.order = order
    asked.outside = [outside] * moving.components
    asked.extrapolates = bool(extrapolate)
    with borrow_engine(_engine.Resampler, device) as resampler:
        if isinstance(content, GpuArray):
            require_scalar(moving, "moving image")
            return content.make_alike(resampler.resample_on_device(content.borrow(of_others), chain, asked, grid.shape))
        made = resampler.resample(real_values(moving, of_others), chain, asked, progress)
    return to_type(made.reshape(grid.shape + content.shape[moving.dimension :]), content.dtype)


def _read_default(default: Any, kind: np.dtype) -> float:
    value = read_numbers("The default", default)
    if value.shape != () or (kind.kind in "biu" and not np.isfinite(value)):
        raise BadInputError(f"The default {default!r} is not possible: give one number; of whole numbers' images, a finite one.")
    return float(value)


def _are_too_large(content: np.ndarray, real: Any) -> bool:
    """Whether an array has whole numbers that floats or doubles do not have."""
    digits = np.finfo(real).nmant + 1
    if content.dtype.kind not in "iu" or 8 * content.dtype.itemsize <= digits:
        return False
    return int(content.max()) > 1 << digits or int(content.min()) < -(1 << digits)


def warp_loaded(loaded: _engine.DeviceArray, moving: Image, transform: Transform, grid: Image, device: str) -> np.ndarray:
    """The same, linear and 0 outside, of an image whose values are on the device already, as resample_array() would send them."""
    asked = _ask(moving, grid)
    asked.outside = [0.0]
    with borrow_engine(_engine.Resampler, device) as resampler:
        made = resampler.resample_loaded(loaded, _chain_of(transform, moving), asked, None)
    return to_type(made.reshape(grid.shape), moving.content.dtype)


def _chain_of(transform: Optional[Transform], moving: Image) -> _engine.Chain:
    return transform.chain() if transform is not None else _engine.Chain(moving.dimension)


def _ask(moving: Image, grid: Image) -> _engine.Resampling:
    """What is asked of the engine, as far as the images say it."""
    asked = _engine.Resampling()
    asked.size = engine_size(grid)
    asked.output_to_point = engine_map(grid.index_to_point)
    asked.point_to_input = engine_map(np.linalg.inv(moving.index_to_point))
    asked.is_of_integers = moving.content.dtype.kind in "biu"
    return asked


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
