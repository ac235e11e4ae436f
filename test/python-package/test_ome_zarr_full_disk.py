# SPDX-License-Identifier: Apache-2.0
"""Tests OME-Zarrs on a disk that is full at each of their parts: the output that was there stays as it was, and nothing else is left."""

import errno
import os
from pathlib import Path

import pytest

zarr = pytest.importorskip("zarr", minversion="3")

import gpuregistration as gr  # noqa: E402
from full_disk import fill_disk_at  # noqa: E402
from gpuregistration.command.errors import one_line  # noqa: E402
from gpuregistration.ome_zarr import blocks, output, resample, resample_zarr, work  # noqa: E402
from zarr_data import contents_of, make_values, write_zarr  # noqa: E402

# Eight blocks of the finest level, and one of the coarser one, each of 8 kB.
SETTINGS = {"memory": 3_000_000, "chunk": [16], "devices": ["host"]}


@pytest.fixture
def big(tmp_path):
    write_zarr(tmp_path / "big.zarr", [make_values((32, 32, 32))])
    return tmp_path / "big.zarr"


@pytest.fixture(params=["new", "old"])
def out(tmp_path, request):
    """The name of an output; of one that is there, or of none."""
    (tmp_path / "out").mkdir()
    if request.param == "old":
        write_zarr(tmp_path / "out" / "out.zarr", [make_values((4, 4, 4))], "0.5")
    return tmp_path / "out" / "out.zarr"


def assert_ends_as_it_began(image, out, match, **more):
    """Asserts that an error names the output, that the folder is as it was, and that the same call makes the output later."""
    before = contents_of(out.parent), os.listdir(out.parent)
    with pytest.raises(OSError, match=match) as caught:
        resample_zarr(image, out, **SETTINGS, **more)
    assert str(out) in one_line(caught.value) and ".making" not in one_line(caught.value)
    assert (contents_of(out.parent), os.listdir(out.parent)) == before


def assert_is_made(big, out):
    made = resample_zarr(big, out, **SETTINGS)
    assert os.listdir(out.parent) == ["out.zarr"] and made.levels == [(32, 32, 32), (16, 16, 16)]
    assert (zarr.open_array(str(out / "0"), mode="r")[...] == make_values((32, 32, 32))).all()
    assert zarr.open_array(str(out / "1"), mode="r")[...].all()


@pytest.mark.parametrize(
    "owner, name, size",
    [(resample, "create", 100), (blocks.ResampleJob, "write", 1000), (blocks.ShrinkJob, "write", 1000)],
    ids=["metadata", "finest level", "coarser level"],
)
def test_what_was_there_stays(big, out, monkeypatch, owner, name, size):
    with monkeypatch.context() as full:
        fill_disk_at(full, owner, name, size)
        assert_ends_as_it_began(big, out, "out.zarr cannot be written: File too large")
    assert_is_made(big, out)


def test_a_lock_that_cannot_be_made(big, out, monkeypatch):
    """As on a disk without room for another file."""

    def fail(name, *_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(name))

    before = os.listdir(out.parent)
    with monkeypatch.context() as full:
        full.setattr(output, "open", fail, raising=False)
        with pytest.raises(OSError, match="No space left on device"):
            resample_zarr(big, out, **SETTINGS)
    assert os.listdir(out.parent) == before
    assert_is_made(big, out)


@pytest.mark.parametrize("room", [10_000, 65_600])
def test_an_image_whose_values_do_not_fit(out, monkeypatch, room):
    """Several workers read them from a file, of 65,664 bytes."""
    image = gr.Image(make_values((32, 32, 32)))
    with monkeypatch.context() as full:
        fill_disk_at(full, work.Work, "prepare", room)
        assert_ends_as_it_began(image, out, "out.zarr cannot be written: File too large", workers_per_device=2)
    assert_is_made(image, out)


@pytest.mark.parametrize("out, failing", [("new", 1), ("old", 1), ("old", 2)], indirect=["out"])
def test_a_name_that_is_not_given(big, out, monkeypatch, failing):
    """The first renaming puts away what was there, and a new one gives the name."""
    rename, targets = os.rename, []

    def rename_or_fail(source, target):
        targets.append(Path(target).name)
        if len(targets) == failing:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(source), None, str(target))
        rename(source, target)

    with monkeypatch.context() as full:
        full.setattr("gpuregistration.ome_zarr.output.os.rename", rename_or_fail)
        assert_ends_as_it_began(big, out, "No space left on device")
    assert targets == (["before", "out.zarr", "out.zarr"] if failing == 2 else ["before"] if out.exists() else ["out.zarr"])
    assert_is_made(big, out)
