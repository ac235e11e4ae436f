# SPDX-License-Identifier: Apache-2.0
"""Flags and variables that change no result: each is ignored, taken, printed, handed over, or wrong."""

import re
from pathlib import Path

import gpuregistration as gr
import numpy as np
import pytest
from conftest import make_head
from gpuregistration import _devices
from gpuregistration.ants import apply_flags, hand_over, registration_flags
from gpuregistration.ants.programs import main

PAGE = Path(__file__).parents[2] / "docs" / "ants.md"
LINES = {
    "antsRegistration": "-d 3 -o [p_,w.nii.gz] -t SyN[0.25,3,0] -m MeanSquares[f.nii.gz,m.nii.gz,1] -c [3x2,1e-6,10] -f 2x1 -s 1x0vox",
    "antsApplyTransforms": "-d 3 -i m.nii.gz -r f.nii.gz -o w.nii.gz -t identity",
}


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Writes two heads into a folder of its own, goes there, and puts a program of each name in PATH, which is not run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ITK_GPU_DEVICE", "host")
    monkeypatch.delenv("ANTS_RANDOM_SEED", raising=False)
    grid = {"shape": (14, 16, 15), "spacing": (6.0, 6.0, 6.0)}
    gr.write_image("f.nii.gz", make_head(**grid))
    gr.write_image("m.nii.gz", make_head(lambda points: points - [3.0, -2.0, 1.0], **grid))
    (tmp_path / "real").mkdir()
    for program in LINES:
        (tmp_path / "real" / program).write_text("#!/bin/sh\n")
        (tmp_path / "real" / program).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "real"))
    return tmp_path


@pytest.fixture
def handed(monkeypatch):
    """Returns a list of the command lines that are handed over, each with the program's path."""
    lines = []

    def become(path, program, words):
        lines.append((path, program, list(words)))
        raise SystemExit(7)

    monkeypatch.setattr(hand_over, "become", become)
    return lines


def run(program, more, capfd):
    """Runs a program. Returns its exit code, and what it printed on both streams."""
    capfd.readouterr()
    try:
        code = main(program, [*LINES[program].split(), *more.split()])
    except SystemExit as end:
        code = end.code
    return code, *capfd.readouterr()


def made():
    return {path.name: path.read_bytes() for path in sorted(Path().iterdir()) if path.is_file() and path.name not in ("f.nii.gz", "m.nii.gz")}


IGNORED = {
    "antsRegistration": [
        "-p 5",
        "-p",
        "--print-similarity-measure-interval 1",
        "--write-interval-volumes 3",
        "-l 1",
        "--use-estimate-learning-rate-once 0",
        "--minc 0",
        "--random-seed 0",
        "--random-seed 1234567",
        "-v 0",
        "-a 0",
        "-z 1",
        "-i 0",
        "-u 0",
        "-n Linear",
        "-x NULL",
        "-x [NULL,NULL]",
        "-w [0,1]",
        "-g 1x1x1",
        "-r Identity",
    ],
    "antsApplyTransforms": ["-z 1", "--static-cast-for-R 0", "-v 0", "-e 0", "-e scalar", "-n Linear", "-f 0", "-u default", "-u double", "--float 0"],
}


@pytest.mark.parametrize("program", list(IGNORED))
def test_flags_that_change_nothing(here, handed, capfd, program):
    assert run(program, "", capfd) == (0, "", "")
    expected = made()
    assert "w.nii.gz" in expected
    for more in IGNORED[program]:
        for name in expected:
            Path(name).unlink()
        assert run(program, more, capfd) == (0, "", ""), more
        found = made()
        # An identity in front of the deformation has a file of its own.
        found.pop("p_0GenericAffine.mat", None)
        names = {name: name.replace("p_1", "p_0") for name in found}
        assert {names[name]: content for name, content in found.items()} == expected, more
    assert not handed


@pytest.mark.parametrize("seed", ["0", "7", "no number"])
def test_the_seed_of_the_environment_changes_nothing(here, capfd, monkeypatch, seed):
    assert run("antsRegistration", "", capfd) == (0, "", "")
    expected = made()
    monkeypatch.setenv("ANTS_RANDOM_SEED", seed)
    assert run("antsRegistration", "", capfd) == (0, "", "") and made() == expected


@pytest.mark.parametrize("program", list(LINES))
@pytest.mark.parametrize("flag", ["-h", "--help", "--help 1", "--version", "--version 1"])
def test_flags_that_print(here, handed, capfd, program, flag):
    code, out, err = run(program, flag, capfd)
    assert (code, err, made(), handed) == (0, "", {}, [])
    if "version" in flag:
        assert re.match(r"ANTs Version: \d+\.\d+\.\d+\ngpuregistration ", out)
    else:
        flags = registration_flags.FLAGS if program == "antsRegistration" else apply_flags.FLAGS
        assert all(one.spelled in out and one.expected in out for one in flags)
        assert out.endswith("goes to the next program of that name in PATH;\na wrong argument is an error.\n")


@pytest.mark.parametrize(
    ("program", "more", "reason"),
    [
        ("antsRegistration", "--minc 1", "--minc"),
        ("antsRegistration", "--minc", "--minc"),
        ("antsRegistration", "-d 4", "images of four dimensions"),
        ("antsRegistration", "-k a.h5 -k b.h5", "--restore-state"),
        ("antsRegistration", "-o [p_,w.png]", "writing .png files"),
        ("antsApplyTransforms", "-e 5", "--input-image-type 5"),
        ("antsApplyTransforms", "-d 4", "images of four dimensions"),
        ("antsApplyTransforms", "-o w.mnc", "writing .mnc files"),
    ],
)
def test_flags_that_are_handed_over(here, handed, capfd, monkeypatch, program, more, reason):
    code, out, err = run(program, more, capfd)
    real = str(here / "real" / program)
    assert (code, out, made()) == (7, "", {}) and handed == [(real, program, [*LINES[program].split(), *more.split()])]
    assert err.startswith(f"{program}: gpuregistration does not do {reason}") and err.endswith(f"; {real} does it\n") and err.count("\n") == 1
    monkeypatch.setenv("PATH", "/usr/bin")
    code, out, err = run(program, more, capfd)
    assert (code, out, made(), len(handed)) == (1, "", {}, 1) and reason in err and "install ANTs" in err and err.count("\n") == 1


# Stages behind the line's own, which is stage 0, and the limit of this package that they exceed.
STAGE = "-t {} -m {} -c {} -f {} -s {}"
CC, MI = "CC[f.nii.gz,m.nii.gz,1,{}]", "MI[f.nii.gz,m.nii.gz,1,{}]"


@pytest.mark.parametrize(
    ("stage", "reason"),
    [
        (("SyN[0.1]", CC.format(2), "2x2", "6x5", "1x0"), "-f/--shrink-factors 6x5 in stage 1 (4 at most along z, where f.nii.gz has 14 voxels)"),
        (("SyN[0.1]", CC.format(2), "2", "99999999999", "1"), "-f/--shrink-factors 99999999999 in stage 1 (4 at most along z"),
        (("SyN[0.1]", CC.format(33), "2", "1", "1"), "-m/--metric CC[f.nii.gz,m.nii.gz,1,33] in stage 1 (a radius of 32 at most)"),
        (("SyN[0.1]", MI.format(5000), "2", "1", "1"), "-m/--metric MI[f.nii.gz,m.nii.gz,1,5000] in stage 1 (4096 bins at most)"),
        (("SyN[0.1]", f"{CC.format(2)} -m GC[f.nii.gz,m.nii.gz,1e7]", "2", "1", "1"), "-m/--metric GC[f.nii.gz,m.nii.gz,1e7] in stage 1 (1e+06 times"),
        (("SyN[6]", CC.format(2), "2", "1", "1"), "-t/--transform SyN[6] in stage 1 (a step of 5 voxels at most)"),
        (("SyN[0.1,500,0]", CC.format(2), "2", "1", "1"), "-t/--transform SyN[0.1,500,0] in stage 1 (variances of 400"),
        (("SyN[0.1]", CC.format(2), "2000000", "1", "1"), "-c/--convergence 2000000 in stage 1 (1000000 iterations"),
        (("SyN[0.1]", CC.format(2), "[2,-2]", "1", "1"), "-c/--convergence [2,-2] in stage 1 (a threshold from -1 to 1)"),
        (("SyN[0.1]", CC.format(2), "[2,1e-6,2000000]", "1", "1"), "-c/--convergence [2,1e-6,2000000] in stage 1 (a window of 1000000"),
        (("SyN[0.1]", CC.format(2), "2", "1", "1001"), "-s/--smoothing-sigmas 1001 in stage 1 (sigmas of 1000 at most)"),
        (("SyN[0.1]", CC.format(2), "2", "1", "17"), "-s/--smoothing-sigmas 17 in stage 1 (a sigma of 17 is longer than"),
        (("SyN[0.1] -g 1x1x1 -g 0x0x0", CC.format(2), "2", "1", "1"), "-g/--restrict-deformation 0x0x0 in stage 1"),
        (("SyN[0.1]", "CC[thin.nii.gz,m.nii.gz,1,2]", "2", "1", "1"), "-t/--transform SyN[0.1] in stage 1 (4 voxels at least along z, where thin.nii.gz has 3)"),
        (("Rigid[0.1]", MI.format(5000), "2", "1", "1"), "-m/--metric MI[f.nii.gz,m.nii.gz,1,5000] in stage 1 (4096 bins at most)"),
        (("Rigid[0.1]", "MI[flat.nii.gz,m.nii.gz]", "2", "1", "1"), "-t/--transform Rigid[0.1] in stage 1 (2 voxels at least along z, where flat.nii.gz has 1)"),
        (("BSpline[0.1,12x12x12]", MI.format(32), "2x2", "2x1", "1x0"), "-t/--transform BSpline[0.1,12x12x12] in stage 1 (24x24x24 cells at the finest level"),
        (("BSpline[0.1,12x12x12]", MI.format(32), "0x0", "2x1", "1x0"), "-t/--transform BSpline[0.1,12x12x12] in stage 1 (24x24x24 cells at the finest level"),
    ],
)
def test_numbers_beyond_the_engine_are_handed_over(here, handed, capfd, monkeypatch, stage, reason):
    whole = gr.read_image("f.nii.gz")
    for name, slices in (("thin", 3), ("flat", 1)):
        gr.write_image(f"{name}.nii.gz", gr.Image(whole.array[:slices], whole.spacing, whole.origin))
    before, more = made(), STAGE.format(*stage)
    code, out, err = run("antsRegistration", more, capfd)
    assert (code, out, made(), len(handed)) == (7, "", before, 1)
    assert err.startswith(f"antsRegistration: gpuregistration does not do {reason}") and err.endswith("; " + str(here / "real/antsRegistration") + " does it\n")
    assert err.count("\n") == 1 and err.count(" in stage ") == 1
    monkeypatch.setenv("PATH", "/usr/bin")
    code, out, err = run("antsRegistration", more, capfd)
    assert (code, out, made(), len(handed)) == (1, "", before, 1) and reason in err and "install ANTs" in err and err.count("\n") == 1


# Each level of BSpline has the largest number of iterations.
@pytest.mark.parametrize(("transform", "mark", "iterations"), [("SyN[0.2]", " 1DIAGNOSTIC,", 30 + 2), ("BSpline[0.1,4x4x4]", " 2DIAGNOSTIC,", 30 + 30)])
def test_a_negative_threshold_ends_no_level(here, handed, capfd, transform, mark, iterations):
    counts = []
    for threshold in ("-1", "1e-3"):
        stage = STAGE.format(transform, "MeanSquares[f.nii.gz,m.nii.gz]", f"[30x2,{threshold},2]", "2x1", "1x0")
        assert main("antsRegistration", f"-d 3 -v 1 -o n_ {stage}".split()) == 0 and not handed
        counts.append(capfd.readouterr().out.count(mark))
    assert counts[0] == iterations > counts[1]


def test_errors_of_a_stage_name_it(here, handed, capfd):
    """An error of the engine names the flag and the stage, and none of the engine's settings."""
    empty = gr.read_image("f.nii.gz")
    gr.write_image("no.nii.gz", empty.like(np.zeros(empty.shape, np.uint8)))
    for transform in ("SyN[0.1]", "BSpline[0.1,30]", "Rigid[0.1]"):
        code, out, err = run("antsRegistration", STAGE.format(transform, MI.format(32), "2", "1", "1") + " -x NULL -x no.nii.gz", capfd)
        assert (code, out, made().keys() - {"no.nii.gz"}, handed) == (1, "", set(), []) and err.count("\n") == 1
        assert err.startswith(f"antsRegistration: -t/--transform {transform} in stage 1: ") and "mask" in err, err


@pytest.mark.parametrize(
    ("program", "more", "part"),
    [
        ("antsRegistration", "-p x", "-p/--print-similarity-measure-interval x: expected a whole number"),
        ("antsRegistration", "--write-interval-volumes -1", "--write-interval-volumes -1: expected a whole number"),
        ("antsRegistration", "-o", "-o/--output has no value: expected PREFIX"),
        ("antsRegistration", "-c", "-c/--convergence has no value: expected NxN"),
        ("antsRegistration", "-n -v 1", "-n/--interpolation has no value: expected Linear"),
        ("antsRegistration", "--random-seed", "--random-seed has no value: expected a whole number"),
        ("antsRegistration", "-l 2", "-l/--use-estimate-learning-rate-once 2: expected 0 or 1"),
        ("antsRegistration", "--minc 2", "--minc 2: expected 0 or 1"),
        ("antsRegistration", "--random-seed 1.5", "--random-seed 1.5: expected a whole number"),
        ("antsRegistration", "-v 3", "-v/--verbose 3: expected 0 or 1"),
        ("antsRegistration", "--float maybe", "--float maybe: expected 0 or 1"),
        ("antsRegistration", "--seed 1", "--seed: there is no such flag"),
        ("antsApplyTransforms", "-z 7", "-z/--static-cast-for-R 7: expected 0 or 1"),
        ("antsApplyTransforms", "-i", "-i/--input has no value: expected FILE"),
        ("antsApplyTransforms", "-f -v 1", "-f/--default-value has no value: expected a number"),
        ("antsApplyTransforms", "--time-index", "--time-index has no value: expected a whole number"),
        ("antsApplyTransforms", "--time-index x", "--time-index x: expected a whole number"),
        ("antsApplyTransforms", "-k a.h5", "-k: there is no such flag"),
    ],
)
def test_flags_that_are_wrong(here, handed, capfd, program, more, part):
    code, out, err = run(program, more, capfd)
    assert (code, out, made(), handed) == (1, "", {}, []) and err.startswith(f"{program}: {part}") and err.count("\n") == 1, err


def test_an_empty_value_is_wrong(here, handed, capfd):
    for program in LINES:
        assert main(program, [*LINES[program].split(), "-o", ""]) == 1
        out, err = capfd.readouterr()
        assert (out, made(), handed) == ("", {}, []) and err.startswith(f"{program}: -o/--output has an empty value: expected ") and err.count("\n") == 1


@pytest.mark.parametrize("text", ["many", "0", "-2", ""])
def test_a_number_of_threads_that_is_none_is_ignored(here, capfd, monkeypatch, text):
    for name in ("ITK_GLOBAL_DEFAULT_NUMBER_OF_THREADS", "NSLOTS"):
        monkeypatch.setenv(name, text)
    monkeypatch.delenv("GPUREG_THREADS", raising=False)
    numbers = []
    monkeypatch.setattr(_devices, "set_threads", numbers.append)
    assert run("antsApplyTransforms", "", capfd) == (0, "", "") and numbers == []


def test_the_page_has_every_variable():
    page = PAGE.read_text("utf-8")
    names = ("ANTS_RANDOM_SEED", "ITK_GPU_DEVICE", "GPUREG_TIMES", "GPUREG_THREADS", "ITK_GLOBAL_DEFAULT_NUMBER_OF_THREADS", "NSLOTS")
    rows = "\n".join(line for line in page.splitlines() if line.startswith("|"))
    assert all(f"`{name}`" in rows for name in names)


def test_results_do_not_depend_on_values_outside_of_the_line(here, capfd, monkeypatch):
    """Two runs of one line write the same bytes."""
    assert run("antsRegistration", "", capfd)[0] == 0
    expected = made()
    assert np.abs(gr.read_transform("p_0Warp.nii.gz").array).max() > 0.5
    assert run("antsRegistration", "", capfd)[0] == 0 and made() == expected
