# SPDX-License-Identifier: Apache-2.0
"""Tests that several workers make the same OME-Zarr as one, and what is left where the disk is full, or a run is ended or killed."""

import os
import re
import resource
import signal
import time
from pathlib import Path

import numpy as np
import pytest

zarr = pytest.importorskip("zarr", minversion="3")
distributed = pytest.importorskip("distributed")
pytest.importorskip("SimpleITK")

import gpuregistration as gr  # noqa: E402
from command_line import assert_fails, gpureg_json, run_process, start_process  # noqa: E402
from gpuregistration.cohort import register_cohort  # noqa: E402
from gpuregistration.ome_zarr import resample_zarr  # noqa: E402
from killing import KillOne  # noqa: E402
import zarr_workers  # noqa: E402
from zarr_data import contents_of, image_of, make_transforms, make_values, write_zarr  # noqa: E402

SHAPE = (32, 40, 48)


@pytest.fixture
def big(tmp_path):
    """An OME-Zarr, and its transform in a file, in a folder of their own."""
    folder = tmp_path / "in"
    folder.mkdir()
    write_zarr(folder / "big.zarr", [make_values(SHAPE)])
    transform = make_transforms(image_of(make_values(SHAPE)))["all"]
    gr.write_transform(folder / "t.h5", transform)
    (tmp_path / "out").mkdir()
    return folder


def expected(folder):
    return gr.resample(image_of(make_values(SHAPE)), gr.read_transform(folder / "t.h5"), device="host").array


def read(path):
    return zarr.open_group(str(path), mode="r")["0"][...]


def test_workers_of_this_machine(big, tmp_path, capfd):
    words = ("-t", big / "t.h5", "--devices", "host", "--workers-per-device", 2, "--memory", "40M", "--chunk", 8)
    reported = gpureg_json(capfd, "apply", big / "big.zarr", *words, "-o", tmp_path / "out" / "out.zarr")
    assert reported["workers"] == 2 and reported["memory"] < 20_000_000 and reported["blocks"] >= 16
    assert (read(tmp_path / "out" / "out.zarr") == expected(big)).all()
    assert os.listdir(tmp_path / "out") == ["out.zarr"]


def test_a_scheduler(big, tmp_path, capfd, monkeypatch):
    # Names are relative to this process's folder, and workers have another one.
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, local_directory=str(tmp_path / "dask"), env={"ITK_GPU_DEVICE": "host"}
    ) as cluster:
        monkeypatch.chdir(tmp_path)
        words = ("-t", "in/t.h5", "--scheduler", cluster.scheduler_address, "--memory", "20M", "--chunk", 8)
        reported = gpureg_json(capfd, "apply", "in/big.zarr", *words, "-o", "out/out.zarr")
        assert reported["workers"] == 0 and reported["memory"] == 20_000_000
        assert (read("out/out.zarr") == expected(big)).all()
        # A damaged chunk ends it, and the scheduler stays.
        (big / "big.zarr" / "scale0" / "1.1.1").write_bytes(b"none")
        assert_fails(capfd, 1, "cannot be read", "big.zarr, voxels", None, "apply", "in/big.zarr", *words, "-o", "out/new.zarr")
        with distributed.Client(cluster.scheduler_address, set_as_default=False) as client:
            assert len(client.nthreads()) == 2
    assert os.listdir(tmp_path / "out") == ["out.zarr"]


#: Two workers, whose blocks are shards of 8 voxels along each axis, in chunks of 4.
BLOCKS = {"devices": ["host"], "workers_per_device": 2, "memory": 5_500_000, "chunk": [4]}


def assert_is_whole(big, tmp_path, levels):
    """Asserts that each level of out.zarr is as in a run of this process, and that there are no other files than those of chunks and metadata."""
    words = {"memory": BLOCKS["memory"], "chunk": BLOCKS["chunk"], "devices": ["host"]}
    whole = resample_zarr(big / "big.zarr", tmp_path / "whole.zarr", gr.read_transform(big / "t.h5"), **words)
    assert whole.levels == levels and len(levels) == 5
    for number in range(len(levels)):
        made, wanted = (zarr.open_array(str(path / str(number)), mode="r")[...] for path in (tmp_path / "out" / "out.zarr", tmp_path / "whole.zarr"))
        assert made.any() and (made == wanted).all(), number
    names = {Path(name).name for name in contents_of(tmp_path / "out")}
    assert names == {"zarr.json", *map(str, range(6))}, names
    assert os.listdir(tmp_path / "out") == ["out.zarr"]


@pytest.mark.parametrize("where", ["from outside", "at a shard", "a scheduler's"])
def test_a_killed_worker(big, tmp_path, notes, monkeypatch, where):
    """Its blocks are made again: the output has the bits of a run without this, and nothing else is left."""
    transform, out = gr.read_transform(big / "t.h5"), tmp_path / "out" / "out.zarr"
    progress = KillOne(notes)
    run = zarr_workers.run_or_wait if where == "from outside" else zarr_workers.run_or_die_once
    monkeypatch.setattr("gpuregistration.cohort.worker.run", run)
    if where == "a scheduler's":
        with distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, local_directory=str(tmp_path / "dask"), env={"ITK_GPU_DEVICE": "host"}
        ) as cluster:
            of_scheduler = {"scheduler": cluster.scheduler_address, "memory": 2_000_000, "chunk": BLOCKS["chunk"]}
            made = resample_zarr(big / "big.zarr", out, transform, progress=progress, **of_scheduler)
    else:
        made = resample_zarr(big / "big.zarr", out, transform, progress=progress, **BLOCKS)
    assert made.block == (8, 8, 8) and (notes / "asked").exists() and len(progress.killed) == (where == "from outside")
    again = [re.fullmatch(r"The worker .+ has ended; (block \d+, \d+, \d+ of level \d) is tried again, by itself\.", one) for one in progress.news]
    assert all(again), progress.news
    # Dask hands the blocks of a scheduler's worker to another one by itself.
    assert progress.news == [] if where == "a scheduler's" else zarr_workers.BLOCK in {one[1] for one in again}, progress.news
    assert (read(out) == expected(big)).all()
    assert_is_whole(big, tmp_path, made.levels)


def test_a_block_that_kills_each_worker(big, tmp_path, notes, capfd, monkeypatch):
    """It is an error, nothing is left, and what was there stays."""
    monkeypatch.setattr("gpuregistration.cohort.worker.run", zarr_workers.run_or_die)
    write_zarr(tmp_path / "out" / "out.zarr", [make_values((4, 4, 4))], "0.5")
    before = contents_of(tmp_path / "out")
    parts = (f"gpureg: {zarr_workers.BLOCK} failed: WorkerKilled: its worker was killed, twice: is there enough memory",)
    words = ("-t", big / "t.h5", "--devices", "host", "--workers-per-device", 2, "--memory", "5500k", "--chunk", 4)
    assert_fails(capfd, 1, *parts, None, "apply", big / "big.zarr", "-o", tmp_path / "out" / "out.zarr", *words, "--quiet")
    assert contents_of(tmp_path / "out") == before and os.listdir(tmp_path / "out") == ["out.zarr"]
    assert (notes / "kills").read_text() == "killed\nkilled\n"


def test_nothing_is_written_after_an_error(big, tmp_path, notes, monkeypatch):
    """A scheduler's workers, which stay, are waited for: a block that is written behind the end would make the folder again."""
    monkeypatch.setattr("gpuregistration.cohort.worker.run", zarr_workers.run_or_fail)
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, local_directory=str(tmp_path / "dask"), env={"ITK_GPU_DEVICE": "host"}
    ) as cluster:
        with pytest.raises(gr.BadInputError, match="not there"):
            words = {"scheduler": cluster.scheduler_address, "memory": 2_000_000, "chunk": [4]}
            resample_zarr(big / "big.zarr", tmp_path / "out" / "out.zarr", gr.read_transform(big / "t.h5"), **words)
        assert (notes / "writing").exists() and os.listdir(tmp_path / "out") == []
        time.sleep(1.5)
        assert os.listdir(tmp_path / "out") == []


def limit_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))


@pytest.mark.parametrize("more", [(), ("--devices", "host", "--workers-per-device", "2")], ids=["here", "workers"])
def test_a_full_disk_leaves_what_was_there(big, tmp_path, more):
    """No file may be larger than a part of a block's."""
    write_zarr(tmp_path / "out" / "out.zarr", [make_values((4, 4, 4))], "0.5")
    before = sorted(path.relative_to(tmp_path) for path in (tmp_path / "out").rglob("*"))
    words = ("apply", big / "big.zarr", "-o", tmp_path / "out" / "out.zarr", "--memory", "100M", "--chunk", "16", *more)
    code, out, err = run_process(*words, "--quiet", before=limit_files)
    assert code == 1 and out == "" and err.count("\n") == 1, err
    assert err.startswith("gpureg: ") and "out.zarr cannot be written: File too large" in err and ".making" not in err, err
    assert sorted(path.relative_to(tmp_path) for path in (tmp_path / "out").rglob("*")) == before


def test_too_little_memory_leaves_what_was_there(big, tmp_path, monkeypatch):
    """The system gives no memory for a block, though it is within what is allowed."""

    def fail(*args):
        np.empty(1 << 60, np.uint8)

    write_zarr(tmp_path / "out" / "out.zarr", [make_values((4, 4, 4))], "0.5")
    before = contents_of(tmp_path / "out")
    monkeypatch.setattr(zarr.Array, "__getitem__", fail)
    with pytest.raises(gr.OutOfMemoryError, match=r"block \d+, \d+, \d+ of level 0 has too little memory: Unable to allocate 1.00 EiB .* --memory"):
        resample_zarr(big / "big.zarr", tmp_path / "out" / "out.zarr", chunk=[16], devices=["host"])
    assert contents_of(tmp_path / "out") == before and os.listdir(tmp_path / "out") == ["out.zarr"]


def start_long(big, tmp_path):
    """Starts a run of thousands of blocks. Returns its process when some are made."""
    words = ("apply", big / "big.zarr", "-t", big / "t.h5", "-o", tmp_path / "out" / "out.zarr", "--chunk", "2", "--memory", "2M", "--quiet")

    def unblocked():
        signal.signal(signal.SIGINT, signal.default_int_handler)

    process = start_process(*words, before=unblocked)
    deadline = time.monotonic() + 60
    making = tmp_path / "out" / ".making-out.zarr" / "out.zarr" / "0"
    while not making.is_dir() or len(os.listdir(making)) < 2:
        assert process.poll() is None and time.monotonic() < deadline, process.stderr.read()
        time.sleep(0.05)
    return process


@pytest.mark.parametrize("number, code, word", [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")])
def test_a_run_that_is_ended_leaves_nothing(big, tmp_path, number, code, word):
    process = start_long(big, tmp_path)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (code, "", f"gpureg: {word}\n")
    assert os.listdir(tmp_path / "out") == []


def test_a_killed_run_starts_again(big, tmp_path, capfd):
    process = start_long(big, tmp_path)
    # Two at once would remove each other's files.
    words = ("apply", big / "big.zarr", "-t", big / "t.h5", "-o", tmp_path / "out" / "out.zarr", "--device", "host", "--chunk", 16)
    assert_fails(capfd, 1, "Another process makes", None, *words)
    process.kill()
    process.communicate(timeout=60)
    assert os.listdir(tmp_path / "out") == [".making-out.zarr"]
    gpureg_json(capfd, *words)
    assert os.listdir(tmp_path / "out") == ["out.zarr"]
    assert (read(tmp_path / "out" / "out.zarr") == expected(big)).all()


def test_what_was_there_comes_back(big, tmp_path):
    """A run that was killed between two renamings leaves what was there under another name."""
    (tmp_path / "out" / ".making-out.zarr").mkdir()
    write_zarr(tmp_path / "out" / ".making-out.zarr" / "before", [make_values((4, 4, 4))])

    def stop(progress):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        resample_zarr(big / "big.zarr", tmp_path / "out" / "out.zarr", devices=["host"], progress=stop)
    assert os.listdir(tmp_path / "out") == ["out.zarr"]
    assert (gr.read_image(tmp_path / "out" / "out.zarr").array == make_values((4, 4, 4))).all()


def test_a_cohort_of_levels(tmp_path, heads):
    """A table names levels as the command does."""
    names = []
    for name, image in zip(("fixed", "moving"), heads):
        scale, origin = image.spacing[::-1], image.origin[::-1]
        levels = [np.zeros((8, 8, 8), np.float32), image.array]
        path = write_zarr(tmp_path / f"{name}.zarr", levels, unit="millimeter", scale=scale / 2, translation=origin - scale / 4)
        names.append(f"{path.name}#1")
    (tmp_path / "pairs.csv").write_text(f"fixed,moving\n{','.join(names)}\n")
    made = register_cohort(tmp_path / "pairs.csv", tmp_path / "results", devices=["host"])
    assert made.failed == [] and made.done_now == 1
    warped = gr.read_image(tmp_path / "results" / "0001" / "warped.nii.gz")
    assert (warped.array == gr.register(*heads, device="host").warped.array).all()
    # It is done, and known to be.
    assert register_cohort(tmp_path / "pairs.csv", tmp_path / "results", devices=["host"]).done_now == 0


def test_progress_and_its_end(big, tmp_path):
    reported = []
    made = resample_zarr(big / "big.zarr", tmp_path / "out" / "out.zarr", memory=3_000_000, chunk=[8], devices=["host"], progress=reported.append)
    assert [one.done for one in reported if one.done] == list(range(1, made.blocks + 1))
    assert {one.blocks for one in reported} == {made.blocks} and reported[-1].level == reported[-1].levels - 1
    assert len(made.parts) == len(made.levels) and sum(level["whole"] for level in made.parts) < made.seconds
    for level in made.parts:
        assert list(level) == ["whole", "read", "compute", "write"] and 0 <= level["compute"] <= level["whole"]
        assert 0 < level["read"] < 3 * level["whole"] and 0 < level["write"] < 3 * level["whole"]

    def stop(progress):
        if progress.done == 3:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        resample_zarr(big / "big.zarr", tmp_path / "out" / "new.zarr", memory=3_000_000, chunk=[8], devices=["host"], progress=stop)
    assert os.listdir(tmp_path / "out") == ["out.zarr"]


def test_a_block_of_nothing_is_not_stored(tmp_path):
    """Zarr has no file for chunks of zeros."""
    write_zarr(tmp_path / "in.zarr", [make_values((16, 16, 16))])
    away = gr.Affine(np.eye(3), [1.0, 0.0, 0.0])
    resample_zarr(tmp_path / "in.zarr", tmp_path / "out.zarr", away, memory=3_000_000, chunk=[8], devices=["host"])
    assert not read(tmp_path / "out.zarr").any() and os.listdir(tmp_path / "out.zarr" / "0") == ["zarr.json"]
