# SPDX-License-Identifier: Apache-2.0
"""Tests the value outside of the moving image in warped images."""

import json

import gpuregistration as gr
import numpy as np
import pytest
from command_line import assert_fails, gpureg, gpureg_json
from gpuregistration._report_data import report_data

FAR = gr.Affine(translation=[25.0, 0.0, 0.0])


@pytest.mark.parametrize("kind, value", [(np.float32, -1000.5), (np.float64, np.nan), (np.int16, -1024), (np.uint8, 255), (np.float32, 0)])
def test_of_what_is_warped(device, heads, kind, value):
    fixed, moving = heads[0], heads[1].like(heads[1].array.astype(kind))
    result = gr.register(fixed, moving, initial=FAR, default=value, device=device)
    plain = gr.register(fixed, moving, initial=FAR, device=device)
    assert result.cost == plain.cost and repr(result.default) == repr(float(value))
    inside = gr.resample(moving.like(np.ones(moving.shape, np.uint8)), result.transform, fixed, "nearest", device=device).array != 0
    assert 0 < inside.sum() < inside.size
    outside = result.warped.array[~inside]
    assert np.isnan(outside).all() if value != value else (outside == value).all()
    assert (result.warped.array[inside] == plain.warped.array[inside]).all()
    again = gr.resample(moving, result.transform, fixed, default=value, device=device).array
    np.testing.assert_allclose(again, result.warped.array, atol=1e-3)


@pytest.mark.parametrize("value", [-1, 256, 0.5, float("nan")])
def test_what_the_type_does_not_hold(heads, value):
    moving = heads[1].like(heads[1].array.astype(np.uint8))
    with pytest.raises(gr.BadInputError, match="is not possible: the image's values are of uint8, whole numbers from 0 to 255"):
        gr.register(heads[0], moving, default=value, device="host")


@pytest.mark.parametrize("value", [-1024.0, np.nan, np.inf])
def test_reports(heads, tmp_path, value):
    """Metrics are over the region that the moving image covers: the value outside makes no difference."""
    found = []
    for default in (0.0, value):
        result = gr.register(*heads, initial=FAR, default=default, device="host")
        result.write_report(tmp_path / "report.html")
        found.append(
            report_data(result._pair, result._warped_array, result.stages, FAR, "host", default=default)
        )
    assert found[0].similarity == found[1].similarity
    shown = value if np.isfinite(value) else 0.0
    for name in ("moving_before", "moving_after"):
        plain, other = (getattr(one, name) for one in found)
        assert (other[plain != other] == shown).all() and (plain != other).any() == np.isfinite(value)


def test_the_command(head_files, heads, tmp_path, capfd):
    pytest.importorskip("SimpleITK")
    gr.write_transform(tmp_path / "far.tfm", FAR)
    words = ("register", head_files.fixed, head_files.moving, "-o", tmp_path / "o.nii.gz", "--initial", tmp_path / "far.tfm", "--report")
    gpureg_json(capfd, *words, "--transform", "ffd", "--device", "host", "--default=-50")
    wanted = gr.register(*heads, "ffd", initial=FAR, default=-50, device="host").warped.array
    assert wanted.min() == -50
    np.testing.assert_allclose(gr.read_image(tmp_path / "o.nii.gz").array, wanted, atol=1e-3)
    words = ("register", head_files.fixed, head_files.moving_labels, "-o", tmp_path / "p.nii.gz", "--device", "host", "--quiet")
    assert_fails(capfd, 1, "-1.0 is not possible", "uint8", None, *words, "--default", "-1")
    assert not (tmp_path / "p.nii.gz").exists()


def test_a_cohort(head_files, tmp_path, capfd):
    pytest.importorskip("distributed")
    gr.write_transform(tmp_path / "far.tfm", FAR)
    (tmp_path / "pairs.csv").write_text(
        f"id,fixed,moving,initial\ngood,{head_files.fixed},{head_files.moving},far.tfm\n"
        f"bad,{head_files.fixed},{head_files.moving_labels},far.tfm\n"
    )
    words = ("cohort", tmp_path / "pairs.csv", "-o", tmp_path / "out", "--devices", "host", "--workers-per-device", "1", "--transform", "ffd")
    code, out, err = gpureg(capfd, *words, "--default", "-50", "--json", "--quiet", "--reports")
    found = json.loads(out.splitlines()[-1])
    assert code == 1 and [pair["state"] for pair in found["pairs"]] == ["done", "failed"], err
    assert "-50.0 is not possible" in found["pairs"][1]["error"] and "uint8" in found["pairs"][1]["error"]
    assert gr.read_image(tmp_path / "out" / "good" / "warped.nii.gz").array.min() == -50
    assert "--default=-50.0" in (tmp_path / "out" / "good" / "report.html").read_text("utf-8")
    # Another value is another setting.
    code, out, err = gpureg(capfd, *words, "--default", "0")
    assert "good is done again: its settings have changed" in err
