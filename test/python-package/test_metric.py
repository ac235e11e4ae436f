# SPDX-License-Identifier: Apache-2.0
"""Metrics by themselves: their values, of many at once, and their derivatives."""

import gpuregistration as gr
import numpy as np
import pytest
from conftest import make_head, turn

NAMES = [
    "correlation_ratio",
    "mattes_mutual_information",
    "normalized_mutual_information",
    "correlation",
    "mean_squares",
    "mean_absolute_differences",
    "joint_histogram_mutual_information",
    "partial_volume_mutual_information",
    "neighborhood_correlation",
]

# The most that derivatives may differ from numeric ones, of the largest: by the sums' fixed point, and interpolation's kinks; a
# neighborhood correlation's are made of central differences between voxels.
DIFFERENTIABLE = {name: 0.1 if name == "neighborhood_correlation" else 0.03 for name in NAMES if name != "joint_histogram_mutual_information"}

# The most that values may differ from others of the same map, besides a millionth of theirs: where single candidates and batches count
# a correlation ratio's squares in units of up to 2^-23, 13,440 of them are known to 4e-6 of some 700, and this is five times that.
NOISE = {"correlation_ratio": 3e-8}


def test_names_are_the_engines():
    described = {one.name: one for one in gr._engine.similarities()}
    assert sorted(gr._metric.METRICS) == sorted(NAMES)
    # The value of demons is that of mean squares.
    assert [gr._checks.engine_name(name) for name in gr._metric.METRICS] == [name for name in described if name != "Demons"]
    assert set(gr.stages.FIELD_SIMILARITIES) == {*gr.stages.SIMILARITIES, "demons"}
    assert set(gr.stages.COSTS) == {*NAMES[:6], "neighborhood_correlation"}
    assert set(gr.stages.SIMILARITIES) == {
        "mattes_mutual_information",
        "normalized_mutual_information",
        "correlation_ratio",
        "mean_squares",
        "correlation",
        "neighborhood_correlation",
    }
    for one in described.values():
        assert one.has_bins == (0 < one.least_bins <= one.usual_bins <= one.most_bins)
        assert one.has_neighborhoods == (one.name == "NeighborhoodCorrelation")


@pytest.fixture
def inner(heads):
    """Maps stay inside of the moving image, so that values are of the same voxels."""
    mask = np.zeros(heads[0].array.shape, bool)
    mask[10:-10, 10:-10, 10:-10] = True
    return mask


@pytest.mark.parametrize("name", NAMES)
def test_least_where_the_images_agree(device, heads, moved, inner, name):
    metric = gr.metric(name, *heads, fixed_mask=inner, device=device)
    there = metric.value(moved)
    for matrix, translation in ((np.eye(3), [0, 0, 0]), (turn(7), [0, 0, 0]), (moved.matrix, moved.translation + [3, 0, 0])):
        assert metric.value(gr.Affine(matrix, translation, moved.center)) > there


@pytest.mark.parametrize("name", NAMES)
def test_batches(device, heads, inner, name, rng):
    metric = gr.metric(name, *heads, fixed_mask=inner, device=device)
    batch = [gr.Affine(turn(angle), rng.normal(0, 3, 3)).parameters for angle in range(-8, 9, 4)]
    values = metric.values(batch)
    np.testing.assert_allclose(values, [metric.value(one) for one in batch], rtol=1e-6, atol=NOISE.get(name, 0))
    if name in DIFFERENTIABLE:
        np.testing.assert_allclose(values, [metric.value_and_derivative(one)[0] for one in batch], rtol=1e-5)
    np.testing.assert_array_equal(metric.values(batch), values)
    assert (metric.counts(batch) <= inner.sum()).all() and (metric.counts(batch) > 0.9 * inner.sum()).all()


@pytest.mark.parametrize("center", [(0, 0, 0), (3.0, -20.0, 50.0)])
@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_derivative(device, heads, inner, name, center):
    metric = gr.metric(name, *heads, fixed_mask=inner, center=center, device=device)
    here = metric._read(gr.Affine(turn(2), [1.0, 0.6, -0.4]))
    derivative = metric.derivative(here)
    assert derivative.shape == (12,)
    steps = np.diag([3e-4] * 9 + [1e-2] * 3)
    both = metric.values(np.concatenate([here + steps, here - steps]))
    numeric = (both[:12] - both[12:]) / (2 * steps.diagonal())
    for part in (slice(0, 9), slice(9, 12)):
        assert np.abs(derivative[part] - numeric[part]).max() < DIFFERENTIABLE[name] * np.abs(numeric[part]).max()


def test_nearest_bins_have_no_derivative(heads):
    with pytest.raises(gr.Error, match="has no derivative"):
        gr.metric("joint_histogram_mutual_information", *heads, device="host").derivative(gr.Affine())


def test_two_dimensions(device):
    fixed = make_head(shape=(48, 44), spacing=(2.0, 2.0), origin=(-40.0, -45.0))
    metric = gr.metric("mean_squares", fixed, fixed, device=device)
    assert metric.number_of_parameters == 6
    assert metric.value([1, 0, 0, 1, 0, 0]) < 1e-12 < metric.value([1, 0, 0, 1, 2, 0])
    assert metric.derivative([1, 0, 0, 1, 2, 0]).shape == (6,)


def test_no_overlap_is_no_number(device, heads):
    metric = gr.metric("mean_squares", *heads, device=device)
    assert np.isnan(metric.value(gr.Affine(translation=[1e4, 0, 0])))
    assert metric.counts([gr.Affine(translation=[1e4, 0, 0]).parameters]) == [0]


def test_bad_input(heads):
    with pytest.raises(gr.BadInputError, match="correlation_ratio"):
        gr.metric("likeness", *heads, device="host")
    metric = gr.metric("correlation", *heads, device="host")
    for parameters in ([1, 2, 3], np.full(12, np.nan), np.zeros((2, 2, 12))):
        with pytest.raises(gr.BadInputError, match="12"):
            metric.values(parameters)
    # A homogeneous matrix's upper rows are as many numbers, in another order.
    for ask in (metric.value, metric.derivative, metric.value_and_derivative):
        with pytest.raises(gr.BadInputError, match=r"shape \(3, 4\).*from_matrix"):
            ask(np.eye(3, 4))
    with pytest.raises(gr.BadInputError, match="center"):
        gr.metric("correlation", *heads, center=(1, 2), device="host")
    for center in ("x", (1, 2), (1, 2, np.inf), None):
        with pytest.raises(gr.BadInputError, match="center"):
            metric.center = center
    np.testing.assert_array_equal(metric.center, [0, 0, 0])


def test_center_that_is_set(device, heads):
    parameters = gr.Affine(turn(5), [1.0, 2.0, 3.0]).parameters
    metric = gr.metric("mean_squares", *heads, device=device)
    about_zero = metric.value(parameters)
    center = np.array([10.0, -20.0, 5.0])
    metric.center = center
    center[:] = 0
    wanted = gr.metric("mean_squares", *heads, center=[10.0, -20.0, 5.0], device=device).value(parameters)
    assert metric.value(parameters) == wanted != about_zero


def test_mean_squares_is_what_it_says(heads):
    fixed, moving = [image.array.astype(np.float64) for image in heads]
    scale = max(fixed.max(), moving.max()) - min(fixed.min(), moving.min())
    wanted = np.square((fixed - moving) / scale).mean()
    assert gr.metric("mean_squares", *heads, device="host").value(gr.Affine()) == pytest.approx(wanted, rel=1e-5)
