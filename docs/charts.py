# SPDX-License-Identifier: Apache-2.0
"""Draws charts as SVG by matplotlib. Their figures are read from README.md, benchmark/README.md and the notebook."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any, NamedTuple, Union

PROJECT = Path(__file__).parents[1]
OURS, THREADS, ITK = "#2f8f4e", "#7a9cc6", "#9a9a9a"

# Pixels of a page: a chart's width, each bar with the gap below it, and what is above, below, left and right of the bars.
_WIDTH, _BAR, _TOP, _BOTTOM, _LEFT, _RIGHT = 700, 32, 44, 24, 250, 90
# Pixels of a chart of points: its height, and what is above, below, left and right of the axes.
_POINTS_HEIGHT, _POINTS_TOP, _POINTS_BOTTOM, _POINTS_LEFT, _POINTS_RIGHT = 460, 44, 56, 70, 16
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


class Point(NamedTuple):
    """A point: its label, its place, its colour, and how many pixels the label is to the right of it (below 0: to the left) and
    above it."""

    label: str
    x: float
    y: float
    colour: str
    right: int = 9
    above: int = -4


class Scatter(NamedTuple):
    """A chart of points, and of a dashed curve beside them.

    Attributes:
        title: stands above it.
        x_name, y_name: what the axes show.
        x_ticks, y_ticks: numbers at the axes; the first and the last one are the axes' ends.
        points: in any order.
        curve_name: stands at the curve's end.
        curve: its places.
    """

    title: str
    x_name: str
    y_name: str
    x_ticks: list[float]
    y_ticks: list[float]
    points: list[Point]
    curve_name: str
    curve: list[tuple[float, float]]

    def describe(self) -> str:
        """Returns the chart in words, for readers who do not see it."""
        return f"{self.title}: " + "; ".join(f"{point.label} {point.y:g} at {point.x:g}" for point in self.points)

    def texts(self) -> list[str]:
        """Returns all texts of the picture."""
        ticks = [f"{tick:g}" for tick in (*self.x_ticks, *self.y_ticks)]
        return [self.title, self.x_name, self.y_name, *ticks, *(point.label for point in self.points), self.curve_name]


def milliseconds(text: str) -> float:
    """Returns the first time in a text, such as "0.043 s (first in a process: 0.18 s)".

    Raises:
        ValueError: there is none.
    """
    match = re.match(r"(\d+(?:\.\d+)?) (ms|s)\b", text)
    if match is None:
        raise ValueError(f"{text!r} does not begin with a time: say where else the figure stands")
    return float(match[1]) * (1000.0 if match[2] == "s" else 1.0)


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


def found(pattern: str, page: str = "benchmark/README.md") -> list[float]:
    """Reads the numbers that stand in a sentence or a row of a page, in order.

    Raises:
        ValueError: there is no such sentence.
    """
    text = " ".join((PROJECT / page).read_text(encoding="utf-8").split())
    match = re.search(pattern, text)
    if match is None:
        raise ValueError(f"{page} has no {pattern!r}: mend docs/charts.py")
    return [float(group) for group in match.groups()]


def quoted(pattern: str) -> list[float]:
    """Reads the seconds that stand in a sentence of benchmark/README.md, and returns them as milliseconds, in order."""
    return [1000.0 * seconds for seconds in found(pattern)]


def draw(chart: Union[Chart, Scatter], file: Path) -> None:
    """Writes a chart's SVG. One version of matplotlib always writes the same bytes."""
    import matplotlib

    # Browsers choose the font, and words stay words.
    settings = {"svg.fonttype": "none", "svg.hashsalt": chart.title, "font.family": "sans-serif", "font.size": 15 * _POINT}
    with matplotlib.rc_context(settings):
        figure = _draw_points(chart) if isinstance(chart, Scatter) else _draw_bars(chart)
        figure.savefig(file, metadata={"Title": chart.describe(), "Date": None, "Creator": None})


def _begin_figure(title: str, height: int) -> Any:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(_WIDTH * _INCH, height * _INCH))
    figure.text(12 / _WIDTH, 1 - 24 / height, title, weight="bold")
    return figure


def _draw_bars(chart: Chart) -> Any:
    height = _TOP + _BAR * len(chart.bars) + (_BOTTOM if chart.is_speed else 0)
    figure = _begin_figure(chart.title, height)
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
    return figure


def _draw_points(chart: Scatter) -> Any:
    height = _POINTS_HEIGHT
    figure = _begin_figure(chart.title, height)
    axes = figure.add_axes(
        (
            _POINTS_LEFT / _WIDTH,
            _POINTS_BOTTOM / height,
            1 - (_POINTS_LEFT + _POINTS_RIGHT) / _WIDTH,
            1 - (_POINTS_TOP + _POINTS_BOTTOM) / height,
        )
    )
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0, pad=8 * _POINT, labelsize=13 * _POINT, labelcolor="#555555")
    axes.set_xticks(chart.x_ticks, [f"{tick:g}" for tick in chart.x_ticks])
    axes.set_yticks(chart.y_ticks, [f"{tick:g}" for tick in chart.y_ticks])
    axes.set_xlim(chart.x_ticks[0], chart.x_ticks[-1])
    axes.set_ylim(chart.y_ticks[0], chart.y_ticks[-1])
    axes.set_xlabel(chart.x_name, size=13 * _POINT)
    axes.set_ylabel(chart.y_name, size=13 * _POINT)
    axes.grid(color="#dddddd")
    axes.set_axisbelow(True)
    axes.plot(*zip(*chart.curve), color=ITK, linestyle="--", linewidth=1.5)
    _label(axes, chart.curve_name, chart.curve[-1], 9, -4)
    for point in chart.points:
        axes.plot(point.x, point.y, "o", color=point.colour, markersize=7)
        _label(axes, point.label, (point.x, point.y), point.right, point.above)
    return figure


def _label(axes: Any, text: str, place: tuple[float, float], right: int, above: int) -> None:
    offset = (right * _POINT, above * _POINT)
    axes.annotate(text, place, offset, textcoords="offset points", size=13 * _POINT, ha="right" if right < 0 else "left")


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


def overlap() -> Scatter:
    """Returns the overlap of dense registrations beside the smoothness of their deformations."""
    points = []
    for label, settings, right, above in (
        ("greedy", r"\| `greedy` \| default[^|]*", 9, -4),
        ("greedy by Adam", r"\| `greedy` \| by Adam[^|]*", 9, 6),
        ("greedy, radius 4", r"\| `greedy` \| radius 4[^|]*", -9, -10),
        ("syn, CC radius 4", r"\| `syn` \| default[^|]*", -9, -4),
        ("syn, CC radius 2", r"\| `syn` \| SyN\[0\.2[^|]*", -9, -12),
        ("syn, averaged", r"\| `syn` \| radius 2, step 0\.25[^|]*", -9, -4),
        ("syn, Mattes", r"\| `syn` \| SyN\[0\.1,3,0\], Mattes[^|]*", -9, 4),
        ("syn, mean squares", r"\| `syn` \| SyN\[0\.1,3,0\], mean[^|]*", -9, -4),
        ("velocity", r"\| `velocity` \| default[^|]*", 9, -4),
        ("ffd", r"\| `ffd` \| default[^|]*", 9, -4),
    ):
        dice, deviation = found(settings + r"\| (\d\.\d+) \| (\d\.\d+) \|")
        points.append(Point(label, deviation, dice, OURS, right, above))
    for label, row, right, above in (
        ("ANTs, CC radius 2", r"\| ANTs, SyN\[0\.2,3,0\][^|]*", -9, 6),
        ("ANTs, Mattes", r"\| ANTs, SyN\[0\.1,3,0\][^|]*", 9, -6),
        ("greedy 1.4", r"\| greedy 1\.4, NCC of radius 4, alone[^|]*", 6, -22),
    ):
        dice, deviation = found(row + r"\| (\d\.\d+) \| (\d\.\d+) \|")
        points.append(Point(label, deviation, dice, ITK, right, above))
    curve = []
    for sigmas in ("1.732, 0.707", "2.2, 0.707", "1.732, 0.6", "2.2, 0.6"):
        dice, deviation = found(
            rf"\| longest \| {re.escape(sigmas)} \| 2 \| (\d\.\d+), [^|]*\| (\d\.\d+) \|", "docs/notebook/displacement-fields.md"
        )
        curve.append((deviation, dice))
    return Scatter(
        "Overlap against smoothness: two people's heads, 12876 ← 14380, T1",
        "standard deviation of log det J: rougher to the right",
        "Dice, mean of 82 labels",
        [0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4],
        [0.4, 0.45, 0.5, 0.55, 0.6],
        points,
        "probe",
        curve,
    )


CHARTS = {
    "metric.svg": metric,
    "plugin.svg": plugin,
    "host.svg": host,
    "devices.svg": devices,
    "large-volumes.svg": large_volumes,
    "overlap.svg": overlap,
}


def write(folder: Path) -> None:
    """Writes all charts into a folder."""
    for name, make in CHARTS.items():
        draw(make(), folder / name)
