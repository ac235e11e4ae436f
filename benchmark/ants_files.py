# SPDX-License-Identifier: Apache-2.0
"""Measures antsRegistration of this package from files to files, as a process, beside ANTs' own where that is installed.

  ants_files.py FIXED MOVING [--runs 5] [--settings syn|quick] [--device NAME] [--ants] [--threads N]

FIXED and MOVING are compressed NIfTI images, such as two heads of 1 mm. The arguments are those of antsRegistrationSyN.sh, rigid, affine and
SyN by local correlation of radius 2, or of antsRegistrationSyNQuick.sh. The first run is not counted: it reads files and libraries from the disk.
Printed are the median, the least and the largest of the wall seconds of each part and of the process as a whole; parts that run at the same
time are counted each. "registering" is the device's work from images on it to the transforms. --ants runs ANTs' own antsRegistration once: that
of PATH, or antspyx's.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Optional

from gpuregistration.ants.hand_over import find_real
from gpuregistration.command.launchers import write_launchers
from gpuregistration.command.output import print_table

_LINEAR = ("-t", "{}[0.1]", "-m", "MI[FIXED,MOVING,1,32,Regular,0.25]", "-c", "[1000x500x250x{},1e-6,10]", "-f", "8x4x2x1", "-s", "3x2x1x0vox")
_SYN = ("-t", "SyN[0.2,3,0]", "-m", "{}", "-c", "[100x70x50x{},1e-6,10]", "-f", "8x4x2x1", "-s", "3x2x1x0vox")
# By the name of the settings: iterations of the finest level of linear stages and of SyN, and SyN's metric.
_SETTINGS = {"syn": ("100", "20", "CC[FIXED,MOVING,1,2]"), "quick": ("0", "0", "MI[FIXED,MOVING,1,32]")}
_ANTSPY = "import sys; from ants.internal import get_lib_fn; sys.exit(get_lib_fn('antsRegistration')(sys.argv[1:]))"
_TOTAL = "the process"


def make_words(settings: str, fixed: str, moving: str) -> list[str]:
    """Returns the arguments as ANTs' script makes them; outputs begin with "out"."""
    linear, finest, metric = _SETTINGS[settings]
    words = ["--verbose", "0", "--dimensionality", "3", "--float", "0", "--collapse-output-transforms", "1"]
    words += ["--output", "[out,outWarped.nii.gz,outInverseWarped.nii.gz]", "--interpolation", "Linear", "--use-histogram-matching", "0"]
    words += ["--winsorize-image-intensities", "[0.005,0.995]", "-x", "[NULL,NULL]", "--initial-moving-transform", "[FIXED,MOVING,1]"]
    for stage in ("Rigid", "Affine"):
        words += [word.format(stage) if word.startswith("{}") else word.format(linear) for word in _LINEAR]
    words += [metric if word == "{}" else word.format(finest) for word in _SYN]
    return [word.replace("FIXED", fixed).replace("MOVING", moving) for word in words]


def run_here(program: Path, words: list[str], environment: dict[str, str]) -> dict[str, float]:
    """Runs the launcher in a folder of its own. Returns the seconds of its parts, and of all."""
    with tempfile.TemporaryDirectory() as folder:
        begin = time.perf_counter()
        done = subprocess.run([program, *words], cwd=folder, env=environment, capture_output=True, text=True)
        seconds = time.perf_counter() - begin
        if done.returncode != 0:
            raise SystemExit(f"antsRegistration failed: {done.stderr.strip()}")
        sizes = {path.name: path.stat().st_size for path in Path(folder).iterdir()}
    found = {}
    for line in done.stderr.splitlines():
        name, _, rest = line.rpartition("  ")
        if rest.endswith(" s"):
            found[name.strip()] = float(rest[:-2])
        else:
            print(line)
    found.pop("total", None)
    found["registering, all stages"] = sum(value for name, value in found.items() if name.endswith(", registering"))
    found[_TOTAL] = seconds
    print(f"{seconds:.3f} s; {sum(sizes.values()) / 1e6:.1f} MB in {len(sizes)} files", flush=True)
    return found


def run_ants(words: list[str], environment: dict[str, str], threads: int) -> Optional[tuple[str, float]]:
    """Runs ANTs' own program. Returns which one that is, and its seconds; None if there is none."""
    real = find_real("antsRegistration")
    command = [real] if real else [sys.executable, "-c", _ANTSPY]
    if not real and subprocess.run([sys.executable, "-c", "import ants.internal"], capture_output=True).returncode:
        return None
    environment = {**environment, "ITK_GLOBAL_DEFAULT_NUMBER_OF_THREADS": str(threads)}
    with tempfile.TemporaryDirectory() as folder:
        begin = time.perf_counter()
        done = subprocess.run([*command, *words], cwd=folder, env=environment, capture_output=True, text=True)
        seconds = time.perf_counter() - begin
    if done.returncode != 0:
        raise SystemExit(f"ANTs' own antsRegistration failed: {done.stderr.strip()[-500:]}")
    return real or "antspyx", seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("fixed")
    parser.add_argument("moving")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--settings", choices=_SETTINGS, default="syn")
    parser.add_argument("--device", help="such as cuda:0; default: the first GPU")
    parser.add_argument("--ants", action="store_true", help="runs ANTs' own program, too")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="threads of ANTs' own program")
    asked = parser.parse_args()
    words = make_words(asked.settings, os.path.abspath(asked.fixed), os.path.abspath(asked.moving))
    environment = {**os.environ, "GPUREG_TIMES": "1"}
    if "PYTHONPATH" in environment:
        # The programs run elsewhere.
        environment["PYTHONPATH"] = os.pathsep.join(map(os.path.abspath, environment["PYTHONPATH"].split(os.pathsep)))
    if asked.device:
        environment["ITK_GPU_DEVICE"] = asked.device
    with tempfile.TemporaryDirectory() as folder:
        program = next(path for path in write_launchers(Path(folder)) if path.name == "antsRegistration")
        runs = [run_here(program, words, environment) for _ in range(asked.runs + 1)][1:]
    rows = [(name, [run[name] for run in runs if name in run]) for name in runs[0]]
    print_table(["part", "median s", "least", "largest"], [[name, *(f"{f(all):.3f}" for f in (median, min, max))] for name, all in rows])
    if asked.ants:
        found = run_ants(words, dict(os.environ), asked.threads)
        print("ANTs is not installed: pip install antspyx" if found is None else f"{found[0]}, {asked.threads} threads: {found[1]:.1f} s")


if __name__ == "__main__":
    main()
