# SPDX-License-Identifier: Apache-2.0
"""Tests that several threads may read and write files at once: the HDF5 library, which SimpleITK calls for many files, is not
thread-safe."""

import subprocess
import sys

import pytest

pytest.importorskip("SimpleITK")

# In a process of its own, which such a fault may end.
MANY_FILES = """
import sys
from concurrent.futures import ThreadPoolExecutor
import gpuregistration as gr, numpy as np

folder = sys.argv[1]
volume = gr.Image(np.random.default_rng(1).normal(size=(6, 7, 8)).astype(np.float32))
for name in ("image.nii.gz", "image.mha"):
    gr.write_image(f"{folder}/{name}", volume)
gr.write_image(f"{folder}/image.tif", gr.Image(np.ones((6, 7), np.uint8)))
spline = gr.BSpline(np.ones((5, 5, 5, 3)), [2.0] * 3, [-1.0] * 3)

def work(n):
    suffix = ("h5", "tfm", "h5")[n % 3]
    gr.write_transform(f"{folder}/{n}.{suffix}", spline)
    assert (gr.read_image(f"{folder}/image.nii.gz").array == volume.array).all()
    assert (gr.read_transform(f"{folder}/{n}.{suffix}").array == 1).all()
    assert (gr.read_image(f"{folder}/image.mha").array == volume.array).all()
    assert (gr.read_image(f"{folder}/image.tif").array == 1).all()

with ThreadPoolExecutor(8) as pool:
    list(pool.map(work, range(300)))
print("done")
"""


def test_files_are_for_many_threads(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", MANY_FILES, str(tmp_path)], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0 and done.stdout == "done\n" and "HDF5" not in done.stderr, done.stderr[-2000:]
