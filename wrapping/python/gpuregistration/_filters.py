# SPDX-License-Identifier: Apache-2.0
"""Smooths images, and makes the pyramids that registrations use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Optional

import numpy as np

from . import _engine
from ._checks import check_finite, read_numbers, read_whole
from ._devices import DeviceLike, borrow_engine
from ._engine import BadInputError
from ._gpu_arrays import GpuArray, choose_device_of
from ._image import Image, engine_map, engine_size, matrix_of_map, on_device, real_values, require_scalar
from ._kinds import Kind, read_image
from ._resample import to_type

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

# Voxels of sigma up to which a recursive Gaussian is computed.
_MOST_VOXELS = 2000


def smooth(image: Kind, sigma_mm: ArrayLike, device: Optional[DeviceLike] = None) -> Kind:
    """Smooths an image by a recursive Gaussian (Deriche 1993), as ITK's SmoothingRecursiveGaussianImageFilter does.

    Args:
        image: an image of any kind.
        sigma_mm: the Gaussian's standard deviation, mm, or one along each of x, y (and z); along an axis of 0 nothing is smoothed.
        device: its name; None: that of an image on a GPU, else the default one.

    Returns:
        An image of the same kind; of whole numbers, rounded.

    Raises:
        BadInputError: no image, a sigma below 0, of more than 2000 voxels, or not finite, values that are not finite, or an image on
            another GPU than is to compute.
        UnsupportedError: the device does not compute in doubles.
    """
    whole, wrap = read_image(image, "smoothed")
    sigma = read_numbers("sigma_mm", sigma_mm)
    if sigma.shape not in ((), (whole.dimension,)) or not np.isfinite(sigma).all() or (sigma < 0).any():
        raise BadInputError(f"A sigma of {sigma.tolist()} is not possible: give one number of 0 or more, or {whole.dimension}.")
    along = np.broadcast_to(sigma, (whole.dimension,))
    if (along > _MOST_VOXELS * whole.spacing).any():
        raise BadInputError(
            f"A sigma of {sigma.tolist()} mm is more than {_MOST_VOXELS} voxels of {whole.spacing.tolist()} mm: of much more a recursive "
            "filter leaves no digit. Make it smaller."
        )
    content = whole.content
    if isinstance(content, GpuArray):
        require_scalar(whole, "smoothed image")
    elif along.any():
        check_finite("smoothed image", content)
    with borrow_engine(_engine.Filter, choose_device_of(device, image=content)) as work:
        if isinstance(content, GpuArray):
            work.set_image(content.borrow())
        else:
            work.set(real_values(whole))
        for axis in range(whole.dimension):
            if along[axis] > 0:
                work.apply_gaussian(axis, along[axis] / whole.spacing[axis])
        if isinstance(content, GpuArray):
            return wrap(whole.like(content.convert_like(work.take_image(content.shape))))
        return wrap(whole.like(to_type(work.take().reshape(content.shape), content.dtype)))


def pyramid(image: Kind, levels: int, device: Optional[DeviceLike] = None) -> list[Kind]:
    """Makes the levels of an image that free-form registrations use: from one level to the next, voxels are twice as long, or as near to
    that as the image's are; each is the mean of those it stands for, after a Gaussian of half as many voxels.

    Args:
        image: an image of any kind.
        levels: how many, 1 to 5.
        device: its name; None: that of an image on a GPU, else the default one.

    Returns:
        Images of the same kind, the finest, which is the image itself, first.

    Raises:
        BadInputError: no image, another number of levels, values that are not finite, or an image on another GPU than is to compute.
    """
    whole, wrap = read_image(image, "pyramid's")
    count = read_whole("levels", levels, 1, 5)
    require_scalar(whole, "pyramid's image")
    content = whole.content
    if not isinstance(content, GpuArray):
        check_finite("pyramid's image", content)
    finest = on_device(whole, choose_device_of(device, image=content))
    size = engine_size(whole)
    made = [wrap(whole)]
    for level in range(1, count):
        factors = _engine.compute_level_factors(whole.dimension, size, engine_map(whole.index_to_point), level)
        made_level, to_image = _engine.make_level(finest, factors)
        to_point = whole.index_to_point @ matrix_of_map(to_image, whole.dimension)
        spacing = np.linalg.norm(to_point[:-1, :-1], axis=0)
        if isinstance(content, GpuArray):
            array = content.convert_like(made_level, copies=True)
        else:
            array = to_type(_engine.download(made_level).reshape(made_level.shape), content.dtype)
        made.append(wrap(Image(array, spacing, to_point[:-1, -1], to_point[:-1, :-1] / spacing)))
    return made
