#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compare antsRegistration of this package with ANTs' own (antspyx), by the same arguments, each from its own affine map on.

    PYTHONPATH=wrapping/python python3 benchmark/compare_ants.py --data HEADS [--settings SyN,SyNCC] [--shrink 2] [--device cuda:0] [--threads 16]

HEADS has head_N_t1.nii.gz and head_N_labels.nii.gz of several people N. For each ordered pair and program a row is printed: the mean Dice of the
labels, the standard deviation of log det J and the number of folded voxels, and within the fixed brain the mutual information of 32 bins, in nats,
and the mean squared correlation over boxes of 5 voxels; seconds are those of the program as a whole, or of the function of this package. The last rows are
means.
"""

from __future__ import annotations

import argparse
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
from dense_scores import carry_labels, local_correlation, mutual_information, overlap, smoothness
from gpuregistration.ants.presets import FIXED, MOVING, Numbers, make_stages
from gpuregistration.ants.programs import main as run_ours

COLUMNS = ("Dice", "s", "folded", "information", "correlation", "seconds")


def make_line(settings: str) -> list[str]:
    """Returns the arguments of antsRegistration that ANTsPy's type_of_transform stands for, with images fixed.nii and moving.nii."""
    words = ["-d", "3", "-r", f"[{FIXED},{MOVING},1]", *make_stages(settings, Numbers(), "NULL", "NULL"), "-u", "0", "--float", "1"]
    return [word.replace(FIXED, "fixed.nii").replace(MOVING, "moving.nii") for word in words]


def register(is_ours: bool, line: list[str], folder: Path, threads: int) -> float:
    """Runs one of the programs in a folder, which writes files P_0GenericAffine.mat and P_1Warp.nii.gz there. Returns the seconds."""
    begin = time.perf_counter()
    words = [*line, "-o", "P_"]
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


def score(folder: Path, images: Sequence[gr.Image], labels: Sequence[gr.Image]) -> list[float]:
    """Returns the scores of the files that register() has written. images, labels: the fixed one and the moving one."""
    fixed, moving = images
    field = gr.read_transform(folder / "P_1Warp.nii.gz")
    affine = gr.read_transform(folder / "P_0GenericAffine.mat")
    dice, _ = overlap(carry_labels(field, affine, labels[1], labels[0]), labels[0].array)
    brain = fixed.array > 0.1 * fixed.array.max()
    smooth = smoothness(field, brain)
    warped = gr.resample(moving, gr.Composite([field, affine]), fixed, device="host").array
    return [
        dice, smooth["s_head"], smooth["folded"],
        mutual_information(fixed.array, warped, brain), local_correlation(fixed.array, warped, brain, radius=2),
    ]  # fmt: skip


def main() -> int:
    """Runs the program; returns its exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of the heads")
    parser.add_argument("--settings", default="SyN,SyNCC", help="ANTsPy's types of transform; default: SyN,SyNCC")
    parser.add_argument("--pairs", help="FIXED:MOVING,…; default: all ordered pairs")
    parser.add_argument("--programs", default="ours,ANTs", help="of ours and ANTs; default: both")
    parser.add_argument("--shrink", type=int, default=2, help="images of an N-th of the voxels along each axis; default: 2")
    parser.add_argument("--device", help="this package's device; default: the best")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), help="threads of ANTs; default: all")
    options = parser.parse_args()
    unknown = set(options.programs.split(",")) - {"ours", "ANTs"}
    if unknown:
        parser.error(f"--programs {options.programs}: there is no {', '.join(sorted(unknown))}")
    if options.device:
        os.environ["ITK_GPU_DEVICE"] = options.device
    print(f"{'settings':<9} {'pair':<15} {'program':<8}" + "".join(f"{name:>13}" for name in COLUMNS), flush=True)
    means: dict[tuple[str, str], list[list[float]]] = {}
    for people in find_pairs(options.data, options.pairs):
        images = [read(options.data / f"head_{one}_t1.nii.gz", options.shrink) for one in people]
        labels = [read(options.data / f"head_{one}_labels.nii.gz", 1, is_labels=True) for one in people]
        for settings in options.settings.split(","):
            for program in options.programs.split(","):
                with tempfile.TemporaryDirectory() as name:
                    folder = Path(name)
                    for image, one in zip(images, ("fixed.nii", "moving.nii")):
                        gr.write_image(folder / one, image)
                    seconds = register(program == "ours", make_line(settings), folder, options.threads)
                    row = [*score(folder, images, labels), seconds]
                means.setdefault((settings, program), []).append(row)
                print(f"{settings:<9} {' <- '.join(people):<15} {program:<8}" + "".join(f"{number:13.4f}" for number in row), flush=True)
    for (settings, program), rows in means.items():
        print(f"{settings:<9} {'mean':<15} {program:<8}" + "".join(f"{number:13.4f}" for number in np.mean(rows, axis=0)))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (Missing, programs.Skipped) as error:
        sys.exit(f"{Path(__file__).name}: {error}")
