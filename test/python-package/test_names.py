# SPDX-License-Identifier: Apache-2.0
"""Tests file names of every kind, above all those that are not UTF-8."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import gpuregistration as gr
import numpy as np
import pytest
from command_line import assert_fails, gpureg, gpureg_json, run_process
from conftest import make_head, turn
from gpuregistration.cohort import register_cohort
from test_transforms import make_transform

sitk = pytest.importorskip("SimpleITK")
nibabel = pytest.importorskip("nibabel")

LATIN = os.fsdecode(b"caf\xe9")
GRID = {"shape": (16, 18, 20), "spacing": (4.0, 4.0, 4.0)}
# Names of a file beside a header that a line of the header cannot contain, and other names.
UNNAMEABLE = [LATIN, os.fsdecode(b"\xff\xfe\x80"), "two\nlines", "a%03d", "~", "back\\slash", " blank"]
NAMES = [*UNNAMEABLE, "with blank", "-dash", "e\u0301", "x" * 240, "日本", "a'b\"c", "#;:=", "a..b."]
SUFFIXES = [".nii.gz", ".nii", ".mha", ".mhd", ".nrrd", ".nhdr", ".hdr", ".NII.GZ"]


@pytest.fixture
def image():
    return make_head(**GRID)


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_images_go_round(tmp_path, monkeypatch, image, name, suffix):
    # Nothing is written elsewhere, such as in the working folder.
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    tmp_path = tmp_path / "here"
    tmp_path.mkdir()
    path = tmp_path / (name + suffix)
    if suffix in (".mhd", ".nhdr") and name in UNNAMEABLE:
        with pytest.raises(gr.BadInputError, match="cannot stand in a .*write a .mha"):
            gr.write_image(path, image)
        assert list(tmp_path.iterdir()) == []
        return
    gr.write_image(path, image)
    for kind in (str, os.fsencode, Path):
        assert (gr.read_image(kind(path)).array == image.array).all()
    assert path.exists() and all(one.name.startswith(name) for one in tmp_path.iterdir()) and os.listdir() == []


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_folders_that_are_no_utf_8(tmp_path, image, suffix):
    folder = tmp_path / LATIN
    folder.mkdir()
    gr.write_image(os.fsencode(folder / ("a" + suffix)), image)
    assert (gr.read_image(folder / ("a" + suffix)).array == image.array).all()


def test_headers_that_stand_beside_their_values(tmp_path, image):
    gr.write_image(tmp_path / "a.mhd", image)
    os.replace(tmp_path / "a.mhd", tmp_path / f"{LATIN}.mhd")
    assert (gr.read_image(tmp_path / f"{LATIN}.mhd").array == image.array).all()
    # The values' file has such a name, which the header contains as bytes.
    os.replace(tmp_path / "a.raw", tmp_path / f"{LATIN}.raw")
    header = (tmp_path / f"{LATIN}.mhd").read_bytes().replace(b"a.raw", b"caf\xe9.raw")
    (tmp_path / "b.mhd").write_bytes(header)
    assert (gr.read_image(tmp_path / "b.mhd").array == image.array).all()


@pytest.mark.parametrize("suffix", [".tfm", ".txt", ".h5", ".mat", ".nii.gz"])
def test_transforms_go_round(tmp_path, rng, suffix):
    transform, head = make_transform("affine", rng), make_head(**GRID)
    path = os.fsencode(tmp_path / (LATIN + suffix))
    gr.write_transform(path, transform, head)
    wanted = transform.to_displacement_field(head, "host").array
    np.testing.assert_allclose(gr.read_transform(path).to_displacement_field(head, "host").array, wanted, atol=1e-4)


def test_flirts_matrix(tmp_path, rng, image):
    path, transform = tmp_path / f"{LATIN}.mat", make_transform("affine", rng)
    gr.write_transform(path, transform, image, image, "fsl")
    np.testing.assert_allclose(gr.read_transform(path, image, image).matrix_of(), transform.matrix_of(), atol=1e-9)
    with pytest.raises(gr.BadInputError, match=r"FSL's matrix .*caf\\xe9.mat has a meaning"):
        gr.read_transform(path)


@pytest.mark.parametrize("folder, file", [("series", LATIN), (LATIN, "slice"), (LATIN, LATIN)])
def test_dicom_folders(tmp_path, folder, file):
    values = (np.arange(5 * 6 * 7).reshape(5, 6, 7) * 3).astype(np.int16)
    (tmp_path / "made").mkdir()
    for n, plane in enumerate(values):
        one = sitk.GetImageFromArray(plane[np.newaxis])
        one.SetMetaData("0020|000e", "1.2.3.4")
        one.SetMetaData("0020|0032", f"0\\0\\{2 * n}")
        one.SetMetaData("0020|0037", "1\\0\\0\\0\\1\\0")
        writer = sitk.ImageFileWriter()
        writer.KeepOriginalImageUIDOn()
        writer.SetFileName(str(tmp_path / "made" / f"{n}.dcm"))
        writer.Execute(one)
    (tmp_path / folder).mkdir()
    for n in range(len(values)):
        os.replace(tmp_path / "made" / f"{n}.dcm", tmp_path / folder / f"{file}{n}.dcm")
    # macOS puts such a file beside a file.
    (tmp_path / folder / f"._{file}0.dcm").write_bytes(b"\0\5\x16\7")
    read = gr.read_image(os.fsencode(tmp_path / folder))
    assert (read.array == values).all() and read.spacing.tolist() == [1.0, 1.0, 2.0]
    os.remove(tmp_path / folder / f"{file}2.dcm")
    with pytest.raises(gr.BadInputError, match="uneven distances") as error:
        gr.read_image(tmp_path / folder)
    assert str(error.value).isprintable() and "gpureg-" not in str(error.value)
    assert f"{file.encode('utf-8', 'surrogateescape').decode('utf-8', 'backslashreplace')}1.dcm and " in str(error.value)


def test_errors_can_be_printed(tmp_path, image):
    (tmp_path / f"{LATIN}.nii").write_bytes(b"nothing")
    for path in (tmp_path / f"{LATIN}.nii", tmp_path / f"{LATIN}-none.nii", tmp_path / LATIN / "none.nii"):
        with pytest.raises(gr.BadInputError) as error:
            gr.read_image(path)
        assert r"caf\xe9" in str(error.value) and str(error.value).encode() and "gpureg-" not in str(error.value)
        with pytest.raises(gr.BadInputError, match=r"caf\\xe9"):
            gr.read_transform(path)
    for write in (lambda path: gr.write_image(path, image), lambda path: gr.write_transform(path, gr.Affine())):
        with pytest.raises(gr.BadInputError, match=r"no folder .*caf\\xe9"):
            write(tmp_path / LATIN / "none.tfm")
    with pytest.raises(gr.BadInputError, match=r"file's name, .*caf\\xe9.nii: gpuregistration.read_image"):
        gr.register(os.fsencode(tmp_path / f"{LATIN}.nii"), image)


def test_warnings_name_the_file(tmp_path, capfd):
    image = nibabel.Nifti1Image(np.arange(60, dtype=np.uint8).reshape(3, 4, 5), np.eye(4))
    (tmp_path / f"{LATIN}.nii.gz").write_bytes(image.to_bytes())
    with pytest.warns(gr.InputWarning, match=r"The file .*/caf\\xe9.nii.gz is not compressed") as reported:
        gr.read_image(tmp_path / f"{LATIN}.nii.gz")
    assert all("gpureg-" not in str(one.message) for one in reported) and reported[0].filename == __file__
    words = ("apply", tmp_path / f"{LATIN}.nii.gz", "-o", tmp_path / "o.nii", "--device", "host")
    assert str(tmp_path / r"caf\xe9.nii.gz") in gpureg_json(capfd, *words)["warnings"][0]


@pytest.mark.parametrize(
    "path, part",
    [
        (7, "of type builtins.int. Hand in text, bytes or a pathlib.Path"),
        (None, "of type builtins.NoneType"),
        ("", "name is empty"),
        (b"", "name is empty"),
        ("a\0b.nii", "has a byte of 0"),
        ("\ud800.nii", r"\\ud800.nii is none that a file can have"),
        ("x" * 300 + ".nii", "File name too long"),
        ("~/none.nii", "write out the home folder"),
    ],
)
def test_what_no_file_is_called(path, part, image):
    for read in (gr.read_image, gr.read_transform):
        with pytest.raises(gr.BadInputError, match=part):
            read(path)
    with pytest.raises(gr.BadInputError, match=part):
        gr.write_image(path, image)
    if not isinstance(path, str) or not path.strip("x.ni~/oe"):
        return
    with pytest.raises(gr.BadInputError, match=part):
        gr.write_transform(path, gr.Affine(), image)


class _Named:
    def __init__(self, name):
        self.name = name

    def __fspath__(self):
        return self.name


def test_paths_of_other_libraries(tmp_path, image):
    gr.write_image(_Named(os.fsencode(tmp_path / "a.nii")), image)
    assert (gr.read_image(_Named(str(tmp_path / "a.nii"))).array == image.array).all()


def test_what_is_no_file(tmp_path, image):
    os.mkfifo(tmp_path / "pipe.nii")
    (tmp_path / "gone.nii").symlink_to("nowhere.nii")
    (tmp_path / "round.nii").symlink_to("round.nii")
    (tmp_path / "folder.nii").mkdir()
    (tmp_path / "folder.tfm").mkdir()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.path.relpath(tmp_path / "socket.nii"))
    for name, part in (
        ("pipe.nii", "is a pipe or a device"),
        ("socket.nii", "is a pipe or a device"),
        ("gone.nii", "is a link to nowhere.nii, where there is no file"),
        ("round.nii", "Too many levels of symbolic links"),
        ("folder.nii", "holds no series of DICOM"),
    ):
        with pytest.raises(gr.BadInputError, match=part):
            gr.read_image(tmp_path / name)
    with pytest.raises(gr.BadInputError, match="is a pipe or a device"):
        gr.read_image("/dev/null")
    with pytest.raises(gr.BadInputError, match="folder.tfm is a folder"):
        gr.read_transform(tmp_path / "folder.tfm")
    with pytest.raises(gr.BadInputError, match="folder.nii is a folder: give a file's name"):
        gr.write_image(tmp_path / "folder.nii", image)
    with pytest.raises(gr.BadInputError, match="pipe.nii is no file that can be replaced"):
        gr.write_image(tmp_path / "pipe.nii", image)


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_folders_that_nobody_may_read(tmp_path, image):
    (tmp_path / "closed").mkdir()
    gr.write_image(tmp_path / "closed" / "a.nii", image)
    (tmp_path / "closed").chmod(0)
    with pytest.raises(gr.BadInputError, match="a.nii cannot be read: permission denied"):
        gr.read_image(tmp_path / "closed" / "a.nii")


def _write_heads(folder):
    there = gr.Affine(turn(3.0), [2.0, -1.0, 1.0])
    fixed, moving = make_head(**GRID), make_head(there.inverse().transform_points, **GRID)
    gr.write_image(folder / f"fixed-{LATIN}.nii.gz", fixed)
    gr.write_image(folder / f"moving-{LATIN}.nii.gz", moving)
    return folder / f"fixed-{LATIN}.nii.gz", folder / f"moving-{LATIN}.nii.gz"


def test_the_command(tmp_path, capfd):
    fixed, moving = _write_heads(tmp_path)
    out = {name: tmp_path / f"{LATIN}{suffix}" for name, suffix in (("image", ".nii.gz"), ("transform", ".tfm"), ("field", "-f.nii"))}
    words = ("register", fixed, moving, "-o", out["image"], "--output-transform", out["transform"], "--output-field", out["field"])
    found = gpureg_json(capfd, *words, "--report", "--mask", fixed, "--device", "host")
    assert found["output"] == str(out["image"]) and all(path.is_file() for path in out.values())
    page = (tmp_path / f"{LATIN}.html").read_text("utf-8")
    assert r"fixed-caf\xe9.nii.gz" in page
    other = tmp_path / f"again-{LATIN}.nii.gz"
    gpureg_json(capfd, "apply", moving, "-o", other, "-t", out["transform"], "--reference", fixed, "--device", "host")
    np.testing.assert_allclose(gr.read_image(other).array, gr.read_image(out["image"]).array, atol=1e-3)
    code, printed, err = gpureg(capfd, "compare", fixed, moving, "--transform", out["transform"], "--device", "host", "--times")
    assert code == 0 and "mean_squares" in printed
    assert_fails(capfd, 1, r"There is no file none-caf\xe9.nii", None, "apply", f"none-{LATIN}.nii", "-o", tmp_path / "o.nii")
    assert_fails(capfd, 2, r"caf\xe9.nii.gz is read, and would be replaced", None, "apply", other, "-o", other)
    assert_fails(capfd, 2, r"no device", None, "apply", other, "-o", tmp_path / "o.nii", "--device", LATIN)


def test_standard_output_of_another_encoding(tmp_path):
    fixed, moving = _write_heads(tmp_path)
    words = ["register", fixed, moving, "-o", tmp_path / "日本.nii.gz", "--device", "host", "--times"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii:strict"}
    done = subprocess.run([sys.executable, "-m", "gpuregistration", *map(str, words)], capture_output=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "日本.nii.gz").is_file() and done.stderr.isascii()


def test_dashes_in_front(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fixed, moving = _write_heads(tmp_path)
    fixed.rename("-f.nii.gz")
    code, out, err = run_process("apply", "-o=-o.nii.gz", "--device=host", "--", "-f.nii.gz")
    assert code == 0 and (tmp_path / "-o.nii.gz").is_file(), err


def test_cohorts(tmp_path):
    pytest.importorskip("distributed")
    fixed, moving = _write_heads(tmp_path)
    (tmp_path / f"bad-{LATIN}.nii.gz").write_bytes(b"nothing")
    gr.write_image(tmp_path / "plain.nii.gz", make_head(**GRID))
    table, out = tmp_path / f"{LATIN}.csv", tmp_path / f"out-{LATIN}"
    table.write_bytes(
        b"id,fixed,moving\nlatin,fixed-caf\xe9.nii.gz,moving-caf\xe9.nii.gz\nbad,plain.nii.gz,bad-caf\xe9.nii.gz\n"
        b"plain,plain.nii.gz,plain.nii.gz\n"
    )
    cohort = register_cohort(os.fsencode(table), os.fsencode(out), devices=["host"], workers_per_device=1, reports=True)
    assert [pair.failed for pair in cohort.pairs] == [False, True, False]
    assert r"bad-caf\xe9.nii.gz" in cohort.failed[0].error
    text = (out / "results.csv").read_text("utf-8")
    assert r"fixed-caf\xe9.nii.gz" in text and text.count("\n") == 4
    pairs = json.loads((out / "results.json").read_text("utf-8"))["pairs"]
    # In JSON it is the name itself.
    assert pairs[0]["fixed"] == str(fixed)
    assert (out / "report.html").read_text("utf-8") and (out / "latin" / "report.html").read_text("utf-8")
    # Finished pairs are recognized.
    cohort = register_cohort(table, out, devices=["host"], workers_per_device=1, reports=True)
    assert [pair.was_done for pair in cohort.pairs] == [True, False, True]
    rows = [{"fixed": os.fsencode(fixed), "moving": moving}]
    assert not register_cohort(rows, tmp_path / "rows", devices=["host"], workers_per_device=1).failed
