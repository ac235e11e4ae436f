# SPDX-License-Identifier: Apache-2.0
"""Tests gpureg register: every option, and the same bits as from Python."""

import html
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import gpuregistration as gr
import numpy as np
import pytest
from command_line import assert_fails, gpureg, gpureg_json, into_full, run_process
from conftest import make_head
from gpuregistration import _engine, stages
from gpuregistration._checks import engine_name
from gpuregistration._stage_words import write_stages
from gpuregistration.command import register
from gpuregistration.command.stages import read_stages

sitk = pytest.importorskip("SimpleITK")

FREE_FORM = "ffd:levels=2:iterations=6:spacing=12"


WILD = "ffd:levels=1:spacing=5:bending_weight=0:first_step=8:iterations=20"


def by_python(files, transform, **more):
    return gr.register(gr.read_image(files.fixed), gr.read_image(files.moving), transform, **more)


def test_same_bits_as_python(device, head_files, tmp_path, capfd):
    out, transform, field = tmp_path / "out.nii.gz", tmp_path / "t.h5", tmp_path / "warp.nii.gz"
    found = gpureg_json(
        capfd, "register", head_files.fixed, head_files.moving, "-o", out, "--output-transform", transform,
        "--output-field", field, "--transform", f"affine,{FREE_FORM}", "--device", device,
    )
    result = by_python(head_files, ["affine", stages.FreeForm(levels=2, iterations=6, spacing=12.0)], device=device)
    assert (gr.read_image(out).array == result.warped.array).all()
    assert found["cost"] == result.cost and found["device"] == device and found["matrix"] is None
    assert [one["name"] for one in found["stages"]] == ["affine", "ffd"]
    assert [one["costs"] for one in found["stages"][1]["levels"]] == [level.costs for level in result.stages[1].levels]
    read = gr.read_transform(transform)
    assert (read.transforms[0].array == result.transform.transforms[0].array).all()
    assert (read.transforms[1].matrix == result.transform.transforms[1].matrix).all()
    displacements = gr.read_transform(field)
    assert (displacements.array == result.displacement_field.array.astype(np.float32)).all()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.nii.gz", "t.h5", "warp.nii.gz"]


@pytest.mark.parametrize("stage", [FREE_FORM, "greedy:iterations=4", "syn:iterations=4", "velocity:iterations=4", f"rigid,{FREE_FORM}", "rigid"])
def test_displacements_of_the_inverse_have_the_moving_grid(tmp_path, capfd, stage):
    """Each is what the inverse is there, also where nothing linear stands before the deformation."""
    fixed = make_head(shape=(20, 24, 22), spacing=(4.0, 4.0, 4.0))
    moving = make_head(lambda point: point + [2.0, 0.0, 1.0], (26, 23, 21), (3.5, 4.5, 4.0), (-42.0, -44.0, -40.0))
    for name, image in (("fixed", fixed), ("moving", moving)):
        gr.write_image(tmp_path / f"{name}.nii.gz", image)
    words = ("register", tmp_path / "fixed.nii.gz", tmp_path / "moving.nii.gz", "--transform", stage, "--device", "host")
    gpureg_json(capfd, *words, "--output-inverse", tmp_path / "back.nii.gz")
    gpureg_json(capfd, *words, "--output-inverse", tmp_path / "back.h5")
    found, inverse = gr.read_transform(tmp_path / "back.nii.gz"), gr.read_transform(tmp_path / "back.h5")
    assert found.array.shape == (26, 23, 21, 3)
    np.testing.assert_allclose(found.spacing, moving.spacing, atol=1e-5)
    np.testing.assert_allclose(found.origin, moving.origin, atol=1e-5)
    wanted = inverse.to_displacement_field(moving, "host").array
    np.testing.assert_allclose(found.array, wanted, atol=1e-4)
    assert np.abs(wanted).max() > 0.1


def test_the_inverse_on_the_moving_grid_is_written_as_it_is(head_files, tmp_path, capfd):
    gpureg_json(
        capfd, "register", head_files.fixed, head_files.moving, "--transform", "syn:iterations=4", "--device", "host",
        "--output-inverse", tmp_path / "back.nii.gz",
    )  # fmt: skip
    result = by_python(head_files, [stages.SyN(iterations=4)], device="host")
    assert (gr.read_transform(tmp_path / "back.nii.gz").array == result.inverse.array.astype(np.float32)).all()


def test_as_a_process_with_times(head_files, tmp_path):
    out = tmp_path / "out.mha"
    code, printed, err = run_process("register", head_files.fixed, head_files.moving, "-o", out, "--device", "host", "--times", "--json")
    assert code == 0
    found = json.loads(printed)
    assert found["output"] == str(out) and found["seed"] == 1 and np.shape(found["matrix"]) == (4, 4)
    times = found["times"]
    assert times["total"] >= times["start"] + times["read and start"] + times["register"] + times["make and write"] > 0
    assert times["stage 1 rigid"] == found["stages"][0]["seconds"]
    lines = err.splitlines()
    assert lines[0].startswith("1/1 rigid, pyramid, 0 %") and any("2 mm" in line and "cost" in line for line in lines)
    assert lines[-1].startswith("total") and lines[-1].endswith(" s")
    assert "\r" not in err


def test_prints_a_line_a_stage(head_files, tmp_path, capfd):
    words = ("register", head_files.fixed, head_files.moving, "-o", tmp_path / "out.nrrd", "--transform", "rigid,affine")
    code, out, err = gpureg(capfd, *words, "--device", "host")
    assert code == 0 and [line.split(":")[0] for line in out.splitlines()] == ["rigid", "affine"]
    assert "2/2 affine" in err
    assert gpureg(capfd, *words, "--device", "host", "--quiet") == (0, "", "")


def into_nobody():
    reader, writer = os.pipe()
    os.dup2(writer, 1)
    os.close(reader)


@pytest.mark.parametrize(
    "before, part",
    [
        (into_full, "gpureg: standard output cannot be written: No space left on device\n"),
        (lambda: os.close(1), "gpureg: standard output cannot be written: Bad file descriptor\n"),
        (into_nobody, ""),
    ],
)
def test_a_warning_that_cannot_be_printed_leaves_no_file(head_files, tmp_path, before, part):
    (tmp_path / "old.nii.gz").write_text("old")
    out = ("-o", tmp_path / "old.nii.gz", "--device", "host", "--quiet")
    for words in (
        ("register", head_files.fixed, head_files.moving, "--output-transform", tmp_path / "t.tfm", "--json"),
        ("apply", head_files.moving, "--json"),
    ):
        code, _, err = run_process(*words, *out, before=before)
        assert (code, err) == (1, part)
        assert [path.name for path in tmp_path.iterdir()] == ["old.nii.gz"] and (tmp_path / "old.nii.gz").read_text() == "old"
    # If there is nothing to report, nothing can fail.
    assert run_process("register", head_files.fixed, head_files.moving, *out, before=before) == (0, "", "")
    assert (tmp_path / "old.nii.gz").stat().st_size > 1000


@pytest.mark.parametrize("more", [(), ("--quiet",), ("--debug",)])
@pytest.mark.parametrize("before", [lambda: into_full(2), lambda: os.close(2)], ids=["full", "closed"])
def test_times_that_nobody_hears_keep_no_file_away(head_files, tmp_path, before, more):
    """If standard error is full, or closed, the result is written nevertheless, and standard output has nothing else."""
    out = ("-o", tmp_path / "out.nii.gz", "--device", "host", *more, "--times", "--json")
    for words in (("register", head_files.fixed, head_files.moving), ("apply", head_files.moving)):
        code, printed, _ = run_process(*words, *out, before=before)
        assert code == 0 and json.loads(printed)["output"] == str(tmp_path / "out.nii.gz")
        assert [path.name for path in tmp_path.iterdir()] == ["out.nii.gz"]
        (tmp_path / "out.nii.gz").unlink()


def test_warnings_and_a_closed_standard_error(head_files, tmp_path):
    words = ("register", head_files.fixed, head_files.moving, "-o", tmp_path / "out.nii.gz", "--device", "host", "--json", "--debug")
    code, printed, _ = run_process(*words, "--transform", WILD, before=lambda: os.close(2))
    assert code == 0 and "ffd has folded" in json.loads(printed)["stages"][0]["warnings"][-1]
    assert (tmp_path / "out.nii.gz").stat().st_size > 1000


@pytest.mark.parametrize("words", [(), ("--json",)])
def test_warnings_are_printed_when_files_are_in_their_places(head_files, tmp_path, capfd, monkeypatch, words):
    seen = []
    monkeypatch.setattr(register, "print_notes", lambda *lines: seen.append((lines, (tmp_path / "out.nii.gz").exists())))
    words = ("register", head_files.fixed, head_files.moving, "-o", tmp_path / "out.nii.gz", "--device", "host", *words)
    assert gpureg(capfd, *words, "--transform", WILD)[0] == 0
    ((lines, is_there),) = seen
    assert is_there and lines[-1].startswith("gpureg: ffd has folded")


def test_masks_metric_seed_and_initial(head_files, tmp_path, capfd):
    initial = gr.Affine(translation=[2.0, -1.0, 1.0])
    gr.write_transform(tmp_path / "i.tfm", initial)
    gpureg_json(
        capfd, "register", head_files.fixed, head_files.moving, "--output-transform", tmp_path / "t.tfm", "--transform",
        "rigid,ffd:levels=1:iterations=5:samples=2000", "--metric", "mean_squares,correlation", "--mask", head_files.mask,
        "--initial", tmp_path / "i.tfm", "--seed", 7, "--device", "host",
    )  # fmt: skip
    asked = [stages.Rigid(cost="mean_squares"), stages.FreeForm("correlation", levels=1, iterations=5, samples=2000)]
    mask = gr.read_image(head_files.mask)
    result = by_python(head_files, asked, fixed_mask=mask, initial=initial, seed=7, device="host")
    read = gr.read_transform(tmp_path / "t.tfm")
    assert np.abs(read.transforms[0].array - result.transform.transforms[0].array).max() < 1e-12
    other = by_python(head_files, asked, fixed_mask=mask, initial=initial, seed=8, device="host")
    assert np.abs(read.transforms[0].array - other.transform.transforms[0].array).max() > 1e-6


def test_moving_mask(head_files, heads, tmp_path, capfd):
    moving = heads[1]
    mask = moving.like((np.arange(moving.array.shape[2]) < 30) & (moving.array > -1))
    gr.write_image(tmp_path / "mask.nii.gz", mask.like(mask.array.astype(np.uint8)))
    words = ("register", head_files.fixed, head_files.moving, "-o", tmp_path / "out.nii.gz", "--device", "host")
    found = gpureg_json(capfd, *words, "--moving-mask", tmp_path / "mask.nii.gz")
    result = by_python(head_files, "rigid", moving_mask=mask, device="host")
    assert found["cost"] == result.cost != gpureg_json(capfd, *words)["cost"]


def test_mat_of_ants_and_fsl(head_files, tmp_path, capfd):
    words = ("register", head_files.fixed, head_files.moving, "--device", "host", "--output-transform")
    gpureg_json(capfd, *words, tmp_path / "ants.mat")
    gpureg_json(capfd, *words, tmp_path / "fsl.mat", "--mat", "fsl")
    fixed, moving = gr.read_image(head_files.fixed), gr.read_image(head_files.moving)
    ants = gr.read_transform(tmp_path / "ants.mat").matrix_of()
    fsl = gr.read_transform(tmp_path / "fsl.mat", fixed, moving).matrix_of()
    assert np.abs(ants - fsl).max() < 1e-6
    assert len((tmp_path / "fsl.mat").read_text().splitlines()) == 4


def test_report(head_files, tmp_path, capfd):
    words = ("register", head_files.fixed, head_files.moving, "--device", "host", "--transform", f"rigid,{FREE_FORM}")
    gpureg_json(capfd, *words, "-o", tmp_path / "out.nii.gz", "--report")
    text = (tmp_path / "out.html").read_text("utf-8")
    assert "gpureg register" in text and f"<th>Fixed file</th><td>{head_files.fixed}</td>" in text
    assert "<dt>Normalized mutual information</dt>" in text
    gpureg_json(capfd, *words, "--report", tmp_path / "other.html")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other.html", "out.html", "out.nii.gz"]
    assert_fails(capfd, 2, "--report FILE.html", None, *words, "--output-transform", tmp_path / "t.tfm", "--report")


def test_report_names_the_device_that_repeats_it(head_files, tmp_path, capfd):
    gpureg_json(capfd, "register", head_files.fixed, head_files.moving, "--report", tmp_path / "r.html")
    assert f"--device {gr._devices.choose_device()}" in (tmp_path / "r.html").read_text("utf-8")


def test_the_reports_command_repeats_the_registration(head_files, tmp_path, capfd, monkeypatch):
    """In another folder, with file names that have special characters for a shell and a page: the same bits."""
    files, one, two = (tmp_path / name for name in ("a patient's <files> & more", "one", "two"))
    for folder in (files, one, two):
        folder.mkdir()
    for path in (head_files.fixed, head_files.moving, head_files.mask):
        shutil.copy(path, files)
    gr.write_transform(files / "initial.tfm", gr.Affine(translation=[2.0, -1.0, 1.0]))
    monkeypatch.chdir(one)
    monkeypatch.setenv("ITK_GPU_DEVICE", "host")
    words = ("--mask", files / "mask.nii.gz", "--initial", files / "initial.tfm", "--seed", 7, "--metric", "correlation,mean_squares")
    code, _, err = gpureg(
        capfd, "register", files / "fixed.nii.gz", files / "moving.nii.gz", "-o", "out.nii.gz", "--output-transform", "out.h5",
        "--report", "out.html", *words, "--transform", f"affine,{FREE_FORM}:samples=2000",
    )  # fmt: skip
    assert code == 0, err
    shown = re.search(r'<pre id="command">(.*?)</pre>', (one / "out.html").read_text("utf-8"), re.DOTALL)
    command = re.sub(r"\bout\.", "again.", html.unescape(shown[1]))
    monkeypatch.delenv("ITK_GPU_DEVICE")
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent) + os.pathsep + os.environ["PATH"])
    subprocess.run(["bash", "-euc", command], cwd=two, check=True, stdin=subprocess.DEVNULL)
    assert sorted(path.name for path in two.iterdir()) == ["again.h5", "again.html", "again.nii.gz"]
    assert (two / "again.nii.gz").read_bytes() == (one / "out.nii.gz").read_bytes()
    first, second = (gr.read_transform(path).transforms for path in (one / "out.h5", two / "again.h5"))
    assert (first[0].array == second[0].array).all() and len(first) == len(second) == 2
    assert (first[1].parameters == second[1].parameters).all() and (first[1].center == second[1].center).all()


def test_two_dimensions(heads, tmp_path, capfd):
    for name, head in zip(("fixed", "moving"), heads):
        image = gr.Image(head.array[20], head.spacing[:2], head.origin[:2])
        gr.write_image(tmp_path / f"{name}.mha", image)
    found = gpureg_json(
        capfd, "register", tmp_path / "fixed.mha", tmp_path / "moving.mha", "-o", tmp_path / "out.mha", "--report",
        "--transform", f"rigid,{FREE_FORM}", "--device", "host",
    )
    assert found["stages"][0]["overlap"] > 0.7
    # Spacings along x and y.
    words = ("register", tmp_path / "fixed.mha", tmp_path / "moving.mha", "--device", "host", "--transform")
    gpureg_json(capfd, *words, "ffd:levels=1:iterations=2:spacing=12x20", "--output-transform", tmp_path / "t.h5")
    np.testing.assert_allclose(gr.read_transform(tmp_path / "t.h5").spacing, [12.0, 20.0], atol=1e-6)
    out = ("-o", tmp_path / "o.mha")
    assert_fails(capfd, 2, "give one number, or 2", None, *words, "ffd:spacing=20x20x20", *out)
    assert gr.read_image(tmp_path / "out.mha").dimension == 2 and (tmp_path / "out.html").exists()


def test_keeps_whole_numbers(head_files, heads, tmp_path, capfd):
    for name, head in zip(("fixed", "moving"), heads):
        gr.write_image(tmp_path / f"{name}.nii", head.like(np.clip(head.array, 0, 255).astype(np.uint8)))
    gpureg_json(capfd, "register", tmp_path / "fixed.nii", tmp_path / "moving.nii", "-o", tmp_path / "out.nii", "--device", "host")
    assert gr.read_image(tmp_path / "out.nii").array.dtype == np.uint8


def test_folding_causes_a_warning(head_files, tmp_path, capfd):
    words = ("register", head_files.fixed, head_files.moving, "-o", tmp_path / "out.nii.gz", "--device", "host")
    report = ("--report", tmp_path / "r.html")
    code, _, err = gpureg(capfd, *words, *report, "--transform", WILD)
    assert code == 0 and "ffd has folded" in err.splitlines()[-1]
    page = (tmp_path / "r.html").read_text("utf-8")
    assert '<p class="message">Warning: ffd has folded: its Jacobian&#39;s determinant falls to' in page


@pytest.mark.parametrize(
    "text",
    [
        "rigid",
        "ffd:spacing=20.0x20.0:seed=4",
        "affine:cost=correlation:degrees_of_freedom=9,ffd:levels=3:spacing=8.0x8.0x4.0",
        "global:finest_edge=2.0",
    ],
)
def test_stages_as_words_and_back(text):
    assert write_stages(read_stages(text, None)) == text


@pytest.mark.parametrize("name", stages.STAGES)
def test_values_of_the_help_are_the_defaults(capfd, name):
    for command in ("register", "cohort", "template"):
        _, out, _ = gpureg(capfd, command, "--help")
        (line,) = (line for line in out.splitlines() if line.startswith(f"  {name} "))
        shown = line.split()[1:]
        valued = [word for word in shown if "=" in word]
        assert len(valued) > len(shown) / 2
        for word in shown:
            (stage,) = read_stages(f"{name}:{word}" if "=" in word else name, None)
            assert stage == stages.STAGES[name](), word
            assert "=" in word or getattr(stage, word) is None
        (stage,) = read_stages(":".join([name, *valued]), None)
        assert stage == stages.STAGES[name]()


def test_a_stage_that_words_do_not_say():
    assert write_stages([stages.Rigid(), stages.Global(angles=(0.0, 1.0))]) is None


@pytest.mark.parametrize(
    "words, part",
    [
        (("--transform", "affin"), 'no stage "affin"; there are: rigid, affine, global, ffd'),
        (("--transform", "rigid,,ffd"), "--transform 'rigid,,ffd' lacks a stage's name"),
        (("--transform", "rigid,"), "--transform 'rigid,' lacks a stage's name"),
        (("--transform", ""), "--transform '' lacks a stage's name"),
        (("--transform", "ffd:level=3"), 'ffd has no setting "level"; there are: similarity, levels'),
        (("--transform", "rigid,ffd:levels=2:spacing=20:levels=3"), "--transform ffd:levels=2:spacing=20:levels=3: levels is given twice: leave one out"),
        (("--also", "a.nii", "b.nii", "weight=2", "weight=1"), "--also a.nii b.nii weight=2 weight=1: weight is given twice: leave one out"),
        (("--transform", "ffd:spaceing"), 'ffd has no setting "spaceing"; there are: '),
        (("--transform", "rigid:cost"), "rigid:cost: cost has no value: give cost=VALUE"),
        (("--transform", "ffd:levels=three"), "levels=three is no whole number"),
        (("--transform", "ffd:levels=1x2"), "levels=1x2 has 2 numbers; it is to have one"),
        (("--transform", "syn:iterations=1x2x3x4x5x6x7"), "iterations=1x2x3x4x5x6x7 has 7 numbers; it is to have 6 at most"),
        (("--transform", "syn:update_variance=500"), "syn: update_variance=500.0 is not possible"),
        (("--transform", "greedy:step=6"), "greedy: step=6.0 is not possible; it is to be a finite number above 0 and up to 5"),
        (("--transform", "velocity:optimizer=adam"), "velocity: optimizer='adam' is not possible"),
        (("--transform", "greedy:iterations=0x0"), "greedy: iterations=(0, 0) is not possible; one level at least is to have 1 or more"),
        (("--transform", "ffd:spacing=wide"), "spacing=wide is no number"),
        (("--transform", "affine,ffd:spacing=8x8"), "ffd: spacing=(8.0, 8.0) is not possible: give one number, or 3"),
        (("--transform", "affine,ffd:spacing=1"), "ffd: spacing=1.0 is not possible; it is to be a voxel's edge along x at least: spacing=2"),
        (("--transform", "affine,ffd:levels=9"), "ffd: levels=9 is not possible; it is to be a whole number from 1 to 5"),
        (("--transform", "ffd:iterations=99999999999999"), "ffd: iterations=99999999999999 is not possible"),
        (("--transform", "ffd:seed=-1"), "ffd: seed=-1 is not possible"),
        (("--metric", "mean_square"), "no cost 'mean_square'; there are: mean_squares, mean_absolute_differences"),
        (("--transform", "affine,ffd", "--metric", "mean_absolute_differences"), "--metric takes one for each stage, with commas"),
        (("--device", ""), 'no device ""; there are: '),
        (("--metric", "beauty"), "There is no cost"),
        (("--transform", "ffd", "--metric", "demons"), "There is no similarity"),
        (("--transform", "rigid,affine,ffd", "--metric", "mean_squares,correlation"), "2 metrics for 3 stages"),
        (("--device", "cuda:77"), 'no device "cuda:77"; there are: '),
        (("--mat", "fsl"), "--mat fsl"),
        (("--seed", "one"), "--seed"),
        (("--seed", "-1"), "--seed: -1 is not possible: give a whole number from 0 to 18446744073709551615"),
        (("--seed", "99999999999999999999"), "--seed: 99999999999999999999 is not possible"),
    ],
)
def test_wrong_use(head_files, tmp_path, capfd, words, part):
    assert_fails(capfd, 2, part, None, "register", head_files.fixed, head_files.moving, "-o", tmp_path / "o.nii", *words)
    assert list(tmp_path.iterdir()) == []


def test_thick_slices(tmp_path, capfd):
    """Control points are five voxels apart along each axis; they cannot be nearer to each other than voxels."""
    shape = {"shape": (10, 30, 30), "spacing": (3.0, 3.0, 8.0), "origin": (-43.0, -43.0, -36.0)}
    for name, shift in (("fixed", 0.0), ("moving", 2.0)):
        gr.write_image(tmp_path / f"{name}.nii.gz", make_head(lambda points, shift=shift: points + [shift, 0.0, 0.0], **shape))
    words = ("register", tmp_path / "fixed.nii.gz", tmp_path / "moving.nii.gz", "--device", "host", "--transform")
    gpureg_json(capfd, *words, "affine,ffd:levels=1:iterations=3", "--output-transform", tmp_path / "t.h5")
    spline = gr.read_transform(tmp_path / "t.h5").transforms[0]
    np.testing.assert_allclose(spline.spacing, [15.0, 15.0, 40.0], atol=1e-6)
    out = ("-o", tmp_path / "o.nii.gz")
    assert_fails(capfd, 2, "ffd: spacing=5.0 is not possible", "along z at least: spacing=8", None, *words, "affine,ffd:spacing=5", *out)


def test_every_metric_of_a_stage_is_one_of_the_engines():
    """The package lists exactly the metrics that exist."""
    for kind, setting, names, settings in (
        (stages.Rigid, "cost", stages.COSTS, _engine.GlobalSettings()),
        (stages.Rigid, "optimizer", stages.LINEAR_OPTIMIZERS, _engine.GlobalSettings()),
        (stages.FreeForm, "similarity", stages.SIMILARITIES, _engine.FreeFormSettings()),
        (stages.FreeForm, "optimizer", stages.FREE_FORM_OPTIMIZERS, _engine.FreeFormSettings()),
    ):
        for name in names:
            assert getattr(kind(**{setting: name}).settings(), setting) == engine_name(name)
        with pytest.raises(gr.BadInputError) as error:
            setattr(settings, setting, "Nonsense")
        listed = re.findall(r"\b[A-Z]\w+", str(error.value).partition("Nonsense")[2])
        assert sorted(listed) == sorted(engine_name(name) for name in names), error.value
