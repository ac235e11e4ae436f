# SPDX-License-Identifier: Apache-2.0
"""Joins checksums of gzip, CRC-32, of parts that different threads had."""

from __future__ import annotations

import functools

# Polynomials modulo 2 have the coefficient of x^0 in bit 31, and this one, which has x^32 besides, divides them.
_DIVISOR = 0xEDB88320
_ONE, _X8 = 1 << 31, 1 << 23


def join(first: int, second: int, length: int) -> int:
    """Returns the checksum of two runs of bytes, one behind the other.

    Args:
        first, second: theirs.
        length: bytes of the second one.
    """
    return _multiply(_power(length), first) ^ second


@functools.lru_cache(maxsize=64)
def _power(length: int) -> int:
    """Returns x^(8 length): that many zeros behind a run multiply its checksum by it."""
    result, square = _ONE, _X8
    while length:
        if length & 1:
            result = _multiply(result, square)
        square = _multiply(square, square)
        length >>= 1
    return result


def _multiply(one: int, other: int) -> int:
    product = 0
    while one:
        if one & _ONE:
            product ^= other
        one = one << 1 & 0xFFFFFFFF
        other = other >> 1 ^ (_DIVISOR if other & 1 else 0)
    return product
