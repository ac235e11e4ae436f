# SPDX-License-Identifier: Apache-2.0
"""Files that a subcommand reads, and whether they fit to each other."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Optional, Sequence

from .._paths import readable
from .errors import CommandError, WrongUse, one_line

if TYPE_CHECKING:
    from .._image import Image
    from .._series import Series
    from .._transforms import Transform


def read_image(path: str, channel: Optional[int] = None, needs_values: bool = True) -> Image:
    """Reads an image's file, a folder with a DICOM series, or a level of an OME-Zarr; or one channel of it.

    Args:
        needs_values: False: they are left out.

    Raises:
        CommandError: it cannot be read; the message names it.
    """
    from .._engine import Error
    from .._files import read_image as read
    from .._files import read_image_grid

    try:
        return read(path, channel) if needs_values else read_image_grid(path, channel)
    except Error as error:
        raise CommandError(_naming(path, error)) from error


def read_scalar_image(path: str, channel: Optional[int] = None, needs_values: bool = True) -> Image:
    """Reads an image with one number per voxel as read_image() does.

    Args:
        channel: the number of the component that is taken; None: the one that a grey image, stored as colours, shows.
        needs_values: False: they are left out, and colours taken for grey.
    """
    from .._engine import Error
    from .._grey import as_grey

    image = read_image(path, channel, needs_values)
    try:
        return as_grey(image, f"file {path}", "Give a file of one of them, or --channel 0 for the first one.")
    except Error as error:
        raise CommandError(one_line(error)) from error


def channels_of(paths: Sequence[str], channel: Optional[int]) -> dict[str, Optional[int]]:
    """Returns the channel to read of each file: none of one that has one component, unless all of them have. Raises CommandError if a file
    cannot be read."""
    if channel in (None, 0):
        return dict.fromkeys(paths, channel)
    have = {path: _has_components(path) for path in paths}
    return {path: channel if has or not any(have.values()) else None for path, has in have.items()}


def _has_components(path: str) -> bool:
    from .._engine import Error
    from .._zarr_names import is_zarr

    try:
        if is_zarr(path):
            from ..ome_zarr.read import has_channels

            return has_channels(path)
        return read_image(path, needs_values=False).is_vector
    except Error as error:
        raise CommandError(_naming(path, error)) from error


def read_grid(path: str) -> Image:
    """Reads an image whose grid alone is used, without values; of a series, the grid of its volumes."""
    from .._engine import Error
    from .._series import read_grid as read

    try:
        return read(path)
    except Error as error:
        raise CommandError(_naming(path, error)) from error


def is_series(path: str) -> bool:
    """Returns whether a file holds several volumes."""
    from .._series import is_series as is_one

    return is_one(path)


def read_series(path: str) -> Series:
    """Reads a series of volumes. Raises CommandError if it cannot be read."""
    from .._engine import Error
    from .._series import read_series as read

    try:
        return read(path)
    except Error as error:
        raise CommandError(_naming(path, error)) from error


def read_transform(path: str, fixed: Optional[Image] = None, moving: Optional[Image] = None) -> Transform:
    """Reads a transform's file. Raises CommandError if it cannot be read."""
    from .._engine import Error
    from .._files import read_transform as read

    try:
        return read(path, fixed, moving)
    except Error as error:
        if not os.path.exists(path):
            raise CommandError(_naming(path, error)) from error
        raise CommandError(
            f"{path} is no transform that can be used; give ITK's .tfm, .txt or .h5, ANTs' or FSL's .mat, or an image of displacements. "
            f"{one_line(error)}"
        ) from error


def check_dimensions(first: Image, first_path: str, second: Image, second_path: str) -> None:
    """Raises CommandError if two images are of other dimensions; of three with one slice they are of two as well."""
    from .._slices import can_be_flat

    if first.dimension != second.dimension and not (can_be_flat(first) and can_be_flat(second)):
        raise CommandError(
            f"{first_path} has {first.dimension} dimensions and {second_path} {second.dimension}: give two images of the same, such as "
            "one slice of the larger one"
        )


def check_can_be_flat(image: Image, path: str) -> None:
    """Raises CommandError if an image has neither two dimensions nor one slice, as those have that a transform of two dimensions is applied to."""
    from .._slices import can_be_flat

    if not can_be_flat(image):
        raise CommandError(f"{path} is no image of two dimensions, nor a slice, as the others are: give one slice of it")


def check_transform(transform: Transform, path: str, image: Image) -> None:
    """Raises CommandError if a transform is not of an image's dimensions; one of two is of an image of one slice, too."""
    from .._slices import is_slice

    if transform.dimension != image.dimension and not (transform.dimension == 2 and is_slice(image)):
        raise CommandError(
            f"{path} is a transform of {transform.dimension} dimensions and the images have {image.dimension}: give one of theirs"
        )


def check_stays(outputs: Sequence[Optional[str]], inputs: Sequence[Optional[str]]) -> None:
    """Raises WrongUse if an output, or its values in a file of their own, would take an input's place."""
    from .._parts import parts_that_are_read, parts_that_are_written

    kept = {os.path.realpath(part) for path in inputs if path is not None for part in parts_that_are_read(path)}
    for part in (part for path in outputs if path is not None for part in parts_that_are_written(path)):
        if os.path.realpath(part) in kept:
            raise WrongUse(f"{part} is read, and would be replaced: give the output another name")


def _naming(path: str, error: BaseException) -> str:
    text: Any = one_line(error)
    return text if path in text or readable(path) in text else f"{path}: {text}"
