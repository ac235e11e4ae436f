# SPDX-License-Identifier: Apache-2.0
"""gpureg template: builds a mean image of several people."""

from __future__ import annotations

import argparse
import shlex
from typing import TYPE_CHECKING, Any, Optional, Sequence

from . import options
from .errors import DONE, WrongUse
from .output import print_json, print_lines, print_notes, print_table
from .parser import OnceWithCommas
from .progress import StatusLine
from .stages import describe_stages, read_stages
from .times import print_times

if TYPE_CHECKING:
    from ..template import Progress, Template

NAME = "template"

_EPILOG = """\
table:      comma-separated values, whose first line names the columns. Paths are relative to the table.
{columns}
            id is the name of the person's folder in DIR; without it they are 0001, 0002, ...

rounds:     the first mean has the centres of mass on each other. Then each round registers all images to the mean, averages the warped
            images, sharpens the mean, and brings it to the mean shape and the mean affine map, as ANTs'
            antsMultivariateTemplateConstruction2.sh does (docs/templates.md). Results stay: the same command continues where it was
            ended, and repeats only what has changed.

results:    DIR/template.nii.gz, template2.nii.gz, ...; DIR/ID/ has affine.mat, warp.nii.gz and inverse_warp.nii.gz, which lead from the
            template's points to the person's (antsApplyTransforms -t warp.nii.gz -t affine.mat); DIR/rounds/N/mean.nii.gz; DIR/report.html
            shows each round, and DIR/results.json has the numbers.

workers:    one process a device of this machine, all GPUs unless --devices names some; or the workers of --scheduler, as for gpureg cohort.

stages and settings of --transform:
{stages}
"""


def add_parser(subparsers: Any) -> None:
    from ..template.table import FILES

    width = max(map(len, FILES))
    parser = subparsers.add_parser(
        NAME,
        help="build a mean image of several people, on all devices",
        description="Builds an unbiased mean image of several people: a template.",
        epilog=_EPILOG.format(
            columns="\n".join(f"            {name:{width}}  {what}" for name, what in FILES.items()), stages=describe_stages()
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("table", metavar="TABLE.csv", help="a table with one person in each row, in the column image")
    parser.add_argument("-o", "--output", metavar="DIR", required=True, help="the folder of the results")
    options.add_stages(parser, "affine,greedy", "stages of each round")
    parser.add_argument("--rounds", metavar="N", type=int, default=4, help="number of rounds with these stages (default: 4)")
    parser.add_argument(
        "--first",
        metavar="STAGES",
        action=OnceWithCommas,
        default="rigid",
        help="stages of rounds before these, one stage a round, or none (default: rigid)",
    )
    parser.add_argument(
        "--step",
        metavar="SHARE",
        type=float,
        default=0.25,
        help="share of the mean displacement by which a round updates the shape, four times; 0: no shape update (default: 0.25)",
    )
    parser.add_argument(
        "--sharpening", metavar="NAME", default="laplacian", help="filter of each mean: laplacian, unsharp or none (default: laplacian)"
    )
    parser.add_argument("--weights", metavar="WxW", help="weights of the modalities, such as 1x0.5 (default: all are 1)")
    parser.add_argument("--start", metavar="FILE", help="an image to begin with, and its grid (default: the mean of the images)")
    parser.add_argument("--grid", metavar="FILE", help="an image whose grid the template has (default: the first row's image)")
    parser.add_argument("--no-normalize", action="store_true", help="average intensities as they are, not divided by their means")
    options.add_default(parser, "the images")
    options.add_seed(parser)
    options.add_workers(parser)
    options.add_printing(parser)


def run(arguments: argparse.Namespace) -> int:
    from ..template import build_template

    stages = read_stages(arguments.transform, arguments.metric)
    first = [] if arguments.first in ("", "none") else read_stages(arguments.first, None)
    devices = options.read_workers(arguments)
    if arguments.rounds < 1:
        raise WrongUse(f"--rounds {arguments.rounds} is not possible: give 1 or more")
    weights = _read_weights(arguments.weights)
    line = None if arguments.quiet else _Line()
    try:
        template = build_template(
            arguments.table,
            arguments.output,
            stages,
            rounds=arguments.rounds,
            first=first,
            step=arguments.step,
            sharpening=arguments.sharpening,
            weights=weights,
            start=arguments.start,
            grid=arguments.grid,
            normalize=not arguments.no_normalize,
            default=arguments.default,
            seed=arguments.seed,
            devices=devices,
            workers_per_device=arguments.workers_per_device,
            scheduler=arguments.scheduler,
            progress=line,
            command=shlex.join(arguments.command_line),
        )
    finally:
        if line is not None:
            line.end()
    _print(arguments, template)
    return DONE


def _read_weights(text: Optional[str]) -> Optional[Sequence[float]]:
    if text is None:
        return None
    try:
        return [float(part) for part in text.split("x")]
    except ValueError:
        raise WrongUse(f"--weights {text} is not possible: give one number for each modality, such as 1x0.5") from None


class _Line:
    """A template's progress on standard error."""

    def __init__(self) -> None:
        self._line = StatusLine()
        self._round: Optional[int] = None

    def __call__(self, progress: Progress) -> None:
        if progress.news:
            self._line.print_line(f"gpureg: {progress.news}")
        # Elsewhere than on a terminal not every job is worth a line.
        if self._line.is_due() or progress.round != self._round:
            self._round = progress.round
            self._line.show(_describe(progress))

    def end(self) -> None:
        self._line.end()


def _describe(progress: Progress) -> str:
    place = f"round {progress.round} of {progress.rounds}" if progress.round else "start"
    if not progress.workers:
        return f"{place}, waiting for workers"
    return f"{place}, mean" if progress.part == "mean" else f"{place}, {progress.done}/{progress.jobs} {progress.part} done"


def _print(arguments: argparse.Namespace, template: Template) -> None:
    if arguments.times:
        print_times(_compute_times(template))
    if not arguments.quiet:
        print_notes(*(f"gpureg: {warning}" for warning in template.warnings))
    if arguments.json:
        rounds, people = [one.numbers() for one in template.rounds], [one.numbers() for one in template.people]
        found = {"output": str(template.output), "summary": template.summary(), "rounds": rounds, "people": people}
        print_json({**found, "warnings": template.warnings})
    elif not arguments.quiet:
        rows = []
        for one in template.rounds:
            numbers = one.numbers()
            update = f"{numbers['update']['mean']:.3f}" if numbers["update"] else "-"
            rows.append([str(one.number), f"{100 * numbers['sharpness'][0]:.3g}", update, ", ".join(one.stages) or "start"])
        print_table(["round", "sharpness, %/mm", "shape update, voxels", "stages"], rows)
        print_lines(
            f"{len(template.rounds) - 1} rounds of {len(template.people)} people done, {template.done_now} of them now, in {template.seconds:.1f} s; "
            f"see {template.files[0]} and {template.output / 'report.html'}"
        )


def _compute_times(template: Template) -> dict[str, float]:
    """Returns seconds by name: of the whole, of each round of this run, and of the round's parts."""
    times = {"in all": template.seconds}
    for one in template.rounds:
        if one.seconds is not None:
            name = f"round {one.number}" if one.number else "start"
            times[name] = one.seconds
            times.update({f"{name}: {part}": seconds for part, seconds in one.record["parts"].items()})
    return times
