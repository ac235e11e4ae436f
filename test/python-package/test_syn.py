# SPDX-License-Identifier: Apache-2.0
"""The stage "syn": a displacement for each voxel, and its inverse."""

import gpuregistration as gr
import numpy as np
import pytest
from conftest import assert_within_record
from gpuregistration.stages import FIELD_SIMILARITIES, SyN
from test_greedy import check_refuses, make_pair, register_by_command

SETTINGS = {"iterations": (30, 30), "step": 0.25, "radius": 2}
# Errors of record, voxels, in 2D and 3D, where each voxel moves by some 1.3.
ERRORS = {
    "mean_squares": (0.0637, 0.136),
    "mattes_mutual_information": (0.0716, 0.161),
    "neighborhood_correlation": (0.0656, 0.174),
    "demons": (0.0921, 0.141),
    "correlation": (0.0492, 0.136),
    "normalized_mutual_information": (0.0958, 0.149),
    "correlation_ratio": (0.0652, 0.154),
}
# The distances that points come off where they are led to the moving image and back.
BACK = {
    "mean_squares": (0.00358, 0.00898),
    "mattes_mutual_information": (0.00481, 0.0104),
    "neighborhood_correlation": (0.00353, 0.00988),
    "demons": (0.00577, 0.0103),
    "correlation": (0.00369, 0.00972),
    "normalized_mutual_information": (0.00513, 0.00995),
    "correlation_ratio": (0.0046, 0.0111),
}


def mean_distance(a, b, inside):
    return np.linalg.norm(a - b, axis=-1)[inside].mean()


def test_flat_says_which_neighborhoods_are_flat(device):
    fixed, moving, _ = make_pair(2)
    y, x = np.meshgrid(*[np.arange(n) - (n - 1) / 2 for n in fixed.array.shape], indexing="ij")
    # Around an object there is structure of 1e-4 of the values, which the images do not share.
    faint = np.sin(1.3 * x) * np.cos(1.1 * y), np.sin(0.9 * x + 1) * np.cos(1.7 * y)
    images = [np.where(np.hypot(x, y) < 10, image.array / 4, 1e-4 * add) for image, add in zip((fixed, moving), faint)]
    cost = {}
    for unit in (1, 1000):
        pair = [fixed.like((unit * image).astype(np.float32)) for image in images]
        for flat in ("scaled", "float", "double"):
            result = gr.register(*pair, SyN(flat=flat, iterations=1, radius=2), device=device)
            cost[flat, unit] = result.stages[0].levels[0].costs[0]
    # Flat neighborhoods count as -1.
    assert cost["scaled", 1] < cost["double", 1] - 0.05
    assert abs(cost["scaled", 1] - cost["float", 1]) < 1e-6
    # ITK's limits are of the values as they are.
    assert abs(cost["scaled", 1] - cost["scaled", 1000]) < 1e-6
    assert abs(cost["float", 1000] - cost["double", 1000]) < 1e-6 and abs(cost["double", 1000] - cost["double", 1]) < 1e-3


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("similarity", FIELD_SIMILARITIES)
def test_finds_a_known_deformation_and_its_inverse(device, dimension, similarity):
    fixed, moving, truth = make_pair(dimension)
    result = gr.register(fixed, moving, SyN(similarity=similarity, **SETTINGS), device=device)
    inside = fixed.array > 1.5
    assert_within_record(mean_distance(result.displacement_field.array, truth, inside), ERRORS[similarity][dimension - 2])
    assert result.stages[0].smallest_determinant > 0.1 and not result.warnings
    costs = result.stages[0].levels[-1].costs
    assert costs[-1] < costs[0] and result.cost == costs[-1]
    points = np.stack(np.nonzero(inside)[::-1], axis=-1) * fixed.spacing + fixed.origin
    [errors] = result.inverse_errors
    assert errors == result.stages[0].inverse_errors and errors.off_voxels == errors.folded_voxels == 0
    assert 0 < errors.mean < 1e-4 and errors.largest < 1e-3
    assert result.stages[0].numbers()["inverse_errors"] == errors._asdict()
    # The inverse undoes the deformation at its own voxels; between them it is interpolated.
    there = result.transform.transform_points(result.inverse.transform_points(points))
    assert_within_record(np.linalg.norm(there - points, axis=-1).max(), 1e-4)
    back = result.inverse.transform_points(result.transform.transform_points(points))
    assert_within_record(np.linalg.norm(back - points, axis=-1).mean(), BACK[similarity][dimension - 2])


def test_the_first_update_follows_the_derivative_of_the_squared_correlation(device):
    # ITK's class has none of this metric: it writes all derivatives to the first voxel.
    fixed, moving, _ = make_pair(3)
    settings = {"iterations": [1], "step": 0.01, "update_variance": 0, "smoothing_sigmas": [0]}
    result = gr.register(fixed, moving, SyN(similarity="correlation", **settings), device=device)
    f, m = (np.asarray(image.array, np.float64) - image.array.mean() for image in (fixed, moving))
    products, of_f, of_m = (f * m).sum(), (f * f).sum(), (m * m).sum()

    def find_update(values, other, squares):
        # By a voxel's value v, with w the other image's: 2 s/(|v|² |w|²) (w - s/|v|² v); the point moves along the image's gradient.
        gradient = np.stack(np.gradient(values)[::-1], axis=-1) / fixed.spacing
        vectors = (products * (other - products / squares * values))[..., np.newaxis] * gradient
        inside = np.pad(np.ones(np.subtract(values.shape, 2)), 1)[..., np.newaxis]
        return vectors * inside / np.linalg.norm(vectors * inside, axis=-1).max()

    expected = find_update(m, f, of_m) - find_update(f, m, of_f)
    found = result.displacement_field.array
    cosine = (expected * found).sum() / np.linalg.norm(expected) / np.linalg.norm(found)
    assert cosine > 0.999


def test_begins_with_what_was_found_before(device):
    fixed, moving, _ = make_pair(3)
    shifted = gr.Image(moving.array, moving.spacing, moving.origin + [6.0, 0, 0])
    alone = gr.register(fixed, moving, SyN(**SETTINGS), device=device)
    initial = gr.Affine(translation=[6.0, 0, 0])
    result = gr.register(fixed, shifted, SyN(**SETTINGS), initial=initial, device=device)
    inside = fixed.array > 1.5
    # Rounding alone: it was 2.4e-16.
    assert mean_distance(result.displacement_field.array - [6.0, 0, 0], alone.displacement_field.array, inside) < 1e-6
    points = np.stack(np.nonzero(inside)[::-1], axis=-1) * fixed.spacing + fixed.origin
    back = result.inverse.transform_points(result.transform.transform_points(points))
    assert_within_record(np.linalg.norm(back - points, axis=-1).mean(), 0.00988)


def test_other_stages_have_the_inverse_that_they_know(device):
    fixed, moving, _ = make_pair(2)
    rigid = gr.register(fixed, moving, "rigid", device=device)
    assert rigid.stages[0].inverse_errors is None
    np.testing.assert_allclose(rigid.inverse.transform_points(rigid.transform.transform_points([[3.0, 4.0]])), [[3.0, 4.0]])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"iterations": ()}, "1 to 6"),
        ({"iterations": (5, -1)}, "iterations"),
        ({"radius": 0}, "radius"),
        ({"step": 0}, "step"),
        ({"flat": "half"}, "flat"),
        ({"update_variance": -1}, "update_variance"),
        ({"field_variance": float("nan")}, "field_variance"),
        ({"similarity": "mattes_mutual_information", "bins": 2}, "bins"),
        ({"similarity": "mean_absolute_differences"}, "neighborhood_correlation"),
        ({"convergence_window": 1}, "convergence_window=1 is not possible"),
        ({"average": 2}, "average"),
        ({"shrink_factors": [(1, 2, 1)], "iterations": 5}, "one for each axis"),
        ({"weights": (1,)}, "one number for each axis"),
    ],
)
def test_says_what_setting_is_not_possible(settings, message):
    check_refuses(SyN(**settings), message)


def test_the_command_writes_what_it_found(tmp_path):
    fixed, moving, warped = register_by_command(tmp_path, "syn:iterations=20x20:step=0.25:radius=2")
    inside = fixed.array > 1.5
    assert_within_record(np.abs(warped - fixed.array)[inside].mean() / np.abs(moving.array - fixed.array)[inside].mean(), 0.0968)
