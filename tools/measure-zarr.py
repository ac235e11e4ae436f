#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures how gpureg apply resamples an OME-Zarr that is larger than the memory that it may take: seconds, memory and bytes.

    tools/measure-zarr.py FOLDER                                          # 2048 x 2048 x 1024 voxels of 16 bits, 8 GiB, in 2 GiB
    tools/measure-zarr.py FOLDER --size 256x256x128 --memory 100M         # in a moment
    tools/measure-zarr.py FOLDER --devices cuda:0,cuda:1 --memory 8G

Needs the package with what OME-Zarr needs: pip install '.[zarr]'. Makes source.zarr of waves and noise in FOLDER, unless it is there, and
resamples it onto its own grid by an affine map, and by a field of displacements with a vector for every eighth voxel along each axis. For each
it prints the seconds, of all and of each level; the most memory of all processes together, as the system counts it (resident), less what the
same command takes for a source of 64 voxels an axis, beside what was planned and allowed; the bytes that were read and written; and how long
processors, reading, the device and writing were busy. The source is not in the system's cache when a run begins. Linux alone.
"""

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import gpuregistration as g
import numpy as np

#: Voxels of a chunk and of a shard of the source along each axis, and the length of a voxel in mm.
CHUNK, SHARD, SPACING = 128, 256, 0.005
#: How many terms the source has, each a product of one wave along each axis, and the standard deviation of its noise.
WAVES, NOISE = 4, 40.0
#: Voxels between two vectors of the field, and the longest displacement along an axis, in voxels.
STEP, AMPLITUDE = 8, 20.0
#: Seconds between two looks at the processes.
LOOK = 0.05
PAGE = os.sysconf("SC_PAGE_SIZE")


def main() -> None:
    arguments = read_arguments()
    size = tuple(int(count) for count in arguments.size.split("x"))
    arguments.folder.mkdir(exist_ok=True)
    output = arguments.folder / "out.zarr"
    if output.exists():
        sys.exit(f"{output} is there, and would be replaced: name another folder, or remove it.")
    sources = {name: (make_source(arguments.folder / f"{name}.zarr", its), its) for name, its in (("small", (64, 64, 64)), ("source", size))}
    words = ["--devices", arguments.devices]
    words += ["--workers-per-device", arguments.workers_per_device] if arguments.workers_per_device else []
    for kind in arguments.transforms.split(","):
        runs = {}
        for name, (source, its) in sources.items():
            transform = arguments.folder / f"{name}-{kind}{'.nii' if kind == 'field' else '.tfm'}"
            g.write_transform(transform, MAKERS[kind](its))
            runs[name] = run(source, output, [*words, "--transform", str(transform), "--memory", arguments.memory])
        describe(kind, size, runs["source"], runs["small"])


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the source and, for a while, the output are")
    parser.add_argument("--size", default="2048x2048x1024", help="voxels of the source along x, y and z (default: 2048x2048x1024)")
    parser.add_argument("--memory", default=str(2 << 30), help="as of gpureg apply (default: 2 GiB)")
    parser.add_argument("--transforms", default="affine,field", help="one of these, or both (default: affine,field)")
    parser.add_argument("--devices", default="host", help="as of gpureg apply (default: host)")
    parser.add_argument("--workers-per-device", help="as of gpureg apply")
    return parser.parse_args()


def make_source(path: Path, size: tuple[int, ...]) -> Path:
    """Makes an OME-Zarr of 16 bits, shard by shard, unless it is there."""
    import zarr

    whole = path / "whole"
    if whole.exists() and whole.read_text() == str(size):
        return path
    if path.exists() and not whole.exists():
        sys.exit(f"{path} is there, and not of this program: name another folder, or remove it.")
    begin = time.perf_counter()
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir()
    whole.write_text("not yet")
    axes = [{"name": name, "type": "space", "unit": "millimeter"} for name in "zyx"]
    places = [{"type": "scale", "scale": [SPACING] * 3}, {"type": "translation", "translation": [0.0] * 3}]
    image = {"axes": axes, "datasets": [{"path": "0", "coordinateTransformations": places}]}
    group = zarr.open_group(str(path), mode="a", zarr_format=3, attributes={"ome": {"version": "0.5", "multiscales": [image]}})
    packed = zarr.codecs.BloscCodec(cname="zstd", clevel=3, shuffle="shuffle")
    shape = size[::-1]
    array = group.create_array(name="0", shape=shape, chunks=(CHUNK,) * 3, shards=(SHARD,) * 3, dtype="uint16", compressors=packed)
    random = np.random.default_rng(1)
    noise = random.normal(0, NOISE, (SHARD,) * 3).astype(np.float32)
    # For each axis a row for each wave.
    waves = []
    for count in shape:
        along = np.linspace(0, 1, count, dtype=np.float32)
        rows = [np.sin(2 * np.pi * (random.uniform(2, 12) * along + random.uniform())) for _ in range(WAVES)]
        waves.append(np.stack(rows).astype(np.float32))

    def write(first: tuple[int, ...]) -> None:
        z, y, x = (its[:, a : a + SHARD] for its, a in zip(waves, first))
        planes = (z[:, :, None] * y[:, None, :]).reshape(WAVES, -1)
        values = (planes.T @ x).reshape(z.shape[1], y.shape[1], x.shape[1])
        values *= np.float32(8000 / WAVES)
        values += np.float32(20000)
        values += noise[: z.shape[1], : y.shape[1], : x.shape[1]]
        array[tuple(slice(a, a + SHARD) for a in first)] = values.astype(np.uint16)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(write, product(*(range(0, count, SHARD) for count in shape))))
    whole.write_text(str(size))
    seconds = time.perf_counter() - begin
    print(f"{path}: {gib(2 * np.prod(size))} GiB of values, {gib(size_of(path))} packed, made in {seconds:.0f} s", flush=True)
    return path


def make_affine(size: tuple[int, ...]) -> g.Affine:
    """Makes a rotation with a scale and a shift, about the middle."""
    about_z, about_x, scale = np.radians(3.0), np.radians(2.0), 1.02
    z = [[np.cos(about_z), -np.sin(about_z), 0], [np.sin(about_z), np.cos(about_z), 0], [0, 0, 1]]
    x = [[1, 0, 0], [0, np.cos(about_x), -np.sin(about_x)], [0, np.sin(about_x), np.cos(about_x)]]
    extent = SPACING * np.array(size)
    return g.Affine(scale * np.array(z) @ np.array(x), 0.01 * extent, 0.5 * extent)


def make_field(size: tuple[int, ...]) -> g.DisplacementField:
    """Makes waves of one to two periods."""
    z, y, x = np.meshgrid(*(np.linspace(0, 1, count // STEP, dtype=np.float32) for count in size[::-1]), indexing="ij", sparse=True)
    parts = [np.sin(7 * y + 3 * z), np.cos(8 * x) * np.sin(6 * z), np.sin(6 * x + 9 * y) + 0 * z]
    vectors = np.stack([np.broadcast_to(part, np.broadcast_shapes(x.shape, y.shape, z.shape)) for part in parts], axis=-1)
    first = [0.5 * (STEP - 1) * SPACING] * 3
    return g.DisplacementField(np.float32(AMPLITUDE * SPACING) * vectors, [STEP * SPACING] * 3, first)


MAKERS = {"affine": make_affine, "field": make_field}


@dataclass
class Use:
    """Holds what a command took.

    Attributes:
        made: the object that it printed.
        seconds, processor: of the clock, and of all processors.
        memory: the most bytes of all its processes together.
        counts: bytes by the system's names: read and written by calls, and of those from and to the disk.
        packed: bytes of the output's files.
    """

    made: dict[str, Any]
    seconds: float = 0.0
    processor: float = 0.0
    memory: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    packed: int = 0


def run(source: Path, output: Path, words: list[str]) -> Use:
    """Runs gpureg apply, and removes the output."""
    leave_cache(source)
    use = Use({})
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.perf_counter()
    command = [sys.executable, "-m", "gpuregistration", "apply", str(source), "-o", str(output), *words, "--json", "--quiet"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        while process.poll() is None:
            look(process.pid, use)
            time.sleep(LOOK)
        assert process.stdout is not None
        printed = process.stdout.read()
    use.seconds = time.perf_counter() - begin
    if process.returncode:
        sys.exit(process.returncode)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    use.processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    use.made, use.packed = json.loads(printed), size_of(output)
    shutil.rmtree(output)
    return use


def look(process: int, use: Use) -> None:
    """Notes what a process, and those that it has started, hold now, and have read and written so far."""
    parents: dict[int, int] = {}
    for name in filter(str.isdecimal, os.listdir("/proc")):
        try:
            parents[int(name)] = int(Path("/proc", name, "stat").read_text(errors="replace").rpartition(")")[2].split()[1])
        except (OSError, IndexError):
            continue
    held, found, counts = 0, {process}, Counter[str]()
    while more := {one for one, parent in parents.items() if parent in found} - found:
        found |= more
    for one in found:
        try:
            held += PAGE * int(Path(f"/proc/{one}/statm").read_text().split()[1])
            lines = Path(f"/proc/{one}/io").read_text().splitlines()
        except (OSError, IndexError):
            continue
        counts.update({name: int(value) for name, value in (line.split(": ") for line in lines)})
    use.memory = max(use.memory, held)
    # The counts of a process that has ended are in those of its parent.
    use.counts |= counts


def leave_cache(folder: Path) -> None:
    """Has the system forget the content of a folder's files, which are written to the disk first."""
    os.sync()
    for path in filter(Path.is_file, folder.rglob("*")):
        with open(path, "rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def describe(kind: str, size: tuple[int, ...], use: Use, alone: Use) -> None:
    made = use.made
    voxels = int(np.prod(size))
    print(f"{kind}: {'x'.join(map(str, size))} voxels of 16 bits, {gib(2 * voxels)} GiB, {made['workers']} workers, blocks of {made['block'][::-1]}")
    print(f"  {use.seconds:.1f} s, {1e-6 * voxels / use.seconds:.0f} million voxels a second; processors {use.processor:.1f} s, {use.processor / use.seconds:.2f} busy")
    for number, its in enumerate(made["parts"]):
        if its["whole"] >= 0.01 * use.seconds:
            print(f"  level {number}: " + ", ".join(f"{name} {seconds:.1f} s" for name, seconds in its.items()))
    grown, each = use.memory - alone.memory, max(1, made["workers"])
    print(f"  memory: {gib(use.memory)} GiB, {gib(grown)} beside the {gib(alone.memory)} for a small image; planned {gib(each * made['planned'])}, "
          f"allowed {gib(each * made['memory'])}")
    print(f"  read {gib(use.counts['rchar'])} GiB, {gib(use.counts['read_bytes'])} of it from the disk; written {gib(use.counts['wchar'])}; "
          f"the output has {gib(use.packed)}", flush=True)


def gib(count: float) -> str:
    return f"{count / 2**30:.2f}"


def size_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


if __name__ == "__main__":
    main()
