# SPDX-License-Identifier: Apache-2.0
"""Counts the memory that resampling into an OME-Zarr takes in a process of its own."""

import os
import subprocess
import sys

_PROGRAM = """
import sys, gpuregistration as gr
from gpuregistration.ome_zarr import resample_zarr
def peak(): return int(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1]) * 1024
source, output, transform, first, memory = sys.argv[1:]
transform = gr.read_transform(transform)
resample_zarr(source, output, transform, memory=int(first), chunk=[64], devices=["host"])
open("/proc/self/clear_refs", "w").write("5")
before = peak()
made = resample_zarr(source, output, transform, memory=int(memory), chunk=[32], devices=["host"])
print(peak() - before, made.planned)
"""


def find_growth(source, output, transform, first, memory):
    """Returns by how many bytes the process grew, as the system counts them, and how many were planned.

    Args:
        source, output, transform: names of files.
        first: the bytes that a first run may take, which is not counted.
        memory: the bytes that the second one may take.
    """
    words = [sys.executable, "-c", _PROGRAM, source, output, transform, str(first), str(memory)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120, env={**os.environ, "GPUREG_THREADS": "2"})
    assert done.returncode == 0, done.stderr
    grown, planned = map(int, done.stdout.split())
    return grown, planned
