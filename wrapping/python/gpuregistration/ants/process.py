# SPDX-License-Identifier: Apache-2.0
"""Runs one of ANTs' programs as a process. The device starts before anything else is imported."""

from __future__ import annotations

import os
import sys
from typing import NoReturn, Sequence

from .. import _program
from .._start import start_device_early

# The program that computes nothing.
_WITHOUT_DEVICE = "PrintHeader"
# Words with which nothing is computed.
_ASKING = {"--version", "-h", "--help"}


def run_process() -> NoReturn:
    """Runs the program that the first argument names, and ends the process."""
    _program.is_program = True
    words = sys.argv[2:]
    if sys.argv[1] != _WITHOUT_DEVICE and _computes(words):
        start_device_early([])
    from .programs import main

    code = main(sys.argv[1], words)
    if sys.stdout is not None:
        try:
            sys.stdout.flush()
        except OSError:
            code = code or 1
    # At once, as gpureg does.
    os._exit(code)


def _computes(words: Sequence[str]) -> bool:
    return bool(words) and not _ASKING & set(words)
