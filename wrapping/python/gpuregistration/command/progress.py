# SPDX-License-Identifier: Apache-2.0
"""A registration's progress on standard error."""

from __future__ import annotations

import shutil
import sys
import time
from typing import TYPE_CHECKING, Any, Optional, Sequence

if TYPE_CHECKING:
    from .._register import Progress
    from ..stages import Stage

# Seconds between two states of the line on a terminal. A cost is asked for no more often, for the device is waited for.
_INTERVAL = 0.2
# The same between two lines of a level elsewhere, such as in a log.
_SPARSE_INTERVAL = 10.0


class ProgressLine:
    """One line that is written again and again, or, where standard error is no terminal, a line for each level.

    Args:
        stages: of the registration.
        dimension: of the images.
    """

    def __init__(self, stages: Sequence[Stage], dimension: int, stream: Any = None) -> None:
        self._stages = stages
        self._dimension = dimension
        self._stream = sys.stderr if stream is None else stream
        self._is_terminal = self._stream.isatty()
        self._stage_start = time.perf_counter()
        self._last = float("-inf")
        self._level: Optional[tuple[int, str]] = None

    def __call__(self, progress: Progress) -> None:
        now = time.perf_counter()
        level = (progress.stage, progress.level)
        if self._level is None or self._level[0] != progress.stage:
            self._stage_start = now
        is_new = level != self._level
        if not is_new and now - self._last < (_INTERVAL if self._is_terminal else _SPARSE_INTERVAL):
            return
        self._level, self._last = level, now
        text = self._describe(progress, now - self._stage_start)
        if self._is_terminal:
            self._stream.write(f"\r\x1b[K{text[: shutil.get_terminal_size().columns - 1]}")
        else:
            self._stream.write(text + "\n")
        self._stream.flush()

    def end(self) -> None:
        """Wipes the line."""
        if self._is_terminal and self._level is not None:
            self._stream.write("\r\x1b[K")
            self._stream.flush()

    def _describe(self, progress: Progress, seconds: float) -> str:
        parts = [f"{progress.stage + 1}/{len(self._stages)} {progress.name}"]
        if progress.iteration is None:
            parts.append(progress.level)
        else:
            parts += [f"level {progress.level}", f"iteration {progress.iteration}"]
        cost = progress.find_cost()
        if cost is not None:
            parts.append(f"cost {cost:.6g}")
        done = work_done(progress, self._stages[progress.stage], self._dimension)
        parts.append(f"{100 * done:.0f} %")
        if done > 0.02 and seconds > 0.5:
            parts.append(f"{_clock(seconds * (1 - done) / done)} left of {progress.name}")
        return ", ".join(parts)


def work_done(progress: Progress, stage: Stage, dimension: int) -> float:
    """The share of a stage's work, 0 to 1. A finer level of "ffd" has as many times more voxels as each one is split into."""
    levels = getattr(stage, "levels", None)
    if progress.iteration is None or levels is None:
        return progress.stage_share
    level = int(progress.level)
    weights = [2.0 ** (-dimension * n) for n in range(levels)]
    inside = progress.stage_share * levels - (levels - 1 - level)
    return (sum(weights[level + 1 :]) + inside * weights[level]) / sum(weights)


def _clock(seconds: float) -> str:
    whole = int(round(seconds))
    return f"{whole // 3600}:{whole % 3600 // 60:02}:{whole % 60:02}" if whole >= 3600 else f"{whole // 60}:{whole % 60:02}"
