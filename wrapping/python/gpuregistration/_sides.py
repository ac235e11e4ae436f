# SPDX-License-Identifier: Apache-2.0
"""The two images of a registration, and their masks, on their way to a device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional

import numpy as np

from . import _engine
from ._engine import BadInputError
from ._image import Image, as_volume, engine_map, real_values
from ._kinds import Wrap, is_image_with_grid, read_image


@dataclass
class Pair:
    """What is registered."""

    fixed: Image
    moving: Image
    fixed_mask: Optional[np.ndarray]
    moving_mask: Optional[np.ndarray]
    wrap: Wrap

    @property
    def dimension(self) -> int:
        return self.fixed.dimension

    def load(self, device: str) -> tuple[_engine.Side, _engine.Side]:
        """Both sides on a device."""
        return (
            _engine.Side(device, real_values(self.fixed.array), self.fixed_mask, engine_map(self.fixed.index_to_point)),
            _engine.Side(device, real_values(self.moving.array), self.moving_mask, engine_map(self.moving.index_to_point)),
        )


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
        _check_values(image.array, which)
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


def _read_mask(mask: Any, image: Image, which: str) -> Optional[np.ndarray]:
    if mask is None:
        return None
    read, _ = read_image(mask, f"{which} mask's")
    if read.array.shape != image.array.shape:
        raise BadInputError(
            f"The {which} image's mask has shape {read.array.shape}, and the image {image.array.shape}. Resample the mask on the "
            'image\'s grid: resample(mask, None, image, interpolation="nearest").'
        )
    if is_image_with_grid(mask) and not read.has_grid_of(image):
        raise BadInputError(
            f"The {which} image's mask is on another grid than the image. Resample it on the image's: "
            'resample(mask, None, image, interpolation="nearest").'
        )
    inside = as_volume(read.array) != 0
    if not inside.any():
        raise BadInputError(f"No voxel of the {which} image is inside of its mask. Set another mask, or none.")
    return np.ascontiguousarray(inside, dtype=np.float32)


def mask_of_image(mask: np.ndarray, image: Image) -> np.ndarray:
    """A Pair's mask, 0 and 1, in the shape of its image's array."""
    return (mask != 0).astype(np.uint8).reshape(image.array.shape)
