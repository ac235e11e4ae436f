# SPDX-License-Identifier: Apache-2.0
"""Compares dense registration by this package with greedy (picsl-greedy), ANTs (antspyx) and FireANTs (fireants), by the same scores.

  compare_dense.py --data FOLDER [options]           heads of different people: overlap of labels against smoothness
  compare_dense.py --data FOLDER --known [options]   known deformations of one head: the error in mm

FOLDER holds head_NAME_t1.nii.gz, head_NAME_t2.nii.gz and head_NAME_labels.nii.gz of two people or more; for --known t1.mha and t2.mha, or
t1.nii.gz and t2.nii.gz, in register. All programs start from one affine transform, which this package finds. A program that is not installed
is listed as skipped. FireANTs runs only where --others names it.
dice is the mean overlap of the labels; s the standard deviation of log det J by central differences, two voxels of the edge left out, and
s_head the same within the labels; seconds are the registration's alone, on --threads threads; inv_mean and inv_max are of the length of
φ(φ⁻¹(y)) − y, in voxels, within the labels, where a program gives an inverse. Errors of --known are in mm: of all voxels that are not 0, and
of the head.
With --jobs 2 or more the other programs run at a time, and this package's stages beside them, one on each device: their seconds are longer
than alone. dense_table.py makes Markdown of --csv.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

import dense_programs as programs
import gpuregistration as gr
from dense_cases import Missing, find_pairs, make_cases, make_known_cases
from dense_jobs import Job, Limits, run_all
from dense_rows import HEAD_COLUMNS, KNOWN_COLUMNS, Row, RowFile, format_row, mean_rows

NMI = "similarity=normalized_mutual_information"
AVERAGED = "syn:radius=2:step=0.25:update_variance=2:average=1:convergence_window=0"
ADAM = "greedy:optimizer=adam:update_sigma=0.8:step="
SLOW = ":iterations=300x300x300x300x200"
#: By whether the deformation is known and whether contrasts are the same: this package's stages, and other programs.
DEFAULTS = {
    (False, True): (
        ["greedy", "greedy:radius=4:field_sigma=0.707", f"{ADAM}0.5", f"{ADAM}1", "syn", AVERAGED, "velocity"],
        ["greedy-ncc4", "greedy-ncc2", "ants-cc", "ants-cc2", "ants-mattes"],
    ),
    (False, False): ([f"greedy:{NMI}", f"velocity:{NMI}", "syn:similarity=mattes_mutual_information"], ["greedy-nmi", "ants-mattes"]),
    (True, True): (
        ["ffd", "greedy", "velocity", AVERAGED, f"greedy{SLOW}:update_sigma=6:step=0.25",
         f"greedy:optimizer=adam{SLOW}:update_sigma=3:field_sigma=0.8:step=0.25:noise=0.001"],
        ["greedy-ncc4", "greedy-ncc2", "ants-cc2"],
    ),
    (True, False): (["ffd", f"greedy:{NMI}", f"velocity:{NMI}", f"greedy:{NMI}:optimizer=adam{SLOW}:update_sigma=6:field_sigma=2:step=0.5"], ["greedy-nmi", "ants-mattes"]),
}


def read_options() -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of the images")
    parser.add_argument("--pairs", help="FIXED:MOVING,…; default: all ordered pairs of the heads in the folder")
    parser.add_argument("--fixed", default="t1", choices=("t1", "t2"), help="contrast of the fixed images")
    parser.add_argument("--moving", default="t1", choices=("t1", "t2"), help="contrast of the moving images")
    parser.add_argument("--device", default="host", help="this package's device: host, opencl:0, cuda:0, …, or several with commas between them")
    parser.add_argument("--ours", action="append", metavar="STAGE", help="such as greedy:radius=4:field_sigma=0.6; may be repeated")
    parser.add_argument("--no-ours", action="store_true", help="none of this package's stages")
    parser.add_argument("--others", help="other programs, of " + ",".join(programs.OTHERS) + '; "" for none')
    parser.add_argument("--jobs", type=int, default=1, help="other programs at a time; 1: and only after this package's stages")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), help="threads of every program; default: all")
    parser.add_argument("--iterations", help="N,N,… of each level, of all programs; default: each one's own")
    parser.add_argument("--times", type=int, default=1, help="runs of this package's stages, of which the least time counts")
    parser.add_argument("--limit-seconds", type=float, help="after which no program begins, and running ones of others are stopped")
    parser.add_argument("--shrink", type=int, default=1, help="images of an N-th of the voxels along each axis")
    parser.add_argument("--known", action="store_true", help="known deformations, and errors in mm")
    parser.add_argument("--seeds", type=int, default=1, help="deformations of --known")
    parser.add_argument("--csv", type=Path, help="file for the rows, each written as it is measured")
    parser.add_argument("--note", default="", help="sentence for the table's head, such as what else runs meanwhile")
    options = parser.parse_args()
    if min(options.jobs, options.threads, options.times, options.shrink, options.seeds) < 1:
        parser.error("--jobs, --threads, --times, --shrink and --seeds are 1 at least")
    try:
        options.iterations = [int(count) for count in options.iterations.split(",")] if options.iterations else None
    except ValueError:
        parser.error(f"--iterations {options.iterations} are no whole numbers with commas between them")
    ours, others = DEFAULTS[options.known, options.fixed == options.moving]
    options.ours = [] if options.no_ours else options.ours or ours
    options.others = others if options.others is None else [name for name in options.others.split(",") if name]
    unknown = [name for name in options.others if name not in programs.OTHERS]
    if unknown:
        parser.error(f"--others {','.join(unknown)} is not known")
    for text in options.ours:
        try:
            programs.parse_stage(text, options.iterations)
        except ValueError as error:
            parser.error(f"--ours {text}: {error}")
    options.devices = options.device.split(",")
    return options


def describe(options: argparse.Namespace) -> str:
    """Returns the table's head: what runs where."""
    voxels = "" if options.shrink == 1 else f", every {options.shrink}. voxel along each axis"
    parts = [f"{'known deformations' if options.known else 'heads'}, {options.fixed} <- {options.moving}{voxels}."]
    if options.ours:
        parts.append(f"This package's stages on {', '.join(options.devices)}, one at a time on each, the least of {options.times} runs.")
    if options.others:
        beside = ", beside this package's stages" if options.ours and options.jobs > 1 else ""
        parts.append(f"{', '.join(options.others)}, {options.jobs} at a time{beside}.")
    parts.append(f"{options.threads} threads each, {os.cpu_count()} cores.")
    if options.iterations is not None:
        parts.append(f"Iterations: {'-'.join(map(str, options.iterations))}.")
    if options.limit_seconds is not None:
        parts.append(f"What was not finished in {options.limit_seconds:.0f} s was stopped.")
    return " ".join([*parts, options.note]).rstrip()


def main() -> int:
    """Runs the program; returns its exit status."""
    begin = time.time()
    options = read_options()
    if not options.data.is_dir():
        raise Missing(f"There is no folder {options.data}.")
    contrasts = options.fixed, options.moving
    columns = KNOWN_COLUMNS if options.known else HEAD_COLUMNS
    width = max(len(name) for name in [*(f"ours: {text}" for text in options.ours), *options.others, "no deformation"]) + 1
    pairs = [] if options.known else find_pairs(options.data, options.pairs)
    end = None if options.limit_seconds is None else begin + options.limit_seconds
    limits = Limits(options.devices, options.jobs, options.threads, options.times, end)
    head = describe(options)
    print(head)
    print(f"{'pair':<16} {'program':<{width}}" + "".join(f"{name:>13}" for name in columns), flush=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        cases = (
            make_known_cases(options.data, folder, contrasts, options.shrink, options.seeds) if options.known
            else make_cases(options.data, folder, contrasts, options.shrink, pairs)
        )
        programs_of_all = [(text, True) for text in ["", *options.ours]] + [(other, False) for other in options.others]
        jobs = [
            Job(case, program, is_ours, options.iterations, number)
            for number, (case, (program, is_ours)) in enumerate((case, one) for case in cases for one in programs_of_all)
        ]
        rows: list[Row] = []
        file = RowFile(options.csv, head, columns)
        try:
            for row in run_all(cases, jobs, limits):
                rows.append(row)
                file.add(row)
                print(format_row(row, columns, width), flush=True)
        finally:
            file.close()
    for row in mean_rows(rows, columns):
        print(format_row(row, columns, width))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (Missing, ValueError, gr.Error, OSError) as error:
        sys.exit(f"compare_dense.py: {error}")
