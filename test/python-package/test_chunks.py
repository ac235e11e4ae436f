# SPDX-License-Identifier: Apache-2.0
"""Tests that large files are read and written by chunks, several at a time, as small ones are as a whole."""

import errno
import os
import tracemalloc

import gpuregistration as gr
import numpy as np
import pytest
from conftest import turn
from gpuregistration import _chunks, _nifti_write, _unpack
from gpuregistration._kinds import to_nibabel, to_simpleitk
from nifti_files import write_nifti

sitk = pytest.importorskip("SimpleITK")


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


def planes(kind, dimension, components):
    """An image whose axes are at angles."""
    shape = (23, 29, 31)[-dimension:] if dimension == 3 else (123, 131)
    turned = turn(30.0, dimension)
    values = np.random.default_rng(3).integers(0, 200, (*shape, *([components] if components > 1 else []))).astype(kind)
    return gr.Image(values, (1.0 / 3.0, 1.5, 2.0)[:dimension], (-7.1, 8.0, 1e-3)[:dimension], turned, components > 1)


@pytest.mark.parametrize("suffix", [".nii", ".nii.gz"])
@pytest.mark.parametrize("dimension, components", [(3, 3), (3, 2), (2, 2), (2, 5)])
@pytest.mark.parametrize("kind", ["uint8", "float32", "float64"])
def test_vectors(tmp_path, monkeypatch, suffix, dimension, components, kind):
    """NIfTI has all voxels' first components, then the second ones."""
    image = planes(kind, dimension, components)
    monkeypatch.setattr(_unpack, "_VECTORS", 100)
    written = []
    monkeypatch.setattr(_nifti_write, "write_components", lambda *words: written.append(_chunks.write_components(*words)))
    gr.write_image(tmp_path / f"chunks{suffix}", image)
    assert len(written) == (suffix == ".nii")
    chunks = gr.read_image(tmp_path / f"chunks{suffix}")
    assert chunks.array.flags.c_contiguous and chunks.is_vector
    np.testing.assert_array_equal(chunks.array, image.array)
    monkeypatch.setattr(_chunks, "_CHUNK", 1 << 25)
    gr.write_image(tmp_path / f"whole{suffix}", image)
    assert len(written) == (suffix == ".nii")
    assert (tmp_path / f"whole{suffix}").read_bytes() == (tmp_path / f"chunks{suffix}").read_bytes()
    np.testing.assert_array_equal(gr.read_image(tmp_path / f"chunks{suffix}").array, image.array)
    theirs = np.asarray(pytest.importorskip("nibabel").load(tmp_path / f"chunks{suffix}").dataobj)
    np.testing.assert_array_equal(theirs, np.asarray(to_nibabel(image).dataobj))


@pytest.mark.parametrize("suffix", [".nii", ".nii.gz"])
@pytest.mark.parametrize("order", "<>")
def test_vectors_that_others_wrote(tmp_path, suffix, order):
    values = np.random.default_rng(3).normal(size=(31, 29, 23, 1, 3)).astype(np.float32)
    path = write_nifti(tmp_path / f"a{suffix}", values, order)
    assert _chunks.is_large(values.nbytes)
    read = gr.read_image(path)
    assert read.array.dtype.isnative and (read.array == np.moveaxis(values[:, :, :, 0].T, 0, -1)).all()


@pytest.mark.parametrize("cut", [1, 7, 23 * 29 * 31, 3 * 23 * 29 * 31 - 5])
def test_vectors_that_are_cut_off(tmp_path, cut):
    path = tmp_path / "a.nii"
    gr.write_image(path, planes("float32", 3, 3))
    whole = path.stat().st_size
    os.truncate(path, whole - 4 * cut)
    with pytest.raises(gr.BadInputError, match=f"a.nii is cut off: it is to hold {whole} bytes"):
        gr.read_image(path)
    gr.write_image(path, planes("float32", 3, 3))
    with open(path, "ab") as file:
        file.write(b"more")
    with pytest.warns(gr.InputWarning, match="4 bytes behind the last value"):
        np.testing.assert_array_equal(gr.read_image(path).array, planes("float32", 3, 3).array)


@pytest.mark.parametrize("suffix", [".nii", ".nii.gz"])
def test_vectors_are_in_memory_once(tmp_path, monkeypatch, suffix):
    monkeypatch.setattr(_chunks, "_CHUNK", 1 << 16)
    monkeypatch.setattr(_unpack, "_VECTORS", 1 << 16)
    monkeypatch.setattr(_unpack, "_AHEAD", 1 << 16)
    values = np.random.default_rng(3).integers(0, 9, (100, 110, 120, 3)).astype(np.float32)
    path = tmp_path / f"a{suffix}"
    gr.write_image(path, gr.Image(values[:9, :9, :9], is_vector=True))
    gr.read_image(path)
    for done in (lambda: gr.write_image(path, gr.Image(values, is_vector=True)), lambda: gr.read_image(path)):
        tracemalloc.start()
        try:
            made = done()
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        # Some chunks at a time, and of the image that was read all values.
        assert peak < (0 if made is None else values.nbytes) + 0.5 * values.nbytes
    np.testing.assert_array_equal(made.array, values)


def refuse(*args):
    raise AssertionError("SimpleITK is not to read or write it.")


@pytest.fixture
def without_simpleitk(monkeypatch):
    """SimpleITK reads and writes no values."""
    monkeypatch.setattr("gpuregistration._files.read_by_simpleitk", refuse)
    monkeypatch.setattr("gpuregistration._files.image_to_simpleitk", refuse)


def assert_same(read, wanted):
    assert read.array.dtype == wanted.array.dtype and read.is_vector == wanted.is_vector
    np.testing.assert_array_equal(read.array, wanted.array)
    for name in ("spacing", "origin", "direction"):
        np.testing.assert_array_equal(getattr(read, name), getattr(wanted, name))


@pytest.mark.parametrize("name", ["a.mha", "a.mhd", "a.nrrd", "a.nhdr", "A.MHA"])
@pytest.mark.parametrize("kind, dimension, components", [("uint8", 3, 1), ("int16", 3, 1), ("float32", 2, 1), ("float64", 3, 3), ("uint8", 2, 3), ("uint32", 3, 1)])
def test_simpleitks_formats(tmp_path, monkeypatch, name, kind, dimension, components):
    """Chunks make SimpleITK's bytes, and are read as SimpleITK reads them."""
    image = planes(kind, dimension, components)
    (tmp_path / "itk").mkdir()
    lower = tmp_path / "itk" / name.lower()
    sitk.WriteImage(to_simpleitk(image), str(lower))
    with monkeypatch.context() as patched:
        patched.setattr("gpuregistration._files.image_to_simpleitk", refuse)
        gr.write_image(tmp_path / name, image)
    for path in (tmp_path / "itk").iterdir():
        made = tmp_path / (path.name if path.suffix == ".raw" else name)
        assert made.read_bytes() == path.read_bytes(), path
    assert len(list(tmp_path.iterdir())) == 1 + len(list((tmp_path / "itk").iterdir()))
    wanted = gr._kinds.read_image(sitk.ReadImage(str(lower)), "")[0]
    with monkeypatch.context() as patched:
        # NRRD's components may be along any axis.
        if components == 1 or "n" not in name:
            patched.setattr("gpuregistration._files.read_by_simpleitk", refuse)
        assert_same(gr.read_image(tmp_path / name), wanted)


@pytest.mark.parametrize("name", ["a.mha", "a.mhd"])
def test_packed_metaimages(tmp_path, without_simpleitk, deflate_library, name):
    image = planes("uint16", 3, 1)
    sitk.WriteImage(to_simpleitk(image), str(tmp_path / name), useCompression=True)
    assert_same(gr.read_image(tmp_path / name), image)
    holder = tmp_path / ("a.mha" if name == "a.mha" else "a.zraw")
    content = bytearray(holder.read_bytes())
    content[-1] ^= 1
    holder.write_bytes(content)
    with pytest.raises(gr.BadInputError, match=f"{holder.name} is damaged: its values cannot be unpacked"):
        gr.read_image(tmp_path / name)


@pytest.mark.parametrize("name", ["a.mha", "a.mhd", "a.nrrd", "a.nhdr"])
def test_simpleitks_formats_that_are_cut_off(tmp_path, name):
    gr.write_image(tmp_path / name, volume())
    holder = tmp_path / "a.raw" if name in ("a.mhd", "a.nhdr") else tmp_path / name
    whole = holder.stat().st_size
    os.truncate(holder, whole - 1)
    with pytest.raises(gr.BadInputError, match=f"{holder.name} is cut off: it is to hold {whole} bytes"):
        gr.read_image(tmp_path / name)


@pytest.mark.parametrize(
    "line, more, order",
    [("BinaryDataByteOrderMSB = True", b"", ">"), ("ElementByteOrderMSB = True", b"", ">"), ("HeaderSize = -1", b"more", "<"), ("HeaderSize = 4", b"more", "<")],
)
def test_metaimages_that_simpleitk_reads(tmp_path, line, more, order):
    """Their values are not as in memory, or are elsewhere."""
    values = volume().array
    (tmp_path / "a.raw").write_bytes(more + values.astype(f"{order}u2").tobytes())
    lines = ["ObjectType = Image", "NDims = 3", "DimSize = 31 29 23", line, "ElementType = MET_USHORT", "ElementDataFile = a.raw", ""]
    (tmp_path / "a.mhd").write_text("\n".join(lines))
    np.testing.assert_array_equal(gr.read_image(tmp_path / "a.mhd").array, values)


@pytest.mark.parametrize("line, more, order", [("endian: big", b"", ">"), ("endian: little\nbyte skip: 4", b"more", "<"), ("endian: little\nline skip: 1", b"a\n", "<")])
def test_nrrds_that_simpleitk_reads(tmp_path, line, more, order):
    values = volume().array
    header = f"NRRD0004\ntype: ushort\ndimension: 3\nsizes: 31 29 23\nencoding: raw\n{line}\n\n"
    (tmp_path / "a.nrrd").write_bytes(header.encode() + more + values.astype(f"{order}u2").tobytes())
    np.testing.assert_array_equal(gr.read_image(tmp_path / "a.nrrd").array, values)


def test_a_long_header_of_nrrd(tmp_path):
    values = volume(dtype=np.uint8).array
    lines = ["NRRD0004", "type: uchar", "dimension: 3", "sizes: 31 29 23", "encoding: raw", *(f"key{n}:={'x' * 80}" for n in range(1000)), "", ""]
    (tmp_path / "a.nrrd").write_bytes("\n".join(lines).encode() + values.tobytes())
    np.testing.assert_array_equal(gr.read_image(tmp_path / "a.nrrd").array, values)


@pytest.mark.parametrize("name", ["a.mha", "a.nrrd"])
def test_spacings_below_zero(tmp_path, monkeypatch, name):
    values = volume(dtype=np.uint8).array
    header = "NRRD0004\ntype: uchar\ndimension: 3\nsizes: 31 29 23\nspacings: -1 2 3\nencoding: raw\n\n"
    if name == "a.mha":
        lines = ["ObjectType = Image", "NDims = 3", "DimSize = 31 29 23", "ElementSpacing = -1 2 3", "ElementType = MET_UCHAR", "ElementDataFile = LOCAL", ""]
        header = "\n".join(lines)
    (tmp_path / name).write_bytes(header.encode() + values.tobytes())
    read = gr.read_image(tmp_path / name)
    monkeypatch.undo()
    assert_same(read, gr.read_image(tmp_path / name))
    np.testing.assert_array_equal(read.spacing, [1, 2, 3])


def test_units_of_nrrd(tmp_path, without_simpleitk):
    text = 'NRRD0004\ntype: uchar\ndimension: 3\nspace dimension: 3\nsizes: 31 29 23\nspace directions: (2,0,0) (0,3,0) (0,0,4)\nspace origin: (5,6,7)\n'
    text += 'space units: "um" "um" "um"\nencoding: raw\n\n'
    (tmp_path / "a.nrrd").write_bytes(text.encode() + volume(dtype=np.uint8).array.tobytes())
    read = gr.read_image(tmp_path / "a.nrrd")
    np.testing.assert_allclose(read.spacing, [0.002, 0.003, 0.004], rtol=1e-15)
    np.testing.assert_allclose(read.origin, [0.005, 0.006, 0.007], rtol=1e-15)
    np.testing.assert_array_equal(read.array, volume(dtype=np.uint8).array)


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


@pytest.mark.parametrize("name", ["a.nii", "a.mha", "a.mhd", "a.nrrd", "a.nhdr"])
@pytest.mark.parametrize("components", [1, 3])
def test_a_full_disk_leaves_what_was_there(tmp_path, monkeypatch, name, components):
    def fail(file, begin, source):
        os.pwrite(file, bytes(source[:100]), begin)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    gr.write_image(tmp_path / name, volume(dtype=np.uint8))
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    for module in ("_large_files", "_nifti_write"):
        monkeypatch.setattr(f"gpuregistration.{module}.write_chunks", fail)
    monkeypatch.setattr("gpuregistration._nifti_write.write_components", fail)
    with pytest.raises(OSError, match=f"The file {tmp_path}/{name} cannot be written: No space left"):
        gr.write_image(tmp_path / name, planes("uint16", 3, components))
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
