# SPDX-License-Identifier: Apache-2.0
"""Hands a command line to the real program of ANTs further down PATH."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NoReturn, Optional, Sequence

from ..command.launchers import is_launcher

# Names the program that was handed over.
_HANDED_OVER = "GPUREG_ANTS_HANDED_OVER"


class Elsewhere(Exception):
    """Says what this package does not do, so that the real program is to do it."""


def find_real(program: str) -> Optional[str]:
    """Finds the first program of that name in PATH that is no launcher of this package."""
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        path = Path(folder or ".") / program
        if path.is_file() and os.access(path, os.X_OK) and not is_launcher(path):
            return str(path)
    return None


def was_handed_over(program: str) -> bool:
    """Returns whether this process stands in the place of one that handed over to it, such as by a script that calls a launcher."""
    return os.environ.get(_HANDED_OVER) == program


def become(path: str, program: str, words: Sequence[str]) -> NoReturn:
    """Runs the program at a path in the place of this process.

    Raises:
        OSError: it cannot be run.
    """
    os.execve(path, [path, *words], {**os.environ, _HANDED_OVER: program})
