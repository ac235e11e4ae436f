# SPDX-License-Identifier: Apache-2.0
"""Dense stages that begin with a deformation, and the inverses behind them."""

import gpuregistration as gr
import numpy as np
import pytest
from conftest import assert_within_record
from gpuregistration.stages import FreeForm, Greedy, SyN, Velocity
from test_greedy import make_pair
from test_syn import mean_distance
from test_velocity import points_inside

FEW = {"iterations": (30, 20), "step": 0.25}
DENSE = [Greedy, SyN, Velocity]
# Errors of record, voxels, by the stage that comes first and those of DENSE that follow. Voxels move by some 1.2.
BEHIND = {"ffd": (0.0543, 0.0474, 0.051), "greedy": (0.0684, 0.0491, 0.0583), "syn": (0.0473, 0.0713, 0.0447)}
THERE_AND_BACK = {"ffd": (0.00229, 0.00201, 0.00226), "greedy": (0.00425, 0.00402, 0.00371), "syn": (0.00332, 0.00326, 0.00326)}


def distance_there_and_back(result, points):
    """Returns the mean distance that points come off where they are led to the moving image and back."""
    back = result.inverse.transform_points(result.transform.transform_points(points))
    return np.linalg.norm(back - points, axis=-1).mean()


@pytest.mark.parametrize("kind", DENSE)
@pytest.mark.parametrize("first", [FreeForm(levels=2, iterations=40), Greedy(**FEW), SyN(**FEW)], ids=["ffd", "greedy", "syn"])
def test_a_stage_follows_one_that_deforms(device, first, kind):
    fixed, moving, truth = make_pair(2)
    result = gr.register(fixed, moving, [first, kind(**FEW)], device=device)
    before, after = (stage.transform for stage in result.stages)
    assert isinstance(after, gr.Composite) and after.transforms[1] is before
    inside, points = points_inside(fixed)
    error = mean_distance(after.to_displacement_field(fixed, device).array, truth, inside)
    assert_within_record(error, BEHIND[first.name][DENSE.index(kind)])
    assert_within_record(distance_there_and_back(result, points), THERE_AND_BACK[first.name][DENSE.index(kind)])
    again = gr.resample(moving, after, fixed, device=device).array
    np.testing.assert_allclose(result.warped.array, again, atol=1e-4)


@pytest.mark.parametrize("kind", DENSE)
def test_begins_with_a_field_of_the_caller(device, kind):
    fixed, moving, truth = make_pair(3)
    inside, points = points_inside(fixed)
    alone = gr.register(fixed, moving, kind(**FEW), device=device)
    # Half of the way, and a shift that a linear map takes back.
    half = gr.DisplacementField(0.5 * truth + [2.0, 0, 0], fixed.spacing, fixed.origin)
    initial = gr.Composite([half, gr.Affine(translation=[-2.0, 0, 0])])
    result = gr.register(fixed, moving, kind(**FEW), initial=initial, device=device)
    assert result.transform.transforms[1] is half
    found = mean_distance(result.displacement_field.array, truth, inside)
    # The start is 0.665 voxels from the truth.
    assert_within_record(found, {"greedy": 0.127, "syn": 0.15, "velocity": 0.0908}[kind.name])
    assert found < mean_distance(alone.displacement_field.array, truth, inside) + 0.05
    assert_within_record(distance_there_and_back(result, points), {"greedy": 0.0105, "syn": 0.0056, "velocity": 0.00353}[kind.name])


def test_a_start_without_an_inverse_is_reported_where_one_is_asked_for(device):
    fixed, moving, _ = make_pair(2)
    flat = gr.Affine([[1.0, 0.0], [0.0, 0.0]])
    field = gr.DisplacementField(np.zeros(fixed.shape + (2,)), fixed.spacing, fixed.origin)
    result = gr.register(fixed, moving, Velocity(iterations=2), initial=gr.Composite([field, flat]), device=device)
    with pytest.raises(gr.BadInputError, match="has no inverse"):
        result.inverse  # noqa: B018


def test_a_linear_stage_wants_a_linear_start(device):
    fixed, moving, _ = make_pair(2)
    with pytest.raises(gr.UnsupportedError, match="affine: .*not linear"):
        gr.register(fixed, moving, [Greedy(iterations=2), "affine"], device=device)


@pytest.mark.parametrize("kind", [Greedy, Velocity])
def test_smooths_recursively(device, kind):
    fixed, moving, truth = make_pair(3)
    inside, _ = points_inside(fixed)
    discrete, recursive = (
        gr.register(fixed, moving, kind(**FEW, update_sigma=3, field_sigma=0.8, smoothing=smoothing), device=device).displacement_field.array
        for smoothing in ("discrete", "recursive")
    )
    assert mean_distance(recursive, discrete, inside) > 0
    assert_within_record(mean_distance(recursive, discrete, inside), {"greedy": 0.00316, "velocity": 0.00421}[kind.name])
    assert_within_record(mean_distance(recursive, truth, inside), {"greedy": 0.0874, "velocity": 0.14}[kind.name])
    with pytest.raises(gr.BadInputError, match=f"{kind.name}: .*smoothing"):
        gr.register(fixed, moving, kind(smoothing="fast"), device=device)
