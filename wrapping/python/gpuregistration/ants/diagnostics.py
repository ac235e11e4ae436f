# SPDX-License-Identifier: Apache-2.0
"""The lines that antsRegistration prints with --verbose 1."""

from __future__ import annotations

from typing import Callable

from .. import _engine
from .._stage_result import StageResult

Log = Callable[[str], None]


def describe_stage(number: int, result: StageResult, window: int, before: float) -> list[str]:
    """Returns a stage's lines, one for each iteration of each level. A linear stage has one for each level.

    Args:
        number: the stage's, from 0 on.
        window: the number of costs that the convergence is found from.
        before: seconds from the registration's start to the stage's.
    """
    deforms = result.own_inverse is not None
    head, mark = ("XXDIAGNOSTIC", " 1DIAGNOSTIC") if deforms else ("DIAGNOSTIC", " 2DIAGNOSTIC")
    lines = []
    seconds = 0.0
    for level in result.levels:
        if not level.costs:
            continue
        lines.append(f"{head},Iteration,metricValue,convergenceValue,ITERATION_TIME_INDEX,SINCE_LAST")
        # The device does all iterations of a level without telling when each of them ends.
        step = level.seconds / len(level.costs)
        for iteration, (cost, convergence) in enumerate(zip(level.costs, _engine.compute_convergences(level.costs, window)), 1):
            seconds += step
            lines.append(f"{mark}, {iteration:5d}, {cost:.12e}, {convergence:.12e}, {before + seconds:.4e}, {step:.4e}, ")
    return [*lines, f"  Elapsed time (stage {number}): {result.seconds:.4e}", ""]
