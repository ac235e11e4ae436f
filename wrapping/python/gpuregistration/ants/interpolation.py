# SPDX-License-Identifier: Apache-2.0
"""The interpolations of ANTs: which there are, and resampling by them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional

import numpy as np

from .._engine import BadInputError, UnsupportedError
from .._image import Image
from .._kinds import to_simpleitk
from .._resample import resample
from .._simpleitk import import_simpleitk
from .._transforms import Transform
from .syntax import Value

# By the engine, with its names; and by SimpleITK, with its.
_BY_ENGINE = {"linear": "linear", "nearestneighbor": "nearest", "bspline": "bspline"}
_BY_SIMPLEITK = {
    "genericlabel": "sitkLabelLinear",
    "lanczoswindowedsinc": "sitkLanczosWindowedSinc",
    "cosinewindowedsinc": "sitkCosineWindowedSinc",
    "hammingwindowedsinc": "sitkHammingWindowedSinc",
    "welchwindowedsinc": "sitkWelchWindowedSinc",
}
#: Those whose widths SimpleITK's have not.
_OTHERS = ("gaussian", "multilabel")


@dataclass(frozen=True)
class Interpolation:
    """One of ANTs' interpolations.

    Attributes:
        name: its name in small letters.
        order: of a B-spline.
        told: as the command line has it.
    """

    name: str
    order: int = 3
    told: str = "Linear"

    @property
    def is_here(self) -> bool:
        """Whether this package has it."""
        return self.name in _BY_ENGINE or self.name in _BY_SIMPLEITK


def read_interpolation(value: Optional[Value]) -> Interpolation:
    """Reads -n. Raises BadInputError if there is no such interpolation."""
    if value is None:
        return Interpolation("linear")
    name = value.first().lower()
    if name not in (*_BY_ENGINE, *_BY_SIMPLEITK, *_OTHERS):
        names = "Linear, NearestNeighbor, BSpline[order=3], GenericLabel[Linear], LanczosWindowedSinc, CosineWindowedSinc, HammingWindowedSinc"
        raise value.wrong(f"{names}, WelchWindowedSinc, Gaussian[sigma,alpha] or MultiLabel[sigma,alpha]")
    order = 3
    if name == "bspline" and value.parameters:
        order = value.whole(value.parameters[0])
        if order > 5 or len(value.parameters) > 1:
            raise value.wrong("BSpline[order], of an order from 0 to 5")
    if name == "genericlabel" and value.parameter(0, "Linear").lower() != "linear":
        return Interpolation("genericlabel of another kind", 3, str(value))
    return Interpolation(name, order, str(value))


def resample_by(
    image: Image, transform: Optional[Transform], grid: Image, interpolation: Interpolation, default: float = 0.0, device: Optional[str] = None
) -> Image:
    """Resamples an image on a grid, through a transform from the grid's points to the image's.

    Raises:
        UnsupportedError: this package, or this SimpleITK, has no such interpolation.
    """
    if interpolation.name in _BY_ENGINE:
        return resample(image, transform, grid, _BY_ENGINE[interpolation.name], default, interpolation.order, device=device)
    name = _BY_SIMPLEITK.get(interpolation.name)
    sitk: Any = import_simpleitk()
    if name is None or not hasattr(sitk, name):
        raise UnsupportedError(f"The interpolation {interpolation.told} is not possible here: SimpleITK {sitk.Version_VersionString()} has none.")
    if transform is not None and transform.dimension != image.dimension:
        raise BadInputError(f"The transform has {transform.dimension} dimensions, and the image {image.dimension}.")
    filter = sitk.ResampleImageFilter()
    filter.SetReferenceImage(to_simpleitk(grid.like(np.zeros(grid.shape, np.uint8))))
    filter.SetInterpolator(getattr(sitk, name))
    filter.SetDefaultPixelValue(default)
    if transform is not None:
        filter.SetTransform(transform.to_simpleitk())
    return grid.like(sitk.GetArrayFromImage(filter.Execute(to_simpleitk(image))))
