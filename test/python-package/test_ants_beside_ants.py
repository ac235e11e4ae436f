# SPDX-License-Identifier: Apache-2.0
"""antsRegistration of this package beside ANTs' own, where ANTsPy is installed."""

import gpuregistration as gr
import numpy as np
import pytest
from conftest import make_head
from gpuregistration.ants.programs import main

sitk = pytest.importorskip("SimpleITK")
internal = pytest.importorskip("ants.internal", reason="ANTsPy is not there: pip install antspyx")

GRID = {"shape": (24, 27, 25), "spacing": (3.5, 3.5, 3.5)}
END = "-t SyN[0.2,3,0] -c [8x6,0,10] -f 2x1 -s 1x0vox"


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Writes two pairs of heads with noise, of two contrasts, into a folder of its own, and goes there."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ITK_GPU_DEVICE", "host")
    # Noise leaves no voxel whose neighborhood is flat, where rounding decides. A length of voxels that floats hold leaves none that ITK rounds out
    # of the inside.
    rng = np.random.default_rng(3)
    fixed, moving = make_head(**GRID), make_head(lambda points: points - [1.0, -1.0, 0.5] - 2.0 * np.sin(0.08 * points[..., ::-1]), **GRID)
    for name, image in (("f", fixed), ("m", moving)):
        gr.write_image(f"{name}.nii.gz", image.like((image.array + 2 * rng.standard_normal(image.shape)).astype(np.float32)))
        other = 10 * np.sqrt(np.abs(image.array)) + rng.standard_normal(image.shape)
        gr.write_image(f"{name}2.nii.gz", image.like(other.astype(np.float32)))
    return tmp_path


def find_warps(line):
    """Returns what both programs write for a line, in which P_ stands for the prefix."""
    assert main("antsRegistration", line.replace("P_", "ours_").split()) == 0
    assert internal.get_lib_fn("antsRegistration")(line.replace("P_", "ants_").split() + ["--float", "1"]) == 0
    return [sitk.GetArrayFromImage(sitk.ReadImage(f"{which}_0Warp.nii.gz")) for which in ("ours", "ants")]


@pytest.mark.parametrize(
    "metrics",
    [
        "-m CC[f.nii.gz,m.nii.gz,1,2]",
        "-m Demons[f.nii.gz,m.nii.gz,1]",
        "-m CC[f.nii.gz,m.nii.gz,0.7,2] -m MeanSquares[f2.nii.gz,m2.nii.gz,0.3]",
        "-m MeanSquares[f.nii.gz,m.nii.gz,0] -m CC[f2.nii.gz,m2.nii.gz,2,3]",
    ],
)
def test_syn_has_ants_field(here, metrics):
    ours, theirs = find_warps(f"-d 3 -o P_ {metrics} {END}")
    apart = np.linalg.norm(ours - theirs, axis=-1) / 3.5
    assert np.linalg.norm(theirs, axis=-1).mean() > 1 and apart.mean() < 2e-4 and apart.max() < 5e-3
