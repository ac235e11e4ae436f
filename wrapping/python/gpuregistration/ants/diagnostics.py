# SPDX-License-Identifier: Apache-2.0
"""The lines that antsRegistration prints with --verbose 1."""

from __future__ import annotations

import sys
from typing import Callable, Sequence

import numpy as np

from .._stage_result import StageResult

Log = Callable[[str], None]
_NO_CONVERGENCE = sys.float_info.max
# By so much itk::BSplineScatteredDataPointSetToImageFilter moves the last cost into the line's span: 1e-3 of ten cells.
_FROM_END = 1e-4


def describe_stage(number: int, result: StageResult, window: int, before: float) -> list[str]:
    """Returns a stage's lines, one for each iteration of each level. A linear stage has one for each level.

    Args:
        number: the stage's, from 0 on.
        window: the number of costs that the convergence is found from.
        before: seconds from the registration's start to the stage's.
    """
    deforms = result.inverse is not None
    head, mark = ("XXDIAGNOSTIC", " 1DIAGNOSTIC") if deforms else ("DIAGNOSTIC", " 2DIAGNOSTIC")
    lines = []
    seconds = 0.0
    for level in result.levels:
        if not level.costs:
            continue
        lines.append(f"{head},Iteration,metricValue,convergenceValue,ITERATION_TIME_INDEX,SINCE_LAST")
        # The device does all iterations of a level without telling when each of them ends.
        step = level.seconds / len(level.costs)
        for iteration, (cost, convergence) in enumerate(zip(level.costs, find_convergences(level.costs, window)), 1):
            seconds += step
            lines.append(f"{mark}, {iteration:5d}, {cost:.12e}, {convergence:.12e}, {before + seconds:.4e}, {step:.4e}, ")
    return [*lines, f"  Elapsed time (stage {number}): {result.seconds:.4e}", ""]


def find_convergences(costs: Sequence[float], window: int) -> list[float]:
    """Returns the convergence behind each cost, as itk::Function::WindowConvergenceMonitoringFunction has it: minus the slope of a line through
    the last costs, each divided by the sum of all magnitudes so far. The line is the scattered-data approximation by a B-spline of order 1
    (Lee 1997), which is not the line of least squares."""
    found = []
    places = np.linspace(0, 1, window)
    places[-1] -= _FROM_END
    ends = np.stack([1 - places, places])
    shares = ends**3 / (ends**2).sum(axis=0) / (ends**2).sum(axis=1)[:, None]
    for count in range(1, len(costs) + 1):
        total = float(np.abs(costs[:count]).sum())
        if count < window or total == 0:
            found.append(_NO_CONVERGENCE)
            continue
        begin, end = shares @ np.array(costs[count - window : count]) / total
        found.append(float(begin - end))
    return found
