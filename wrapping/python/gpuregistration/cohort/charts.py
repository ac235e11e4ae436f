# SPDX-License-Identifier: Apache-2.0
"""Draws histograms of a cohort's numbers as SVG, without a script."""

from __future__ import annotations

import math
from typing import NamedTuple, Sequence

import numpy as np

from ..report import wording
from ..report.template import render

_MOST_BINS = 24


class _Frame(NamedTuple):
    """A picture's size and margins, in units of about a pixel."""

    width: int = 360
    height: int = 150
    left: int = 30
    right: int = 8
    top: int = 8
    bottom: int = 22


class _Bar(NamedTuple):
    """A bar: how many pairs have values from low to high, and where it is drawn."""

    x: float
    y: float
    width: float
    low: float
    high: float
    pairs: int


def histogram(title: str, values: Sequence[float], note: str = "") -> str:
    """Makes a chart of how often values are where, as HTML, with its title, and a line on their middle and ends."""
    counts, edges = count(values)
    most, frame = int(counts.max()), _Frame()
    step = (frame.width - frame.left - frame.right) / len(counts)
    height = frame.height - frame.top - frame.bottom
    bars = [
        _Bar(frame.left + n * step + 0.5, frame.top + height * (1 - c / most), max(1.0, step - 1), edges[n], edges[n + 1], int(c))
        for n, c in enumerate(counts)
        if c
    ]
    spread = f"{wording.number(min(values))} to {wording.number(max(values))}"
    text = f"{wording.count_of(len(values), 'pair')}: median {wording.number(float(np.median(values)))}, {spread}"
    return render(
        "histogram.html.j2", title=title, text=text, note=note, frame=frame, bars=bars, most=most, low=edges[0], high=edges[-1]
    )


def count(values: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
    """Counts values in bins, and returns the bins' edges, too. One value, or many that are the same but for rounding, are in one bin about it."""
    bins = min(_MOST_BINS, max(1, math.ceil(2 * math.sqrt(len(values)))))
    low, high = min(values), max(values)
    # Between ends that are so near to each other there are too few numbers for the bins' edges.
    if high - low < 2 * bins * np.spacing(max(abs(low), abs(high))):
        around = max(abs(low), 1.0) * 0.05
        return np.histogram(values, 1, (low - around, high + around))
    return np.histogram(values, bins, (low, high))
