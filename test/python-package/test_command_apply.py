# SPDX-License-Identifier: Apache-2.0
"""Tests gpureg apply."""

import gpuregistration as gr
import numpy as np
import pytest
from command_line import assert_fails, gpureg, gpureg_json

sitk = pytest.importorskip("SimpleITK")


@pytest.fixture
def transforms(tmp_path, moved):
    """Writes transforms to files: .affine, .spline, .field."""
    spline = gr.BSpline(np.random.default_rng(5).normal(0, 2.0, (8, 8, 8, 3)), [16.0] * 3, [-60.0] * 3)
    gr.write_transform(tmp_path / "affine.tfm", moved)
    gr.write_transform(tmp_path / "spline.h5", spline)
    return tmp_path / "affine.tfm", tmp_path / "spline.h5", moved, spline


@pytest.mark.parametrize("interpolation", ["linear", "nearest", "bspline"])
def test_same_as_python(device, head_files, heads, transforms, tmp_path, capfd, interpolation):
    affine_file, spline_file, affine, spline = transforms
    words = ("apply", head_files.moving, "-o", tmp_path / "o.mha", "--reference", head_files.fixed, "--device", device)
    found = gpureg_json(capfd, *words, "-t", spline_file, affine_file, "--interpolation", interpolation)
    assert found["device"] == device and found["times"]["resample"] > 0
    # The first transform that is named is applied first to a point of the reference.
    wanted = gr.resample(heads[1], gr.Composite([spline, affine]), heads[0], interpolation, device=device)
    assert (gr.read_image(tmp_path / "o.mha").array == wanted.array).all()


def test_labels_stay_labels(head_files, transforms, tmp_path, capfd):
    words = ("apply", head_files.labels, "-o", tmp_path / "o.nii.gz", "-t", transforms[0], "--interpolation", "nearest")
    gpureg_json(capfd, *words, "--device", "host")
    made = gr.read_image(tmp_path / "o.nii.gz").array
    assert made.dtype == np.uint8 and set(np.unique(made)) <= set(np.unique(gr.read_image(head_files.labels).array))


def test_inverse_leads_back(head_files, heads, transforms, tmp_path, capfd):
    other = gr.Affine(np.eye(3) * 1.05, [1.0, 2.0, 3.0])
    gr.write_transform(tmp_path / "other.mat", other)
    words = ("apply", head_files.fixed, "-o", tmp_path / "o.nii.gz", "--reference", head_files.moving, "--device", "host")
    gpureg_json(capfd, *words, "-t", transforms[0], tmp_path / "other.mat", "--inverse")
    back = gr.Composite([other.inverse(), transforms[2].inverse()])
    wanted = gr.resample(heads[0], back, heads[1], device="host")
    assert np.abs(gr.read_image(tmp_path / "o.nii.gz").array - wanted.array).max() < 1e-3


def test_inverse_of_a_deformation_leads_back(head_files, heads, transforms, tmp_path, capfd):
    words = ("apply", head_files.fixed, "-o", tmp_path / "o.nii.gz", "--reference", head_files.moving, "--device", "host")
    reported = gpureg_json(capfd, *words, "-t", transforms[1], "--inverse")
    assert reported["warnings"] == []
    wanted = gr.resample(heads[0], gr.read_transform(transforms[1]).inverse(device="host"), heads[1], device="host")
    assert np.array_equal(gr.read_image(tmp_path / "o.nii.gz").array, wanted.array)


def test_inverse_of_what_folds_warns(head_files, heads, tmp_path, capfd):
    fixed = heads[0]
    vectors = np.zeros((*fixed.shape, 3), np.float32)
    # A block is laid over its neighbours.
    vectors[10:20, 10:20, 10:20, 0] = 9 * fixed.spacing[0]
    gr.write_transform(tmp_path / "folds.nii.gz", gr.DisplacementField(vectors, fixed.spacing, fixed.origin, fixed.direction))
    words = ("apply", head_files.fixed, "-o", tmp_path / "o.nii.gz", "-t", tmp_path / "folds.nii.gz", "--inverse", "--device", "host")
    (warning,) = gpureg_json(capfd, *words)["warnings"]
    assert "folds.nii.gz: the deformation folds at" in warning


def test_fsl_both_ways(head_files, heads, transforms, tmp_path, capfd):
    fixed, moving = heads
    gr.write_transform(tmp_path / "fsl.mat", transforms[2], fixed, moving, format="fsl")
    forth = ("apply", head_files.moving, "-o", tmp_path / "o.nii", "--reference", head_files.fixed, "--device", "host")
    gpureg_json(capfd, *forth, "-t", tmp_path / "fsl.mat")
    there = gr.resample(moving, transforms[2], fixed, device="host")
    assert np.abs(gr.read_image(tmp_path / "o.nii").array - there.array).max() < 1e-2
    back = ("apply", head_files.fixed, "-o", tmp_path / "b.nii", "--reference", head_files.moving, "--device", "host")
    gpureg_json(capfd, *back, "-t", tmp_path / "fsl.mat", "--inverse")
    wanted = gr.resample(fixed, transforms[2].inverse(), moving, device="host")
    assert np.abs(gr.read_image(tmp_path / "b.nii").array - wanted.array).max() < 1e-2
    assert_fails(capfd, 1, "FSL's", "by itself", None, *forth, "-t", tmp_path / "fsl.mat", transforms[0], "--quiet")


def test_default_and_no_transform(head_files, heads, transforms, tmp_path, capfd):
    gr.write_transform(tmp_path / "far.tfm", gr.Affine(translation=[1e4, 0, 0]))
    words = ("apply", head_files.fixed, "-o", tmp_path / "o.nii.gz", "--device", "host")
    gpureg_json(capfd, *words, "-t", tmp_path / "far.tfm", "--default", "-7.5")
    assert (gr.read_image(tmp_path / "o.nii.gz").array == -7.5).all()
    gpureg_json(capfd, *words)
    assert (gr.read_image(tmp_path / "o.nii.gz").array == heads[0].array).all()
    code, out, err = gpureg(capfd, *words, "--times")
    assert code == 0 and out == "" and err.splitlines()[-1].startswith("total")


@pytest.mark.parametrize(
    "words, code, part",
    [
        (("-o", "o.png"), 2, "o.png is no name of an image: let it end on one of .nii.gz"),
        (("-o", "o.nii", "--interpolation", "cubic"), 2, "invalid choice: 'cubic'"),
        (("-o", "o.nii", "-t", "none.tfm"), 1, "There is no file none.tfm"),
        (("-o", "o.nii", "--reference", "none.nii"), 1, "There is no file none.nii"),
        (("-o", "o.nii", "--device", "cuda:77"), 2, 'no device "cuda:77"'),
        ((), 2, "-o/--output"),
    ],
)
def test_bad_input(head_files, tmp_path, monkeypatch, capfd, words, code, part):
    monkeypatch.chdir(tmp_path)
    assert_fails(capfd, code, part, None, "apply", head_files.fixed, *words)
    assert list(tmp_path.iterdir()) == []


def test_dimensions(head_files, tmp_path, capfd):
    gr.write_image(tmp_path / "flat.mha", gr.Image(np.arange(64.0).reshape(8, 8)))
    gr.write_transform(tmp_path / "flat.tfm", gr.Affine(np.eye(2)))
    words = ("apply", head_files.fixed, "-o", tmp_path / "o.nii")
    assert_fails(capfd, 1, "flat.mha 2", None, *words, "--reference", tmp_path / "flat.mha")
    assert_fails(capfd, 1, "flat.tfm is a transform of 2 dimensions", None, *words, "-t", tmp_path / "flat.tfm")
    assert not (tmp_path / "o.nii").exists()
