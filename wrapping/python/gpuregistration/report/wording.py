# SPDX-License-Identifier: Apache-2.0
"""Writes numbers as people read them."""

from __future__ import annotations

import math
from collections.abc import Iterable


def number(value: float | None, digits: int = 4) -> str:
    """Writes a number with `digits` significant digits and a true minus sign."""
    if value is None:
        return "–"
    if not math.isfinite(value):
        return "not a number" if math.isnan(value) else ("∞" if value > 0 else "−∞")
    if value == 0:
        return "0"
    exponent = math.floor(math.log10(abs(value)))
    if -4 <= exponent < 6:
        text = f"{value:,.{max(0, digits - 1 - exponent)}f}"
    else:
        text = f"{value:.{digits - 1}e}"
    return text.replace("-", "−")


def trimmed(value: float, digits: int = 6) -> str:
    """Writes a number without zeros at its end."""
    return f"{float(value) + 0.0:.{digits}g}".replace("-", "−")


def signed(value: float, digits: int = 3) -> str:
    """Writes a difference with its sign."""
    text = number(value, digits)
    return f"+{text}" if value > 0 else text


def fixed(value: float, decimals: int) -> str:
    """Writes a number with `decimals` decimals and a true minus sign."""
    if not math.isfinite(value):
        return number(value)
    return f"{value:,.{decimals}f}".replace("-", "−")


def duration(milliseconds: float) -> str:
    """Writes a time: in ms below a second, in s below two minutes, then in minutes and seconds."""
    if not math.isfinite(milliseconds):
        return "not known"
    if milliseconds < 1000:
        return f"{number(milliseconds, 3)} ms"
    seconds = milliseconds / 1000
    if seconds < 120:
        return f"{number(seconds, 3)} s"
    return f"{int(seconds // 60)} min {int(seconds % 60)} s"


def length_decimals(spacing: Iterable[float]) -> int:
    """Returns how many decimals of mm show less than a voxel with edges of `spacing`: one, or more for voxels below a tenth of a mm."""
    return min(20, 1 + max(0, math.floor(-math.log10(min(spacing)))))


def row(values: Iterable[float], decimals: int | None = None) -> str:
    """Writes coordinates, separated by commas."""
    if decimals is None:
        return ", ".join(trimmed(v) for v in values)
    return ", ".join(f"{float(v):.{decimals}f}".replace("-", "−") for v in values)


def share(part: int, whole: int) -> str:
    """Writes a part of a whole in per cent."""
    if not whole:
        return "0 %"
    percent = 100 * part / whole
    if part and percent < 0.01:
        return "below 0.01 %"
    return f"{percent:.3g} %"


def count_of(number: int, what: str) -> str:
    """Returns a number of things, such as "1 pair", or "1,200 pairs"."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"
