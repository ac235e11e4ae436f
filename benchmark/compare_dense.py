# SPDX-License-Identifier: Apache-2.0
"""Compares dense registration by this package with greedy (picsl-greedy) and ANTs (antspyx), in one run and by the same scores.

  compare_dense.py --data FOLDER [options]           heads of different people: overlap of labels against smoothness
  compare_dense.py --data FOLDER --known [options]   known deformations of one head: the error in mm

FOLDER holds head_NAME_t1.nii.gz, head_NAME_t2.nii.gz and head_NAME_labels.nii.gz of two people or more; for --known t1.mha and t2.mha, or
t1.nii.gz and t2.nii.gz, in register. All programs start from one affine transform, which this package finds. A program that is not installed is told as skipped.
dice is the mean overlap of the labels; s the standard deviation of log det J by central differences, two voxels of the edge left out, and
s_head the same within the labels; seconds are the registration's alone, on --threads threads; inv_mean and inv_max are of the length of
φ(φ⁻¹(y)) − y, in voxels, within the labels. Errors of --known are in mm: of all voxels that are not 0, and of the head.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import os
import sys
import tempfile
from pathlib import Path
from typing import Any, Callable, Iterator

import dense_programs as programs
import gpuregistration as gr
import numpy as np
from dense_known import draw_known, half_otsu
from dense_scores import carry_labels, displacement_errors, inverse_error, overlap, smoothness

SAME_CONTRAST = (
    ["greedy", "greedy radius=4 field_sigma=0.707", "syn", "syn similarity='mattes_mutual_information'"],
    ["greedy-ncc4", "greedy-ncc2", "ants-cc", "ants-mattes"],
)
OTHER_CONTRAST = (
    ["greedy similarity='normalized_mutual_information'", "syn similarity='mattes_mutual_information'"],
    ["greedy-nmi", "ants-mattes"],
)
HEAD_COLUMNS = {
    "dice": "{:.4f}", "s": "{:.3f}", "s_head": "{:.3f}", "least": "{:.3f}", "folded": "{:.0f}",
    "seconds": "{:.2f}", "inv_mean": "{:.2g}", "inv_max": "{:.2g}",
}
KNOWN_COLUMNS = {
    "mean": "{:.4f}", "median": "{:.4f}", "p95": "{:.4f}", "head_mean": "{:.4f}", "head_median": "{:.4f}", "head_p95": "{:.4f}",
    "s": "{:.3f}", "s_head": "{:.3f}", "least": "{:.3f}", "folded": "{:.0f}", "seconds": "{:.2f}",
}

Row = dict[str, Any]
Score = Callable[[programs.Found], dict[str, float]]


class Missing(Exception):
    """The input is not there; the text is one line."""


def read_options() -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of the images")
    parser.add_argument("--pairs", help="FIXED:MOVING,…; default: all ordered pairs of the heads in the folder")
    parser.add_argument("--fixed", default="t1", choices=("t1", "t2"), help="contrast of the fixed images")
    parser.add_argument("--moving", default="t1", choices=("t1", "t2"), help="contrast of the moving images")
    parser.add_argument("--device", default="host", help="of this package: host, opencl:0, cuda:0, …")
    parser.add_argument("--ours", action="append", metavar="STAGE", help='such as "greedy radius=4 field_sigma=0.6"; may be repeated')
    parser.add_argument("--no-ours", action="store_true", help="none of this package's stages")
    parser.add_argument("--others", help="of " + ",".join([*programs.GREEDY, *programs.ANTS]) + '; "" for none')
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), help="of every program; default: all")
    parser.add_argument("--iterations", help="N,N,… of each level, of all programs; default: each one's own")
    parser.add_argument("--times", type=int, default=1, help="runs of this package's stages, of which the least time counts")
    parser.add_argument("--shrink", type=int, default=1, help="images of an N-th of the voxels along each axis")
    parser.add_argument("--known", action="store_true", help="known deformations, and errors in mm")
    parser.add_argument("--seeds", type=int, default=1, help="deformations of --known")
    parser.add_argument("--csv", type=Path, help="file for the table, too")
    options = parser.parse_args()
    if min(options.threads, options.times, options.shrink, options.seeds) < 1:
        parser.error("--threads, --times, --shrink and --seeds are 1 at least")
    try:
        options.iterations = [int(count) for count in options.iterations.split(",")] if options.iterations else None
    except ValueError:
        parser.error(f"--iterations {options.iterations} are no whole numbers with commas between them")
    ours, others = SAME_CONTRAST if options.fixed == options.moving else OTHER_CONTRAST
    options.ours = [] if options.no_ours else options.ours or ours
    options.others = others if options.others is None else [name for name in options.others.split(",") if name]
    unknown = [name for name in options.others if name not in {**programs.GREEDY, **programs.ANTS}]
    if unknown:
        parser.error(f"--others {','.join(unknown)} is not known")
    try:
        options.stages = {text: programs.parse_stage(text, options.iterations) for text in options.ours}
    except ValueError as error:
        parser.error(str(error))
    return options


def read(path: Path, shrink: int, is_labels: bool = False) -> gr.Image:
    """Reads an image of floats, or of labels, and takes every shrink-th voxel, of images after they are smoothed."""
    if not path.is_file():
        raise Missing(f"There is no file {path}.")
    image = gr.read_image(path)
    if not is_labels:
        image = image.like(np.asarray(image.array, np.float32))
    if shrink == 1:
        return image
    if not is_labels:
        image = gr.smooth(image, 0.5 * shrink * image.spacing.min(), device="host")
    array = np.ascontiguousarray(image.array[::shrink, ::shrink, ::shrink])
    return gr.Image(array, image.spacing * shrink, image.origin, image.direction)


def find_contrast(folder: Path, contrast: str) -> Path:
    """Returns the file of --known of a contrast: a NIfTI file if there is one, which is read without SimpleITK, or a MetaImage."""
    compressed = folder / f"{contrast}.nii.gz"
    return compressed if compressed.is_file() else folder / f"{contrast}.mha"


def find_pairs(options: argparse.Namespace) -> list[tuple[str, str]]:
    """Returns the names of the heads of each pair, the fixed one first."""
    if options.pairs:
        pairs = [tuple(pair.split(":")) for pair in options.pairs.split(",")]
        if any(len(pair) != 2 for pair in pairs):
            raise Missing(f"--pairs {options.pairs} is to be FIXED:MOVING,FIXED:MOVING,…")
        return pairs  # type: ignore[return-value]
    names = sorted(path.name[len("head_") : -len("_labels.nii.gz")] for path in options.data.glob("head_*_labels.nii.gz"))
    if len(names) < 2:
        raise Missing(f"{options.data} has {len(names)} files head_*_labels.nii.gz; two are needed.")
    return list(itertools.permutations(names, 2))


def run_all(options: argparse.Namespace, name: str, pair: programs.Pair, score: Score) -> Iterator[Row]:
    """Registers a pair by each program, and scores what it finds."""
    programs.write_pair(pair)
    runs: list[tuple[str, Callable[[], programs.Found]]] = [
        (f"ours: {text}", lambda stage=stage: programs.run_ours(stage, pair, options.device, options.times))
        for text, stage in options.stages.items()
    ]
    runs += [(other, lambda other=other: programs.run_other(other, pair, options.threads, options.iterations)) for other in options.others]
    for program, run in runs:
        row: Row = {"pair": name, "program": program}
        try:
            found = run()
            row.update(score(found), seconds=found.seconds)
        except (programs.Skipped, gr.Error) as error:
            row["skipped"] = str(error)
        yield row


def compare_heads(options: argparse.Namespace, folder: Path) -> Iterator[Row]:
    """Registers heads of different people."""
    for fixed, moving in find_pairs(options):
        images = [
            read(options.data / f"head_{head}_{contrast}.nii.gz", options.shrink)
            for head, contrast in ((fixed, options.fixed), (moving, options.moving))
        ]
        labels, others = (read(options.data / f"head_{head}_labels.nii.gz", options.shrink, True) for head in (fixed, moving))
        affine = gr.register(*images, "affine", device=options.device).transform
        head = labels.array > 0

        def measure_overlap(field: Any, labels: Any = labels, others: Any = others, affine: Any = affine) -> float:
            return overlap(carry_labels(field, affine, others, labels), labels.array)[0]

        def score(found: programs.Found, measure_overlap: Any = measure_overlap, head: Any = head) -> dict[str, float]:
            mean, largest = inverse_error(found.field, found.inverse, head)
            return {"dice": measure_overlap(found.field), **smoothness(found.field, head), "inv_mean": mean, "inv_max": largest}

        name = f"{fixed} <- {moving}"
        still = gr.DisplacementField(np.zeros((*labels.shape, 3)), labels.spacing, labels.origin, labels.direction)
        yield {"pair": name, "program": "affine", "dice": measure_overlap(still)}
        yield from run_all(options, name, programs.Pair(*images, affine, folder), score)


def compare_known(options: argparse.Namespace, folder: Path) -> Iterator[Row]:
    """Registers a head with itself, or with its other contrast, deformed."""
    images = {contrast: read(find_contrast(options.data, contrast), options.shrink) for contrast in {options.fixed, options.moving}}
    for seed in range(1, options.seeds + 1):
        known = draw_known(images[options.fixed], seed)
        fixed = gr.resample(images[options.fixed], known.field, device="host")
        everywhere, head = fixed.array != 0, fixed.array > half_otsu(fixed.array)

        def score(found: programs.Found, known: Any = known, everywhere: Any = everywhere, head: Any = head) -> dict[str, float]:
            found_all = displacement_errors(found.field.array, known.field.array, everywhere)
            found_head = displacement_errors(found.field.array, known.field.array, head)
            return {
                **dict(zip(("mean", "median", "p95"), found_all)),
                **dict(zip(("head_mean", "head_median", "head_p95"), found_head)),
                **smoothness(found.field, head),
            }

        name = f"thin plate {known.seed}, {known.mean:.2f} mm, {options.fixed} <- {options.moving}"
        yield from run_all(options, name, programs.Pair(fixed, images[options.moving], gr.Affine(), folder), score)


def mean_rows(rows: list[Row], columns: dict[str, str]) -> list[Row]:
    """Returns the mean of each program over its pairs; least det J is the least of all."""
    means = []
    for program in dict.fromkeys(row["program"] for row in rows):
        own = [row for row in rows if row["program"] == program and "skipped" not in row]
        if own:
            pairs = f"mean of {len(own)}"
            numbers = {name: (min if name == "least" else np.mean)([row[name] for row in own]) for name in columns if name in own[0]}
            means.append({"pair": pairs, "program": program, **numbers})
    return means


def print_row(row: Row, columns: dict[str, str], width: int) -> None:
    """Prints a row of the table."""
    cells = [form.format(row[name]) if name in row else "" for name, form in columns.items()]
    text = f"skipped: {row['skipped']}" if "skipped" in row else "".join(f"{cell:>13}" for cell in cells)
    print(f"{row['pair']:<16} {row['program']:<{width}}{text}", flush=True)


def write_csv(path: Path | None, rows: list[Row], columns: dict[str, str]) -> None:
    """Writes the table, if there is a path."""
    if path is not None:
        with open(path, "w", newline="") as out:
            writer = csv.DictWriter(out, ["pair", "program", *columns, "skipped"])
            writer.writeheader()
            writer.writerows(rows)


def main() -> int:
    """Runs the program; returns its exit status."""
    options = read_options()
    if not options.data.is_dir():
        raise Missing(f"There is no folder {options.data}.")
    gr.set_threads(options.threads)
    columns = KNOWN_COLUMNS if options.known else HEAD_COLUMNS
    width = max(len(name) for name in [*(f"ours: {text}" for text in options.ours), *options.others, "affine"]) + 1
    if not options.known:
        find_pairs(options)
    print(f"{options.fixed} <- {options.moving}, device {options.device}, {options.threads} threads, every {options.shrink}. voxel")
    print(f"{'pair':<16} {'program':<{width}}" + "".join(f"{name:>13}" for name in columns))
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        for row in (compare_known if options.known else compare_heads)(options, Path(folder)):
            rows.append(row)
            print_row(row, columns, width)
            # The table keeps the rows that were measured if the run is stopped.
            write_csv(options.csv, rows, columns)
    means = mean_rows(rows, columns)
    for row in means:
        print_row(row, columns, width)
    write_csv(options.csv, rows + means, columns)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (Missing, ValueError, gr.Error, OSError) as error:
        sys.exit(f"compare_dense.py: {error}")
