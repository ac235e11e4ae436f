# SPDX-License-Identifier: Apache-2.0
"""Tests real heads: Debian's mricron-data."""

from pathlib import Path

import gpuregistration as gr
import numpy as np
import pytest
from command_line import gpureg_json
from conftest import assert_within_record, turn
from gpuregistration import stages

FOLDER = Path("/usr/share/mricron/templates")


@pytest.fixture(scope="module")
def heads():
    """Returns a head, and the same head rotated."""
    pytest.importorskip("SimpleITK")
    if not (FOLDER / "ch2.nii.gz").exists():
        pytest.skip("there is no ch2.nii.gz: install Debian's mricron-data")
    head = gr.read_image(FOLDER / "ch2.nii.gz")
    # 2 mm are enough here.
    head = gr.pyramid(head, 2, device="host")[1]
    wanted = gr.Affine(turn(12.0), [6.0, -5.0, 8.0])
    return head, gr.resample(head, wanted.inverse(), head, device="host"), wanted


def test_head(device, heads):
    fixed, moving, wanted = heads
    result = gr.register(fixed, moving, ["rigid", stages.FreeForm(levels=2, iterations=5)], device=device)
    corners = np.array([[-60, -80, -40], [60, -80, 60], [-60, 60, 60], [60, 60, -40.0]])
    found = result.stages[0].transform.transform_points(corners)
    assert_within_record(np.abs(found - wanted.transform_points(corners)).max(), 0.0117)
    assert result.warped.array.dtype == fixed.array.dtype
    assert_within_record(1 - np.corrcoef(result.warped.array.ravel(), fixed.array.ravel())[0, 1], 0.00513)


def test_labels_follow(heads):
    fixed, moving, wanted = heads
    if not (FOLDER / "aal.nii.gz").exists():
        pytest.skip("there is no aal.nii.gz: install Debian's mricron-data")
    labels = gr.read_image(FOLDER / "aal.nii.gz")
    there = gr.resample(labels, wanted.inverse(), moving, "nearest", device="host")
    result = gr.register(fixed, moving, "rigid", device="host")
    back = gr.resample(there, result.transform, labels, "nearest", device="host")
    assert set(np.unique(back.array)) <= set(np.unique(labels.array))
    overlap = 2.0 * ((back.array > 0) & (labels.array > 0)).sum() / ((back.array > 0).sum() + (labels.array > 0).sum())
    assert_within_record(1 - overlap, 0.0271)


def test_command_file_to_file(device, heads, tmp_path, capfd):
    """A head and its brain's labels, in compressed files, moved by a known map."""
    fixed, moving, wanted = heads
    if not (FOLDER / "aal.nii.gz").exists():
        pytest.skip("there is no aal.nii.gz: install Debian's mricron-data")
    labels = gr.resample(gr.read_image(FOLDER / "aal.nii.gz"), None, fixed, "nearest", device="host")
    there = gr.resample(labels, wanted.inverse(), moving, "nearest", device="host")
    for name, image in (("fixed", fixed), ("moving", moving), ("labels", labels), ("there", there)):
        gr.write_image(tmp_path / f"{name}.nii.gz", image)
    pair = (tmp_path / "fixed.nii.gz", tmp_path / "moving.nii.gz")
    transform = ("--transform", tmp_path / "found.h5")
    stages_asked = ("--transform", "affine,ffd:levels=2:iterations=5")
    gpureg_json(
        capfd, "register", *pair, "-o", tmp_path / "o.nii.gz", "--output-transform", transform[1], *stages_asked, "--device", device
    )
    with_labels = ("--labels", tmp_path / "labels.nii.gz", tmp_path / "there.nii.gz")
    before = gpureg_json(capfd, "compare", *pair, *with_labels, "--device", device)
    after = gpureg_json(capfd, "compare", *pair, *with_labels, *transform, "--device", device)
    assert before["dice"]["mean"] < 0.3 and len(after["dice"]["labels"]) > 100
    assert_within_record(1 - after["dice"]["mean"], 0.0332)
    assert_within_record(1 + after["metrics"]["correlation"], 0.00761)
    assert after["jacobian"]["folded"] == 0
