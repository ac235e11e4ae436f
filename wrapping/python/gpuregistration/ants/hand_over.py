# SPDX-License-Identifier: Apache-2.0
"""Hands a command line to the real program of ANTs further down PATH."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NoReturn, Optional, Sequence

from .launchers import is_launcher


def find_real(program: str) -> Optional[str]:
    """Finds the first program of that name in PATH that is no launcher of this package."""
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        path = Path(folder or ".") / program
        if path.is_file() and os.access(path, os.X_OK) and not is_launcher(path):
            return str(path)
    return None


def become(path: str, words: Sequence[str]) -> NoReturn:
    """Runs a program in the place of this process."""
    os.execv(path, [path, *words])
