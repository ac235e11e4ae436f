# SPDX-License-Identifier: Apache-2.0
"""Has this process give back the memory of blocks when they are freed."""

from __future__ import annotations

import ctypes
from contextlib import suppress
from functools import lru_cache
from typing import Any, Optional

# mallopt()'s numbers for the size from which the C library takes memory from the system by itself and gives it back, and for how many heaps
# its threads share.
_M_MMAP_THRESHOLD, _M_ARENA_MAX = -3, -8
_HEAPS = 2
# The library takes no larger size, and smaller arrays are worth nothing.
_LEAST, _MOST = 1 << 17, 1 << 25
# The size that the library has been told.
_told = 0


def give_back_blocks(size: int) -> None:
    """Has glibc give back each array of so many bytes, or more, when it is freed, and keep smaller ones for the next ones: from now on
    until this process ends, or a larger size is given. Other C libraries are left as they are.

    By itself it keeps arrays of up to 32 MB for their thread, which was three times what small blocks take. To give back every chunk costs
    as much as to resample: the system clears each page before it hands it out again.

    Args:
        size: bytes that a block reads.
    """
    global _told
    library, size = _library(), min(max(size, _LEAST), _MOST)
    if library is not None and size > _told:
        _told = size
        library.mallopt(_M_MMAP_THRESHOLD, size)


@lru_cache(maxsize=None)
def _library() -> Optional[Any]:
    """Returns the C library, whose threads share few heaps from now on: each keeps some of what is freed."""
    with suppress(OSError, AttributeError):
        library = ctypes.CDLL(None)
        library.mallopt(_M_ARENA_MAX, _HEAPS)
        return library
    return None
