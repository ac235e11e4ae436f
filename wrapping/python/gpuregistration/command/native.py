# SPDX-License-Identifier: Apache-2.0
"""Keeps lines that libraries print by themselves off standard error."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from typing import Iterator


@contextmanager
def native_messages_off(is_off: bool = True) -> Iterator[None]:
    """Readers and writers of files print lines of their own before they fail; the command's is to be the one line. Not for use while
    something else of this process prints."""
    if not is_off:
        yield
        return
    sys.stderr.flush()
    kept = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    os.close(nowhere)
    try:
        yield
    finally:
        sys.stderr.flush()
        os.dup2(kept, 2)
        os.close(kept)
