# SPDX-License-Identifier: Apache-2.0
"""Finds numbers that antsRegistration takes, and that are too large or too small for this package's stages."""

from __future__ import annotations

from typing import Iterator, Sequence

from .._checks import MOST_INT
from .._engine import BadInputError
from .._image import Image
from .._similarities import SIMILARITIES
from ..stages.dense import LARGEST_IMAGE_SIGMA, LARGEST_SIGMA, LONGEST_STEP, MOST_ITERATIONS, MOST_RADIUS, MOST_WEIGHT
from .call_images import CallImages
from .hand_over import Elsewhere
from .levels import compute_factors, find_cells
from .registration_call import RegistrationCall
from .registration_stages import DEFORMING, Stage

# Squared voxels.
_MOST_VARIANCE = LARGEST_SIGMA**2
# The fewest voxels along an axis of an image, and of a level whose border stays in place.
_LEAST_VOXELS, _LEAST_LEVEL = {"SyN": 4}, 3
_LEAST_VOXELS_OF_OTHERS = 2
_AXES = "xyz"


def list_reasons(call: RegistrationCall) -> list[str]:
    """Returns why the real antsRegistration has to do a call, each reason a short noun phrase: call.others, and numbers that are beyond
    what the engine takes."""
    reasons = list(call.others)
    for stage in call.stages:
        found = [*_list_of_metrics(stage), *_list_of_convergence(stage), *(_list_of_syn(stage) if stage.transform == "SyN" else [])]
        reasons += [f"{given} in stage {stage.number} ({limit})" for given, limit in found]
    return list(dict.fromkeys(reasons))


def _list_of_metrics(stage: Stage) -> Iterator[tuple[str, str]]:
    most_radius = MOST_RADIUS if stage.transform == "SyN" else MOST_INT
    for metric in stage.metrics:
        similarity = SIMILARITIES.get(metric.similarity)
        if similarity is None:
            continue
        if similarity.has_neighborhoods and metric.size > most_radius:
            yield metric.given, f"a radius of {most_radius} at most"
        if similarity.has_bins and metric.size > similarity.most_bins:
            yield metric.given, f"{similarity.most_bins} bins at most"
        if stage.transform == "SyN" and metric.weight > MOST_WEIGHT * stage.metric.weight > 0:
            yield metric.given, f"{MOST_WEIGHT:g} times the first weight at most"


def _list_of_convergence(stage: Stage) -> Iterator[tuple[str, str]]:
    given = stage.given["convergence"]
    most = MOST_ITERATIONS if stage.transform == "SyN" else MOST_INT
    if max(stage.iterations) > most:
        yield given, f"{most} iterations of a level at most"
    if stage.window > most:
        yield given, f"a window of {most} at most"
    if stage.transform == "SyN" and not -1 <= stage.threshold <= 1:
        yield given, "a threshold from -1 to 1"


def _list_of_syn(stage: Stage) -> Iterator[tuple[str, str]]:
    if stage.step > LONGEST_STEP:
        yield stage.given["transform"], f"a step of {LONGEST_STEP} voxels at most"
    if max(stage.update_variance, stage.total_variance) > _MOST_VARIANCE:
        yield stage.given["transform"], f"variances of {_MOST_VARIANCE} squared voxels at most"
    if max(stage.sigmas) > LARGEST_IMAGE_SIGMA:
        yield stage.given["smoothing-sigmas"], f"sigmas of {LARGEST_IMAGE_SIGMA} at most"
    if stage.weights is not None and (not any(stage.weights) or max(stage.weights) > MOST_WEIGHT):
        yield stage.given["restrict-deformation"], f"factors of {MOST_WEIGHT:g} at most, of which one is not 0"


def check_sizes(stages: Sequence[Stage], images: CallImages) -> None:
    """Checks that images have enough voxels for all stages, and that stages have a number for each of the images' axes.

    Raises:
        Elsewhere: an image has too few voxels.
        BadInputError: a mesh or a restriction has not as many numbers as axes.
    """
    for stage in stages:
        # Without -d the command line does not say how many axes there are.
        if stage.weights is not None and len(stage.weights) < images.dimension:
            raise BadInputError(
                f"{stage.given['restrict-deformation']} in stage {stage.number}: it has {len(stage.weights)} factors; expected {images.dimension}, one for "
                "each axis"
            )
    reasons = [f"{given} in stage {stage.number} ({limit})" for stage in stages for given, limit in dict(_list_of_sizes(stage, images)).items()]
    if reasons:
        raise Elsewhere(" and ".join(reasons))


def _list_of_sizes(stage: Stage, images: CallImages) -> Iterator[tuple[str, str]]:
    if stage.transform not in DEFORMING and not any(stage.iterations):
        return
    for name in dict.fromkeys(name for metric in stage.metrics for name in (metric.fixed, metric.moving)):
        yield from _list_of_image(stage, name, images.read(name))
    fixed = images.read(stage.metric.fixed)
    if stage.transform == "SyN":
        for factor in stage.shrink_factors:
            for axis, size, along in zip(_AXES, fixed.size, compute_factors(fixed, factor)):
                most = max(size // _LEAST_LEVEL, 1)
                if along > most:
                    yield stage.given["shrink-factors"], f"{most} at most along {axis}, where {stage.metric.fixed} has {size} voxels"
    elif stage.transform == "BSpline":
        cells, lengths = find_cells(stage, fixed)
        # Rounding may make a cell of one voxel shorter than that.
        if (lengths < 0.999 * fixed.spacing).any():
            yield stage.given["transform"], f"{'x'.join(f'{n:g}' for n in cells)} cells at the finest level are less than a voxel long"


def _list_of_image(stage: Stage, name: str, image: Image) -> Iterator[tuple[str, str]]:
    least = _LEAST_VOXELS.get(stage.transform, _LEAST_VOXELS_OF_OTHERS)
    for axis, size in zip(_AXES, image.size):
        if size < least:
            yield stage.given["transform"], f"{least} voxels at least along {axis}, where {name} has {size}"
    if stage.transform == "SyN":
        for sigma in stage.sigmas:
            if all(sigma / (length if stage.sigmas_in_mm else 1) > size for length, size in zip(image.spacing, image.size)):
                yield stage.given["smoothing-sigmas"], f"a sigma of {sigma:g} is longer than {name} along each axis"
