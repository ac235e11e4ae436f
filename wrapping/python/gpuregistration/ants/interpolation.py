# SPDX-License-Identifier: Apache-2.0
"""The interpolations of ANTs: which there are, and resampling by them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Optional

import numpy as np

from .._engine import BadInputError, UnsupportedError
from .._image import Image
from .._kinds import to_simpleitk
from .._resample import resample
from .._simpleitk import import_simpleitk
from .._transforms import Transform
from .interpolation_names import INTERPOLATIONS
from .syntax import Value
from .windowed import SINCS, resample_windowed

# With the engine's names; and by Gaussians, with the distance in sigmas at which ANTs cuts them off.
_BY_ENGINE = {"linear": "linear", "nearestneighbor": "nearest", "bspline": "bspline"}
_BY_GAUSSIANS = {"gaussian": 1.0, "multilabel": 4.0}
_LABELS = "genericlabel"
_MOST_ORDER = 5


@dataclass(frozen=True)
class Interpolation:
    """One of ANTs' interpolations.

    Attributes:
        name: its name in small letters.
        order: the order of a B-spline.
        sigmas: mm, of a Gaussian along x, y (and z), or one for all axes; empty: lengths of voxels.
        alpha: sigmas at which a Gaussian is cut off.
        given: as the command line has it.
    """

    name: str
    order: int = 3
    sigmas: tuple[float, ...] = ()
    alpha: float = 1.0
    given: str = "Linear"

    def for_image(self, image: Image) -> "Interpolation":
        """Returns this one with sigmas, where it takes an image's lengths of voxels for them."""
        needs = self.name in _BY_GAUSSIANS and not self.sigmas
        return replace(self, sigmas=tuple(image.spacing.tolist())) if needs else self


def read_interpolation(value: Optional[Value]) -> Interpolation:
    """Reads -n. Raises BadInputError if there is no such interpolation, or if a parameter is not possible."""
    if value is None:
        return Interpolation("linear")
    name = value.first().lower()
    # Brackets without a name before them hold no parameters.
    parameters = value.parameters if value.name else value.parameters[1:]
    made = Interpolation(name, given=str(value))
    if name == "bspline":
        if len(parameters) > 1 or not all(text.isdigit() and int(text) <= _MOST_ORDER for text in parameters):
            raise value.wrong("BSpline[order], of an order from 0 to 5")
        return replace(made, order=int(parameters[0])) if parameters else made
    if name in _BY_GAUSSIANS:
        return _read_gaussian(value, made, parameters)
    if name == _LABELS:
        if len(parameters) > 1 or not all(text.lower() == "linear" for text in parameters):
            raise value.wrong("GenericLabel or GenericLabel[Linear]: ANTs has no other one")
        return made
    if name not in (*_BY_ENGINE, *SINCS):
        raise value.wrong(INTERPOLATIONS)
    if parameters:
        raise value.wrong(f"{value.name} without parameters")
    return made


def _read_gaussian(value: Value, made: Interpolation, parameters: tuple[str, ...]) -> Interpolation:
    expected = f"{value.first()}[sigma,alpha], with a sigma above 0 mm, or one for each axis with an x between two, and an alpha above 0"
    if len(parameters) > 2:
        raise value.wrong(expected)
    texts = parameters[0].split("x") if parameters and parameters[0] else []
    try:
        sigmas = tuple(float(text) for text in texts)
        alpha = float(parameters[1]) if len(parameters) == 2 else _BY_GAUSSIANS[made.name]
    except ValueError:
        raise value.wrong(expected) from None
    if not all(0 < number < np.inf for number in (*sigmas, alpha)):
        raise value.wrong(expected)
    if made.name == "multilabel" and alpha != _BY_GAUSSIANS["multilabel"]:
        raise value.wrong("MultiLabel[sigma] or MultiLabel[sigma,4]: ANTs cuts its Gaussian off at 4 sigmas, whatever is given")
    return replace(made, sigmas=sigmas, alpha=alpha)


def resample_by(
    image: Image, transform: Optional[Transform], grid: Image, interpolation: Interpolation, default: float = 0.0, device: Optional[str] = None
) -> Image:
    """Resamples an image on a grid, through a transform from the grid's points to the image's.

    Args:
        image: an image of floats.

    Raises:
        BadInputError: the transform or the number of sigmas does not fit the image.
        UnsupportedError: this SimpleITK has no such interpolation, or a Gaussian reaches too far.
    """
    if interpolation.name in _BY_ENGINE:
        return resample(image, transform, grid, _BY_ENGINE[interpolation.name], default, interpolation.order, device=device)
    d = image.dimension
    if interpolation.name in SINCS:
        return grid.like(resample_windowed(image, transform, grid, interpolation.name, (), 0.0, default, device))
    if interpolation.name in _BY_GAUSSIANS:
        sigmas = interpolation.for_image(image).sigmas
        if len(sigmas) not in (1, d):
            raise BadInputError(f"-n/--interpolation {interpolation.given}: it has {len(sigmas)} sigmas; expected one, or {d}, one for each axis")
        along = sigmas * d if len(sigmas) == 1 else sigmas
        return grid.like(resample_windowed(image, transform, grid, interpolation.name, along, interpolation.alpha, default, device))
    return _resample_labels(image, transform, grid, default)


def _resample_labels(image: Image, transform: Optional[Transform], grid: Image, default: float) -> Image:
    """Gives each voxel the label of the largest linear weight, by SimpleITK."""
    sitk: Any = import_simpleitk()
    if not hasattr(sitk, "sitkLabelLinear"):
        raise UnsupportedError(f"The interpolation GenericLabel is not possible here: SimpleITK {sitk.Version_VersionString()} has none.")
    if transform is not None and transform.dimension != image.dimension:
        raise BadInputError(f"The transform has {transform.dimension} dimensions, and the image {image.dimension}.")
    filter = sitk.ResampleImageFilter()
    filter.SetReferenceImage(to_simpleitk(grid.like(np.zeros(grid.shape, np.uint8))))
    filter.SetInterpolator(sitk.sitkLabelLinear)
    filter.SetDefaultPixelValue(default)
    if transform is not None:
        filter.SetTransform(transform.to_simpleitk())
    return grid.like(sitk.GetArrayFromImage(filter.Execute(to_simpleitk(image))))
