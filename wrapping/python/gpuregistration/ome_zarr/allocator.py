# SPDX-License-Identifier: Apache-2.0
"""Has this process give back the memory of blocks as soon as they are freed."""

from __future__ import annotations

import ctypes
from contextlib import suppress
from functools import lru_cache

# mallopt()'s number for the size from which the C library takes memory from the system by itself, and gives it back.
_M_MMAP_THRESHOLD = -3
_SIZE = 1 << 17


@lru_cache(maxsize=None)
def give_back_at_once() -> None:
    """Has glibc give back each larger array when it is freed, from now on. By itself it keeps arrays of up to 32 MB for their thread: with as many
    threads as there are here that was three times what blocks take. Other C libraries are left as they are."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, _SIZE)
