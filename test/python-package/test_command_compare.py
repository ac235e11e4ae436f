# SPDX-License-Identifier: Apache-2.0
"""Tests gpureg compare."""

import gpuregistration as gr
import numpy as np
import pytest
from command_line import assert_fails, gpureg, gpureg_json
from conftest import make_head
from gpuregistration._labels import compute_dice

sitk = pytest.importorskip("SimpleITK")


def test_metrics_are_the_engines(device, head_files, heads, capfd):
    found = gpureg_json(capfd, "compare", head_files.fixed, head_files.moving, "--device", device)
    assert set(found["metrics"]) == set(gr._metric.METRICS) and "dice" not in found and "jacobian" not in found
    for name, value in found["metrics"].items():
        assert value == pytest.approx(gr.metric(name, *heads, device=device).value(gr.Affine(np.eye(3))), rel=1e-3, abs=1e-5)


def test_mask_and_transform_count(head_files, moved, tmp_path, capfd):
    gr.write_transform(tmp_path / "t.tfm", moved)
    words = ("compare", head_files.fixed, head_files.moving, "--device", "host")
    plain, masked = gpureg_json(capfd, *words), gpureg_json(capfd, *words, "--mask", head_files.mask)
    there = gpureg_json(capfd, *words, "--transform", tmp_path / "t.tfm")
    assert masked["metrics"]["mean_squares"] != plain["metrics"]["mean_squares"]
    assert there["metrics"]["mean_squares"] < 0.05 * plain["metrics"]["mean_squares"]
    assert there["metrics"]["correlation"] < -0.99
    jacobian = there["jacobian"]
    assert jacobian["min"] == pytest.approx(1.0, abs=1e-6) and jacobian["max"] == pytest.approx(1.0, abs=1e-6)
    assert jacobian["folded"] == 0 and jacobian["folded_share"] == 0.0 and jacobian["voxels"] == 40 * 48 * 44


def test_jacobian_of_a_fold(head_files, heads, tmp_path, capfd):
    fixed = heads[0]
    x = np.arange(fixed.size[0])
    field = np.zeros((*fixed.array.shape, 3))
    # Voxels of 2 mm: along x everything is reversed, between two planes.
    field[..., 0] = np.where((x >= 15) & (x < 25), -4.0 * (x - 15), 0.0)
    gr.write_transform(tmp_path / "w.nii.gz", gr.DisplacementField(field, fixed.spacing, fixed.origin, fixed.direction))
    words = ("compare", head_files.fixed, head_files.fixed, "--transform", tmp_path / "w.nii.gz", "--device", "host")
    found = gpureg_json(capfd, *words)["jacobian"]
    du = np.gradient(field[0, 0, :, 0], 2.0)
    assert found["min"] == pytest.approx(1 + du.min(), abs=1e-5) and found["max"] == pytest.approx(1 + du.max(), abs=1e-5)
    assert found["folded_share"] == pytest.approx((1 + du <= 1e-9).mean(), abs=1e-12)
    masked = gpureg_json(capfd, *words, "--mask", head_files.mask)["jacobian"]
    assert masked["voxels"] == int((gr.read_image(head_files.mask).array != 0).sum())
    code, out, _ = gpureg(capfd, *words)
    assert code == 0 and "folded (0 or less): " in out


def test_dice(head_files, moved, tmp_path, capfd):
    gr.write_transform(tmp_path / "t.tfm", moved)
    words = ("compare", head_files.fixed, head_files.moving, "--device", "host", "--labels", head_files.labels)
    a, b = gr.read_image(head_files.labels), gr.read_image(head_files.moving_labels)
    found = gpureg_json(capfd, *words, head_files.moving_labels)["dice"]
    for label, value in found["labels"].items():
        first, second = a.array == int(label), b.array == int(label)
        assert value == pytest.approx(2 * (first & second).sum() / (first.sum() + second.sum()))
    assert found["mean"] == pytest.approx(np.mean(list(found["labels"].values()))) and len(found["labels"]) >= 3
    there = gpureg_json(capfd, *words, head_files.moving_labels, "--transform", tmp_path / "t.tfm")["dice"]
    assert there["mean"] > found["mean"] + 0.1


def test_labels_by_themselves(head_files, capfd):
    words = ("compare", head_files.labels, head_files.moving_labels, "--labels")
    found = gpureg_json(capfd, *words)
    assert "metrics" not in found and 0 < found["dice"]["mean"] < 1
    code, out, err = gpureg(capfd, *words)
    assert code == 0 and err == "" and out.splitlines()[-1].startswith("mean")


def test_dice_of_any_labels():
    first, second = np.array([[-3, 0, 7], [7, 70000, 0]]), np.array([[-3, 7, 7], [0, 5, 0]])
    assert compute_dice(first, second) == {-3: 1.0, 5: 0.0, 7: 0.5, 70000: 0.0}
    assert compute_dice(np.zeros(3, np.uint8), np.zeros(3, np.uint8)) == {}


def test_bad_input(head_files, tmp_path, capfd):
    words = ("compare", head_files.fixed, head_files.moving)
    assert_fails(capfd, 2, "--labels names 1 files", None, *words, "--labels", head_files.labels)
    assert_fails(capfd, 1, "no whole numbers", head_files.fixed, None, *words, "--labels", head_files.fixed, head_files.labels)
    assert_fails(capfd, 1, "There is no file", None, *words, "--transform", tmp_path / "none.tfm")
    assert_fails(capfd, 1, "3 dimensions has 3", None, *words, "--transform", head_files.labels)
    gr.write_image(tmp_path / "flat.mha", gr.Image(np.arange(64.0).reshape(8, 8)))
    assert_fails(capfd, 1, "flat.mha 2", None, "compare", head_files.fixed, tmp_path / "flat.mha")
    assert_fails(capfd, 1, "on another grid", None, *words, "--mask", write_small_mask(tmp_path))


def write_small_mask(folder):
    gr.write_image(folder / "small.nii.gz", gr.Image(np.ones((5, 5, 5), np.uint8)))
    return folder / "small.nii.gz"


def test_slices_and_what_is_none(tmp_path, capfd):
    """By a transform of two dimensions slices are compared, wherever they lie; labels are of their image's slice."""
    whole = make_head()
    flat = {"a": whole.array[20:21], "labels": (whole.array[20:21] // 40).astype(np.uint8)}
    for height in (0.0, 6.0):
        for name, array in flat.items():
            gr.write_image(tmp_path / f"{name}{height:.0f}.nii.gz", gr.Image(array, whole.spacing, whole.origin + [0, 0, height]))
    gr.write_image(tmp_path / "whole.nii.gz", whole)
    gr.write_transform(tmp_path / "t.tfm", gr.Affine(np.eye(2)))
    a, b, la, lb = (tmp_path / f"{name}.nii.gz" for name in ("a0", "a6", "labels0", "labels6"))
    words = ("--transform", tmp_path / "t.tfm", "--device", "host")
    found = gpureg_json(capfd, "compare", a, b, *words, "--labels", la, lb)
    assert found["dice"]["mean"] == 1.0 and found["metrics"]["mean_squares"] < 1e-9
    for labels, name, image in (((la, la), la, b), ((lb, lb), lb, a)):
        assert_fails(capfd, 1, f"file {name} and the file {image} are different slices: their planes are 6 mm apart", None, "compare", a, b, *words, "--labels", *labels)
    assert_fails(capfd, 1, f"{tmp_path / 'whole.nii.gz'} is no image of two dimensions, nor a slice", None, "compare", a, tmp_path / "whole.nii.gz", *words)
