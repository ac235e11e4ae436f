#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How fast a cohort is on one device, on two, and so on, and how busy they are: heads that known affine maps have moved.

    tools/measure-cohort.py                                   # 64 pairs, on one GPU, and on all
    tools/measure-cohort.py --pairs 4 --devices host          # anywhere
    tools/measure-cohort.py --heads FOLDER --counts 1,4       # of the heads in a folder, on one device and on four

Needs the package with what cohorts need: pip install '.[cohort]'. Prints a table for each number of devices: pairs per second from when
workers were ready until the last pair was over, files read and written included; the means of a pair's parts, in ms; and the seconds until the
first pair was on a device, and from the last one's end there until its files were written, which devices do not share.
"""

import argparse
import shutil
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
    counts = arguments.counts or sorted({1, *(count for count in (2, 4, len(devices)) if count <= len(devices))})
    if max(counts) > len(devices):
        sys.exit(f"{sys.argv[0]}: --counts {max(counts)} is more than the devices that there are: {', '.join(devices)}")
    with tempfile.TemporaryDirectory(prefix="measure-cohort-", dir=arguments.folder) as name:
        folder = Path(name)
        heads = find_heads(arguments)
        print(f"Making {arguments.pairs} pairs of {', '.join(map(str, heads))} in {folder}", file=sys.stderr)
        truths = make_pairs(arguments, heads, folder)
        cohorts = []
        for count in counts:
            print(f"Registering them on {', '.join(devices[:count])}", file=sys.stderr)
            cohorts.append(register(arguments, folder, devices[:count]))
            errors = compute_errors(cohorts[-1], folder, truths)
            # A pair's output is as large as its images.
            shutil.rmtree(cohorts[-1].output)
        describe(arguments, cohorts, errors)
    return 1 if any(cohort.failed for cohort in cohorts) else 0


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=64)
    parser.add_argument("--head", default=HEAD, help=f"an image (default: {HEAD}, of Debian's mricron-data)")
    parser.add_argument("--heads", metavar="FOLDER", help="folder of images, *.nii.gz, that take --head's place in turn; images of labels are left out")
    parser.add_argument("--images", type=int, default=32, help="moved images to make; more pairs have the same ones again (default: 32)")
    parser.add_argument("--counts", type=read_counts, metavar="N,N", help="numbers of devices (default: 1, 2, 4 and all)")
    parser.add_argument("--devices", type=lambda text: text.split(","), help="such as cuda:0,cuda:1 (default: all GPUs, or else the host)")
    parser.add_argument("--workers-per-device", type=int)
    parser.add_argument("--transform", default="affine,ffd", help="as of gpureg register (default: affine,ffd)")
    parser.add_argument("--values", default="float32", help="the type of the images' values (default: float32)")
    parser.add_argument("--folder", help="where a folder is made, and removed (default: the system's for such)")
    return parser.parse_args()


def read_counts(text: str) -> list[int]:
    return [int(count) for count in text.split(",")]


def find_heads(arguments: argparse.Namespace) -> list[Path]:
    if arguments.heads is None:
        return [Path(arguments.head)]
    heads = sorted(path for path in Path(arguments.heads).glob("*.nii.gz") if "label" not in path.name)
    return heads or sys.exit(f"{sys.argv[0]}: there is no *.nii.gz in {arguments.heads}")


def make_pairs(arguments: argparse.Namespace, heads: list[Path], folder: Path) -> list[tuple[Path, g.Affine]]:
    """Writes the table and its images. Returns each pair's fixed image and its true map, from fixed to moving points."""
    fixed = []
    for number, path in enumerate(heads):
        image = g.read_image(path)
        fixed.append((folder / f"fixed-{number}.nii.gz", image.like(image.array.astype(arguments.values))))
        g.write_image(*fixed[-1])
    random = np.random.default_rng(1)
    maps = []
    for number in range(min(arguments.images, arguments.pairs)):
        head = fixed[number % len(fixed)][1]
        center = head.origin + head.direction @ (0.5 * (np.array(head.size) - 1) * head.spacing)
        matrix = np.diag(1 + random.uniform(-SCALE, SCALE, 3))
        for axis, angle in enumerate(np.radians(random.uniform(-TURN, TURN, 3))):
            matrix = rotation(axis, angle) @ matrix
        maps.append(g.Affine(matrix, random.uniform(-SHIFT, SHIFT, 3), center))

    def write(number: int) -> None:
        g.write_image(folder / f"moving-{number}.nii.gz", g.resample(fixed[number % len(fixed)][1], maps[number]))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(len(maps))))
    numbers = [n % len(maps) for n in range(arguments.pairs)]
    lines = ["fixed,moving", *(f"{fixed[n % len(fixed)][0].name},moving-{n}.nii.gz" for n in numbers)]
    (folder / "pairs.csv").write_text("\n".join(lines) + "\n")
    # A moving image has at y what the head has at moved(y).
    return [(fixed[n % len(fixed)][0], maps[n].inverse()) for n in numbers]


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


def compute_errors(cohort: Cohort, folder: Path, truths: list[tuple[Path, g.Affine]]) -> list[float]:
    """Returns, for each of the first pairs, one for each moved image, the mean distance, in mm, to where the true map leads the points of the head."""
    errors = []
    for pair, (path, truth) in list(zip(cohort.pairs, truths))[: len({pair.row.files["moving"] for pair in cohort.pairs})]:
        if pair.failed:
            continue
        head = g.read_image(path)
        size = np.ceil(np.array(head.size) * head.spacing / STEP).astype(int)
        grid = g.Image(np.zeros(size[::-1], np.float32), [STEP] * 3, head.origin, head.direction)
        inside = g.resample(head, None, grid, device="host").array > np.mean(head.array)
        name = next(name for name in pair.record["outputs"] if name.startswith("transform."))
        found = g.read_transform(cohort.output / pair.row.id / name)
        apart = found.to_displacement_field(grid, "host").array - truth.to_displacement_field(grid, "host").array
        errors.append(float(np.linalg.norm(apart, axis=-1)[inside].mean()))
    return errors


def describe(arguments: argparse.Namespace, cohorts: list[Cohort], errors: list[float]) -> None:
    """Prints the table, and what was measured."""
    rows = []
    for cohort in cohorts:
        spans = [pair.spans for pair in cohort.pairs if "write" in pair.spans]
        speed_up = cohort.pairs_per_second / cohorts[0].pairs_per_second if cohorts[0].pairs_per_second else np.nan
        rows.append(
            [
                str(len(cohort.shares)),
                str(cohort.done_now),
                str(len(cohort.failed)),
                f"{cohort.seconds:.2f}",
                f"{cohort.registering_seconds:.2f}",
                f"{cohort.pairs_per_second:.3g}",
                f"{speed_up:.2f}",
                *(f"{1e3 * seconds:.0f}" for seconds in compute_parts(spans)),
                *(f"{seconds:.2f}" for seconds in compute_ends(spans, cohort.registering_seconds)),
                " ".join(f"{100 * share.busy:.0f}" for share in cohort.shares),
            ]
        )
    parts = ["ms to read", "waiting", "on device", "to write"]
    print_table(["devices", "pairs", "failed", "s in all", "s registering", "pairs/s", "speed-up", *parts, "s before", "s behind", "busy, %"], rows)
    print(f"{arguments.transform}, {arguments.values}; {', '.join(f'{s.device}: {s.description}' for s in cohorts[-1].shares)}")
    if errors:
        print(f"error: mean {np.mean(errors):.3f} mm, worst pair {max(errors):.3f} mm")


def compute_parts(spans: list[dict[str, tuple[float, float]]]) -> list[float]:
    """Returns the mean seconds that pairs took to be read, waited for the device, were on it, and took to be written."""
    if not spans:
        return [np.nan] * 4
    lasted = {part: np.mean([one[part][1] - one[part][0] for one in spans]) for part in ("read", "register", "write")}
    waited = np.mean([one["register"][0] - one["read"][1] for one in spans])
    return [lasted["read"], waited, lasted["register"], lasted["write"]]


def compute_ends(spans: list[dict[str, tuple[float, float]]], seconds: float) -> list[float]:
    """Returns the seconds until the first pair was on a device, and from the last one's end there until all was written."""
    if not spans:
        return [np.nan] * 2
    end = max(one["write"][1] for one in spans)
    return [
        min(one["register"][0] for one in spans) - (end - seconds),
        end - max(one["register"][1] for one in spans),
    ]


if __name__ == "__main__":
    sys.exit(main())
