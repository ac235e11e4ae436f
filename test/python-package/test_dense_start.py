# SPDX-License-Identifier: Apache-2.0
"""Dense stages that begin with a deformation, and the inverses behind them."""

import gpuregistration as gr
import numpy as np
import pytest
from gpuregistration.stages import FreeForm, Greedy, SyN, Velocity
from test_greedy import make_pair
from test_syn import mean_distance
from test_velocity import points_inside

FEW = {"iterations": (30, 20), "step": 0.25}
DENSE = [Greedy, SyN, Velocity]


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
    errors = [mean_distance(found.to_displacement_field(fixed, device).array, truth, inside) for found in (before, after)]
    assert errors[1] < max(errors[0] + 0.03, 0.15) < 0.5 * np.linalg.norm(truth, axis=-1)[inside].mean()
    assert distance_there_and_back(result, points) < 0.03
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
    assert found < mean_distance(alone.displacement_field.array, truth, inside) + 0.05
    assert found < 0.4 * mean_distance(0.5 * truth, truth, inside)
    assert distance_there_and_back(result, points) < 0.03


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
    assert 0 < mean_distance(recursive, discrete, inside) < 0.05
    assert mean_distance(recursive, truth, inside) < 0.5 * np.linalg.norm(truth, axis=-1)[inside].mean()
    with pytest.raises(gr.BadInputError, match=f"{kind.name}: .*smoothing"):
        gr.register(fixed, moving, kind(smoothing="fast"), device=device)
