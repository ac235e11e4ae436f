# SPDX-License-Identifier: Apache-2.0
"""gpureg bench: this machine's figures, beside those of ITK through SimpleITK."""

from __future__ import annotations

import argparse
import math
import time
from dataclasses import dataclass, field
from typing import Any, Callable, Optional

from . import options
from .errors import DONE, FAILED, WrongUse, one_line
from .output import print_json, print_lines, print_notes, print_table

NAME = "bench"

_ITK = "SimpleITK"

_EPILOG = """\
what is measured: two synthetic heads of N x N x N voxels of 1 mm, one of which is turned and shifted. Times are of calls as Python
makes them, copies to a device and back included: the least of as many as fit into the time, after a first one that is not counted
(on a device, what is asked for first starts it). SimpleITK does the same on as many threads: for rigid and affine registration three
levels of Mattes' mutual information of all voxels, until it converges; for the free-form one the same count of iterations of a
gradient descent by mean squares, of a B-spline of the same grid, 4 spacings along each axis, by steps of a fixed length.
"""


@dataclass
class _Row:
    """One task: what each column takes, in seconds."""

    name: str
    seconds: dict[str, float] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)


def add_parser(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        NAME,
        help="measure this machine's devices against SimpleITK",
        description="Measures registration, resampling, smoothing and metrics on each device here, and SimpleITK doing the same.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--size", type=int, default=96, metavar="N", help="voxels along each axis, 32 to 512 (default: 96)")
    parser.add_argument("--seconds", type=float, default=60.0, help="approximate time of all measurements (default: 60)")
    parser.add_argument("--device", metavar="NAME", action="append", help="measure this device alone; may be given again (default: all GPUs, and the host)")
    parser.add_argument("--threads", type=int, default=0, help="threads of the host, and of SimpleITK (default: all)")
    options.add_json(parser)
    options.add_quiet(parser)


def run(arguments: argparse.Namespace) -> int:
    from .. import _engine
    from .._checks import MOST_INT
    from .._devices import devices, set_threads

    if not 32 <= arguments.size <= 512:
        raise WrongUse(f"--size {arguments.size} is not possible: give 32 to 512")
    if not (math.isfinite(arguments.seconds) and arguments.seconds > 0):
        raise WrongUse(f"--seconds {arguments.seconds} is not possible: give a time above 0")
    if not 0 <= arguments.threads <= MOST_INT:
        raise WrongUse(f"--threads {arguments.threads} is not possible: give 1 or more, or 0 for all")
    if arguments.device:
        names = [options.choose_device(name) for name in arguments.device]
    else:
        # The best come first. The device after the host is a processor through OpenCL, which is slower, and whose driver may not last.
        names = [one.name for one in devices()]
        names = names[: names.index("host") + 1]
    set_threads(arguments.threads)
    threads = _engine.thread_count()
    from .bench_tasks import make_tasks

    tasks = make_tasks(arguments.size, threads)
    columns = [*names, _ITK]
    rows = [_Row(task.name) for task in tasks]
    # Every cell has its share of the time; what is too long for it runs once.
    share = arguments.seconds / (len(rows) * len(columns))
    for task, row in zip(tasks, rows):
        for column in columns:
            if not arguments.quiet:
                print_notes(f"{row.name}, {column}")
            _fill(row, column, task.by_itk if column == _ITK else _bound(task.by_engine, column), share)
    what = {one.name: one.description for one in devices() if one.name in names}
    if arguments.json:
        print_json(
            {
                "size": arguments.size,
                "threads": threads,
                "devices": what,
                "rows": [{"name": row.name, "seconds": row.seconds, "errors": row.notes} for row in rows],
            }
        )
    else:
        _print(rows, columns, what, threads, arguments.size)
    return FAILED if any(row.notes for row in rows) else DONE


def _bound(by_engine: Callable[[str], Any], device: str) -> Callable[[], Any]:
    return lambda: by_engine(device)


def _fill(row: _Row, column: str, work: Callable[[], Any], share: float) -> None:
    from .._engine import Error

    try:
        row.seconds[column] = measure(work, share)
    except (Error, RuntimeError) as error:
        row.notes[column] = one_line(error)


def measure(work: Callable[[], Any], share: float) -> float:
    """Returns the least time of some calls, in seconds.

    Args:
        work: a function, which is called once if that takes longer than the share, else once more than counts.
        share: seconds that the calls take together, about.
    """
    begin = time.perf_counter()
    work()
    least = time.perf_counter() - begin
    if least > share / 2:
        return least
    least = math.inf
    while True:
        start = time.perf_counter()
        work()
        end = time.perf_counter()
        least = min(least, end - start)
        if end - begin > share:
            return least


def _print(rows: list[_Row], columns: list[str], what: dict[str, str], threads: int, size: int) -> None:
    print_lines(
        f"{size} x {size} x {size} voxels; host and SimpleITK on {threads} threads; ms, and SimpleITK's time as a multiple of it",
        *(f"{name}: {description}" for name, description in what.items()),
    )
    table = [[row.name, *[_cell(row, column) for column in columns], ""] for row in rows]
    print_table(["", *columns, ""], table)
    print_lines(*(f"{row.name}, {column}: {note}" for row in rows for column, note in row.notes.items()))


def _cell(row: _Row, column: str) -> str:
    seconds: Optional[float] = row.seconds.get(column)
    if seconds is None:
        return "failed"
    itk = row.seconds.get(_ITK)
    times = f" ({_three_digits(itk / seconds)}x)" if itk is not None and column != _ITK else ""
    return f"{_three_digits(1e3 * seconds)}{times}"


def _three_digits(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"
