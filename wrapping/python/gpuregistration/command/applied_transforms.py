# SPDX-License-Identifier: Apache-2.0
"""Reads the transforms of gpureg apply, which applies them to images and to OME-Zarrs, and of gpureg compare."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Sequence

from . import inputs
from .errors import CommandError, WrongUse

if TYPE_CHECKING:
    from .._image import Image
    from .._transforms import Transform


def check_has_reference(arguments: argparse.Namespace) -> None:
    """Raises WrongUse if a transform of `gpureg apply` wants a reference, and there is none."""
    from .._files import is_flirt_matrix

    if arguments.reference is not None:
        return
    for path in arguments.transform:
        if is_flirt_matrix(path):
            raise WrongUse(f"{path} is FSL's, which has a meaning with its two images alone: name the other one by --reference")


def read_transforms(arguments: argparse.Namespace, image: Image, reference: Image, device: str) -> Transform | None:
    """Reads the transforms of `gpureg apply` as one; returns None if there are none. Raises CommandError for a file that cannot be
    applied."""
    from .._composite import Composite

    if not arguments.transform:
        return None
    # On the way back the image is the fixed one.
    fixed, moving = (image, reference) if arguments.inverse else (reference, image)
    read = read_chain(arguments.transform, fixed, moving)
    if arguments.inverse:
        read = [_invert(transform, path, device) for transform, path in zip(read[::-1], arguments.transform[::-1])]
    return Composite(read)


def read_chain(paths: Sequence[str], fixed: Image, moving: Image) -> list[Transform]:
    """Reads transforms from the points of one image to those of another one. Raises CommandError for a file that is none."""
    from .._files import is_flirt_matrix

    read = []
    for path in paths:
        if len(paths) > 1 and is_flirt_matrix(path):
            raise CommandError(f"{path} is FSL's, which has a meaning with its two images alone: give it by itself, or convert it to ITK's")
        transform = inputs.read_transform(path, fixed, moving)
        inputs.check_transform(transform, path, fixed)
        read.append(transform)
    return read


def _invert(transform: Transform, path: str, device: str) -> Transform:
    from .._warnings import warn_of_input

    inverse = transform.inverse(device=device)
    for warning in inverse.warnings:
        warn_of_input(f"{path}: {warning}")
    return inverse
