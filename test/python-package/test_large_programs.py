# SPDX-License-Identifier: Apache-2.0
"""Tests the programs that measure large volumes, on small ones: benchmark/large_volumes.py and tools/measure-zarr.py."""

import subprocess
import sys
from pathlib import Path

import gpuregistration as gr
import numpy as np
import pytest
from conftest import turn

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmark"))

import large_volumes  # noqa: E402

SIZE = 24


def head():
    """An image with smooth structure on an oblique grid, of which no edge is as long as another one."""
    z, y, x = np.meshgrid(np.linspace(-1, 1, 14), np.linspace(-1, 1, 18), np.linspace(-1, 1, 20), indexing="ij")
    values = 100 * np.exp(-2 * (x**2 + y**2 + z**2)) * (2 + np.sin(5 * x + 2 * y) * np.cos(4 * z))
    return gr.Image(values.astype(np.float32), (1.0, 1.2, 1.5), (-40.0, 7.0, 300.0), turn(25.0, 3))


@pytest.mark.parametrize("move", [None, large_volumes.displace])
def test_volumes_of_a_head(monkeypatch, move):
    """A voxel has the head's value at its point, or where the deformation leads its point, whatever planes are made at a time."""
    its = head()
    volume = large_volumes.make_head_volume(its, SIZE, np.uint8, "host", move)
    monkeypatch.setattr(large_volumes, "_PLANE_VOXELS", 5 * SIZE**2)
    np.testing.assert_array_equal(large_volumes.make_head_volume(its, SIZE, np.uint8, "host", move).array, volume.array)
    edge = 18 * 1.2
    middle = its.origin + its.direction @ (0.5 * (np.array([20, 18, 14]) - 1) * its.spacing)
    factor = 0.9 * 255 / np.percentile(its.array, 99.9)
    for index in ((12, 12, 12), (9, 14, 10), (15, 8, 13), (11, 10, 16)):
        place = (np.array(index[::-1]) + 0.5) * 2 / SIZE - 1
        place = place if move is None else np.array(move(*(np.float32(number) for number in place)), np.float64)
        point = gr.Image(np.zeros((2, 2, 2), np.float32), (1e-3,) * 3, middle + its.direction @ (0.5 * edge * place), its.direction)
        wanted = factor * gr.resample(its, None, point, "bspline", device="host").array[0, 0, 0]
        assert wanted > 20 and abs(float(volume.array[index]) - wanted) < 0.51, index


def test_an_omezarr_is_measured(tmp_path):
    pytest.importorskip("zarr")

    def run(*words):
        command = [sys.executable, str(ROOT / "tools" / "measure-zarr.py"), str(tmp_path / "made"), "--size", "96x64x48", "--memory", "100M", *words]
        return subprocess.run(command, capture_output=True, text=True, timeout=120)

    (tmp_path / "made").mkdir()
    ended = run("--transforms", "affine")
    assert ended.returncode == 0, ended.stderr
    assert "affine: 96x64x48 voxels of 16 bits" in ended.stdout and "allowed 0.09" in ended.stdout and "level 0: whole" in ended.stdout
    assert sorted(path.name for path in (tmp_path / "made").glob("*.zarr")) == ["small.zarr", "source.zarr"]
    # Nothing of others is replaced.
    (tmp_path / "made" / "out.zarr").mkdir()
    ended = run()
    assert ended.returncode == 1 and "out.zarr is there" in ended.stderr
    (tmp_path / "made" / "out.zarr").rmdir()
    (tmp_path / "made" / "source.zarr" / "whole").unlink()
    ended = run()
    assert ended.returncode == 1 and "source.zarr is there" in ended.stderr and (tmp_path / "made" / "source.zarr").exists()
