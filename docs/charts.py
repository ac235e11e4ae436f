# SPDX-License-Identifier: Apache-2.0
"""Charts of figures that stand in README.md and benchmark/README.md, read from there, as SVG."""

from __future__ import annotations

import math
import re
from html import escape
from pathlib import Path
from typing import NamedTuple

PROJECT = Path(__file__).parents[1]
OURS, THREADS, ITK = "#2f8f4e", "#7a9cc6", "#9a9a9a"

# Units of the pictures: pixels of a page.
_WIDTH, _BAR, _GAP, _TOP, _LEFT, _RIGHT = 700, 22, 10, 44, 250, 90


class Bar(NamedTuple):
    """A bar: what it is of, in ms, and its colour."""

    label: str
    value: float
    colour: str


def milliseconds(text: str) -> float:
    """The first time in a text, such as "0.042 s (first in a process: 0.20 s)".

    Raises:
        ValueError: there is none.
    """
    found = re.match(r"(\d+(?:\.\d+)?) (ms|s)\b", text)
    if found is None:
        raise ValueError(f"{text!r} does not begin with a time: say where else the figure stands")
    return float(found[1]) * (1000.0 if found[2] == "s" else 1.0)


def numbers(row: str) -> dict[str, float]:
    """A row of README.md's table of numbers: milliseconds by column, of those that have a time.

    Raises:
        ValueError: there is no such row, or more than one.
    """
    text = (PROJECT / "README.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith(f"| {row} |")]
    if len(rows) != 1:
        raise ValueError(f"README.md has {len(rows)} rows {row!r}, not one: mend docs/charts.py")
    return {name: milliseconds(cell) for name, cell in zip(("cuda", "host", "itk"), rows[0][1:]) if cell}


def quoted(pattern: str) -> list[float]:
    """Seconds that stand in a sentence of benchmark/README.md, as milliseconds, in order.

    Raises:
        ValueError: there is no such sentence.
    """
    text = " ".join((PROJECT / "benchmark" / "README.md").read_text(encoding="utf-8").split())
    found = re.search(pattern, text)
    if found is None:
        raise ValueError(f"benchmark/README.md has no {pattern!r}: mend docs/charts.py")
    return [1000.0 * float(group) for group in found.groups()]


def time_bars(title: str, bars: list[Bar]) -> str:
    """Bars as long as times, from 0 on, each with its time."""
    most = max(bar.value for bar in bars)
    unit, name = (1000.0, "s") if most >= 1000 else (1.0, "ms")
    rows = [(bar, (_WIDTH - _LEFT - _RIGHT) * bar.value / most, f"{bar.value / unit:.3g} {name}") for bar in bars]
    return _draw(title, rows, [])


def speed_bars(title: str, bars: list[Bar]) -> str:
    """Bars of how many times as fast something is, on a scale of powers of ten that begins with 1."""
    decades = math.ceil(math.log10(max(bar.value for bar in bars)))
    step = (_WIDTH - _LEFT - _RIGHT) / decades
    rows = [(bar, step * math.log10(bar.value), f"{float(f'{bar.value:.2g}'):g} ×") for bar in bars]
    ticks = [(_LEFT + n * step, f"{10**n} ×") for n in range(decades + 1)]
    return _draw(title, rows, ticks)


def _draw(title: str, rows: list[tuple[Bar, float, str]], ticks: list[tuple[float, str]]) -> str:
    bottom = _TOP + len(rows) * (_BAR + _GAP)
    height = bottom + (22 if ticks else 4)
    said = "; ".join(f"{bar.label} {text}" for bar, _, text in rows)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}" role="img" '
        f'aria-label="{escape(title)}: {escape(said)}" font-family="sans-serif" font-size="15">',
        f'<rect width="{_WIDTH}" height="{height}" fill="#ffffff"/>',
        f'<text x="12" y="24" font-weight="bold">{escape(title)}</text>',
    ]
    for x, text in ticks:
        parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP - 6}" y2="{bottom}" stroke="#cccccc"/>')
        parts.append(f'<text x="{x:.1f}" y="{bottom + 16}" text-anchor="middle" font-size="13" fill="#555555">{text}</text>')
    for n, (bar, length, text) in enumerate(rows):
        y = _TOP + n * (_BAR + _GAP)
        shown = max(length, 1.0)
        parts.append(f'<text x="{_LEFT - 10}" y="{y + 16}" text-anchor="end">{escape(bar.label)}</text>')
        parts.append(f'<rect x="{_LEFT}" y="{y}" width="{shown:.1f}" height="{_BAR}" fill="{bar.colour}"/>')
        parts.append(f'<text x="{_LEFT + shown + 6:.1f}" y="{y + 16}">{text}</text>')
    return "\n".join([*parts, "</svg>\n"])


def metric() -> str:
    """One evaluation of a metric, by what computes it."""
    row = numbers("metric, value and derivative")
    opencl = numbers("the same through OpenCL on that GPU")["cuda"]
    return time_bars(
        "One evaluation, value and derivative",
        [
            Bar("CUDA, H200", row["cuda"], OURS),
            Bar("OpenCL, H200", opencl, OURS),
            Bar("host, 16 threads", row["host"], THREADS),
            Bar("ITK's own, 16 threads", row["itk"], ITK),
        ],
    )


def plugin() -> str:
    """A registration of a program that stays as it is."""
    row = numbers("the same where the metric stands in for ITK's")
    return time_bars(
        "One rigid registration, in a program that stays as it is",
        [
            Bar("with the plugin: H200", row["cuda"], OURS),
            Bar("with the plugin: 16 threads", row["host"], THREADS),
            Bar("without: ITK, 16 threads", row["itk"], ITK),
        ],
    )


def host() -> str:
    """A free-form deformation where there is no GPU."""
    row = numbers("free-form deformation, four levels, 5 mm grid")
    all_voxels, samples = quoted(r"every voxel takes (\d+) s, and 200,000 samples (\d+\.\d) s at 1\.06 times that error")
    return time_bars(
        "One free-form deformation of a head",
        [
            Bar("two cores, every voxel", all_voxels, THREADS),
            Bar("two cores, 200 000 samples", samples, THREADS),
            Bar("16 threads, every voxel", row["host"], THREADS),
            Bar("H100, every voxel", row["cuda"], OURS),
        ],
    )


def devices() -> str:
    """What a GPU and 16 threads bring, task by task."""
    bars = []
    for name, row in (
        ("metric and derivative", "metric, value and derivative"),
        ("rigid registration", "rigid registration, three levels: metric, smoothing, shrinking"),
        ("resampling, linear", "resampling, affine, linear"),
        ("smoothing", "smoothing, all axes"),
    ):
        times = numbers(row)
        bars.append(Bar(f"{name}: H200", times["itk"] / times["cuda"], OURS))
        bars.append(Bar("16 threads", times["itk"] / times["host"], THREADS))
    return speed_bars("How many times as fast as ITK on the same 16 threads", bars)


CHARTS = {"metric.svg": metric, "plugin.svg": plugin, "host.svg": host, "devices.svg": devices}


def write(folder: Path) -> None:
    """Writes all charts into a folder."""
    for name, make in CHARTS.items():
        (folder / name).write_text(make(), encoding="utf-8")
