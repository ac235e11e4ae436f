# SPDX-License-Identifier: Apache-2.0
"""Warnings of what is read."""

from __future__ import annotations

import os
import sys
import warnings
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Iterator, Optional


class InputWarning(UserWarning):
    """What was read may be other than it seems: a header says two different things, or a file is not what its name says."""


_FOLDER = os.path.dirname(__file__) + os.sep
_kept: ContextVar[Optional[list[str]]] = ContextVar("_kept", default=None)


def warn_of_input(text: str) -> None:
    """Warns of what is being read: by Python's warnings, or, within keep_input_warnings(), by its list."""
    kept = _kept.get()
    if kept is None:
        warnings.warn(text, InputWarning, stacklevel=_level_of_caller())
    elif text not in kept:
        kept.append(text)


@contextmanager
def keep_input_warnings(kept: list[str]) -> Iterator[None]:
    """Puts warnings of this thread into a list, each of them once."""
    before = _kept.set(kept)
    try:
        yield
    finally:
        _kept.reset(before)


@contextmanager
def remember_input_warnings(remembered: list[str]) -> Iterator[None]:
    """Adds warnings of this thread to a list, each of them once, and gives them at the end."""
    told: list[str] = []
    try:
        with keep_input_warnings(told):
            yield
    finally:
        remembered += [text for text in told if text not in remembered]
        for text in told:
            warn_of_input(text)


def _level_of_caller() -> int:
    """How many calls above warn_of_input() whoever calls this package stands."""
    level = last = 1
    frame = sys._getframe(1)
    # Other libraries call back.
    while frame.f_back is not None:
        level, frame = level + 1, frame.f_back
        if frame.f_back is not None and frame.f_code.co_filename.startswith(_FOLDER):
            last = level
    return last + 1
