# SPDX-License-Identifier: Apache-2.0
"""Resampling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Optional

import numpy as np

from . import _engine
from ._checks import check_finite, check_progress, read_choice, read_numbers, read_whole
from ._devices import DeviceLike, borrow_engine
from ._engine import BadInputError
from ._gpu_arrays import GpuArray, choose_device_of
from ._image import Image, engine_map, engine_size, host_array, real_values, require_scalar
from ._kinds import ImageLike, Kind, read_image
from ._slabs import in_slabs
from ._slices import can_be_flat, check_planes, flattened, reshaped
from ._transform_like import as_transform
from ._transforms import Transform, TransformLike, check_dimension

INTERPOLATIONS = ("linear", "nearest", "bspline")

# Values that are brought to another type at a time, so that large images need little memory for it; and values above which threads do that.
_PIECE, _MANY = 1 << 16, 1 << 20


@dataclass(frozen=True)
class Part:
    """Says which part of an image is made, of which part of another one: with the bits that it has where all is made at once.

    Attributes:
        moving, grid: the whole images, of which only the grids count.
        first_moving, first: the first voxels of the parts along x, y (and z), as indices of the whole images.
        chain: the transform, which stays on a device from part to part.
    """

    moving: Image
    grid: Image
    first_moving: tuple[int, ...]
    first: tuple[int, ...]
    chain: _engine.Chain


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
    """Resamples an image through a transform on the grid of a reference.

    Args:
        image: the moving image, of any kind (see Image and register).
        transform: from points of the reference's space to the image's: of this package, of SimpleITK or of ITK. None: points stay
            where they are.
        reference: an image of any kind, whose grid the output has. None: the image itself. By a transform of two dimensions images of
            three with one slice are resampled, too.
        interpolation: "linear", "nearest" (for labels, which stay the numbers that they are; on a GPU's array those up to 2^53) or
            "bspline".
        default: the value outside of the image, of each component; one that its type holds.
        order: the order of the B-spline, 0 to 5.
        extrapolate: outside of the image its nearest voxel continues, in the place of the default.
        device: its name, such as "cuda:0"; None: that of an image on a GPU, else the default one.
        progress: called with the share that is done, 0 to 1; may raise to end the work. Not of an image on a GPU, where the output
            stays, in one piece.

    Returns:
        An image of the kind and the type of values of `image`. Whole numbers are rounded to the nearest one, and to the ends of
        their type's range. A value that is interpolated from one that is not a number is none either; an infinite float
        becomes the largest one, as in ITK.

    Raises:
        BadInputError: no image, no transform, other dimensions, slices of other planes, no such interpolation, values that are not finite
            for "bspline", or an image on another GPU than is to compute.
        DeviceError: there is no such device.
        UnsupportedError: the device does not compute this.
    """
    check_progress(progress)
    moving, wrap = read_image(image, "moving")
    grid = moving if reference is None else read_image(reference, "reference")[0]
    chain = as_transform(transform) if transform is not None else None
    flat, flat_grid = _of_dimension(moving, grid, chain)
    if flat_grid.dimension != flat.dimension:
        raise BadInputError(
            f"The image is of {moving.dimension} dimensions, and its reference of {grid.dimension}: give two images of the same, such as "
            "one slice of the larger one."
        )
    if chain is not None:
        check_dimension(chain, flat.dimension)
    name = choose_device_of(device, image=moving.content)
    array = resample_array(flat, chain, flat_grid, interpolation, name, default, order, extrapolate, progress)
    return wrap(grid.like(reshaped(array, grid.shape + ((moving.components,) if moving.is_vector else ()))))


def _of_dimension(moving: Image, grid: Image, transform: Optional[Transform]) -> tuple[Image, Image]:
    """Returns two images, as images of two dimensions if they can be so and the transform, or one of them, has two dimensions."""
    wanted = transform.dimension if transform is not None else min(moving.dimension, grid.dimension)
    if wanted == 2 and can_be_flat(moving) and can_be_flat(grid):
        check_planes(grid, moving, "reference", "image")
        return flattened(moving), flattened(grid)
    return moving, grid


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
    part: Optional[Part] = None,
) -> Any:
    """Resamples images that have been read. Returns an array of the grid's shape, of the moving one's type and components, and where that
    is.

    Args:
        part: where the moving image and the grid are parts of larger ones; the transform is its chain then.
    """
    interpolation, order = read_choice("interpolation", interpolation, INTERPOLATIONS), read_whole("order", order, 0, 5)
    content = moving.content
    outside = read_default(default, content.dtype)
    of_others = np.float64 if _engine.has_doubles(device) else np.float32
    if interpolation == "nearest" and not isinstance(content, GpuArray) and _are_too_large(content, of_others):
        # Each of the values that there are is resampled by its number.
        there, numbers = np.unique(np.append(content, to_type(np.array([outside]), content.dtype)), return_inverse=True)
        numbered = moving.like(numbers[:-1].reshape(content.shape).astype(np.int32))
        found = resample_array(
            numbered, transform, grid, interpolation, device, float(numbers[-1]), order, extrapolate, progress, part
        )
        return there[found]
    if interpolation == "bspline" and order > 1 and not isinstance(content, GpuArray):
        # Its coefficients are found along whole lines.
        check_finite("image that B-splines are to interpolate", content)
    if moving.is_vector and interpolation == "bspline":
        # The engine's splines are of one component.
        parts = [
            resample_array(
                moving.like(host_array(moving)[..., n]), transform, grid, interpolation, device, default, order, extrapolate, progress, part
            )
            for n in range(moving.components)
        ]
        return np.stack(parts, axis=-1)
    chain = _chain_of(transform, moving) if part is None else part.chain
    asked = _ask(moving, grid, part)
    asked.interpolation = interpolation
    asked.order = order
    asked.outside = [outside] * moving.components
    asked.extrapolates = bool(extrapolate)
    with borrow_engine(_engine.Resampler, device) as resampler:
        if isinstance(content, GpuArray):
            require_scalar(moving, "moving image")
            return content.convert_like(resampler.resample_on_device(content.borrow(of_others), chain, asked, grid.shape))
        made = resampler.resample(real_values(moving, of_others), chain, asked, progress)
    return to_type(made.reshape(grid.shape + content.shape[moving.dimension :]), content.dtype)


def read_default(default: Any, kind: np.dtype) -> float:
    """Reads the value outside of an image.

    Args:
        kind: the type of the image's values.

    Raises:
        BadInputError: it is no number, or one that the type does not hold.
    """
    value = read_numbers("The default", default)
    # The engine has doubles, which have not all whole numbers.
    is_rounded = kind.kind in "iu" and isinstance(default, int) and float(value) != default
    if value.shape != () or is_rounded or not _holds(kind, float(value)):
        raise BadInputError(f"The default {default!r} is not possible: the image's values are of {kind.name}, {_describe_values(kind)}.")
    return float(value)


def _holds(kind: np.dtype, value: float) -> bool:
    """Returns whether a type can hold a number, but for the digits that floats lack."""
    if kind.kind == "f":
        return abs(value) <= float(np.finfo(kind).max) or not np.isfinite(value)
    least, most = _range_of(kind)
    # Doubles have no 2**63 - 1.
    return value.is_integer() and least <= int(value) <= most


def _range_of(kind: np.dtype) -> tuple[int, int]:
    return (0, 1) if kind == bool else (int(np.iinfo(kind).min), int(np.iinfo(kind).max))


def _describe_values(kind: np.dtype) -> str:
    if kind.kind == "f":
        return f"up to {np.finfo(kind).max:.3g}, and one number is wanted"
    least, most = _range_of(kind)
    return f"whole numbers from {least} to {most}, and one of them is wanted"


def _are_too_large(content: np.ndarray, real: Any) -> bool:
    """Returns whether an array has whole numbers that floats or doubles cannot hold."""
    digits = np.finfo(real).nmant + 1
    if content.dtype.kind not in "iu" or 8 * content.dtype.itemsize <= digits:
        return False
    return int(content.max()) > 1 << digits or int(content.min()) < -(1 << digits)


def warp_loaded(
    loaded: _engine.DeviceArray, moving: Image, transform: Transform, grid: Image, device: str, default: float
) -> np.ndarray:
    """Resamples linearly an image whose values are on the device already, as resample_array() would upload them."""
    asked = _ask(moving, grid)
    asked.outside = [default]
    with borrow_engine(_engine.Resampler, device) as resampler:
        made = resampler.resample_loaded(loaded, _chain_of(transform, moving), asked, None)
    return to_type(made.reshape(grid.shape), moving.content.dtype)


def _chain_of(transform: Optional[Transform], moving: Image) -> _engine.Chain:
    return transform.chain() if transform is not None else _engine.Chain(moving.dimension)


def _ask(moving: Image, grid: Image, part: Optional[Part] = None) -> _engine.Resampling:
    """Makes the engine's request, as far as the images determine it."""
    asked = _engine.Resampling()
    asked.size = engine_size(grid)
    whole, whole_moving = (grid, moving) if part is None else (part.grid, part.moving)
    asked.output_to_point = engine_map(whole.index_to_point)
    asked.point_to_input = engine_map(np.linalg.inv(whole_moving.index_to_point))
    if part is not None:
        asked.first_output = [*part.first, *[0] * (3 - grid.dimension)]
        asked.first_input = [*part.first_moving, *[0] * (3 - grid.dimension)]
    asked.is_of_integers = moving.content.dtype.kind in "biu"
    return asked


def to_type(values: np.ndarray, kind: np.dtype) -> np.ndarray:
    """Converts values to another type; for whole numbers, values are rounded and clamped to the type's range."""
    kind = kind.newbyteorder("=")
    if kind == bool:
        return values >= 0.5
    if kind.kind not in "iu":
        return values.astype(kind, copy=False)
    made = np.empty(values.shape, kind)

    def convert(first: int, end: int) -> None:
        _put(values[first:end], made[first:end])

    if values.size < _MANY:
        _put(values, made)
    else:
        in_slabs(convert, len(values))
    return made


def _put(values: np.ndarray, made: np.ndarray) -> None:
    """Puts values, as whole numbers, into an array of the same shape, some at a time, since each takes 11 bytes meanwhile."""
    per = values[0].size if values.ndim > 0 and len(values) > 0 else 0
    if values.size <= _PIECE:
        made[...] = _to_whole(values, made.dtype)
    elif per > _PIECE:
        for slice_of_values, slice_made in zip(values, made):
            _put(slice_of_values, slice_made)
    else:
        step = _PIECE // per
        for first in range(0, len(values), step):
            made[first : first + step] = _to_whole(values[first : first + step], made.dtype)


def _to_whole(values: np.ndarray, kind: np.dtype) -> np.ndarray:
    """Rounds values to whole numbers, and clamps them to the type's range."""
    limits = np.iinfo(kind)
    rounded = np.rint(values)
    low, high = rounded <= limits.min, rounded >= limits.max
    made = np.where(low | high, 0, rounded).astype(kind)
    made[low], made[high] = limits.min, limits.max
    return made
