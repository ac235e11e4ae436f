# SPDX-License-Identifier: Apache-2.0
"""Handles the signal SIGTERM."""

from __future__ import annotations

import signal
import threading
from typing import Any, Callable, NoReturn

from .errors import Terminated


def end_at_sigterm() -> Callable[[], None]:
    """Makes SIGTERM raise Terminated from now on. Returns a function that restores the previous handler. Does nothing where signals are not
    this thread's."""
    if threading.current_thread() is not threading.main_thread():
        return lambda: None

    def end(number: int, frame: Any) -> NoReturn:
        raise Terminated

    before = signal.signal(signal.SIGTERM, end)

    def restore() -> None:
        if before is not None:
            signal.signal(signal.SIGTERM, before)

    return restore
