# SPDX-License-Identifier: Apache-2.0
"""The stages of this package that do what antsRegistration's stages ask for."""

from __future__ import annotations

from typing import Sequence

import numpy as np

from .. import stages
from .._also import Further, ImagePair
from .._engine import BadInputError
from .._image import Image
from .._sides import Pair
from .._transforms import BSpline
from ..stages.dense import MOST_WEIGHT
from .registration_stages import Metric, Stage

_ALL = stages.ALL_VALUES
_DEGREES = {"Translation": 3, "Similarity": 7, "Affine": 12}
# Shares of the penalty of bending, of metrics of values from 0 to 1. Squares of differences are the smallest.
_BENDING = {"mean_squares": 1e-4, "correlation": 1e-3, "neighborhood_correlation": 1e-3, "mattes_mutual_information": 1e-3}
# That of several metrics, whose costs are in nats.
_BENDING_OF_SEVERAL = 1e-3


def compute_factors(image: Image, factor: int) -> list[int]:
    """Returns a level's shrink factors along x, y (and z), as antsRegistration chooses them: the axis of the shortest voxels has the factor
    that is given, and others one of that or less that makes the lengths of voxels most similar; of two the smaller one."""
    spacing = image.spacing
    wanted = factor * spacing.min()
    factors = []
    for one in spacing:
        near = int(wanted / one)
        candidates = np.arange(max(near - 1, 1), min(near + 2, factor) + 1)
        factors.append(int(candidates[np.argmin(np.abs(candidates * one - wanted))]))
    return factors


def make_linear_stage(stage: Stage, fixed: Image) -> stages.Rigid:
    """Makes the linear stage that has the first metric that a stage compares, and its finest level that has iterations.

    Args:
        fixed: the first metric's image as the stage sees it, through the fixed image's own transform.
    """
    finest = [factor for factor, iterations in zip(stage.shrink_factors, stage.iterations) if iterations > 0][-1]
    made = stages.Rigid() if stage.degrees == "Rigid" else stages.Affine(degrees_of_freedom=_DEGREES[stage.degrees])
    made.cost = stage.compared[0].similarity
    if made.cost == "neighborhood_correlation":
        made.radius = stage.compared[0].size
    else:
        made.bins = stage.compared[0].size
    made.finest_edge = float(finest * fixed.spacing.min())
    made.fixed_range = made.moving_range = _ALL
    return made


def make_syn_stage(stage: Stage, fixed: Image) -> stages.SyN:
    """Makes the SyN that has a stage's settings."""
    of_histogram = stage.compared[0].similarity == "mattes_mutual_information"
    made = stages.SyN(
        similarity=stage.compared[0].similarity,
        iterations=stage.iterations,
        update_variance=stage.update_variance,
        field_variance=stage.total_variance,
        step=stage.step,
        convergence_threshold=stage.threshold,
        convergence_window=stage.window,
        shrink_factors=[compute_factors(fixed, factor) for factor in stage.shrink_factors],
        smoothing_sigmas=stage.sigmas,
        sigmas_in_mm=int(stage.sigmas_in_mm),
        weights=None if stage.weights is None else stage.weights[: fixed.dimension],
        fixed_range=_ALL,
        moving_range=_ALL,
        flat="float" if stage.is_single else "double",
    )
    if of_histogram:
        made.bins = stage.compared[0].size
    elif stage.compared[0].similarity == "neighborhood_correlation":
        made.radius = stage.compared[0].size
    return made


def make_free_form_stage(stage: Stage, fixed: Image) -> stages.FreeForm:
    """Makes the free-form deformation that has the first metric that a stage BSpline compares, its levels with iterations, mesh and
    convergence. ANTs has no penalty; a small one of bending keeps this from folding."""
    levels = stage.levels_with_iterations
    made = stages.FreeForm(
        similarity=stage.compared[0].similarity,
        levels=len(levels),
        spacing=find_cells(stage, fixed)[1].tolist(),
        bending_weight=_BENDING[stage.compared[0].similarity] if len(stage.compared) == 1 else _BENDING_OF_SEVERAL,
        iterations=max(stage.iterations),
        convergence_threshold=max(stage.threshold, 0.0),
        convergence_window=stage.window,
        fixed_range=_ALL,
        moving_range=_ALL,
    )
    if stage.compared[0].similarity == "mattes_mutual_information":
        made.bins = stage.compared[0].size
    elif stage.compared[0].similarity == "neighborhood_correlation":
        made.radius = stage.compared[0].size
    return made


def make_flat_spline(stage: Stage, fixed: Image) -> BSpline:
    """Makes the B-spline of a stage without iterations, which moves nothing."""
    cells, lengths = find_cells(stage, fixed)
    # Three control points more than cells, of which one is in front of the first voxel.
    points = np.zeros((*(cells.astype(int) + 3)[::-1], fixed.dimension))
    return BSpline(points, lengths, fixed.origin - fixed.direction @ lengths, fixed.direction)


def find_cells(stage: Stage, fixed: Image) -> tuple[np.ndarray, np.ndarray]:
    """Returns the number of a mesh's cells along each axis at the finest level, and their lengths in mm.

    Raises:
        BadInputError: the mesh has not as many numbers as the image has axes.
    """
    # Cells are halved from level to level, as in ANTs.
    levels = stage.levels_with_iterations or range(len(stage.iterations))
    cells = _count_first_cells(stage, fixed) * 2 ** levels[-1]
    return cells, (np.array(fixed.size) - 1) * fixed.spacing / cells


def _count_first_cells(stage: Stage, fixed: Image) -> np.ndarray:
    """Returns the number of a mesh's cells along each axis at the coarsest level."""
    d = fixed.dimension
    if len(stage.mesh) not in (1, d):
        named = f"{stage.given['transform']} in stage {stage.number}"
        raise BadInputError(f"{named}: it has {len(stage.mesh)} numbers; expected one, the length of a cell in mm, or {d}, the cells along each axis")
    if len(stage.mesh) > 1:
        return np.array(stage.mesh, np.float64)
    # Cells that just fit are as many as ANTs' rounding makes them: it has NIfTI's lengths of voxels as floats, and divides floats with
    # --float 1.
    real = np.float32 if stage.is_single else np.float64
    extent = (np.array(fixed.size) - 1) * fixed.spacing.astype(np.float32).astype(np.float64)
    return np.maximum(np.ceil(np.divide(extent, float(stage.mesh[0]), dtype=real)), 1).astype(np.float64)


def make_first_stages(asked: Sequence[Stage]) -> list[stages.Stage]:
    """Makes stages that take little time and the same parts of a device as those that are asked for, each part once."""
    made: dict[tuple[str, str], stages.Stage] = {}
    for stage in asked:
        for cost in (metric.similarity for metric in stage.compared):
            if stage.transform == "SyN":
                made.setdefault(("SyN", cost), stages.SyN(similarity=cost, iterations=[1], fixed_range=_ALL, moving_range=_ALL))
            elif stage.transform == "BSpline":
                made.setdefault(("BSpline", cost), stages.FreeForm(similarity=cost, levels=1, iterations=1))
            else:
                made.setdefault(("linear", cost), stages.Rigid(cost=cost))
    return list(made.values())


def list_weights(metrics: Sequence[Metric]) -> list[float]:
    """Returns the weights of metrics, relative to the first one's, which the engine takes as 1. A first weight of 0 stands as a millionth of
    the largest one, which moves nothing by more than about a millionth of a step."""
    first = metrics[0].weight
    if first > 0 or len(metrics) == 1:
        return [1.0, *(metric.weight / first for metric in metrics[1:])]
    largest = max(metric.weight for metric in metrics)
    return [1.0, *(MOST_WEIGHT * (metric.weight / largest) for metric in metrics[1:])]


def make_further(metric: Metric, weight: float, pair: Pair, number: int) -> Further:
    """Makes the pair of images that a stage compares by a metric beside its first one.

    Args:
        weight: as list_weights() has it.
        pair: the metric's images and masks.
        number: the pair's number; the first metric's is 1.
    """
    asked = ImagePair(
        pair.fixed,
        pair.moving,
        metric.similarity,
        weight,
        bins=metric.size if metric.similarity == "mattes_mutual_information" else None,
        radius=metric.size if metric.similarity == "neighborhood_correlation" else None,
        fixed_range=_ALL,
        moving_range=_ALL,
    )
    return Further(asked, pair, number)
