# SPDX-License-Identifier: Apache-2.0
"""Several pairs of images at once: register(..., also=[ImagePair(...)]) and gpureg register --also."""

import json
import subprocess
import sys

import gpuregistration as gr
import numpy as np
import pytest
from conftest import assert_within_record, make_head
from gpuregistration.stages import Affine, FreeForm, Greedy, Rigid, SyN, Velocity

GREEDY = Greedy("mean_squares", iterations=40, step=0.25, update_sigma=2.5)
SYN = SyN("mean_squares", iterations=40, step=0.25, update_variance=6.0)
VELOCITY = Velocity("mean_squares", iterations=40, step=0.5, update_sigma=2.5)
# How far the mean shifts by one pair and by two are off along x and y, mm. What is 1e-6 here is less: rounding.
OFF = {
    "greedy": [(0.0736, 1e-6), (0.0328, 0.0325)],
    "syn": [(0.049, 1e-6), (0.0271, 0.0268)],
    "velocity": [(0.008, 1e-6), (0.0545, 0.0443)],
}
OFF_BY_METRIC = {
    "mean_squares": [(3.93e-5, 1e-6), (0.00109, 0.00112)],
    "correlation": [(3.93e-5, 1e-6), (0.00127, 0.000425)],
    "mattes_mutual_information": [(3.93e-5, 1e-6), (0.00113, 0.062)],
    "neighborhood_correlation": [(3.93e-5, 1e-6), (0.00174, 0.0026)],
}
EACH = pytest.mark.parametrize("stage", [GREEDY, SYN, VELOCITY], ids=["greedy", "syn", "velocity"])


def make_stripes(along, shift=0.0):
    """Returns an image that varies along x (0) or y (1) alone, shifted along that axis: by its values it can be aligned along that axis only."""
    axes = np.meshgrid(np.arange(40.0), np.arange(44.0), indexing="ij")[::-1]
    return gr.Image(np.sin(0.35 * (axes[along] + shift)).astype(np.float32) * 50 + 100)


def make_pair(along, **settings):
    return gr.ImagePair(make_stripes(along, 1.5), make_stripes(along), **settings)


def mean_shift(result):
    """Returns the mean displacement along x and y, mm, of the inner voxels."""
    return result.displacement_field.array[10:-10, 10:-10].mean(axis=(0, 1))


def register(stage, device, also, along=0):
    return gr.register(make_stripes(along, 1.5), make_stripes(along), stage, device=device, also=also)


def check_shifts(alone, both, records):
    """Checks the mean shifts by the pair that sees x, and by both pairs."""
    for found, wanted, of_record in zip((alone, both), ([1.5, 0.0], [1.5, 1.5]), records):
        for error, record in zip(np.abs(found - wanted), of_record):
            assert_within_record(error, record)


@EACH
def test_each_pair_pulls_where_it_sees_something(device, stage):
    alone = mean_shift(register(stage, device, None))
    both = mean_shift(register(stage, device, [make_pair(1)]))
    check_shifts(alone, both, OFF[stage.name])


@pytest.mark.parametrize("metric", OFF_BY_METRIC)
def test_free_form_deformations_follow_each_pair_where_it_sees_something(device, metric):
    stage = FreeForm("mean_squares", spacing=8.0, levels=2, bending_weight=1e-3)
    alone = mean_shift(register(stage, device, None))
    both = mean_shift(register(stage, device, [make_pair(1, metric=metric, bins=16, weight=0.7)]))
    check_shifts(alone, both, OFF_BY_METRIC[metric])


@EACH
def test_weights(device, stage):
    field = lambda also: register(stage, device, also).displacement_field.array  # noqa: E731
    alone = field(None)
    # A pair without a weight changes no bit; a second one of the same images changes the direction of nothing.
    np.testing.assert_array_equal(field(make_pair(1, weight=0)), alone)
    np.testing.assert_allclose(field([make_pair(0, weight=3.0)]), alone, atol=2e-3)
    # The heavier pair goes ahead: the other one has not arrived after few iterations.
    few = Greedy("mean_squares", iterations=5, step=0.25, update_sigma=2.5)
    shift = mean_shift(register(few, device, [make_pair(1, weight=0.1)]))
    assert shift[0] > 4 * shift[1] > 0


def test_costs_are_means_by_weights(device):
    stage = Greedy("mean_squares", iterations=1)
    cost = lambda also: register(stage, device, also).stages[0].levels[0].costs[0]  # noqa: E731
    one = cost(None)
    other = gr.register(make_stripes(1, 3.0), make_stripes(1), Greedy("correlation", iterations=1), device=device).stages[0].levels[0].costs[0]
    pair = gr.ImagePair(make_stripes(1, 3.0), make_stripes(1), "correlation", weight=3.0)
    assert cost(pair) == pytest.approx((one + 3 * other) / 4, rel=1e-5)


@pytest.mark.parametrize("stage", [GREEDY, SYN], ids=["greedy", "syn"])
def test_masks_are_of_each_pair(device, stage):
    wrong = make_stripes(1, 1.5)
    wrong.array[:, :22] = make_stripes(1, -1.5).array[:, :22]
    mask = np.zeros(wrong.array.shape, np.uint8)
    mask[:, 22:] = 1
    masked = gr.ImagePair(wrong, make_stripes(1), fixed_mask=mask)
    half = lambda also: register(stage, device, also).displacement_field.array[10:-10, 12:18, 1].mean()  # noqa: E731
    assert half(gr.ImagePair(wrong, make_stripes(1))) < -0.5
    assert half(masked) > -0.2


def test_also_follows_other_stages_and_takes_other_grids(device):
    heads = [gr.Image(np.repeat(make_stripes(0, shift).array[None], 12, 0).copy()) for shift in (1.5, 0.0)]
    fine = gr.Image(np.repeat(heads[1].array, 2, axis=0), [1.0, 1.0, 0.5], [0.0, 0.0, -0.25])
    # The moving image has other voxels; of SyN the fixed one, too.
    stage = Greedy("mean_squares", iterations=20, step=0.25)
    both = gr.register(*heads, ["rigid", stage], device=device, also=gr.ImagePair(heads[0], fine))
    assert [one.name for one in both.stages] == ["rigid", "greedy"] and not both.warnings
    fine_fixed = gr.Image(np.repeat(heads[0].array, 2, axis=0), [1.0, 1.0, 0.5], [0.0, 0.0, -0.25])
    by_syn = SyN("mean_squares", iterations=5)
    assert np.isfinite(gr.register(*heads, by_syn, device=device, also=gr.ImagePair(fine_fixed, fine)).cost)


def find_cost(fixed, moving, found):
    """Returns 0.5 log(1.001 - r^2) of the voxels that a map leads into the moving image."""
    inside = gr.resample(moving.like(np.ones(moving.shape, np.float32)), found, fixed, device="host").array > 0.999
    warped = gr.resample(moving, found, fixed, device="host").array
    return 0.5 * np.log(1.001 - np.corrcoef(fixed.array[inside].astype(float), warped[inside].astype(float))[0, 1] ** 2)


def test_linear_stages_find_the_least_mean_in_nats(device):
    """The two pairs lie 1.8 mm apart: the mean's minimum is neither where the first one wants it nor where the second one does."""
    heads = [make_head(lambda points, shift=shift: points - shift) for shift in ([2.6, -2.2, 0.7], [0.0, 0.0, 0.0], [2.6, -0.4, 0.7])]
    # Another contrast keeps 1 - r^2 far from 0. The heads have no noise, because interpolation smooths noise more between voxels than at them.
    for fixed in (heads[0], heads[2]):
        fixed.array[...] = np.sqrt(np.abs(fixed.array))
    also = gr.ImagePair(heads[2], heads[1], "correlation", weight=3.0)
    stage = Rigid("correlation", fixed_range="all", moving_range="all")
    result = gr.register(*heads[:2], stage, device=device, also=also, initial=gr.Affine(np.eye(3)))
    mean = lambda found: (find_cost(*heads[:2], found) + 3 * find_cost(heads[2], heads[1], found)) / 4  # noqa: E731
    least = mean(result.transform)
    assert result.cost == pytest.approx(least, abs=1e-6)
    matrix = result.transform.matrix_of()
    for axis in range(3):
        shifts = np.eye(3)[axis] * 0.1
        beside = [mean(gr.Affine.from_matrix(matrix + np.pad(sign * shifts[:, None], ((0, 1), (3, 0))))) for sign in (-1, 1)]
        # The vertex of a parabola through all three is less than a twentieth of a voxel away.
        assert abs(0.1 * (beside[0] - beside[1]) / (2 * (sum(beside) - 2 * least))) < 0.1
    shift = result.transform.transform_points(np.zeros((1, 3)))[0, 1]
    assert 0.6 < shift < 2.0


def test_linear_stages_before_a_deformation_compare_the_first_pair_alone(device):
    images = make_stripes(0, 1.5), make_stripes(0)
    stage = Affine(degrees_of_freedom=3, cost="correlation")
    alone = gr.register(*images, stage, device=device).transform.matrix_of()
    before = gr.register(*images, [stage, Greedy("mean_squares", iterations=1)], device=device, also=make_pair(1)).stages[0].transform.matrix_of()
    both = gr.register(*images, [stage, stage], device=device, also=make_pair(1)).transform.matrix_of()
    np.testing.assert_array_equal(before, alone)
    assert alone[0, 2] == pytest.approx(1.5, abs=0.02) and both[:2, 2] == pytest.approx([1.5, 1.5], abs=0.02)
    np.testing.assert_array_equal(both[:2, :2], np.eye(2))


@pytest.mark.parametrize(
    "stage, pair, message",
    [
        (["rigid", "ffd"], {"metric": "demons"}, "pair 2: .*demons"),
        ("ffd", {"weight": -1.0}, "pair 2: weight=-1.0 is not possible"),
        ("ffd", {"metric": "mattes_mutual_information", "bins": 3}, "pair 2: bins=3"),
        ("ffd", {"moving": np.full((40, 44), 7.0)}, "pair 2: The moving image is constant"),
        (FreeForm("mean_squares", samples=500), {"metric": "mean_squares"}, "several pairs of images take all voxels"),
        ("rigid", {"weight": -1.0}, "pair 2: weight=-1.0 is not possible"),
        ("rigid", {"metric": "demons"}, "pair 2: .*demons"),
        ("rigid", {"metric": "mattes_mutual_information", "bins": 3}, "pair 2: bins=3"),
        (["rigid", "affine"], {"moving": np.full((40, 44), 7.0)}, "pair 2: The moving image is constant"),
        ("greedy", {"weight": -1.0}, "pair 2: weight=-1.0 is not possible"),
        ("greedy", {"weight": float("nan")}, "pair 2: weight=nan is not possible"),
        ("greedy", {"metric": "mean_absolute_differences"}, "pair 2: .*mean_absolute_differences"),
        ("syn", {"metric": "mean_absolute_differences"}, "pair 2: .*mean_absolute_differences"),
        ("greedy", {"radius": 0}, "pair 2: radius=0"),
        ("syn", {"metric": "neighborhood_correlation", "radius": 33}, "pair 2: radius=33 .*from 1 to 32"),
        ("greedy", {"fixed_range": (3, 1)}, "pair 2: fixed_range"),
        ("greedy", {"fixed": None}, "pair 2: "),
        ("greedy", {"fixed": make_stripes(0).array[:-1]}, "pair 2: the fixed image has 44 x 39 voxels.*first pair 44 x 40 voxels"),
        ("greedy", {"moving": np.full((40, 44), 7.0)}, "pair 2: The moving image is constant"),
        ("greedy", {"fixed": np.zeros((5, 40, 44)), "moving": np.zeros((5, 40, 44))}, "pair 2: "),
        ("greedy", {"fixed_mask": np.zeros((40, 44))}, "pair 2: No voxel of the fixed image"),
    ],
)
def test_says_what_is_wrong(device, stage, pair, message):
    asked = gr.ImagePair(**{"fixed": make_stripes(1).array, "moving": make_stripes(1, 1.0).array, **pair})
    arrays = make_stripes(0, 1.5).array, make_stripes(0).array
    with pytest.raises(gr.BadInputError, match=message):
        gr.register(*arrays, stage, device=device, also=[asked])
    with pytest.raises(gr.BadInputError, match="also has 3"):
        gr.register(*arrays, "greedy", device=device, also=[3])
    for wrong in (3, arrays[0]):
        with pytest.raises(gr.BadInputError, match="also"):
            gr.register(*arrays, "greedy", device=device, also=wrong)


def test_command(tmp_path):
    for name, along in (("x", 0), ("y", 1)):
        gr.write_image(tmp_path / f"f{name}.nii", make_stripes(along, 1.5))
        gr.write_image(tmp_path / f"m{name}.nii", make_stripes(along))
    gr.write_image(tmp_path / "mask.nii", gr.Image(np.ones((40, 44), np.uint8)))
    command = [sys.executable, "-m", "gpuregistration", "register", "fx.nii", "mx.nii", "--device", "host", "--output-field", "u.nii"]

    def run(*options):
        return subprocess.run([*command, *options], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300)

    greedy = "rigid,greedy:similarity=mean_squares:iterations=40:step=0.25:update_sigma=2.5"
    also = ["--also", "fy.nii", "my.nii", "metric=mean_squares", "weight=0.8", "mask=mask.nii"]
    done = run("--transform", greedy, *also, "--json")
    assert done.returncode == 0, done.stderr
    assert "--also is not of rigid: FIXED and MOVING alone are compared there" in done.stderr
    also_printed = json.loads(done.stdout)["also"]
    assert also_printed == [{"fixed": "fy.nii", "moving": "my.nii", "fixed_mask": "mask.nii", "metric": "mean_squares", "weight": 0.8}]
    found = gr.read_transform(tmp_path / "u.nii").array[10:-10, 10:-10].mean(axis=(0, 1))
    assert found[:2] == pytest.approx([1.5, 1.5], abs=0.3)
    for options, message in [
        (["--also", "fy.nii"], "give two files"),
        (["--also", "fy.nii", "my.nii", "wait=1"], 'no setting "wait=1"'),
        (["--also", "fy.nii", "my.nii", "weight=much"], "weight=much is no number"),
        (["--also", "fy.nii", "my.nii", "weight=-1"], "pair 2: weight=-1"),
        (["--also", "fy.nii", "gone.nii"], "gone.nii"),
    ]:
        failed = run("--transform", "greedy", *options)
        assert failed.returncode != 0 and message in failed.stderr, (options, failed.stderr)
    done = run("--transform", "ffd:similarity=mean_squares:spacing=8", *also)
    assert done.returncode == 0 and "--also" not in done.stderr, done.stderr
    found = gr.read_transform(tmp_path / "u.nii").array[10:-10, 10:-10].mean(axis=(0, 1))
    assert found[:2] == pytest.approx([1.5, 1.5], abs=0.1)
    done = run("--transform", "affine:cost=correlation:degrees_of_freedom=3", *also)
    assert done.returncode == 0 and "--also" not in done.stderr, done.stderr
    found = gr.read_transform(tmp_path / "u.nii").array.mean(axis=(0, 1))
    assert found[:2] == pytest.approx([1.5, 1.5], abs=0.02)
