# SPDX-License-Identifier: Apache-2.0
"""Reads the transforms that gpureg apply applies to images and to OME-Zarrs."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from . import inputs
from .errors import CommandError

if TYPE_CHECKING:
    from .._image import Image
    from .._transforms import Transform


def read_transforms(arguments: argparse.Namespace, image: Image, reference: Image, device: str) -> Transform | None:
    """Reads the transforms of `gpureg apply` as one; returns None if there are none. Raises CommandError for a file that cannot be applied."""
    from .._composite import Composite
    from .._files import is_flirt_matrix

    if not arguments.transform:
        return None
    read = []
    for path in arguments.transform:
        if len(arguments.transform) > 1 and is_flirt_matrix(path):
            raise CommandError(f"{path} is FSL's, which has a meaning with its two images alone: apply it by itself, or convert it to ITK's")
        # On the way back the image is the fixed one.
        fixed, moving = (image, reference) if arguments.inverse else (reference, image)
        transform = inputs.read_transform(path, fixed, moving)
        inputs.check_transform(transform, path, image)
        read.append(_invert(transform, path, device) if arguments.inverse else transform)
    return Composite(read[::-1] if arguments.inverse else read)


def _invert(transform: Transform, path: str, device: str) -> Transform:
    from .._warnings import warn_of_input

    inverse = transform.inverse(device=device)
    for warning in inverse.warnings:
        warn_of_input(f"{path}: {warning}")
    return inverse
