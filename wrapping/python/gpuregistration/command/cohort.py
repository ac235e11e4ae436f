# SPDX-License-Identifier: Apache-2.0
"""gpureg cohort: registers many pairs."""

from __future__ import annotations

import argparse
import shlex
from typing import TYPE_CHECKING, Any, Optional

from . import options
from .errors import DONE, FAILED
from .output import print_json, print_lines, print_table
from .progress import StatusLine, clock
from .stages import describe_stages, read_stages
from .times import print_times

if TYPE_CHECKING:
    from ..cohort import Cohort, Progress

NAME = "cohort"

_EPILOG = """\
table:      comma-separated values, whose first line names the columns. Paths are relative to the table.
{columns}
            id is the name of the pair's folder in DIR; without it they are 0001, 0002, ...

results:    DIR/ID/ has warped.nii.gz, transform.tfm or .h5, labels.nii.gz, before.jpg, after.jpg, and result.json, which is written last:
            such a pair is done, and is not done again unless its settings or its files change. DIR/results.csv, DIR/results.json and
            DIR/report.html have all pairs, and are written in the end.

workers:    one process a device of this machine, all GPUs unless --devices names some. With --scheduler, a Dask scheduler's workers, which
            have gpuregistration and see the same files; each takes a GPU that no other worker of its machine has, or the device that
            ITK_GPU_DEVICE names there; if there are more workers than GPUs, workers share them, and the command says so.
            On Slurm dask-jobqueue starts both, one worker for each GPU:
            SLURMCluster(cores=8, processes=1, memory="32GB", job_extra_directives=["--gres=gpu:1"]).scale(jobs=4).

If a pair fails, the command says so, and the others continue; the exit code is 1 then. A pair whose worker was killed is tried once more.
Ctrl-C ends all work; results of pairs that are done stay.

stages and settings of --transform:
{stages}
"""


def add_parser(subparsers: Any) -> None:
    from ..cohort.table import FILES

    width = max(map(len, FILES))
    parser = subparsers.add_parser(
        NAME,
        help="register many pairs on all devices",
        description="Registers the pairs of a table, on all devices, and makes a table and a page of the results.",
        epilog=_EPILOG.format(
            columns="\n".join(f"            {name:{width}}  {what}" for name, what in FILES.items()), stages=describe_stages()
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("table", metavar="TABLE.csv", help="a table with one pair in each row, in the columns fixed and moving")
    parser.add_argument("-o", "--output", metavar="DIR", required=True, help="the folder of the results")
    options.add_stages(parser, "rigid", "stages, as for gpureg register")
    options.add_default(parser, "the moving images")
    options.add_seed(parser)
    options.add_workers(parser)
    parser.add_argument("--reports", action="store_true", help="write a report of each pair, too, DIR/ID/report.html")
    options.add_printing(parser)


def run(arguments: argparse.Namespace) -> int:
    from ..cohort import register_cohort

    stages = read_stages(arguments.transform, arguments.metric)
    devices = options.read_workers(arguments)
    line = None if arguments.quiet else _Line()
    try:
        cohort = register_cohort(
            arguments.table,
            arguments.output,
            stages,
            seed=arguments.seed,
            devices=devices,
            workers_per_device=arguments.workers_per_device,
            scheduler=arguments.scheduler,
            reports=arguments.reports,
            progress=line,
            command=shlex.join(arguments.command_line),
            default=arguments.default,
        )
    finally:
        if line is not None:
            line.end()
    _print(arguments, cohort)
    return FAILED if cohort.failed else DONE


class _Line:
    """A cohort's progress on standard error."""

    def __init__(self) -> None:
        self._line = StatusLine()
        self._over: Optional[int] = None

    def __call__(self, progress: Progress) -> None:
        if progress.news:
            self._line.print_line(f"gpureg: {progress.news}")
        over = progress.done + progress.failed
        # Elsewhere than on a terminal not every pair is worth a line.
        if self._line.is_due() or over == progress.pairs != self._over:
            self._over = over
            self._line.show(_describe(progress))

    def end(self) -> None:
        self._line.end()


def _describe(progress: Progress) -> str:
    parts = [f"{progress.done}/{progress.pairs} pairs done"]
    if progress.before:
        parts[0] += f" ({progress.before} before)"
    if progress.failed:
        parts.append(f"{progress.failed} failed")
    if progress.done + progress.failed < progress.pairs:
        if not progress.workers:
            parts.append("waiting for workers")
        elif progress.left is not None:
            parts.append(f"{clock(progress.left)} left")
    return ", ".join(parts)


def _compute_times(cohort: Cohort) -> dict[str, float]:
    """Returns seconds by name: of the whole, and a pair's in the mean."""
    times = {"in all": cohort.seconds, "with workers ready": cohort.registering_seconds}
    records = [pair.record for pair in cohort.pairs if pair.record is not None and not pair.was_done]
    if records:
        for part in ("read", "wait for the device", "register"):
            times[f"{part}, mean of a pair"] = sum(record["times"][part] for record in records) / len(records)
    return times


def _print(arguments: argparse.Namespace, cohort: Cohort) -> None:
    if arguments.times:
        print_times(_compute_times(cohort))
    if arguments.json:
        pairs = [pair.numbers() for pair in cohort.pairs]
        print_json({"output": str(cohort.output), "summary": cohort.summary(), "pairs": pairs})
    elif not arguments.quiet:
        if cohort.shares:
            rows = [
                [share.device, str(share.pairs), f"{100 * share.busy:.0f} %", f"{share.description}, {share.host}"]
                for share in cohort.shares
            ]
            print_table(["device", "pairs", "busy", "what"], rows)
        done = len(cohort.pairs) - len(cohort.failed)
        speed = f", {cohort.pairs_per_second:.3g} pairs/s with workers ready" if cohort.done_now else ""
        print_lines(
            f"{done} of {len(cohort.pairs)} pairs done, {cohort.done_now} of them now, in {cohort.seconds:.1f} s{speed}; "
            f"see {cohort.output / 'report.html'}"
        )
