# SPDX-License-Identifier: Apache-2.0
"""Tests that large files are read and written by chunks, several at a time, as small ones are as a whole."""

import os

import gpuregistration as gr
import numpy as np
import pytest
from gpuregistration import _chunks


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr(_chunks, "_CHUNK", 1000)


def volume(shape=(23, 29, 31), dtype=np.uint16):
    return gr.Image(np.random.default_rng(3).integers(0, 200, shape).astype(dtype), (1.0, 1.5, 2.0))


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
def test_what_is_written_is_read(tmp_path, monkeypatch, dtype):
    image = volume(dtype=dtype)
    assert _chunks.is_large(image.array.nbytes)
    gr.write_image(tmp_path / "chunks.nii", image)
    np.testing.assert_array_equal(gr.read_image(tmp_path / "chunks.nii").array, image.array)
    monkeypatch.setattr(_chunks, "_CHUNK", 1 << 25)
    assert not _chunks.is_large(image.array.nbytes)
    gr.write_image(tmp_path / "whole.nii", image)
    assert (tmp_path / "whole.nii").read_bytes() == (tmp_path / "chunks.nii").read_bytes()
    np.testing.assert_array_equal(gr.read_image(tmp_path / "chunks.nii").array, image.array)


def test_a_file_that_is_cut_off_is_reported(tmp_path):
    path = tmp_path / "volume.nii"
    gr.write_image(path, volume())
    with open(path, "r+b") as file:
        file.truncate(20_000)
    with pytest.raises(gr.BadInputError, match="cut off"):
        gr.read_image(path)


def test_bytes_behind_the_values_are_reported(tmp_path):
    path = tmp_path / "volume.nii"
    gr.write_image(path, volume())
    with open(path, "ab") as file:
        file.write(b"more")
    with pytest.warns(gr.InputWarning, match="4 bytes behind the last value"):
        np.testing.assert_array_equal(gr.read_image(path).array, volume().array)


def test_chunks_end_where_the_file_does(tmp_path):
    path = tmp_path / "bytes"
    content = np.random.default_rng(1).integers(0, 256, 10_321).astype(np.uint8).tobytes()
    path.write_bytes(content)
    target = bytearray(20_000)
    assert _chunks.read_chunks(path, 321, memoryview(target)) == 10_000
    assert target[:10_000] == content[321:]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no full disk")
def test_a_full_disk_is_reported():
    with open("/dev/full", "wb") as file, pytest.raises(OSError, match="No space left"):
        _chunks.write_chunks(file.fileno(), 0, memoryview(bytes(10_000)))
