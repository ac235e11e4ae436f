#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long a template of several heads takes, and where its time goes.

    tools/measure-template.py HEAD.nii.gz...                  # six people, four rounds, on all GPUs
    tools/measure-template.py HEAD.nii.gz... --counts 1,4     # on one GPU, and on four
    tools/measure-template.py HEAD.nii.gz... --voxel 2 --people 3 --rounds 1 --devices host

Needs the package with what cohorts need: pip install '.[cohort]'. If there are fewer heads than people, the others are made from them by
smooth random deformations. Prints a table: seconds of each round and of its parts; and how many times as fast several devices are as the first
number of them.
"""

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

import gpuregistration as g
import numpy as np
from gpuregistration.cohort.cluster import plan_workers
from gpuregistration.command.output import print_table
from gpuregistration.command.stages import read_stages
from gpuregistration.template import Template, build_template

#: mm between the control points of a made-up person's deformation, and their longest displacement along each axis.
SPACING, LARGEST = 40.0, 8.0


def main() -> None:
    arguments = read_arguments()
    devices = list(dict.fromkeys(plan_workers(arguments.devices, None).devices))
    counts = arguments.counts or [len(devices)]
    if max(counts) > len(devices):
        sys.exit(f"{sys.argv[0]}: --counts {max(counts)} is more than the devices that there are: {', '.join(devices)}")
    with tempfile.TemporaryDirectory(prefix="measure-template-", dir=arguments.folder) as name:
        folder = Path(name)
        print(f"Making {arguments.people} people in {folder}", file=sys.stderr)
        rows = [{"image": make_person(arguments, folder, n)} for n in range(arguments.people)]
        templates = []
        for count in counts:
            template = build_template(
                rows,
                folder / f"on-{count}",
                read_stages(arguments.transform, None),
                rounds=arguments.rounds,
                devices=devices[:count],
                workers_per_device=arguments.workers_per_device,
                progress=lambda progress: print(progress.news, file=sys.stderr) if progress.news else None,
            )
            templates.append(template)
            describe(arguments, template)
            shutil.rmtree(template.output)
    first = sum(one.seconds for one in templates[0].rounds[1:])
    for count, template in zip(counts, templates):
        seconds = sum(one.seconds for one in template.rounds[1:])
        print(f"{count} devices: {seconds:.2f} s behind the start, {first / seconds:.2f} times as fast as {counts[0]}")


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("heads", nargs="+", help="images of different people")
    parser.add_argument("--people", type=int, default=6)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--voxel", type=float, help="mm, of voxels that the heads are resampled to (default: as they are)")
    parser.add_argument("--transform", default="affine,greedy", help="as of gpureg template (default: affine,greedy)")
    parser.add_argument("--counts", type=lambda text: [int(count) for count in text.split(",")], metavar="N,N", help="numbers of devices (default: all)")
    parser.add_argument("--devices", type=lambda text: text.split(","), help="such as cuda:0,cuda:1 (default: all GPUs, or else the host)")
    parser.add_argument("--workers-per-device", type=int)
    parser.add_argument("--folder", help="where a folder is made, and removed (default: the system's for such)")
    return parser.parse_args()


def make_person(arguments: argparse.Namespace, folder: Path, number: int) -> Path:
    """Writes a person's image: a head as it is, or, where all heads have been taken, one that is deformed. Returns its name."""
    head = g.read_image(arguments.heads[number % len(arguments.heads)])
    head = head.like(head.array.astype(np.float32))
    if arguments.voxel is not None:
        head = coarse(head, arguments.voxel)
    if number >= len(arguments.heads):
        head = g.resample(head, deformation(head, number))
    path = folder / f"person-{number}.nii.gz"
    g.write_image(path, head)
    return path


def coarse(image: g.Image, edge: float) -> g.Image:
    """Resamples an image, smoothed, to voxels of an edge of so many mm."""
    nodes = np.maximum(1, np.rint(np.array(image.size) * image.spacing / edge).astype(int))
    origin = image.origin + image.direction @ (0.5 * (edge - image.spacing))
    grid = g.Image(np.zeros(nodes[::-1], np.float32), [edge] * image.dimension, origin, image.direction)
    return g.resample(g.smooth(image, 0.4 * edge, device="host"), None, grid, device="host")


def deformation(image: g.Image, seed: int) -> g.BSpline:
    nodes = [int(n // SPACING) + 5 for n in np.array(image.size) * image.spacing]
    vectors = np.random.default_rng(seed).uniform(-LARGEST, LARGEST, (*nodes[::-1], image.dimension))
    origin = image.origin - image.direction @ np.full(image.dimension, 1.5 * SPACING)
    return g.BSpline(vectors, [SPACING] * image.dimension, origin, image.direction)


def describe(arguments: argparse.Namespace, template: Template) -> None:
    """Prints the table, and a line on what was measured."""
    parts = list(dict.fromkeys(part for one in template.rounds for part in one.record["parts"]))
    rows = []
    for one in template.rounds:
        seconds = [one.record["parts"].get(part) for part in parts]
        name = f"{one.number}: {', '.join(one.stages) or 'start'}"
        rows.append([name, f"{one.seconds:.2f}", *("" if value is None else f"{value:.2f}" for value in seconds)])
    print_table(["round", "seconds", *parts], rows)
    size = " x ".join(str(n) for n in g.read_image(template.files[0]).size)
    devices = ", ".join(f"{share.device}: {share.description}" for share in template.shares)
    print(f"{arguments.people} people of {size} voxels, {arguments.rounds} rounds of {arguments.transform}; {devices}")
    print(f"{template.seconds:.1f} s in all, with what workers take to start, and with the transforms' files")


if __name__ == "__main__":
    main()
