# SPDX-License-Identifier: Apache-2.0
"""Tests that values that are infinite or NaN are read from files of every format, and refused in computations."""

import gpuregistration as gr
import numpy as np
import pytest
from command_line import assert_fails, gpureg, gpureg_json
from conftest import make_head
from gpuregistration._kinds import to_nibabel, to_simpleitk

sitk = pytest.importorskip("SimpleITK")
pytest.importorskip("nibabel")

VOXEL = (20, 22, 24)
WORDS = "has 1 value that is infinite or not a number, the first one at"


def holed(value=np.nan, kind=np.float32):
    head = make_head()
    array = head.array.astype(kind)
    array[VOXEL[::-1]] = value
    return head.like(array)


@pytest.fixture
def head(tmp_path):
    gr.write_image(tmp_path / "head.nii", make_head())
    return tmp_path / "head.nii"


@pytest.mark.parametrize("suffix", [".nii", ".nii.gz", ".hdr", ".mha", ".mhd", ".nrrd", ".nhdr", ".vtk"])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_every_format_gives_the_same(head, tmp_path, capfd, suffix, kind, value):
    path, image = tmp_path / f"a{suffix}", holed(value, kind)
    gr.write_image(path, image)
    np.testing.assert_array_equal(gr.read_image(path).array, image.array)
    reported = f"The file {path} {WORDS} voxel {VOXEL}. Replace them, in the file."
    for pair in ((path, head), (head, path)):
        assert_fails(capfd, 1, reported, None, "register", *pair, "-o", tmp_path / "o.nii", "--quiet", "--device", "host")
    assert not (tmp_path / "o.nii").exists()


@pytest.mark.parametrize("make", [lambda image: image.array, lambda image: image, to_simpleitk, to_nibabel])
def test_every_kind_gives_the_same(make):
    image, fixed = make(holed()), make(make_head())
    mask = make(make_head().like((make_head().array > 1).astype(np.uint8)))
    for compute in (
        lambda: gr.register(fixed, image, device="host"),
        lambda: gr.register(image, fixed, device="host"),
        # Values outside of a mask are smoothed into the values inside.
        lambda: gr.register(fixed, image, fixed_mask=mask, moving_mask=mask, device="host"),
        lambda: gr.metric("mean_squares", fixed, image, device="host"),
        lambda: gr.smooth(image, 2.0, device="host"),
        lambda: gr.pyramid(image, 2, device="host"),
        lambda: gr.resample(image, interpolation="bspline", device="host"),
    ):
        with pytest.raises(gr.BadInputError, match=f"{WORDS} .{VOXEL[2]}, {VOXEL[1]}, {VOXEL[0]}.. Replace them, such as by numpy.nan_to_num"):
            compute()
    assert np.isnan(np.asarray(gr.resample(holed(), device="host").array)).sum() == 1


@pytest.mark.parametrize("suffix", [".nii.gz", ".mha"])
def test_apply_keeps_them_where_they_are(tmp_path, device, capfd, suffix):
    path, image = tmp_path / f"a{suffix}", holed()
    gr.write_image(path, image)
    for shift, method, wanted in (
        (0.0, "linear", {24}),
        (0.0, "nearest", {24}),
        # By half a voxel of 2 mm: each voxel lies half-way between its own position and the next one.
        (1.0, "linear", {23, 24}),
        (2.0, "linear", {23}),
        (0.5, "nearest", {24}),
    ):
        gr.write_transform(tmp_path / "t.tfm", gr.Affine(translation=(0.0, 0.0, shift)))
        words = ("apply", path, "-t", tmp_path / "t.tfm", "-o", tmp_path / f"o{suffix}", "--interpolation", method, "--device", device)
        gpureg_json(capfd, *words)
        made = gr.read_image(tmp_path / f"o{suffix}").array
        assert {tuple(index) for index in np.argwhere(np.isnan(made)).tolist()} == {(z, VOXEL[1], VOXEL[0]) for z in wanted}
        clean = gr.resample(make_head(), gr.Affine(translation=(0.0, 0.0, shift)), interpolation=method, device=device).array
        assert np.nanmax(np.abs(made - clean)) == 0
    words = ("apply", path, "-o", tmp_path / f"b{suffix}", "--interpolation", "bspline", "--device", device)
    assert_fails(capfd, 1, WORDS, "Replace them", None, *words)


def test_compare_leaves_them_out(head, tmp_path, capfd, device):
    """Metrics are over the remaining voxels, as with a mask."""
    rng = np.random.default_rng(1)
    whole = make_head()
    other = whole.like(whole.array + rng.normal(0, 3, whole.shape).astype(np.float32))
    a, b, mask = whole.array.copy(), other.array.copy(), np.ones(whole.shape, np.uint8)
    for array, place in ((a, np.s_[5:9, 20:30, 20:30]), (b, np.s_[20:25, 20:22, 10:30])):
        array[place] = np.nan
        mask[place] = 0
    b[30, 30, 30], mask[30, 30, 30] = np.inf, 0
    for name, image in (("a", whole.like(a)), ("b", whole.like(b)), ("whole", whole), ("other", other), ("mask", whole.like(mask))):
        gr.write_image(tmp_path / f"{name}.nii.gz", image)
    found = gpureg_json(capfd, "compare", tmp_path / "a.nii.gz", tmp_path / "b.nii.gz", "--device", device)
    wanted = gpureg_json(
        capfd, "compare", tmp_path / "whole.nii.gz", tmp_path / "other.nii.gz", "--mask", tmp_path / "mask.nii.gz", "--device", device
    )
    for name, value in found["metrics"].items():
        assert value == pytest.approx(wanted["metrics"][name], rel=2e-4), name
    reported = [f"The file {tmp_path / 'a.nii.gz'} has 400 values", f"The file {tmp_path / 'b.nii.gz'} has 201 values"]
    assert [warning[: len(words)] for warning, words in zip(found["warnings"], reported)] == reported and wanted["warnings"] == []
    code, _, err = gpureg(capfd, "compare", tmp_path / "a.nii.gz", tmp_path / "b.nii.gz", "--device", device)
    assert code == 0 and err.count("are left out") == 2
    # Values interpolated from one are left out, too.
    gr.write_transform(tmp_path / "t.tfm", gr.Affine(translation=(1.0, 1.0, 1.0)))
    words = ("compare", head, tmp_path / "b.nii.gz", "--transform", tmp_path / "t.tfm", "--device", device)
    assert all(np.isfinite(value) for value in gpureg_json(capfd, *words)["metrics"].values())
    gr.write_image(tmp_path / "none.nii", whole.like(np.full(whole.shape, np.nan, np.float32)))
    assert_fails(capfd, 1, "has no value that is a finite number", None, "compare", head, tmp_path / "none.nii", "--quiet")


def test_masks_and_labels(head, tmp_path, capfd):
    gr.write_image(tmp_path / "m.nii", holed())
    words = ("register", head, head, "-o", tmp_path / "o.nii", "--device", "host")
    assert_fails(capfd, 1, "m.nii has values that are not a number, neither inside nor outside", None, *words, "--mask", tmp_path / "m.nii")
    words = ("compare", tmp_path / "m.nii", tmp_path / "m.nii", "--labels", "--quiet")
    assert_fails(capfd, 1, "m.nii has values that are no whole numbers", None, *words)
