# SPDX-License-Identifier: Apache-2.0
"""Tests the command's files: which it reads, which it refuses, and what a full disk leaves."""

import errno
import gzip
import os
import resource
import shlex
import shutil
import zlib

import gpuregistration as gr
import numpy as np
import pytest
from command_line import assert_fails, gpureg, gpureg_json, run_process
from gpuregistration.cohort.folder import locked

sitk = pytest.importorskip("SimpleITK")
nibabel_main = pytest.importorskip("nibabel.cmdline.roi").main


@pytest.mark.parametrize("suffix", [".nii", ".nii.gz", ".mha", ".mhd", ".nrrd", ".nhdr"])
def test_every_format_goes_round(head_files, heads, tmp_path, capfd, suffix):
    gpureg_json(capfd, "apply", head_files.fixed, "-o", tmp_path / f"o{suffix}")
    read = gr.read_image(tmp_path / f"o{suffix}")
    assert (read.array == heads[0].array).all() and read.has_grid_of(heads[0])
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_compressed_by_threads_is_one_member_of_gzip(tmp_path, rng, deflate_library):
    image = gr.Image(rng.integers(0, 60, (90, 180, 200), dtype=np.int16))
    gr.write_image(tmp_path / "o.nii.gz", image)
    packed = (tmp_path / "o.nii.gz").read_bytes()
    work = zlib.decompressobj(zlib.MAX_WBITS | 16)
    content = work.decompress(packed)
    assert work.eof and work.unused_data == b"" and content[352:] == image.array.tobytes()


def test_existing_files_are_replaced_and_links_stay(head_files, tmp_path, capfd):
    (tmp_path / "real.nii.gz").write_text("old")
    (tmp_path / "link.nii.gz").symlink_to(tmp_path / "real.nii.gz")
    gpureg_json(capfd, "apply", head_files.fixed, "-o", tmp_path / "link.nii.gz")
    assert (tmp_path / "link.nii.gz").is_symlink() and gr.read_image(tmp_path / "real.nii.gz").dimension == 3


@pytest.mark.parametrize(
    "content, name, part",
    [
        (None, "none.nii.gz", "There is no file"),
        (b"no image", "text.nii.gz", "no image that can be read"),
        (b"", "empty.mha", "no image that can be read"),
    ],
)
def test_unreadable_images(head_files, tmp_path, capfd, content, name, part):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    words = ("-o", tmp_path / "o.nii", "--quiet")
    assert_fails(capfd, 1, part, tmp_path / name, None, "register", tmp_path / name, head_files.moving, *words)
    assert_fails(capfd, 1, part, tmp_path / name, None, "register", head_files.fixed, tmp_path / name, *words)
    assert_fails(capfd, 1, part, tmp_path / name, None, "apply", tmp_path / name, *words)
    assert not (tmp_path / "o.nii").exists()


@pytest.mark.parametrize("suffix, values", [(".nii", ".nii"), (".nii.gz", ".nii.gz"), (".hdr", ".img"), (".mha", ".mha"), (".nrrd", ".nrrd")])
def test_images_that_are_cut_off(head_files, heads, tmp_path, capfd, suffix, values):
    gr.write_image(tmp_path / f"a{suffix}", heads[0])
    assert gr.read_image(tmp_path / f"a{suffix}").array[-1, -1, -1] == heads[0].array[-1, -1, -1]
    os.truncate(tmp_path / f"a{values}", (tmp_path / f"a{values}").stat().st_size - 9)
    with pytest.raises(gr.BadInputError):
        gr.read_image(tmp_path / f"a{suffix}")
    assert_fails(capfd, 1, tmp_path / "a", None, "compare", tmp_path / f"a{suffix}", head_files.fixed)


@pytest.mark.parametrize("suffix, values", [(".mha", ".mha"), (".mhd", ".raw"), (".mhd", ".zraw")])
def test_metaimages_that_are_cut_off(heads, tmp_path, capfd, suffix, values):
    vectors = gr.Image(np.random.default_rng(1).normal(size=(9, 8, 7, 3)), is_vector=True)
    for name, image in (("one", heads[0]), ("vectors", vectors)):
        path, holder = tmp_path / f"{name}{suffix}", tmp_path / f"{name}{values}"
        sitk.WriteImage(gr._kinds.to_simpleitk(image), str(path), useCompression=values == ".zraw")
        whole = holder.stat().st_size
        for size in (whole - 1, whole // 2):
            os.truncate(holder, size)
            words = f"{holder} is cut off: it is to hold {whole} bytes"
            with pytest.raises(gr.BadInputError, match=words):
                gr.read_image(path)
            assert_fails(capfd, 1, words, "Copy it again", None, "apply", path, "-o", tmp_path / "o.nii")
    if holder != path:
        # There is no extension to remove.
        holder.unlink()
        with pytest.raises(gr.BadInputError, match="no image that can be read"):
            gr.read_image(path)


@pytest.mark.parametrize("suffix, values", [(".mha", ".mha"), (".mhd", ".zraw")])
def test_packed_metaimages_that_are_damaged(heads, tmp_path, suffix, values):
    path, holder = tmp_path / f"one{suffix}", tmp_path / f"one{values}"
    sitk.WriteImage(gr._kinds.to_simpleitk(heads[0]), str(path), useCompression=True)
    assert (gr.read_image(path).array == heads[0].array).all()
    content = bytearray(holder.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 64] = bytes(64)
    holder.write_bytes(content)
    with pytest.raises(gr.BadInputError, match=f"{holder.name} is damaged: its values cannot be unpacked"):
        gr.read_image(path)


VALUES = np.arange(3000, dtype=np.float32).reshape(10, 15, 20)


def write_metaimage(path, values, *lines, kind="NDims = 3\nDimSize = 20 15 10"):
    path.write_bytes("\n".join(["ObjectType = Image", kind, "ElementType = MET_FLOAT", *lines, ""]).encode() + values)
    return path


@pytest.mark.parametrize("pack", [zlib.compress, gzip.compress, lambda values: zlib.compress(values + b"more")])
@pytest.mark.parametrize("blank", ["", " "])
@pytest.mark.parametrize("value", [" = True", " = true", " = 1", " = T", ": True"])
def test_packed_metaimages_however_they_are_written(tmp_path, pack, value, blank):
    packed, key = pack(VALUES.tobytes()), f"{blank}CompressedData{value}"
    size = f"CompressedDataSize = {len(packed)}"
    for line in ("ElementDataFile = LOCAL", " ElementDataFile : Local "):
        path = write_metaimage(tmp_path / "a.mha", packed, key, size, line)
        assert (gr.read_image(path).array == VALUES).all()
        os.truncate(path, path.stat().st_size - 9)
        with pytest.raises(gr.BadInputError, match="a.mha is cut off"):
            gr.read_image(path)
    (tmp_path / "x.raw.gz").write_bytes(packed)
    for name in ("ElementDataFile = x.raw.gz", " ElementDataFile: x.raw.gz"):
        path = write_metaimage(tmp_path / "a.mhd", b"", key, name)
        assert (gr.read_image(path).array == VALUES).all()
    (tmp_path / "x.raw.gz").write_bytes(pack(VALUES.tobytes()[:7000]))
    with pytest.raises(gr.BadInputError, match="x.raw.gz is damaged"):
        gr.read_image(path)


def test_values_that_begin_with_blanks(tmp_path):
    """Blanks at the beginning of the values do not belong to the header."""
    values = np.frombuffer(b"\n \t\n" * 3000, np.float32).reshape(10, 15, 20)
    path = write_metaimage(tmp_path / "a.mha", values.tobytes(), "ElementDataFile = LOCAL")
    assert (gr.read_image(path).array == values).all()


@pytest.mark.parametrize("size", [(), ("CompressedDataSize = 0",)])
@pytest.mark.parametrize("suffix", [".mha", ".mhd"])
def test_packed_metaimages_whose_size_is_not_known(tmp_path, suffix, size):
    packed = zlib.compress(VALUES.tobytes())
    path = write_metaimage(tmp_path / f"a{suffix}", packed, "CompressedData = True", *size, "ElementDataFile = local")
    with pytest.raises(gr.BadInputError, match=f"a{suffix} is packed, and its header lacks CompressedDataSize.* Write it again"):
        gr.read_image(path)


@pytest.mark.parametrize("kind", ["NDims = 1\nDimSize = 3000", "NDims = 6\nDimSize = 20 15 10 1 1 1"])
def test_metaimages_of_other_dimensions(tmp_path, kind):
    path = write_metaimage(tmp_path / "a.mha", VALUES.tobytes(), "ElementDataFile = LOCAL", kind=kind)
    with pytest.raises(gr.BadInputError, match="a.mha is no image that can be read"):
        gr.read_image(path)


def test_metaimages_with_another_header(tmp_path):
    for size, more in ((0, b""), (5, b"other"), (-1, b"another")):
        (tmp_path / "x.raw").write_bytes(more + VALUES.tobytes())
        path = write_metaimage(tmp_path / "a.mhd", b"", f"HeaderSize = {size}", "ElementDataFile = x.raw")
        assert (gr.read_image(path).array == VALUES).all()
    path = write_metaimage(tmp_path / "a.mha", VALUES.tobytes()[:-9], "HeaderSize = 0", "ElementDataFile = LOCAL")
    with pytest.raises(gr.BadInputError, match="a.mha is cut off"):
        gr.read_image(path)


def test_parts_of_a_metaimage_however_they_are_named(tmp_path):
    (tmp_path / "x.raw").write_bytes(VALUES.tobytes())
    path = write_metaimage(tmp_path / "a.mhd", b"", " ElementDataFile: x.raw")
    assert gr._parts.parts_that_are_read(str(path)) == [path, tmp_path / "x.raw"]


def test_metaimages_of_text(tmp_path):
    (tmp_path / "text.mha").write_text(
        "ObjectType = Image\nNDims = 2\nBinaryData = False\nDimSize = 3 2\nElementType = MET_FLOAT\nElementDataFile = LOCAL\n"
        "1 2 3 4 5 6\n"
    )
    assert gr.read_image(tmp_path / "text.mha").array.tolist() == [[1, 2, 3], [4, 5, 6]]


def test_gzip_of_several_members_is_whole(head_files, heads, tmp_path, deflate_library):
    content = gzip.decompress(head_files.fixed.read_bytes())
    (tmp_path / "a.nii.gz").write_bytes(gzip.compress(content[:99999]) + gzip.compress(content[99999:]))
    assert (gr.read_image(tmp_path / "a.nii.gz").array == heads[0].array).all()


def test_images_that_do_not_fit(head_files, tmp_path, capfd):
    words = ("-o", tmp_path / "o.nii", "--quiet")
    gr.write_image(tmp_path / "flat.mha", gr.Image(np.arange(64.0).reshape(8, 8)))
    assert_fails(
        capfd, 1, "3 dimensions and", "flat.mha 2", None, "register", head_files.fixed, tmp_path / "flat.mha", *words
    )
    sitk.WriteImage(sitk.Image([6, 6, 6, 3], sitk.sitkFloat32), str(tmp_path / "series.nii"))
    assert_fails(
        capfd, 1, "series.nii", "4 dimensions", "Give one volume", None, "register", tmp_path / "series.nii", head_files.moving, *words
    )
    make_one = ("nib-roi", "-t", "0:1", str(tmp_path / "series.nii"), "volume.nii.gz")
    assert_fails(capfd, 1, f"as {shlex.join(make_one)} makes", None, "register", tmp_path / "series.nii", head_files.moving, *words)
    nibabel_main(make_one[1:-1] + (str(tmp_path / "volume.nii.gz"),))
    assert gr.read_image(tmp_path / "volume.nii.gz").shape == (6, 6, 6)
    sitk.WriteImage(sitk.Image([6, 6, 6], sitk.sitkVectorFloat32, 2), str(tmp_path / "pairs.mha"))
    assert_fails(capfd, 1, "pairs.mha", "2 components", None, "register", tmp_path / "pairs.mha", head_files.moving, *words)
    gr.write_image(tmp_path / "flat.nii", gr.Image(np.full((9, 9, 9), 3.0)))
    assert_fails(capfd, 1, f"The file {tmp_path}/flat.nii is constant", None, "register", head_files.fixed, tmp_path / "flat.nii", *words)
    hole = np.arange(729.0).reshape(9, 9, 9)
    hole[4, 4, 4] = np.nan
    gr.write_image(tmp_path / "nan.mha", gr.Image(hole))
    words = ("register", head_files.fixed, tmp_path / "nan.mha", *words)
    assert_fails(capfd, 1, f"The file {tmp_path}/nan.mha has 1 value that is", "at voxel (4, 4, 4)", None, *words)


def test_a_hint_of_names_with_blanks_is_a_command(head_files, tmp_path, capfd):
    (tmp_path / "a b").mkdir()
    mask, fixed = tmp_path / "a b" / "m 1.nii", tmp_path / "a b" / "f 1.nii.gz"
    gr.write_image(mask, gr.Image(np.ones((9, 9, 9), np.uint8), [8.0] * 3, [-35.0] * 3))
    shutil.copy(head_files.fixed, fixed)
    words = ("register", fixed, head_files.moving, "-o", tmp_path / "o.nii", "--quiet", "--mask", mask)
    code, _, err = gpureg(capfd, *words)
    assert code == 1
    command = shlex.split(err.partition("fits: ")[2])
    assert command[0] == "gpureg"
    made = tmp_path / "a b" / "fits.nii.gz"
    gpureg_json(capfd, *[str(made) if word == "NEW.nii.gz" else word for word in command[1:]])
    assert gpureg(capfd, *words[:-1], made)[0] == 0


def test_masks_that_do_not_fit(head_files, tmp_path, capfd):
    words = ("register", head_files.fixed, head_files.moving, "-o", tmp_path / "o.nii", "--quiet")
    gr.write_image(tmp_path / "m.nii", gr.Image(np.ones((9, 9, 9), np.uint8), [8.0] * 3, [-35.0] * 3))
    hint = f"gpureg apply {tmp_path}/m.nii --reference {head_files.fixed} --interpolation nearest -o "
    assert_fails(capfd, 1, "is on another grid than", hint, None, *words, "--mask", tmp_path / "m.nii")
    assert_fails(capfd, 1, "is on another grid than", "moving.nii.gz", None, *words, "--moving-mask", tmp_path / "m.nii")
    # The advice works.
    reference = ("--reference", head_files.fixed, "--interpolation", "nearest")
    gpureg_json(capfd, "apply", tmp_path / "m.nii", *reference, "-o", tmp_path / "fits.nii.gz")
    gpureg_json(capfd, *words[:-1], "--mask", tmp_path / "fits.nii.gz")
    fixed = gr.read_image(head_files.fixed)
    gr.write_image(tmp_path / "none.nii", fixed.like(np.zeros(fixed.array.shape, np.uint8)))
    assert_fails(capfd, 1, "No voxel of the fixed image is inside", None, *words, "--mask", tmp_path / "none.nii")


def test_initial_that_does_not_fit(head_files, tmp_path, capfd):
    words = ("register", head_files.fixed, head_files.moving, "-o", tmp_path / "o.nii", "--quiet", "--initial")
    gr.write_transform(tmp_path / "flat.tfm", gr.Affine(np.eye(2)))
    gr.write_transform(tmp_path / "bent.tfm", gr.BSpline(np.zeros((5, 5, 5, 3))))
    (tmp_path / "text.tfm").write_text("nothing")
    assert_fails(capfd, 1, "flat.tfm is a transform of 2 dimensions", None, *words, tmp_path / "flat.tfm")
    assert_fails(capfd, 1, "is not linear", None, *words, tmp_path / "bent.tfm")
    assert_fails(capfd, 1, "text.tfm is no transform", None, *words, tmp_path / "text.tfm")
    assert_fails(capfd, 1, "There is no file", None, *words, tmp_path / "none.tfm")


def test_outputs_that_cannot_be(head_files, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    shutil.copy(head_files.fixed, "f.nii.gz")
    words = ("register", "f.nii.gz", head_files.moving, "--quiet")
    for code, part, more in (
        (2, "there is nothing to write", ()),
        (2, "o.jpeg is no name of an image", ("-o", "o.jpeg")),
        (2, "/dev/full is no name of an image", ("-o", "/dev/full")),
        (2, "t.xyz is no name of a transform", ("--output-transform", "t.xyz")),
        (2, "f.tfm is no name of an image of displacements", ("--output-field", "f.tfm")),
        (2, "r.pdf is no name of a report", ("--report", "r.pdf")),
        (2, "t.mat: a .mat holds no deformation", ("--output-transform", "t.mat", "--transform", "ffd")),
        (2, "f.nii.gz is read, and would be replaced", ("-o", "./f.nii.gz")),
        (2, "two outputs at once", ("-o", "o.nii", "--output-field", "./o.nii")),
        (1, "no folder", ("-o", "none/o.nii")),
        (1, "is a folder", ("-o", "o.nii")),
    ):
        if part == "is a folder":
            (tmp_path / "o.nii").mkdir()
        assert_fails(capfd, code, part, None, *words, *more)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["f.nii.gz", "o.nii"]


def test_folder_that_nobody_may_write_in(head_files, tmp_path, capfd):
    assert_fails(capfd, 1, "/proc/o.nii cannot be written", "a folder that you may write in", None, "apply", head_files.fixed, "-o", "/proc/o.nii")
    (tmp_path / "t.csv").write_text(f"fixed,moving\n{head_files.fixed},{head_files.moving}\n")
    (tmp_path / "p.csv").write_text(f"image\n{head_files.fixed}\n{head_files.moving}\n")
    parts = ("/proc/out cannot be written: ", "; give a folder that you may write in")
    for words in (("cohort", tmp_path / "t.csv", "-o"), ("template", tmp_path / "p.csv", "-o"), ("ants-commands",)):
        assert_fails(capfd, 1, *parts, None, *words, "/proc/out")


def test_a_lock_that_cannot_be_written(tmp_path):
    (tmp_path / ".cohort-lock").mkdir()
    with pytest.raises(gr.BadInputError, match=f"{tmp_path} cannot be written: Is a directory; give a folder"), locked(tmp_path):
        pass


@pytest.mark.parametrize("name", ["none.mat", "a.mat,a.mat", "[a.mat,1]", "none.txt", "none.nii.gz"])
def test_a_transform_that_is_not_there(head_files, tmp_path, capfd, name):
    words = (head_files.fixed, "-o", tmp_path / "o.nii", "--reference", head_files.fixed, "-t", name)
    assert_fails(capfd, 1, f"gpureg: There is no file {name}. Check the name and the folder.", None, "apply", *words)


def test_what_is_no_transform_says_what_is(head_files, tmp_path, capfd):
    (tmp_path / "a.tfm").write_text("nothing")
    words = (head_files.fixed, "-o", tmp_path / "o.nii", "-t", tmp_path / "a.tfm")
    assert_fails(capfd, 1, "a.tfm is no transform that can be used; give ITK's .tfm", None, "apply", *words)


LIMIT = 60_000


def limit_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, LIMIT))


@pytest.mark.parametrize("suffix", [".nii", ".nii.gz", ".mha", ".mhd", ".nrrd", ".nhdr"])
def test_full_disk_leaves_what_was_there(head_files, tmp_path, suffix):
    (tmp_path / f"o{suffix}").write_text("old")
    code, out, err = run_process("apply", head_files.fixed, "-o", tmp_path / f"o{suffix}", before=limit_files)
    assert code == 1 and out == ""
    # If the writer does not say what failed, this does: no space, or, with a limit as here, a file that is too large.
    assert err.startswith("gpureg: ") and err.count("\n") == 1
    assert os.strerror(errno.EFBIG) in err or os.strerror(errno.ENOSPC) in err
    assert [path.name for path in tmp_path.iterdir()] == [f"o{suffix}"]
    assert (tmp_path / f"o{suffix}").read_text() == "old"


@pytest.mark.parametrize("option, name", [("--output-transform", "t.tfm"), ("--output-transform", "t.h5"), ("--output-field", "w.nii"), ("--report", "r.html")])
def test_full_disk_leaves_none_of_several(head_files, tmp_path, option, name):
    gr.write_image(tmp_path / "small.nii", gr.Image(gr.read_image(head_files.fixed).array[::2, ::2, ::2].copy(), [4.0] * 3))
    stages = ("--transform", "ffd:levels=1:iterations=1:spacing=5")
    words = ("register", tmp_path / "small.nii", head_files.moving, *stages, "--device", "host", "--quiet")
    folder = tmp_path / "out"
    folder.mkdir()
    code, out, err = run_process(*words, "-o", folder / "o.nii.gz", option, folder / name, before=limit_files)
    assert code == 1 and out == "" and err.startswith("gpureg: ") and err.count("\n") == 1, err
    assert list(folder.iterdir()) == []


def test_values_beside_a_header_are_an_outputs_too(heads, tmp_path, capfd):
    """A header's statement about the file of its values: .mhd and .nhdr name it identically."""
    for name, image in zip(("f", "m"), heads):
        gr.write_image(tmp_path / f"{name}.mhd", image)
    before = (tmp_path / "m.raw").read_bytes()
    words = ("register", tmp_path / "f.mhd", tmp_path / "m.mhd", "--transform", "rigid", "--device", "host", "--quiet")
    assert_fails(capfd, 2, "m.raw is read, and would be replaced", None, *words, "-o", tmp_path / "m.nhdr")
    assert_fails(capfd, 2, "m.raw is read", None, "apply", tmp_path / "m.mhd", "-o", tmp_path / "m.nhdr")
    fields = ("--output-field", tmp_path / "x.nhdr")
    assert_fails(capfd, 2, "x.raw is to be of two outputs", None, *words, "-o", tmp_path / "x.mhd", *fields)
    assert (tmp_path / "m.raw").read_bytes() == before and not list(tmp_path.glob("x.*"))
    code, _, err = gpureg(capfd, *words, "-o", tmp_path / "x.mhd", "--output-field", tmp_path / "y.nhdr")
    assert code == 0 and err == "" and (tmp_path / "x.raw").stat().st_size == heads[0].array.nbytes


def test_capital_suffixes(heads, head_files, tmp_path, capfd):
    words = ("register", head_files.fixed, head_files.moving, "--transform", "rigid", "--device", "host", "--quiet")
    for transform in ("t.TFM", "t.MAT"):
        code, _, err = gpureg(capfd, *words, "-o", tmp_path / "O.NII.GZ", "--output-transform", tmp_path / transform)
        assert code == 0, err
        code, _, err = gpureg(
            capfd, "apply", head_files.moving, "-t", tmp_path / transform, "--reference", head_files.fixed, "-o", tmp_path / "a.nii.gz"
        )
        assert code == 0, err
        apart = gr.read_image(tmp_path / "a.nii.gz").array - gr.read_image(tmp_path / "O.NII.GZ").array
        assert np.abs(apart).max() < 1e-2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["O.NII.GZ", "a.nii.gz", "t.MAT", "t.TFM"]


def test_nothing_is_printed_of_where_files_are_made(head_files, tmp_path):
    def before():
        resource.setrlimit(resource.RLIMIT_FSIZE, (20480, 20480))

    code, _, err = run_process("apply", head_files.moving, "-o", tmp_path / "big.nii.gz", "--device", "host", before=before)
    assert code == 1 and "big.nii.gz" in err and ".gpureg-" not in err, err
    words = ("register", head_files.fixed, head_files.moving, "--transform", "rigid", "--device", "host", "--quiet")
    code, _, err = run_process(*words, "--report", tmp_path / "r.html", before=before)
    assert code == 1 and "r.html" in err and ".gpureg-" not in err, err
