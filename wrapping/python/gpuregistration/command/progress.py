# SPDX-License-Identifier: Apache-2.0
"""Progress on standard error."""

from __future__ import annotations

import shutil
import sys
import time
from typing import TYPE_CHECKING, Any, Optional, Sequence

from .output import write_note

if TYPE_CHECKING:
    from .._progress import Progress
    from ..stages import Stage

# Seconds between two states of the line on a terminal. A cost is asked for no more often, for the device is waited for.
_INTERVAL = 0.2
# Seconds between two lines of a level elsewhere, such as in a log.
_SPARSE_INTERVAL = 10.0


class StatusLine:
    """One line that is written again and again, or, where the stream is no terminal, a line for each state.

    Args:
        stream: standard error unless it is given.
    """

    def __init__(self, stream: Any = None) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._is_terminal = self._stream.isatty()
        self._last: Optional[float] = None

    def is_due(self) -> bool:
        """Returns whether enough time has passed to show a state that is much like the last one."""
        interval = _INTERVAL if self._is_terminal else _SPARSE_INTERVAL
        return self._last is None or time.perf_counter() - self._last >= interval

    def show(self, text: str) -> None:
        self._last = time.perf_counter()
        write_note(self._stream, f"\r\x1b[K{text[: shutil.get_terminal_size().columns - 1]}" if self._is_terminal else text + "\n")

    def print_line(self, text: str) -> None:
        """Writes a line that stays."""
        self.end()
        write_note(self._stream, text + "\n")

    def end(self) -> None:
        """Wipes the line."""
        if self._is_terminal and self._last is not None:
            write_note(self._stream, "\r\x1b[K")


class ProgressLine:
    """A registration's progress, as a StatusLine shows it.

    Args:
        stages: the registration's stages.
        dimension: the images' dimension.
    """

    def __init__(self, stages: Sequence[Stage], dimension: int, stream: Any = None) -> None:
        self._stages = stages
        self._dimension = dimension
        self._line = StatusLine(stream)
        self._stage_start = time.perf_counter()
        self._level: Optional[tuple[int, str]] = None

    def __call__(self, progress: Progress) -> None:
        now = time.perf_counter()
        level = (progress.stage, progress.level)
        if self._level is None or self._level[0] != progress.stage:
            self._stage_start = now
        is_new = level != self._level
        if not is_new and not self._line.is_due():
            return
        self._level = level
        self._line.show(self._describe(progress, now - self._stage_start))

    def end(self) -> None:
        """Wipes the line."""
        self._line.end()

    def _describe(self, progress: Progress, seconds: float) -> str:
        parts = [f"{progress.stage + 1}/{len(self._stages)} {progress.name}"]
        if progress.iteration is None:
            parts.append(progress.level)
        else:
            parts += [f"level {progress.level}", f"iteration {progress.iteration}"]
        cost = progress.find_cost()
        if cost is not None:
            parts.append(f"cost {cost:.6g}")
        done = work_done(progress, self._dimension)
        parts.append(f"{100 * done:.0f} %")
        if done > 0.02 and seconds > 0.5:
            parts.append(f"{clock(seconds * (1 - done) / done)} left of {progress.name}")
        return ", ".join(parts)


def work_done(progress: Progress, dimension: int) -> float:
    """Returns the share of a stage's work that is done, 0 to 1. A finer level of "ffd" has as many times more voxels as each one is split
    into."""
    levels = progress.levels
    if levels is None:
        return progress.stage_share
    level = int(progress.level)
    weights = [2.0 ** (dimension * n) for n in range(levels)]
    inside = progress.stage_share * levels - level
    return (sum(weights[:level]) + inside * weights[level]) / sum(weights)


def clock(seconds: float) -> str:
    """Minutes and seconds, or hours, too."""
    whole = int(round(seconds))
    return f"{whole // 3600}:{whole % 3600 // 60:02}:{whole % 60:02}" if whole >= 3600 else f"{whole // 60}:{whole % 60:02}"
