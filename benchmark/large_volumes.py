#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Registers two volumes of N x N x N voxels, synthetic ones or up-sampled heads, between which the deformation is known, by each method, and
prints for each: what was planned and what the device's account counted, seconds, and the error against the known deformation.

    python benchmark/large_volumes.py --size 1024 --type uint8 --device cuda:0
    python benchmark/large_volumes.py --size 1024 --head ../shared/data/head_12876_t1.nii.gz
    python benchmark/large_volumes.py --size 1024 --methods greedy --device cuda:0,cuda:1
    python benchmark/large_volumes.py --size 1024 --methods greedy --similarity normalized_mutual_information
    python benchmark/large_volumes.py --size 96 --device host --methods greedy,syn
    python benchmark/large_volumes.py --size 1024 --methods "" --files FOLDER   # on a disk

Several devices compute "greedy" and "syn" together, and the first one the other methods. Beside one device, the same command shows how the method scales.

The volumes are made plane by plane on --threads threads, the same for each run, so that the host needs little beside them: of 1024 voxels
an axis 1 GiB each as uint8, and 12 GiB for each field of displacements that a method returns. Both volumes of a head are its cubic B-spline, in a
cube that holds all of it, at their voxels and where the known deformation leads these; they are made on the first device, some planes at a time.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Callable, Optional

import numpy as np

import gpuregistration as gr
from gpuregistration import _engine, stages

METHODS = ("affine", "ffd", "greedy", "syn", "velocity")
#: Waves of the texture: periods as shares of the volume, and directions and phases of a fixed seed.
_PERIODS = (1 / 4, 1 / 5, 1 / 7, 1 / 9, 1 / 11, 1 / 14, 1 / 17, 1 / 21)
#: The longest displacement, as a share of the volume, and of the affine map its largest change of a coordinate.
_AMPLITUDE = 0.012
_AFFINE = np.array([[0.02, -0.03, 0.01], [0.025, -0.015, 0.02], [-0.01, 0.02, 0.015]])
_SHIFT = np.array([0.01, -0.008, 0.012])
#: Values up to this share of the largest one of the type are black: errors are not measured there.
_BLACK = 0.04
#: Voxels of those planes of a head that are made at a time.
_PLANE_VOXELS = 1 << 25

#: Maps coordinates from -1 to 1 along x, y, z, of which each may be broadcast, to others.
Move = Callable[[np.ndarray, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]


class Texture:
    """A body of waves, without edges, at points whose coordinates are from -1 to 1."""

    def __init__(self) -> None:
        rng = np.random.default_rng(20)
        directions = rng.normal(size=(len(_PERIODS), 3))
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        self._waves = (directions * np.pi / np.array(_PERIODS)[:, None]).astype(np.float32)
        self._phases = rng.uniform(0, 2 * np.pi, len(_PERIODS)).astype(np.float32)

    def find(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Returns values from 0 to 1."""
        sum_of_waves = np.zeros(np.broadcast_shapes(x.shape, y.shape, z.shape), np.float32)
        for (a, b, c), phase in zip(self._waves, self._phases):
            sum_of_waves += np.sin(a * x + b * y + (c * z + phase))
        inside = np.exp(np.float32(-2.5) * (x * x + y * y + z * z))
        return inside * (np.float32(0.5) + np.float32(0.5 / len(_PERIODS)) * sum_of_waves)


def displace(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns the points of the moving volume that show what the fixed one shows at x, y, z."""
    k, a = np.float32(2.2), np.float32(2 * _AMPLITUDE)
    return (
        x + a * np.sin(k * y + np.float32(0.4)) * np.cos(k * z),
        y + a * np.cos(k * x) * np.sin(k * z + np.float32(0.9)),
        z + a * np.sin(k * x + k * y),
    )


def map_linearly(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Does that for the affine map."""
    rows = (np.eye(3) + _AFFINE).astype(np.float32)
    shift = (2 * _SHIFT).astype(np.float32)
    return tuple(rows[d, 0] * x + rows[d, 1] * y + (rows[d, 2] * z + shift[d]) for d in range(3))  # type: ignore[return-value]


def coordinates(size: int) -> np.ndarray:
    """Returns the coordinates, from -1 to 1, of voxels along an axis."""
    return ((np.arange(size) + 0.5) * (2 / size) - 1).astype(np.float32)


def make_volume(size: int, dtype: Any, threads: int, move: Optional[Move] = None) -> gr.Image:
    """Makes a volume plane by plane. move: where in the texture a voxel's value lies; None: at the voxel."""
    texture, c = Texture(), coordinates(size)
    most = np.float32(0.9 * np.iinfo(dtype).max)
    volume = np.empty((size, size, size), dtype)

    def make(plane: int) -> None:
        points = c[None, :], c[:, None], c[plane : plane + 1, None]
        volume[plane] = np.rint(most * texture.find(*(move(*points) if move else points)))

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(make, range(size)))
    return gr.Image(volume)


def make_head_volume(head: gr.Image, size: int, dtype: Any, device: str, move: Optional[Move] = None) -> gr.Image:
    """Makes a volume of a head, some planes at a time. move: as for make_volume()."""
    edge = np.max(head.size * head.spacing)
    middle = head.origin + head.direction @ (0.5 * (np.array(head.size) - 1) * head.spacing)
    values = np.asarray(head.array, np.float32)
    # A few bright voxels would leave the other ones few numbers.
    most = np.iinfo(dtype).max
    head = head.like(values * np.float32(0.9 * most / np.percentile(values, 99.9)))
    c, spacing = coordinates(size), np.full(3, edge / size)
    volume = np.empty((size, size, size), dtype)
    step = max(1, _PLANE_VOXELS // size**2)
    for first in range(0, size, step):
        z = c[first : first + step]
        origin = middle + head.direction @ (0.5 * edge * np.array([c[0], c[0], z[0]], np.float64))
        grid = gr.Image(np.broadcast_to(np.float32(0), (len(z), size, size)), spacing, origin, head.direction)
        field = None
        if move is not None:
            points = c[None, None, :], c[None, :, None], z[:, None, None]
            apart = [np.broadcast_to(moved - point, grid.shape) for moved, point in zip(move(*points), points)]
            vectors = np.stack(apart, axis=-1) @ (0.5 * edge * head.direction.T).astype(np.float32)
            field = gr.DisplacementField(vectors, spacing, origin, head.direction)
        made = gr.resample(head, field, grid, "bspline", device=device).array
        volume[first : first + step] = np.rint(np.clip(made, 0, most))
    return gr.Image(volume)


def compute_errors(transform: gr.Transform, fixed: gr.Image, move: Move) -> np.ndarray:
    """Returns the distances in voxels between a transform and the known one, at some hundred thousand voxels in the body, which is not black."""
    size = fixed.size[0]
    rng = np.random.default_rng(7)
    index = rng.integers(size // 5, size - size // 5, size=(200_000, 3))
    unit = coordinates(size)[index]
    body = np.sum(unit**2, axis=1) < 0.36
    body &= fixed.array[tuple(index.T[::-1])] > _BLACK * np.iinfo(fixed.array.dtype).max
    index, unit = index[body], unit[body]
    truth = np.stack(move(*unit.T), axis=1)
    wanted = (truth.astype(np.float64) + 1) * (size / 2) - 0.5
    found = transform.transform_points(index.astype(np.float64))
    return np.linalg.norm(found - wanted, axis=1)


def make_stage(method: str, iterations: Optional[list[int]], similarity: str) -> Any:
    if method == "affine":
        return stages.Affine()
    if method == "ffd":
        return stages.FreeForm(iterations=iterations[0] if iterations else 60)
    kind = {"greedy": stages.Greedy, "syn": stages.SyN, "velocity": stages.Velocity}[method]
    if method == "syn":
        return kind(similarity, iterations=iterations or (60, 40, 20, 5), step=0.25, radius=2)
    return kind(similarity, iterations=iterations or (60, 40, 20, 8), step=0.5)


def show(*columns: Any) -> None:
    print("  ".join(str(column).rjust(12) for column in columns), flush=True)


def run_stage(stage: Any, fixed: gr.Image, moving: gr.Image, devices: list[str], move: Move) -> None:
    size, method = fixed.size[0], stage.name
    plan = gr.plan_registration(fixed, moving, stage, device=devices)
    print(plan, flush=True)
    before = {}
    for device in {its.device: its for its in (plan, *plan.others)}:
        gr.release_memory(device)
        before[device] = _engine.memory_in_use(device)
        _engine.count_most_memory_from_now(device)
    begin = time.perf_counter()
    result = gr.register(fixed, moving, stage, device=devices)
    seconds = time.perf_counter() - begin
    errors = compute_errors(result.transform, fixed, move)
    start = compute_errors(gr.Affine(np.eye(3), np.zeros(3)), fixed, move)
    show("method", "device", "planned GiB", "counted GiB", "bytes/voxel")
    for device, held in before.items():
        planned = sum(its.bytes for its in (plan, *plan.others) if its.device == device)
        most = _engine.most_memory_in_use(device) - held
        show(method, device, f"{planned / 2**30:.3f}", f"{most / 2**30:.3f}", f"{most / size**3:.1f}")
    show("method", "stage s", "whole s", "before", "mean", "95 %")
    numbers = start.mean(), errors.mean(), np.percentile(errors, 95)
    show(method, f"{result.stages[-1].seconds:.2f}", f"{seconds:.2f}", *(f"{number:.3f}" for number in numbers))
    levels = ", ".join(f"{level.name}: {level.seconds:.2f} s" for level in result.stages[-1].levels)
    print(f"{method} on {', '.join(result.stages[-1].devices)}: {levels}; warnings: {result.warnings or 'none'}", flush=True)
    for device in before:
        gr.release_memory(device)


def time_files(fixed: gr.Image, folder: str) -> None:
    """Writes and reads the volume in some formats, three times, and prints medians: writing to and reading from the system's cache, and reading from the
    disk, where the cache does not have the file."""
    gibibytes = fixed.array.nbytes / 2**30
    with tempfile.TemporaryDirectory(dir=folder) as place:
        for name in ("volume.nii", "volume.nii.gz", "volume.nrrd", "volume.mha"):
            path = Path(place) / name
            rounds = [_time_file(path, fixed) for _ in range(3)]
            size = path.stat().st_size / 2**30
            path.unlink()
            parts = zip(("written", "read", "read from the disk"), np.median(rounds, axis=0))
            print(f"{name}, {size:.2f} GiB: " + ", ".join(f"{part} in {s:.2f} s ({gibibytes / s:.2f} GiB/s)" for part, s in parts), flush=True)


def _time_file(path: Path, image: gr.Image) -> list[float]:
    begin = time.perf_counter()
    gr.write_image(path, image)
    seconds = [time.perf_counter() - begin]
    for is_cached in (True, False):
        if not is_cached:
            with open(path, "rb") as file:
                os.fsync(file.fileno())
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        begin = time.perf_counter()
        again = gr.read_image(path)
        seconds.append(time.perf_counter() - begin)
        assert np.array_equal(again.array, image.array)
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=128, help="voxels along each axis (default: 128)")
    parser.add_argument("--type", choices=("uint8", "uint16"), default="uint8", help="type of the voxels (default: uint8)")
    parser.add_argument("--head", metavar="FILE", help="an image of a head, of which the volumes are made (default: synthetic ones)")
    parser.add_argument("--methods", default=",".join(METHODS), help=f"some of these: {','.join(METHODS)}, or '' for none (default: all)")
    parser.add_argument("--device", help="such as host, or several with commas, such as cuda:0,cuda:1 (default: the best one)")
    parser.add_argument("--memory", type=float, metavar="GIB", help="GiB of each device that are used at most, such as 14.9 of a GPU of 16 GB")
    parser.add_argument("--iterations", help="iterations of each level of the dense methods, such as 60x40x20x5; ffd takes the first number")
    parser.add_argument("--similarity", choices=stages.FIELD_SIMILARITIES, default="neighborhood_correlation", metavar="NAME", help="of the dense methods")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="that make the volumes (default: as many as there are)")
    parser.add_argument("--files", metavar="FOLDER", help="write and read the fixed volume there, too")
    arguments = parser.parse_args()
    methods = [method for method in arguments.methods.split(",") if method]
    unknown = [method for method in methods if method not in METHODS]
    if unknown:
        parser.error(f"--methods {','.join(unknown)} is not known: give some of {','.join(METHODS)}")
    if arguments.iterations and not all(number.isdecimal() for number in arguments.iterations.split("x")):
        parser.error(f"--iterations {arguments.iterations} is not possible: give whole numbers with an x between two, such as 60x40x20x5")
    devices = (arguments.device or gr.devices()[0].name).split(",")
    for device in set(devices) if arguments.memory else ():
        _engine.set_memory_limit(device, int(arguments.memory * 2**30))
    iterations = [int(number) for number in arguments.iterations.split("x")] if arguments.iterations else None
    dtype = np.dtype(arguments.type)
    head = gr.read_image(arguments.head) if arguments.head else None

    def make(move: Optional[Move] = None) -> gr.Image:
        if head is None:
            return make_volume(arguments.size, dtype, arguments.threads, move)
        return make_head_volume(head, arguments.size, dtype, devices[0], move)

    begin = time.perf_counter()
    moving = make()
    named = f"{arguments.size}^3 {dtype}{f' of {arguments.head}' if head else ''}"
    print(f"{named} on {', '.join(devices)}; moving volume made in {time.perf_counter() - begin:.1f} s", flush=True)
    for move, of_method in ((map_linearly, ("affine",)), (displace, ("ffd", "greedy", "syn", "velocity"))):
        wanted = [method for method in methods if method in of_method]
        if not wanted:
            continue
        begin = time.perf_counter()
        fixed = make(move)
        print(f"fixed volume made in {time.perf_counter() - begin:.1f} s", flush=True)
        for method in wanted:
            run_stage(make_stage(method, iterations, arguments.similarity), fixed, moving, devices, move)
    if arguments.files:
        time_files(moving, arguments.files)


if __name__ == "__main__":
    main()
