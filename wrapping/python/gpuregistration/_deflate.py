# SPDX-License-Identifier: Apache-2.0
"""Deflate, which gzip is made of: by isal where it is installed, several times as fast, and by zlib otherwise."""

from __future__ import annotations

import zlib
from typing import Any

try:
    from isal import isal_zlib
except ImportError:
    isal_zlib = None  # type: ignore[assignment]

#: Compresses and uncompresses: isal's module has the functions of zlib, but for levels and strategies.
library: Any = isal_zlib or zlib

#: Either of them raises these for damaged data.
ERRORS: tuple[Any, ...] = (zlib.error,) if isal_zlib is None else (zlib.error, isal_zlib.error)

# Images hardly get smaller by higher levels.
_LEVEL, _ISAL_LEVEL = 4, 2
# A sample of so many bytes decides how a block is compressed. A way that is ten times as fast is taken if its result is at most so many
# times as large. A sample that stays above some share of its size hardly repeats, and zlib would find no more.
_SAMPLE = 1 << 16
_MOST_LARGER = 1.1
_HARDLY_REPEATS = 0.5


def make_inflater() -> Any:
    """Makes an object like those of zlib.decompressobj(), for a bare stream. It checks no checksum."""
    return library.decompressobj(-zlib.MAX_WBITS)


def deflate(block: memoryview) -> bytes:
    """Compresses some bytes by themselves. The result ends on a byte, so that others can follow it.

    A sample decides. Isal is taken unless zlib finds more that repeats, as in labels. Floats that were interpolated hardly repeat but in
    runs of zeros, which zlib finds in a quarter of the time that it takes to look for all that repeats. Where all values of the
    sample are equal, as in labels' background, the sample decides nothing: then zlib looks.
    """
    sample = block[len(block) // 2 :][:_SAMPLE]
    quickly = len(_deflate_by_isal(sample)) if library is not zlib else None
    if quickly is not None and quickly > _HARDLY_REPEATS * len(sample):
        return _deflate_by_isal(block)
    closest = len(_deflate_by_zlib(sample, zlib.Z_DEFAULT_STRATEGY))
    if quickly is not None and quickly <= _MOST_LARGER * closest:
        return _deflate_by_isal(block)
    has_runs_alone = len(_deflate_by_zlib(sample, zlib.Z_RLE)) < closest
    return _deflate_by_zlib(block, zlib.Z_RLE if has_runs_alone else zlib.Z_DEFAULT_STRATEGY)


def _deflate_by_isal(block: memoryview) -> bytes:
    return _finish(library.compressobj(_ISAL_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS), block)


def _deflate_by_zlib(block: memoryview, strategy: int) -> bytes:
    return _finish(zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS, zlib.DEF_MEM_LEVEL, strategy), block)


def _finish(work: Any, block: memoryview) -> bytes:
    made: bytes = work.compress(block) + work.flush(zlib.Z_FULL_FLUSH)
    return made
