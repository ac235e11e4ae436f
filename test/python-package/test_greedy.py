# SPDX-License-Identifier: Apache-2.0
"""The stage "greedy": a displacement for each voxel."""

import subprocess
import sys

import gpuregistration as gr
import numpy as np
import pytest
from conftest import assert_within_record
from gpuregistration.stages import FIELD_SIMILARITIES, Greedy, SyN, Velocity

# Updates all have one length, so the field ends no nearer to the truth than a step of it.
SETTINGS = {"iterations": (60, 60), "step": 0.25}


def make_pair(dimension, spacing=1.0):
    """Returns a fixed and a moving image, and the displacements between them, mm, of which the second one is sampled."""
    shape = (37, 41) if dimension == 2 else (29, 33, 37)
    axes = np.meshgrid(*[np.arange(n) - (n - 1) / 2 for n in shape], indexing="ij")[::-1]

    def texture(*at):
        inside = np.exp(-sum(x * x for x in at) / (2 * 11.0**2))
        return (inside * (2 + sum(np.sin(0.5 * x + 0.2 * n) for n, x in enumerate(at)))).astype(np.float32)

    moves = [1.4 * np.sin(0.12 * axes[1] + 0.3), 1.2 * np.cos(0.13 * axes[0])] + [np.sin(0.1 * axes[0])] * (dimension == 3)
    fixed = texture(*[x + u for x, u in zip(axes, moves)])
    where = {"spacing": [spacing] * dimension}
    return gr.Image(fixed, **where), gr.Image(texture(*axes), **where), spacing * np.stack(moves, axis=-1)


def register_by_command(folder, transform, *words):
    """Registers two files by gpureg's stage, and checks that the field that it writes makes the warped image. Returns the fixed, the moving and
    the warped image."""
    pytest.importorskip("SimpleITK")
    fixed, moving, _ = make_pair(3)
    gr.write_image(folder / "f.mha", fixed)
    gr.write_image(folder / "m.mha", moving)
    command = [sys.executable, "-m", "gpuregistration", "register", "f.mha", "m.mha", "-o", "o.mha", "--device", "host"]
    command += ["--transform", transform, "--output-field", "warp.nii.gz", "--report", "r.html", *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    warped = gr.read_image(folder / "o.mha").array
    again = gr.resample(moving, gr.read_transform(folder / "warp.nii.gz"), fixed, device="host").array
    np.testing.assert_allclose(again, warped, atol=1e-4)
    assert transform.split(":")[0] in (folder / "r.html").read_text("utf-8")
    return fixed, moving, warped


def check_refuses(stage, message):
    """Checks that a stage's settings are refused with a message that names the stage."""
    fixed, moving, _ = make_pair(2)
    with pytest.raises(gr.BadInputError, match=f"{stage.name}: .*{message}"):
        gr.register(fixed, moving, stage)


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("spacing", [0.05, 1.0, 25.0])
def test_finds_a_known_deformation(device, dimension, spacing):
    fixed, moving, truth = make_pair(dimension, spacing)
    result = gr.register(fixed, moving, Greedy(**SETTINGS), device=device)
    found = result.displacement_field.array
    inside = fixed.array > 1.5
    error = np.linalg.norm(found - truth, axis=-1)[inside].mean() / spacing
    assert_within_record(error, {2: 0.0795, 3: 0.173}[dimension])
    assert result.stages[0].smallest_determinant > 0.1 and not result.warnings
    assert [level.voxels for level in result.stages[0].levels][-1] == fixed.array.size
    rest = np.abs(result.warped.array - fixed.array)[inside].mean() / np.abs(moving.array - fixed.array)[inside].mean()
    assert_within_record(rest, {2: 0.0810, 3: 0.134}[dimension])


# Errors of record, voxels, where each voxel moves by some 1.3. Each level lowers the cost.
BY_SIMILARITY = {
    "mean_squares": 0.0451,
    "correlation": 0.0353,
    "correlation_ratio": 0.057,
    "mattes_mutual_information": 0.0987,
    "normalized_mutual_information": 0.0703,
    "demons": 0.0519,
}


@pytest.mark.parametrize("similarity", [name for name in FIELD_SIMILARITIES if name != "neighborhood_correlation"])
def test_finds_it_by_each_similarity(device, similarity):
    fixed, moving, truth = make_pair(2)
    result = gr.register(fixed, moving, Greedy(similarity, **SETTINGS), device=device)
    inside = fixed.array > 1.5
    error = np.linalg.norm(result.displacement_field.array - truth, axis=-1)[inside].mean()
    assert_within_record(error, BY_SIMILARITY[similarity])
    (stage,) = result.stages
    assert stage.metric == similarity and all(level.costs[-1] < level.costs[0] for level in stage.levels)
    assert stage.cost == stage.levels[-1].costs[-1]


def test_begins_with_what_was_found_before(device):
    fixed, moving, truth = make_pair(3)
    shifted = gr.Image(moving.array, moving.spacing, moving.origin + [6.0, 0, 0])
    result = gr.register(fixed, shifted, ["rigid", Greedy(**SETTINGS)], device=device)
    inside = fixed.array > 1.5
    found = result.displacement_field.array - [6.0, 0, 0]
    assert_within_record(np.linalg.norm(found - truth, axis=-1)[inside].mean(), 0.173)


def test_noise_says_which_structure_counts(device):
    fixed, moving, truth = make_pair(2)
    # A bright ring, and within it structure of 0.3 % of the range.
    axes = np.meshgrid(*[np.arange(n) - (n - 1) / 2 for n in fixed.array.shape], indexing="ij")[::-1]
    ring = np.where(np.hypot(*axes) > 17, 1000.0, 0.0)
    faint = [image.like((ring + image.array).astype(np.float32)) for image in (fixed, moving)]
    inside = np.hypot(*axes) < 11
    errors = []
    for noise in (0.01, 0.001):
        found = gr.register(*faint, Greedy(noise=noise, **SETTINGS), device=device)
        errors.append(np.linalg.norm(found.transform.array - truth, axis=-1)[inside].mean())
    assert_within_record(errors[1], 0.684)
    assert errors[1] < 0.65 * errors[0]


def test_a_velocity_has_no_noise():
    check_refuses(Velocity(noise=0.001), "a velocity does not have it")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"iterations": ()}, "iterations"),
        ({"iterations": (5, -1)}, "iterations"),
        ({"iterations": (5,) * 7}, "1 to 6"),
        ({"iterations": "many"}, "iterations"),
        ({"radius": 0}, "radius"),
        ({"step": 0}, "step"),
        ({"noise": 0.0005}, "noise"),
        ({"noise": 2}, "noise"),
        ({"update_sigma": -1}, "update_sigma"),
        ({"field_sigma": float("nan")}, "field_sigma"),
        ({"similarity": "mean_absolute_differences"}, "neighborhood_correlation"),
        ({"weights": (1,)}, "one number for each axis"),
        ({"weights": (1, 1, 1)}, "one number for each axis"),
        ({"weights": (0, 0)}, "nothing moves"),
        ({"weights": (1, -1)}, "weights"),
        ({"optimizer": "momentum"}, "optimizer"),
        ({"convergence_window": 1}, "convergence_window=1 is not possible"),
        ({"convergence_threshold": 2}, "convergence_threshold"),
        ({"similarity": "normalized_mutual_information", "bins": 4}, "bins"),
    ],
)
def test_says_what_setting_is_not_possible(settings, message):
    check_refuses(Greedy(**settings), message)


@pytest.mark.parametrize("kind", [Greedy, SyN, Velocity])
def test_weights_hold_an_axis_and_a_window_ends_a_level(device, kind):
    fixed, moving, _ = make_pair(2)
    field = gr.register(fixed, moving, kind(iterations=20, weights=(1, 0)), device=device).displacement_field.array
    assert np.abs(field[..., 0]).max() > 0.5 and np.abs(field[..., 1]).max() < 1e-6
    stage = kind(iterations=80, step=0.25, convergence_window=8, convergence_threshold=1e-3)
    assert 8 <= len(gr.register(fixed, moving, stage, device=device).stages[0].levels[0].costs) < 80


def test_the_command_writes_what_it_found(tmp_path):
    fixed, moving, warped = register_by_command(tmp_path, "greedy:iterations=60x60:step=0.25:radius=3")
    inside = fixed.array > 1.5
    rest = np.abs(warped - fixed.array)[inside].mean() / np.abs(moving.array - fixed.array)[inside].mean()
    assert_within_record(rest, 0.166)
