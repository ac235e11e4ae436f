# SPDX-License-Identifier: Apache-2.0
"""Warnings of files and images that are read, and of results."""

from __future__ import annotations

import os
import sys
import warnings
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Iterator, Optional


class InputWarning(UserWarning):
    """Warns that the input may be other than it seems: a header says two different things, or a file is not what its name says."""


_FOLDER = os.path.dirname(__file__) + os.sep
_kept: ContextVar[Optional[list[str]]] = ContextVar("_kept", default=None)


def warn_of_input(text: str) -> None:
    """Gives an InputWarning, or, within collect_input_warnings(), adds it to that list."""
    kept = _kept.get()
    if kept is None:
        warnings.warn(text, InputWarning, stacklevel=_level_of_caller())
    elif text not in kept:
        kept.append(text)


def warn_of_result(text: str) -> None:
    """Gives a warning of what a registration came to."""
    warnings.warn(text, stacklevel=_level_of_caller())


@contextmanager
def collect_input_warnings(kept: list[str]) -> Iterator[None]:
    """Puts this thread's warnings into the list `kept`, each once, instead of giving them."""
    before = _kept.set(kept)
    try:
        yield
    finally:
        _kept.reset(before)


@contextmanager
def remember_input_warnings(remembered: list[str]) -> Iterator[None]:
    """Adds this thread's warnings to the list `remembered`, each once, and gives them at the end."""
    texts: list[str] = []
    try:
        with collect_input_warnings(texts):
            yield
    finally:
        remembered += [text for text in texts if text not in remembered]
        for text in texts:
            warn_of_input(text)


def _level_of_caller() -> int:
    """Returns how many calls above the function that warns the caller of this package stands."""
    level = last = 1
    frame = sys._getframe(1)
    # Other libraries call back.
    while frame.f_back is not None:
        level, frame = level + 1, frame.f_back
        if frame.f_back is not None and frame.f_code.co_filename.startswith(_FOLDER):
            last = level
    return last + 1
