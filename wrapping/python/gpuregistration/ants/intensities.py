# SPDX-License-Identifier: Apache-2.0
"""Prepares the values of images as antsRegistration does before it registers them."""

from __future__ import annotations

import numpy as np

from .._engine import BadInputError
from .._image import Image, host_array
from .._kinds import to_simpleitk
from .._simpleitk import import_simpleitk

_BINS = 256
# The share of a bin by which the histogram reaches beyond the largest value.
_MARGIN = 0.1
_LEVELS, _MATCH_POINTS = 256, 12


def window(image: Image, quantiles: tuple[float, float], what: str) -> Image:
    """Cuts an image's values to their quantiles, and scales them to 0 to 1.

    Args:
        quantiles: shares of the voxels, from 0 to 1.
        what: names the image in errors.

    Raises:
        BadInputError: the values do not differ.
    """
    values = host_array(image).astype(np.float32, copy=False)
    lower, upper = compute_quantiles(values, quantiles)
    if not lower < upper:
        raise BadInputError(f"{what}: its values from quantile {quantiles[0]:g} to {quantiles[1]:g} are all {lower:g}; expected some that differ")
    scaled = (values - np.float32(lower)) * np.float32(1 / (upper - lower))
    return image.like(np.clip(scaled, 0, 1, out=scaled))


def compute_quantiles(values: np.ndarray, shares: tuple[float, ...]) -> list[float]:
    """Finds quantiles as itk::Statistics::Histogram does: linear within bins, from the nearer end of the histogram."""
    least, most = float(values.min()), float(values.max())
    if not least < most:
        return [least] * len(shares)
    upper = most + _MARGIN * (most - least) / _BINS
    counts, edges = np.histogram(values, _BINS, (least, upper))
    below = np.concatenate([[0.0], np.cumsum(counts) / values.size])
    found = []
    for share in shares:
        if share < 0.5:
            bin = min(int(np.searchsorted(below[1:], share)), _BINS - 1)
        else:
            bin = max(int(np.searchsorted(below[:-1], share, side="right")) - 1, 0)
        height = below[bin + 1] - below[bin]
        inside = (share - below[bin]) / height if height > 0 else 0.0
        found.append(float(edges[bin] + inside * (edges[bin + 1] - edges[bin])))
    return found


def match_histogram(image: Image, reference: Image) -> Image:
    """Gives an image the histogram of a reference, as itk::HistogramMatchingImageFilter does, where values are above the mean."""
    filter = import_simpleitk().HistogramMatchingImageFilter()
    filter.SetNumberOfHistogramLevels(_LEVELS)
    filter.SetNumberOfMatchPoints(_MATCH_POINTS)
    filter.ThresholdAtMeanIntensityOn()
    matched = filter.Execute(to_simpleitk(image), to_simpleitk(reference))
    return image.like(import_simpleitk().GetArrayFromImage(matched))
