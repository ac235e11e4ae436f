# SPDX-License-Identifier: Apache-2.0
"""Charts of figures that stand in README.md and benchmark/README.md, read from there, as SVG by matplotlib."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import NamedTuple

PROJECT = Path(__file__).parents[1]
OURS, THREADS, ITK = "#2f8f4e", "#7a9cc6", "#9a9a9a"

# Pixels of a page: a chart's width, each bar with the gap below it, and what is above, below, left and right of the bars.
_WIDTH, _BAR, _TOP, _BOTTOM, _LEFT, _RIGHT = 700, 32, 44, 24, 250, 90
# Browsers show 96 pixels an inch; matplotlib has 72 points an inch.
_INCH, _POINT = 1 / 96, 72 / 96


class Bar(NamedTuple):
    """A bar: its label, its value, in ms or times as fast, and its colour."""

    label: str
    value: float
    colour: str


class Chart(NamedTuple):
    """A chart of bars.

    Attributes:
        title: stands above it.
        bars: from top to bottom.
        is_speed: values say how many times as fast something is, on a logarithmic axis from 1 on; else they are ms, from 0 on.
    """

    title: str
    bars: list[Bar]
    is_speed: bool = False

    def values(self) -> list[str]:
        """Returns what stands beside each bar."""
        if self.is_speed:
            return [f"{float(f'{bar.value:.2g}'):g} ×" for bar in self.bars]
        unit, name = (1000.0, "s") if max(bar.value for bar in self.bars) >= 1000 else (1.0, "ms")
        return [f"{bar.value / unit:.3g} {name}" for bar in self.bars]

    def ticks(self) -> list[int]:
        """Returns the powers of ten below a logarithmic axis; without one there are none."""
        decades = math.ceil(math.log10(max(bar.value for bar in self.bars))) if self.is_speed else -1
        return [10**n for n in range(decades + 1)]

    def describe(self) -> str:
        """Returns the chart in words, for readers who do not see it."""
        return f"{self.title}: " + "; ".join(f"{bar.label} {value}" for bar, value in zip(self.bars, self.values()))

    def texts(self) -> list[str]:
        """Returns all texts of the picture."""
        return [self.title, *(bar.label for bar in self.bars), *self.values(), *(f"{tick} ×" for tick in self.ticks())]


def milliseconds(text: str) -> float:
    """Returns the first time in a text, such as "0.043 s (first in a process: 0.18 s)".

    Raises:
        ValueError: there is none.
    """
    found = re.match(r"(\d+(?:\.\d+)?) (ms|s)\b", text)
    if found is None:
        raise ValueError(f"{text!r} does not begin with a time: say where else the figure stands")
    return float(found[1]) * (1000.0 if found[2] == "s" else 1.0)


def numbers(row: str) -> dict[str, float]:
    """Reads a row of README.md's table of numbers: milliseconds by column, without the columns that have no time.

    Raises:
        ValueError: there is no such row, or more than one.
    """
    text = (PROJECT / "README.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith(f"| {row} |")]
    if len(rows) != 1:
        raise ValueError(f"README.md has {len(rows)} rows {row!r}, not one: mend docs/charts.py")
    return {name: milliseconds(cell) for name, cell in zip(("cuda", "host", "itk"), rows[0][1:]) if cell}


def quoted(pattern: str) -> list[float]:
    """Reads the seconds that stand in a sentence of benchmark/README.md, and returns them as milliseconds, in order.

    Raises:
        ValueError: there is no such sentence.
    """
    text = " ".join((PROJECT / "benchmark" / "README.md").read_text(encoding="utf-8").split())
    found = re.search(pattern, text)
    if found is None:
        raise ValueError(f"benchmark/README.md has no {pattern!r}: mend docs/charts.py")
    return [1000.0 * float(group) for group in found.groups()]


def draw(chart: Chart, file: Path) -> None:
    """Writes a chart's SVG. One version of matplotlib always writes the same bytes."""
    import matplotlib
    from matplotlib.figure import Figure

    height = _TOP + _BAR * len(chart.bars) + (_BOTTOM if chart.is_speed else 0)
    # Browsers choose the font, and words stay words.
    settings = {"svg.fonttype": "none", "svg.hashsalt": chart.title, "font.family": "sans-serif", "font.size": 15 * _POINT}
    with matplotlib.rc_context(settings):
        figure = Figure(figsize=(_WIDTH * _INCH, height * _INCH))
        figure.text(12 / _WIDTH, 1 - 24 / height, chart.title, weight="bold")
        axes = figure.add_axes(
            (_LEFT / _WIDTH, 1 - (_TOP + _BAR * len(chart.bars)) / height, 1 - (_LEFT + _RIGHT) / _WIDTH, _BAR * len(chart.bars) / height)
        )
        axes.spines[:].set_visible(False)
        axes.tick_params(length=0, pad=10 * _POINT)
        if chart.is_speed:
            axes.set_xscale("log")
            axes.set_xlim(1, chart.ticks()[-1])
            axes.set_xticks(chart.ticks(), [f"{tick} ×" for tick in chart.ticks()], size=13 * _POINT, color="#555555")
            axes.tick_params(axis="x", pad=4 * _POINT)
            axes.grid(axis="x", color="#cccccc")
            axes.set_axisbelow(True)
        else:
            axes.set_xlim(0, max(bar.value for bar in chart.bars))
            axes.set_xticks([])
        axes.minorticks_off()
        places = range(len(chart.bars))
        widths = [bar.value - chart.is_speed for bar in chart.bars]
        drawn = axes.barh(places, widths, 0.7, left=int(chart.is_speed), color=[bar.colour for bar in chart.bars])
        axes.bar_label(drawn, chart.values(), padding=6 * _POINT)
        axes.set_yticks(places, [bar.label for bar in chart.bars])
        axes.set_ylim(len(chart.bars) - 0.5, -0.5)
        figure.savefig(file, metadata={"Title": chart.describe(), "Date": None, "Creator": None})


def metric() -> Chart:
    """Returns the times of one evaluation of a metric, by device."""
    row = numbers("metric, value and derivative")
    opencl = numbers("the same through OpenCL on that GPU")["cuda"]
    return Chart(
        "One evaluation, value and derivative",
        [
            Bar("CUDA, H200", row["cuda"], OURS),
            Bar("OpenCL, H200", opencl, OURS),
            Bar("host, 16 threads", row["host"], THREADS),
            Bar("ITK's own, 16 threads", row["itk"], ITK),
        ],
    )


def plugin() -> Chart:
    """Returns the times of a registration by a program that stays as it is."""
    itk, cuda, threads = quoted(r"44 evaluations \| (\d\.\d+) s \| [\d.]+ s \| (\d\.\d+) s \| [\d.]+ s \| [\d.]+ s \| (\d\.\d+) s")
    return Chart(
        "One rigid registration, in a program that stays as it is",
        [
            Bar("with the plugin: H200", cuda, OURS),
            Bar("with the plugin: 16 threads", threads, THREADS),
            Bar("without: ITK, 16 threads", itk, ITK),
        ],
    )


def host() -> Chart:
    """Returns the times of a free-form deformation without a GPU."""
    row = numbers("free-form deformation, four levels, 5 mm grid")
    all_voxels, samples = quoted(r"every voxel takes (\d+) s, and 200,000 samples (\d+\.\d) s at 1\.06 times that error")
    return Chart(
        "One free-form deformation of a head",
        [
            Bar("two cores, every voxel", all_voxels, THREADS),
            Bar("two cores, 200 000 samples", samples, THREADS),
            Bar("16 threads, every voxel", row["host"], THREADS),
            Bar("H100, every voxel", row["cuda"], OURS),
        ],
    )


def devices() -> Chart:
    """Returns how many times as fast a GPU and 16 threads are, task by task."""
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
    return Chart("How many times as fast as ITK on the same 16 threads", bars, is_speed=True)


def large_volumes() -> Chart:
    """Returns the times of registrations of volumes of a thousand voxels an axis, from loaded images."""
    bars = []
    for stage in ("affine", "ffd", "greedy", "syn"):
        (seconds,) = quoted(rf"\| `{stage}` \| [\d.]+, [\d.]+ \| [\d.]+ \| (\d+\.\d+) \|")
        bars.append(Bar(stage, seconds, OURS))
    return Chart("Two volumes of 1024³ voxels on one H200, from loaded images", bars)


CHARTS = {
    "metric.svg": metric,
    "plugin.svg": plugin,
    "host.svg": host,
    "devices.svg": devices,
    "large-volumes.svg": large_volumes,
}


def write(folder: Path) -> None:
    """Writes all charts into a folder."""
    for name, make in CHARTS.items():
        draw(make(), folder / name)
