# SPDX-License-Identifier: Apache-2.0
"""Files that a subcommand reads, and whether they fit to each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional, Sequence

from .errors import CommandError, WrongUse, one_line

if TYPE_CHECKING:
    from .._image import Image
    from .._transforms import Transform


def read_image(path: str) -> Image:
    """An image's file, or a folder of a DICOM series's slices.

    Raises:
        CommandError: it cannot be read; the message names it.
    """
    from .._engine import Error
    from .._files import read_image as read

    try:
        return read(path)
    except Error as error:
        raise CommandError(_naming(path, error)) from error


def read_scalar_image(path: str) -> Image:
    """The same of one number a voxel."""
    from .._engine import Error
    from .._image import require_scalar
    from .._sides import ONE_IN_FILE

    image = read_image(path)
    try:
        require_scalar(image, f"file {path}", ONE_IN_FILE)
    except Error as error:
        raise CommandError(one_line(error)) from error
    return image


def read_transform(path: str, fixed: Optional[Image] = None, moving: Optional[Image] = None) -> Transform:
    """A transform's file. Raises CommandError if it cannot be read."""
    from .._engine import Error
    from .._files import read_transform as read

    try:
        return read(path, fixed, moving)
    except Error as error:
        raise CommandError(
            f"{path} is no transform that can be used; give ITK's .tfm, .txt or .h5, ANTs' or FSL's .mat, or an image of displacements. "
            f"{one_line(error)}"
        ) from error


def check_dimensions(first: Image, first_path: str, second: Image, second_path: str) -> None:
    """Raises CommandError if two images are of other dimensions."""
    if first.dimension != second.dimension:
        raise CommandError(
            f"{first_path} has {first.dimension} dimensions and {second_path} {second.dimension}: give two images of the same, such as "
            "one slice of the larger one"
        )


def check_transform(transform: Transform, path: str, dimension: int) -> None:
    """Raises CommandError if a transform is not of an image's dimensions."""
    if transform.dimension != dimension:
        raise CommandError(
            f"{path} is a transform of {transform.dimension} dimensions and the images have {dimension}: give one of theirs"
        )


def check_stays(outputs: Sequence[Optional[str]], inputs: Sequence[Optional[str]]) -> None:
    """Raises WrongUse if an output, or its values in a file of their own, would take an input's place."""
    from .._parts import parts_that_are_read, parts_that_are_written

    kept = {part.resolve() for path in inputs if path is not None for part in parts_that_are_read(path)}
    for part in (part for path in outputs if path is not None for part in parts_that_are_written(path)):
        if part.resolve() in kept:
            raise WrongUse(f"{part} is read, and would be replaced: give the output another name")


def _naming(path: str, error: BaseException) -> str:
    text: Any = one_line(error)
    return text if path in text else f"{path}: {text}"
