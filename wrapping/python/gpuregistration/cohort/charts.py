# SPDX-License-Identifier: Apache-2.0
"""Histograms of a cohort's numbers, as SVG that needs no script."""

from __future__ import annotations

import math
from html import escape
from typing import Sequence

import numpy as np

from ..report import wording
from .words import count_of

# Units of the picture: about as many pixels, on any screen.
_WIDTH, _HEIGHT = 360, 150
_LEFT, _RIGHT, _TOP, _BOTTOM = 30, 8, 8, 22
_MOST_BINS = 24


def histogram(title: str, values: Sequence[float], note: str = "") -> str:
    """How often values are where: a chart with its title, and a line on their middle and ends."""
    counts, edges = count(values)
    most = int(counts.max())
    width, height = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM
    step = width / len(counts)
    bars = "".join(
        f'<rect class="bar" x="{_LEFT + n * step + 0.5:.1f}" y="{_TOP + height * (1 - c / most):.1f}" width="{max(1.0, step - 1):.1f}" '
        f'height="{height * c / most:.1f}"><title>{wording.number(edges[n])} to {wording.number(edges[n + 1])}: {c}</title></rect>'
        for n, c in enumerate(counts)
        if c
    )
    base = _TOP + height
    ends = "".join(
        f'<text x="{x}" y="{_HEIGHT - 6}" text-anchor="{anchor}">{wording.number(edge)}</text>'
        for x, anchor, edge in ((_LEFT, "start", edges[0]), (_WIDTH - _RIGHT, "end", edges[-1]))
    )
    middle = float(np.median(values))
    spread = f"{wording.number(min(values))} to {wording.number(max(values))}"
    text = f"{count_of(len(values), 'pair')}: median {wording.number(middle)}, {spread}"
    return (
        f'<div class="chart"><h3>{escape(title)}</h3><svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        f'aria-label="{escape(title)}, {text}"><line class="gridline" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{_TOP}" y2="{_TOP}"/>'
        f'{bars}<line class="axis" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{base}" y2="{base}"/>'
        f'<text x="{_LEFT - 5}" y="{_TOP + 9}" text-anchor="end">{most}</text>'
        f'<text x="{_LEFT - 5}" y="{base}" text-anchor="end">0</text>{ends}</svg>'
        f'<p class="chart-note">{text}{escape(note)}</p></div>'
    )


def count(values: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
    """Values in bins, and the bins' edges. One value, or many that are the same, are in one bin about it."""
    bins = min(_MOST_BINS, max(1, math.ceil(2 * math.sqrt(len(values)))))
    low, high = min(values), max(values)
    if not high > low:
        around = max(abs(low), 1.0) * 0.05
        return np.histogram(values, 1, (low - around, high + around))
    return np.histogram(values, bins, (low, high))
