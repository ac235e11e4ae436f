# SPDX-License-Identifier: Apache-2.0
"""How numbers of things are told."""

from __future__ import annotations


def count_of(number: int, what: str) -> str:
    """Such as "1 pair", or "1,200 pairs"."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"
