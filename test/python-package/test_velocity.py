# SPDX-License-Identifier: Apache-2.0
"""The stage "velocity": a displacement for each voxel, and its inverse, of a stationary velocity."""

import dataclasses

import gpuregistration as gr
import numpy as np
import pytest
from conftest import assert_within_record
from gpuregistration.stages import FIELD_SIMILARITIES, Greedy, SyN, Velocity
from gpuregistration.stages.dense import Dense
from test_greedy import check_refuses, make_pair, register_by_command
from test_syn import mean_distance

SETTINGS = {"iterations": (20, 20), "step": 0.5}


def points_inside(fixed):
    """Returns where the texture is strong, 5 voxels or more away from the edge, beyond which displacements are 0, and the points there."""
    inside = np.zeros(fixed.array.shape, bool)
    inside[(slice(5, -5),) * fixed.array.ndim] = True
    inside &= fixed.array > 1.5
    return inside, np.stack(np.nonzero(inside)[::-1], axis=-1) * fixed.spacing + fixed.origin


@pytest.mark.parametrize("dimension", [2, 3])
def test_finds_a_known_deformation_and_its_inverse(device, dimension):
    fixed, moving, truth = make_pair(dimension)
    result = gr.register(fixed, moving, Velocity(**SETTINGS), device=device)
    inside, points = points_inside(fixed)
    assert_within_record(mean_distance(result.displacement_field.array, truth, inside), {2: 0.0356, 3: 0.105}[dimension])
    assert result.stages[0].smallest_determinant > 0 and not result.warnings
    costs = result.stages[0].levels[-1].costs
    assert costs[-1] < result.stages[0].levels[0].costs[0] and result.cost == costs[-1]
    there = result.transform.transform_points(result.inverse.transform_points(points))
    assert_within_record(np.linalg.norm(there - points, axis=-1).mean(), 2e-7)
    assert_within_record(np.linalg.norm(there - points, axis=-1).max(), 4.42e-5)
    [errors] = result.inverse_errors
    # The errors reported are those of the two fields, as their transforms map the fixed image's points; outside of the grid they are 0.
    index = np.indices(fixed.array.shape).reshape(dimension, -1)[::-1].T
    back = index * fixed.spacing + fixed.origin + result.inverse.array.reshape(-1, dimension)
    places = (back - fixed.origin) / fixed.spacing
    inside = np.all((places >= 1) & (places < np.array(fixed.size) - 2), axis=1)
    lengths = np.linalg.norm((result.transform.transform_points(back) - fixed.origin) / fixed.spacing - index, axis=1)
    assert lengths[inside].max() <= errors.largest + 1e-5 and errors.largest < 1e-3
    assert errors.unmapped_voxels == np.count_nonzero(lengths > 1e-3) and not inside[lengths > 1e-3].any()
    assert errors.mean == pytest.approx(lengths[lengths <= 1e-3].mean(), abs=1e-5)
    assert errors.off_voxels == errors.folded_voxels == 0


def test_leads_back_where_images_are_exchanged(device):
    fixed, moving, _ = make_pair(3)
    there = gr.register(fixed, moving, Velocity(**SETTINGS, field_sigma=0.6), device=device)
    back = gr.register(moving, fixed, Velocity(**SETTINGS, field_sigma=0.6), device=device)
    assert [level.costs for level in there.stages[0].levels] == [level.costs for level in back.stages[0].levels]
    _, points = points_inside(fixed)
    distances = np.linalg.norm(back.transform.transform_points(points) - there.inverse.transform_points(points), axis=-1)
    assert_within_record(distances.mean(), 0.00291)
    assert_within_record(distances.max(), 0.00755)


# Errors of record, voxels, where each voxel moves by some 1.3.
BY_SIMILARITY = {
    "mean_squares": 0.0518,
    "correlation": 0.0611,
    "correlation_ratio": 0.0629,
    "mattes_mutual_information": 0.0729,
    "normalized_mutual_information": 0.0844,
    "neighborhood_correlation": 0.0356,
    "demons": 0.0342,
}


@pytest.mark.parametrize("similarity", FIELD_SIMILARITIES)
def test_finds_it_by_each_similarity(device, similarity):
    fixed, moving, truth = make_pair(2)
    result = gr.register(fixed, moving, Velocity(similarity, **SETTINGS), device=device)
    inside, _ = points_inside(fixed)
    assert_within_record(mean_distance(result.displacement_field.array, truth, inside), BY_SIMILARITY[similarity])
    assert result.stages[0].metric == similarity


def test_begins_with_what_was_found_before(device):
    fixed, moving, _ = make_pair(3)
    shifted = gr.Image(moving.array, moving.spacing, moving.origin + [6.0, 0, 0])
    alone = gr.register(fixed, moving, Velocity(**SETTINGS), device=device)
    initial = gr.Affine(translation=[6.0, 0, 0])
    result = gr.register(fixed, shifted, Velocity(**SETTINGS), initial=initial, device=device)
    inside, points = points_inside(fixed)
    # Rounding alone: it was 2.8e-16.
    assert mean_distance(result.displacement_field.array - [6.0, 0, 0], alone.displacement_field.array, inside) < 1e-6
    there = result.transform.transform_points(result.inverse.transform_points(points + [6.0, 0, 0]))
    assert_within_record(np.linalg.norm(there - points - [6.0, 0, 0], axis=-1).mean(), 1.97e-7)


def test_settings_of_dense_stages():
    """A velocity's settings stand in the order of greedy's, whose kind it is not; and all dense stages state those that they share."""
    greedy, velocity, syn = ([field.name for field in dataclasses.fields(kind)] for kind in (Greedy, Velocity, SyN))
    assert greedy == velocity and not issubclass(Velocity, Greedy)
    shared = {name for name in Dense.__annotations__ if name not in ("name", "metric_setting")}
    assert len(shared) == 10 and shared <= set(greedy) & set(syn)


def test_leaves_adam_to_greedy():
    fixed, moving, _ = make_pair(2)
    with pytest.raises(gr.BadInputError, match="velocity: optimizer='adam' is not possible: .*greedy has"):
        gr.register(fixed, moving, Velocity(optimizer="adam"))


def test_registers_one_slice(device):
    fixed, moving, _ = make_pair(2)
    flat = gr.register(fixed.array[np.newaxis], moving.array[np.newaxis], Velocity(**SETTINGS), spacing=[1, 1, 1], device=device)
    plane = gr.register(fixed, moving, Velocity(**SETTINGS), device=device)
    np.testing.assert_array_equal(flat.displacement_field.array, plane.displacement_field.array)
    assert flat.warped.shape == (1, *fixed.array.shape)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"iterations": ()}, "1 to 6"),
        ({"radius": 0}, "radius"),
        ({"step": 0}, "step"),
        ({"field_sigma": float("nan")}, "field_sigma"),
        ({"similarity": "mean_absolute_differences"}, "neighborhood_correlation"),
    ],
)
def test_says_what_setting_is_not_possible(settings, message):
    check_refuses(Velocity(**settings), message)


def test_the_command_writes_what_it_found(tmp_path):
    transform = "velocity:iterations=20x20:step=0.5"
    fixed, moving, warped = register_by_command(tmp_path, transform, "--output-inverse", "back.nii.gz")
    back = gr.resample(fixed, gr.read_transform(tmp_path / "back.nii.gz"), moving, device="host").array
    inside = fixed.array > 1.5
    for image, to, record in ((warped, fixed, 0.0863), (back, moving, 0.0933)):
        assert_within_record(np.abs(image - to.array)[inside].mean() / np.abs(moving.array - fixed.array)[inside].mean(), record)
