# SPDX-License-Identifier: Apache-2.0
"""Resampling by windowed sincs and cut Gaussians, as ANTs has them."""

from __future__ import annotations

from typing import Optional, Sequence

import numpy as np

from .. import _engine
from .._devices import borrow_engine, choose_device
from .._image import Image, engine_map, engine_size, real_values
from .._transforms import Transform, check_dimension

#: The engine's names of ANTs' windowed sincs, by ANTs' names in small letters. They reach 3 voxels to each side.
SINCS = {
    "lanczoswindowedsinc": "LanczosSinc",
    "cosinewindowedsinc": "CosineSinc",
    "hammingwindowedsinc": "HammingSinc",
    "welchwindowedsinc": "WelchSinc",
    "blackmanwindowedsinc": "BlackmanSinc",
}
#: The engine's names of ANTs' interpolations by Gaussians.
GAUSSIANS = {"gaussian": "Gaussian", "multilabel": "LabelGaussian"}


def resample_windowed(
    image: Image,
    transform: Optional[Transform],
    grid: Image,
    name: str,
    sigmas: Sequence[float],
    cutoff: float,
    default: float,
    device: Optional[str] = None,
) -> np.ndarray:
    """Resamples an image on a grid.

    Args:
        image: one number a voxel; its floats, of 32 or 64 bits, are those of the result.
        transform: from the grid's points to the image's. None: points stay where they are.
        name: a key of SINCS or GAUSSIANS.
        sigmas: the sigmas of a Gaussian along x, y (and z), mm; empty for a sinc.
        cutoff: sigmas at which a Gaussian is cut off.
        default: the value outside of the image, beyond half a voxel from its outer voxels' middles.
        device: a device's name; the host computes in doubles for a device that has none. None: the default one.

    Raises:
        BadInputError: the transform has other dimensions than the image.
        UnsupportedError: a Gaussian reaches more than 63 voxels to each side.
    """
    values = real_values(image)
    if transform is not None:
        check_dimension(transform, image.dimension)
    asked = _engine.WindowedResampling()
    asked.size = engine_size(grid)
    asked.output_to_point = engine_map(grid.index_to_point)
    asked.point_to_input = engine_map(np.linalg.inv(image.index_to_point))
    asked.kernel = getattr(_engine.WindowedKernel, {**SINCS, **GAUSSIANS}[name])
    # Along an axis of one voxel any sigma gives that voxel.
    asked.sigmas = [*(np.asarray(sigmas) / image.spacing if len(sigmas) else []), 1.0, 1.0, 1.0][:3]
    asked.cutoff = cutoff
    asked.outside = default
    chain = _engine.Chain(image.dimension) if transform is None else transform.chain()
    chosen = choose_device(device)
    with borrow_engine(_engine.WindowedResampler, chosen if values.dtype == np.float32 or _engine.has_doubles(chosen) else "host") as engine:
        made: np.ndarray = np.asarray(engine.resample(values, chain, asked)).reshape(grid.shape)
    return made
