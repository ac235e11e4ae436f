#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compare antsRegistration of this package with ANTs' own (antspyx), by the same arguments.

    PYTHONPATH=wrapping/python python3 benchmark/compare_ants.py --data HEADS [--settings SyN,SyNCC] [--starts own,one] [--images stripped,whole]
        [--shrink 2] [--device cuda:0] [--threads 16]

HEADS has head_N_t1.nii.gz and head_N_labels.nii.gz of several people N. For each ordered pair and program a row is printed: the mean Dice of the
labels, the standard deviation of log det J and the number of folded voxels, and within the fixed brain the mutual information of 32 bins, in nats,
and the mean squared correlation over boxes of 5 voxels; "apart" is how far the second program's field is from the first one's, in voxels, in the
mean over the fixed brain; seconds are those of the program as a whole, or of the function of this package. The last rows are means.

--starts own: each program begins with its own linear stages. one: ANTs' linear stages are run once, and both programs begin with their map.
--images whole: around the brain there are fluid, skull and scalp, and noise everywhere, as made by add_head().
"""

from __future__ import annotations

import argparse
import itertools
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Sequence

import dense_programs as programs
import gpuregistration as gr
import numpy as np
from dense_cases import Missing, find_pairs, read
from dense_scores import carry_labels, displacement_errors, local_correlation, mutual_information, overlap, smoothness
from gpuregistration.ants.presets import FIXED, MOVING, Numbers, make_stages
from gpuregistration.ants.programs import main as run_ours

COLUMNS = ("Dice", "s", "folded", "information", "correlation", "apart", "seconds")


def make_lines(settings: str) -> tuple[list[str], list[str], list[str]]:
    """Returns arguments of antsRegistration that ANTsPy's type_of_transform stands for, with images fixed.nii and moving.nii: those of all stages from
    the images' centres on, those of the linear stages alone, and those of the last stage alone from their map, linear0GenericAffine.mat, on."""
    words = make_stages(settings, Numbers(), "NULL", "NULL")
    last = len(words) - 1 - words[::-1].index("-m")
    centres = ["-r", f"[{FIXED},{MOVING},1]"]
    lines = [*centres, *words], [*centres, *words[:last]], ["-r", "linear0GenericAffine.mat", *words[last:]]
    names = {FIXED: "fixed.nii", MOVING: "moving.nii"}

    def complete(line: list[str]) -> list[str]:
        for old, new in names.items():
            line = [word.replace(old, new) for word in line]
        return ["-d", "3", *line, "-u", "0", "--float", "1"]

    whole, linear, deforming = map(complete, lines)
    return whole, linear, deforming


def add_head(image: gr.Image, seed: int) -> gr.Image:
    """Returns a brain, 0 outside, with 3 mm of fluid, 5 mm of skull and 6 mm of scalp around it and noise of 2 % of its range everywhere."""
    array = image.array.astype(np.float32)
    top = float(array.max())
    reached = array > 0
    for millimetres, share in ((3, 0.15), (5, 0.05), (6, 0.9)):
        grown = reached
        for _ in range(round(millimetres / min(image.spacing))):
            wider = grown.copy()
            for axis in range(3):
                wider |= np.roll(grown, 1, axis) | np.roll(grown, -1, axis)
            grown = wider
        array[grown & ~reached] = share * top
        reached = grown
    noise = np.random.default_rng(seed).normal(0, 0.02 * top, array.shape)
    return gr.Image(np.abs(array + noise).astype(np.float32), image.spacing, image.origin, image.direction)


def register(is_ours: bool, line: list[str], prefix: str, folder: Path, threads: int) -> float:
    """Runs one of the programs in a folder, where it writes PREFIX0GenericAffine.mat and PREFIX1Warp.nii.gz. Returns the seconds."""
    begin = time.perf_counter()
    words = [*line, "-o", prefix]
    if is_ours:
        before = os.getcwd()
        os.chdir(folder)
        try:
            if run_ours("antsRegistration", words) != 0:
                raise programs.Skipped("antsRegistration of this package has failed")
        finally:
            os.chdir(before)
    else:
        programs.run_apart("ants", [" ".join(words)], folder, threads, None)
    return time.perf_counter() - begin


def score(field: gr.DisplacementField, affine: gr.Affine, images: Sequence[gr.Image], labels: Sequence[gr.Image]) -> list[float]:
    """Returns the scores of a result, of Dice to the correlation. images, labels: the fixed one and the moving one; the fixed image is 0 outside of
    the brain."""
    fixed, moving = images
    dice, _ = overlap(carry_labels(field, affine, labels[1], labels[0]), labels[0].array)
    brain = find_brain(fixed)
    smooth = smoothness(field, brain)
    warped = gr.resample(moving, gr.Composite([field, affine]), fixed, device="host").array
    return [
        dice, smooth["s_head"], smooth["folded"],
        mutual_information(fixed.array, warped, brain), local_correlation(fixed.array, warped, brain, radius=2),
    ]  # fmt: skip


def find_brain(image: gr.Image) -> np.ndarray:
    """Returns where an image of a brain, 0 outside, is above a tenth of its largest value."""
    return image.array > 0.1 * image.array.max()


def compare(
    settings: str, starts: str, is_whole: bool, images: Sequence[gr.Image], labels: Sequence[gr.Image], options: argparse.Namespace
) -> dict[str, list[float]]:
    """Registers a pair by each of the programs. Returns each one's row."""
    whole, linear, deforming = make_lines(settings)
    rows: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number, (image, one) in enumerate(zip(images, ("fixed.nii", "moving.nii"))):
            gr.write_image(folder / one, add_head(image, number) if is_whole else image)
        if starts == "one":
            register(False, linear, "linear", folder, options.threads)
        first = None
        for program in options.programs.split(","):
            seconds = register(program == "ours", deforming if starts == "one" else whole, program, folder, options.threads)
            field = gr.read_transform(folder / f"{program}1Warp.nii.gz")
            affine = gr.read_transform(folder / f"{program}0GenericAffine.mat")
            apart = float("nan")
            if first is None:
                first = field.array
            else:
                apart = displacement_errors(field.array, first, find_brain(images[0]))[0] / float(np.mean(images[0].spacing))
            rows[program] = [*score(field, affine, images, labels), apart, seconds]
    return rows


def main() -> int:
    """Runs the program; returns its exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of the heads")
    parser.add_argument("--settings", default="SyN,SyNCC", help="ANTsPy's types of transform; default: SyN,SyNCC")
    parser.add_argument("--starts", default="own", help="of own and one; default: own")
    parser.add_argument("--images", default="stripped", help="of stripped and whole; default: stripped")
    parser.add_argument("--pairs", help="FIXED:MOVING,…; default: all ordered pairs")
    parser.add_argument("--programs", default="ours,ANTs", help="of ours and ANTs; default: both")
    parser.add_argument("--shrink", type=int, default=2, help="images of an N-th of the voxels along each axis; default: 2")
    parser.add_argument("--device", help="this package's device; default: the best")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), help="threads of ANTs; default: all")
    options = parser.parse_args()
    for name, known in (("programs", "ours,ANTs"), ("starts", "own,one"), ("images", "stripped,whole")):
        unknown = set(getattr(options, name).split(",")) - set(known.split(","))
        if unknown:
            parser.error(f"--{name} {getattr(options, name)}: there is no {', '.join(sorted(unknown))}")
    if options.device:
        os.environ["ITK_GPU_DEVICE"] = options.device
    print(f"{'settings':<24} {'images':<9} {'start':<6} {'pair':<15} {'program':<8}" + "".join(f"{name:>13}" for name in COLUMNS), flush=True)
    means: dict[str, list[list[float]]] = {}
    for people in find_pairs(options.data, options.pairs):
        images = [read(options.data / f"head_{one}_t1.nii.gz", options.shrink) for one in people]
        labels = [read(options.data / f"head_{one}_labels.nii.gz", 1, is_labels=True) for one in people]
        cases = itertools.product(options.settings.split(","), options.images.split(","), options.starts.split(","))
        for settings, kind, starts in cases:
            for program, row in compare(settings, starts, kind == "whole", images, labels, options).items():
                words = f"{settings:<24} {kind:<9} {starts:<6} {{:<15}} {program:<8}"
                means.setdefault(words, []).append(row)
                print(words.format(" <- ".join(people)) + "".join(f"{number:13.4f}" for number in row), flush=True)
    for words, rows in means.items():
        print(words.format("mean") + "".join(f"{number:13.4f}" for number in np.mean(rows, axis=0)))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (Missing, programs.Skipped) as error:
        sys.exit(f"{Path(__file__).name}: {error}")
