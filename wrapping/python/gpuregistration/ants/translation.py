# SPDX-License-Identifier: Apache-2.0
"""Registration by a translation alone."""

from __future__ import annotations

import time
from typing import Optional

import numpy as np

from .._filters import smooth
from .._image import Image, shrunk_grid
from .._metric import Metric, metric
from .._resample import resample
from .._stage_result import Level, StageResult
from .._transforms import Affine
from ..stages import ALL_VALUES
from .levels import find_factors
from .registration_call import Stage

# Voxels of a level: the first step, and the step at which the descent ends.
_FIRST_STEP, _LAST_STEP = 1.0, 0.01


def find_translation(
    stage: Stage, fixed: Image, moving: Image, masks: tuple[Optional[Image], Optional[Image]], before: np.ndarray, device: str
) -> StageResult:
    """Finds the translation that follows a linear map, by a steepest descent at each of a stage's levels.

    Args:
        masks: of the fixed and the moving image.
        before: the homogeneous matrix of the map to begin with.
    """
    begin = time.perf_counter()
    d = fixed.dimension
    found = Affine.from_matrix(before).parameters
    levels = []
    value = float("nan")
    for number, (iterations, factor, sigma) in enumerate(zip(stage.iterations, stage.shrink_factors, stage.sigmas)):
        if iterations == 0:
            continue
        start = time.perf_counter()
        sides = [smooth(image, sigma * (np.ones(d) if stage.sigmas_in_mm else image.spacing), device) for image in (fixed, moving)]
        grid = shrunk_grid(fixed, find_factors(fixed, factor))
        mask = None if masks[0] is None else resample(masks[0], None, grid, "nearest", device=device)
        measure = metric(
            stage.metric.similarity,
            resample(sides[0], None, grid, extrapolate=True, device=device),
            sides[1],
            mask,
            masks[1],
            bins=stage.metric.size,
            device=device,
            fixed_range=ALL_VALUES,
            moving_range=ALL_VALUES,
        )
        found, costs = _descend(measure, found, float(grid.spacing.min()), iterations)
        value = costs[-1]
        levels.append(Level(str(number), time.perf_counter() - start, costs))
    transform = Affine(found[: d * d].reshape(d, d), found[d * d :])
    return StageResult("translation", stage.metric.similarity, transform, value, time.perf_counter() - begin, levels)


def _descend(measure: Metric, parameters: np.ndarray, edge: float, iterations: int) -> tuple[np.ndarray, list[float]]:
    """Moves along the translation's derivative by steps that shrink where the metric does not fall. Returns parameters and costs."""
    d = measure.dimension
    step = _FIRST_STEP * edge
    value, slope = measure.value_and_derivative(parameters)
    costs = [value]
    for _ in range(iterations):
        length = float(np.linalg.norm(slope[d * d :]))
        if not length > 0 or step < _LAST_STEP * edge:
            break
        trial = parameters.copy()
        trial[d * d :] -= step / length * slope[d * d :]
        new_value, new_slope = measure.value_and_derivative(trial)
        if new_value < value:
            parameters, value, slope = trial, new_value, new_slope
        else:
            step /= 2
        costs.append(value)
    return parameters, costs
