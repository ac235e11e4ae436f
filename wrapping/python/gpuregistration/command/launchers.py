# SPDX-License-Identifier: Apache-2.0
"""The launchers: small scripts that have the names of ANTs' programs."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

from .._engine import BadInputError
from ..cohort.folder import writing_in

PROGRAMS = ("antsRegistration", "antsApplyTransforms", "PrintHeader")
#: The second line of each launcher, by which it is known.
MARK = "# gpuregistration stands in for ANTs"
# Python would look for modules in the working folder first, which is full of the user's files.
_RUN = "import sys; sys.path[:] = filter(None, sys.path); from gpuregistration.ants.process import run_process; run_process()"


def write_launchers(folder: Path) -> list[Path]:
    """Writes the launchers into a folder, which is made if it is not there. Returns their paths.

    Raises:
        BadInputError: the folder cannot be written, or a program of that name, which is no launcher, is there already.
    """
    with writing_in(folder):
        return _write(folder)


def _write(folder: Path) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / program for program in PROGRAMS]
    for path in paths:
        if path.exists() and not is_launcher(path):
            raise BadInputError(f"{path} is there already, and is no launcher of this package: give another folder.")
    for path in paths:
        command = " ".join(shlex.quote(word) for word in (sys.executable, "-c", _RUN, path.name))
        there = path.with_name(f".{path.name}.new")
        there.write_text(f'#!/bin/sh\n{MARK}\nexec {command} "$@"\n', "utf-8")
        there.chmod(0o755)
        os.replace(there, path)
    return paths


def is_launcher(path: Path) -> bool:
    """Returns whether a file is a launcher."""
    try:
        with open(path, "rb") as file:
            return MARK.encode() in file.read(256)
    except OSError:
        return False
