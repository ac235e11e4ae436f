# SPDX-License-Identifier: Apache-2.0
"""Tests gpureg bench: every figure is a number. Their size, which depends on the machine, is not tested."""

import types

import pytest
from command_line import assert_fails, gpureg, gpureg_json
from gpuregistration.command.bench import measure

pytest.importorskip("SimpleITK")


def test_every_task_on_every_device(device, capfd):
    found = gpureg_json(capfd, "bench", "--size", "32", "--seconds", "0.1", "--device", device, "--threads", "2")
    assert found["size"] == 32 and found["threads"] == 2 and list(found["devices"]) == [device]
    names = [row["name"] for row in found["rows"]]
    for part in ("rigid", "affine", "free form", "resample", "smooth", "mean squares", "mutual information"):
        assert any(part in name for name in names)
    for row in found["rows"]:
        assert row["errors"] == {} and set(row["seconds"]) == {device, "SimpleITK"}
        assert all(0 < seconds < 60 for seconds in row["seconds"].values())


def test_table(capfd):
    code, out, err = gpureg(capfd, "bench", "--size", "32", "--seconds", "0.1", "--device", "host")
    assert code == 0 and "rigid registration, SimpleITK" in err
    lines = out.splitlines()
    assert lines[0].startswith("32 x 32 x 32 voxels") and any("SimpleITK" in line and "host" in line for line in lines[1:3])
    assert sum("x)" in line for line in lines) == 8


def test_the_least_time_counts(monkeypatch):
    """By a clock of the test's own, which no other process delays."""
    now = 0.0

    def wait(seconds):
        nonlocal now
        now += seconds

    monkeypatch.setattr("gpuregistration.command.bench.time", types.SimpleNamespace(perf_counter=lambda: now))
    waits = iter([0.05, 0.03, 0.01, 0.03, 0.03, 0.03, 0.03, 0.03, 0.03])
    assert measure(lambda: wait(next(waits)), 0.15) == pytest.approx(0.01)
    assert measure(lambda: wait(0.05), 0.01) == pytest.approx(0.05)
    assert now == pytest.approx(0.18 + 0.05)


@pytest.mark.parametrize(
    "words, part",
    [
        (("--size", "16"), "--size 16"),
        (("--size", "x"), "--size"),
        (("--seconds", "0"), "--seconds 0.0"),
        (("--seconds", "nan"), "--seconds nan"),
        (("--threads", "-1"), "--threads -1"),
        (("--device", "cuda:77"), 'no device "cuda:77"'),
    ],
)
def test_wrong_use(capfd, words, part):
    assert_fails(capfd, 2, part, None, "bench", *words)


def test_processors_through_opencl_are_left_out(monkeypatch, capfd):
    """Processors are listed after the host: they are measured only if they are named."""
    import gpuregistration._devices as listed
    from gpuregistration.command import bench

    found = [types.SimpleNamespace(name=name, description=name) for name in ("cuda:0", "opencl:0", "host", "opencl:1")]
    columns = []
    monkeypatch.setattr(listed, "devices", lambda: found)
    monkeypatch.setattr(bench, "_fill", lambda row, column, work, share: columns.append(column))
    assert gpureg_json(capfd, "bench", "--size", "32", "--seconds", "1")["size"] == 32
    assert columns[:4] == ["cuda:0", "opencl:0", "host", "SimpleITK"] and "opencl:1" not in columns
