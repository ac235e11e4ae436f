#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How fast a cohort is on one device, on two, and so on, and how busy they are: heads that known affine maps have moved.

    tools/measure-cohort.py                                   # 64 pairs, on one GPU, and on all
    tools/measure-cohort.py --pairs 4 --devices host          # anywhere

Needs the package with what cohorts need: pip install '.[cohort]'. Prints a table for each number of devices: pairs per second from when
workers were ready until the last pair was over, files read and written included.
"""

import argparse
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import gpuregistration as g
import numpy as np
from gpuregistration.cohort import Cohort, register_cohort
from gpuregistration.cohort.cluster import plan_workers
from gpuregistration.command.output import print_table
from gpuregistration.command.stages import read_stages

HEAD = "/usr/share/mricron/templates/ch2.nii.gz"
#: Degrees, mm and shares by which heads are turned, shifted and scaled, at most.
TURN, SHIFT, SCALE = 10.0, 8.0, 0.05
#: mm between the points at which errors are measured.
STEP = 8.0


def main() -> int:
    arguments = read_arguments()
    devices = list(dict.fromkeys(plan_workers(arguments.devices, None).devices))
    counts = sorted({1, *(count for count in (2, 4, len(devices)) if count <= len(devices))})
    with tempfile.TemporaryDirectory(prefix="measure-cohort-", dir=arguments.folder) as name:
        folder = Path(name)
        print(f"Making {arguments.pairs} pairs of {arguments.head} in {folder}", file=sys.stderr)
        truths = make_pairs(arguments, folder)
        cohorts = []
        for count in counts:
            print(f"Registering them on {', '.join(devices[:count])}", file=sys.stderr)
            cohorts.append(register(arguments, folder, devices[:count]))
        describe(arguments, cohorts, find_errors(cohorts[-1], folder, truths))
    return 1 if any(cohort.failed for cohort in cohorts) else 0


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=64)
    parser.add_argument("--head", default=HEAD, help=f"an image (default: {HEAD}, of Debian's mricron-data)")
    parser.add_argument("--devices", type=lambda text: text.split(","), help="such as cuda:0,cuda:1 (default: all GPUs, or else the host)")
    parser.add_argument("--workers-per-device", type=int)
    parser.add_argument("--transform", default="affine,ffd", help="as of gpureg register (default: affine,ffd)")
    parser.add_argument("--values", default="float32", help="the type of the images' values (default: float32)")
    parser.add_argument("--folder", help="where a folder is made, and removed (default: the system's for such)")
    return parser.parse_args()


def make_pairs(arguments: argparse.Namespace, folder: Path) -> list[g.Affine]:
    """Writes the table and its images. Returns the true maps, from fixed to moving points."""
    head = g.read_image(arguments.head)
    head = head.like(head.array.astype(arguments.values))
    g.write_image(folder / "fixed.nii.gz", head)
    center = head.origin + head.direction @ (0.5 * (np.array(head.size) - 1) * head.spacing)
    random = np.random.default_rng(1)
    maps = []
    for _ in range(arguments.pairs):
        matrix = np.diag(1 + random.uniform(-SCALE, SCALE, 3))
        for axis, angle in enumerate(np.radians(random.uniform(-TURN, TURN, 3))):
            matrix = rotation(axis, angle) @ matrix
        maps.append(g.Affine(matrix, random.uniform(-SHIFT, SHIFT, 3), center))
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda n: g.write_image(folder / f"moving-{n}.nii.gz", g.resample(head, maps[n])), range(len(maps))))
    lines = ["fixed,moving", *(f"fixed.nii.gz,moving-{n}.nii.gz" for n in range(arguments.pairs))]
    (folder / "pairs.csv").write_text("\n".join(lines) + "\n")
    # A moving image has at y what the head has at moved(y).
    return [moved.inverse() for moved in maps]


def rotation(axis: int, angle: float) -> np.ndarray:
    a, b = [k for k in range(3) if k != axis]
    matrix = np.eye(3)
    matrix[[a, b], [a, b]] = np.cos(angle)
    matrix[a, b], matrix[b, a] = -np.sin(angle), np.sin(angle)
    return matrix


def register(arguments: argparse.Namespace, folder: Path, devices: list[str]) -> Cohort:
    return register_cohort(
        folder / "pairs.csv",
        folder / f"on-{len(devices)}",
        read_stages(arguments.transform, None),
        devices=devices,
        workers_per_device=arguments.workers_per_device,
    )


def find_errors(cohort: Cohort, folder: Path, truths: list[g.Affine]) -> list[float]:
    """Of each pair: the mean distance, in mm, to where the true map leads the points of the head."""
    head = g.read_image(folder / "fixed.nii.gz")
    size = np.ceil(np.array(head.size) * head.spacing / STEP).astype(int)
    grid = g.Image(np.zeros(size[::-1], np.float32), [STEP] * 3, head.origin, head.direction)
    inside = g.resample(head, None, grid, device="host").array > np.mean(head.array)
    errors = []
    for pair, truth in zip(cohort.pairs, truths):
        if pair.failed:
            continue
        name = next(name for name in pair.record["outputs"] if name.startswith("transform."))
        found = g.read_transform(cohort.output / pair.row.id / name)
        apart = found.to_displacement_field(grid, "host").array - truth.to_displacement_field(grid, "host").array
        errors.append(float(np.linalg.norm(apart, axis=-1)[inside].mean()))
    return errors


def describe(arguments: argparse.Namespace, cohorts: list[Cohort], errors: list[float]) -> None:
    rows = []
    for cohort in cohorts:
        records = [pair.record for pair in cohort.pairs if pair.record is not None]
        parts = [1e3 * np.mean([record["times"][part] for record in records]) if records else np.nan for part in ("read", "register")]
        rows.append(
            [
                str(len(cohort.shares)),
                str(cohort.done_now),
                str(len(cohort.failed)),
                f"{cohort.seconds:.2f}",
                f"{cohort.registering_seconds:.2f}",
                f"{cohort.pairs_per_second:.3g}",
                f"{cohort.pairs_per_second / cohorts[0].pairs_per_second:.2f}" if cohorts[0].pairs_per_second else "-",
                *(f"{part:.0f}" for part in parts),
                " ".join(f"{100 * share.busy:.0f}" for share in cohort.shares),
            ]
        )
    print_table(
        ["devices", "pairs", "failed", "s in all", "s registering", "pairs/s", "speed-up", "ms to read", "ms on device", "busy, %"], rows
    )
    print(f"{arguments.transform}, {arguments.values}; {', '.join(f'{s.device}: {s.description}' for s in cohorts[-1].shares)}")
    if errors:
        print(f"error: mean {np.mean(errors):.3f} mm, worst pair {max(errors):.3f} mm")


if __name__ == "__main__":
    sys.exit(main())
