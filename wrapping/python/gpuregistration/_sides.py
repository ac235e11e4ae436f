# SPDX-License-Identifier: Apache-2.0
"""The two images of a registration, and their masks, on their way to a device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional, Union

import numpy as np

from . import _engine
from ._engine import BadInputError
from ._gpu_arrays import GpuArray, choose_device_of
from ._image import Image, as_volume, engine_map, on_device, require_scalar
from ._kinds import Wrap, is_image_with_grid, read_image


# Of the host: floats [z, y, x], 0 or 1.
Mask = Union[np.ndarray, GpuArray]


@dataclass
class Pair:
    """What is registered."""

    fixed: Image
    moving: Image
    fixed_mask: Optional[Mask]
    moving_mask: Optional[Mask]
    wrap: Wrap

    @property
    def dimension(self) -> int:
        return self.fixed.dimension

    def load(self, device: str) -> tuple[_engine.Side, _engine.Side]:
        """Both sides on a device."""
        return (
            _engine.Side(
                on_device(self.fixed, device), _load_mask(self.fixed_mask, device), engine_map(self.fixed.index_to_point)
            ),
            _engine.Side(
                on_device(self.moving, device), _load_mask(self.moving_mask, device), engine_map(self.moving.index_to_point)
            ),
        )

    def on_host(self) -> "Pair":
        """The same in arrays of NumPy's."""
        return Pair(
            self.fixed.on_host(),
            self.moving.on_host(),
            _bring_mask(self.fixed_mask),
            _bring_mask(self.moving_mask),
            self.wrap,
        )

    def choose_device(self, name: Any) -> str:
        """The name of the device that computes, see choose_device_of."""
        return choose_device_of(
            name,
            fixed_image=self.fixed.content,
            moving_image=self.moving.content,
            fixed_mask=self.fixed_mask,
            moving_mask=self.moving_mask,
        )


def _bring_mask(mask: Optional[Mask]) -> Optional[Mask]:
    return (mask.bring() != 0).astype(np.float32) if isinstance(mask, GpuArray) else mask


def _load_mask(mask: Optional[Mask], device: str) -> Optional[_engine.DeviceArray]:
    if mask is None:
        return None
    return mask.borrow_mask() if isinstance(mask, GpuArray) else _engine.load(device, mask, mask.shape)


def read_pair(fixed: Any, moving: Any, fixed_mask: Any, moving_mask: Any, geometry: dict[str, Any]) -> Pair:
    """Reads images and masks of any kind.

    Raises:
        BadInputError: one is no image, they do not fit to each other, or a value is not finite.
    """
    fixed_image, _ = read_image(fixed, "fixed", **geometry)
    moving_image, wrap = read_image(moving, "moving", **geometry)
    if fixed_image.dimension != moving_image.dimension:
        raise BadInputError(
            f"The fixed image has {fixed_image.dimension} dimensions, the moving one {moving_image.dimension}. Hand in two of the "
            "same, such as one slice of the larger one."
        )
    for image, which in ((fixed_image, "fixed"), (moving_image, "moving")):
        require_scalar(image, which)
        if not isinstance(image.content, GpuArray):
            # Of one on a GPU the engine sees to that.
            _check_values(image.content, which)
    return Pair(
        fixed_image,
        moving_image,
        _read_mask(fixed_mask, fixed_image, "fixed"),
        _read_mask(moving_mask, moving_image, "moving"),
        wrap,
    )


def _check_values(array: np.ndarray, which: str) -> None:
    if array.dtype.kind == "f":
        bad = array.size - int(np.isfinite(array).sum())
        if bad:
            first = tuple(int(n) for n in np.argwhere(~np.isfinite(array))[0])
            raise BadInputError(
                f"The {which} image has {bad} values that are infinite or not a number, the first one at {first}. Replace them, such "
                "as by numpy.nan_to_num."
            )
    if array.min() == array.max():
        raise BadInputError(
            f"The {which} image is constant: each value is {array.min()}. There is nothing to register; is it the right image?"
        )


def _read_mask(mask: Any, image: Image, which: str) -> Optional[Mask]:
    if mask is None:
        return None
    read, _ = read_image(mask, f"{which} mask's")
    require_scalar(read, f"{which} mask's")
    if read.shape != image.shape:
        raise BadInputError(
            f"The {which} image's mask has shape {read.shape}, and the image {image.shape}. Resample the mask on the "
            'image\'s grid: resample(mask, None, image, interpolation="nearest").'
        )
    if is_image_with_grid(mask) and not read.has_grid_of(image):
        raise BadInputError(
            f"The {which} image's mask is on another grid than the image. Resample it on the image's: "
            'resample(mask, None, image, interpolation="nearest").'
        )
    if isinstance(read.content, GpuArray):
        return read.content
    inside = as_volume(read.content) != 0
    if not inside.any():
        raise BadInputError(f"No voxel of the {which} image is inside of its mask. Set another mask, or none.")
    return np.ascontiguousarray(inside, dtype=np.float32)


def mask_of_image(mask: np.ndarray, image: Image) -> np.ndarray:
    """A Pair's mask, 0 and 1, in the shape of its image's array."""
    return (mask != 0).astype(np.uint8).reshape(image.array.shape)
