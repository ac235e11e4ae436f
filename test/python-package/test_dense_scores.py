# SPDX-License-Identifier: Apache-2.0
"""The scores by which benchmark/compare_dense.py compares programs, against deformations whose scores are known."""

import sys
from pathlib import Path

import gpuregistration as gr
import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmark"))

import dense_known
import dense_scores

SPACING = np.array([1.5, 1.0, 2.0])
DIRECTION = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
ORIGIN = np.array([-3.0, 4.0, 5.0])
SHAPE = (14, 12, 13)


def make_field(matrix, offset=0.0):
    """Returns the displacements of x -> matrix x + offset, on an anisotropic grid whose axes are turned."""
    grid = gr.Image(np.zeros(SHAPE, np.float32), SPACING, ORIGIN, DIRECTION)
    points = dense_scores.points_of(grid, np.ones(SHAPE, bool))
    vectors = points @ np.asarray(matrix).T + offset - points
    return gr.DisplacementField(vectors.reshape(*SHAPE, 3), SPACING, ORIGIN, DIRECTION)


def test_overlap_counts_each_label_of_the_truth():
    truth = np.array([0, 1, 1, 1, 2, 2, 5, 0])
    found = np.array([1, 1, 1, 0, 2, 5, 7, 0])
    mean, count = dense_scores.overlap(found, truth)
    assert count == 3
    assert mean == pytest.approx((2 * 2 / 6 + 2 * 1 / 3 + 0) / 3)


def test_determinants_of_a_linear_map_are_its_own():
    matrix = np.array([[1.2, 0.1, 0.0], [-0.2, 0.9, 0.3], [0.0, 0.1, 1.1]])
    found = dense_scores.determinants(make_field(matrix))
    assert found.shape == tuple(n - 2 * dense_scores.EDGE for n in SHAPE)
    np.testing.assert_allclose(found, np.linalg.det(matrix), rtol=1e-4)


def test_smoothness_counts_folds_and_deviation():
    head = np.zeros(SHAPE, bool)
    head[6:9, 5:8, 5:8] = True
    smooth = dense_scores.smoothness(make_field(np.diag([1.2, 0.9, 1.1])), head)
    assert smooth["folded"] == 0 and smooth["s"] < 1e-4 and smooth["least"] == pytest.approx(1.188, rel=1e-4)
    # Half of the grid is stretched twice along z: log det J is 0 or log 2 but where both meet.
    field = make_field(np.eye(3))
    field.array[7:, ..., 2] += np.arange(7)[:, np.newaxis, np.newaxis] * SPACING[2]
    mixed = dense_scores.smoothness(field, head)
    assert mixed["s"] == pytest.approx(np.std(np.log([1, 1, 1, 1, 1, 1.5, 2, 2, 2, 2])), rel=1e-4)
    folded = dense_scores.smoothness(make_field(np.diag([-1.0, 1.0, 1.0])), head)
    assert folded["folded"] == np.prod([n - 2 * dense_scores.EDGE for n in SHAPE])


def test_inverse_error_is_in_voxels():
    head = np.zeros(SHAPE, bool)
    head[6:9, 5:8, 5:8] = True
    there, back = make_field(np.eye(3), [0.5, -0.3, 0.2]), make_field(np.eye(3), [-0.5, 0.3, -0.2])
    assert dense_scores.inverse_error(there, back, head) == pytest.approx((0, 0), abs=1e-9)
    # Index x runs along point y, which is off by 0.3 mm of 1.5.
    off = make_field(np.eye(3), [-0.5, 0.6, -0.2])
    assert dense_scores.inverse_error(there, off, head) == pytest.approx((0.2, 0.2), rel=1e-6)


def test_labels_are_carried_through_field_and_affine():
    labels = gr.Image(np.arange(np.prod(SHAPE), dtype=np.int32).reshape(SHAPE), SPACING, ORIGIN, DIRECTION)
    # One voxel along index x is 1.5 mm along point y, of which the affine transform adds half.
    step = np.array([0.0, 0.75, 0.0])
    found = dense_scores.carry_labels(make_field(np.eye(3), step), gr.Affine(np.eye(3), step), labels, labels)
    np.testing.assert_array_equal(found[..., :-1], labels.array[..., 1:])


def test_displacement_errors():
    truth = np.zeros((2, 2, 2, 3))
    found = truth.copy()
    found[0, 0, 0], found[0, 0, 1] = (3, 4, 0), (0, 0, 1)
    mask = np.zeros((2, 2, 2), bool)
    mask[0, 0] = mask[0, 1] = True
    mean, median, most = dense_scores.displacement_errors(found, truth, mask)
    assert (mean, median, most) == pytest.approx((1.5, 0.5, np.percentile([5, 1, 0, 0], 95)))


def test_thin_plate_passes_its_landmarks_and_keeps_linear_maps(rng):
    landmarks = rng.uniform(-50, 50, (20, 3))
    moves = rng.normal(size=(20, 3))
    np.testing.assert_allclose(dense_known.thin_plate(landmarks, landmarks, moves), moves, atol=1e-8)
    matrix = rng.normal(size=(3, 3))
    points = rng.uniform(-50, 50, (10, 3))
    np.testing.assert_allclose(dense_known.thin_plate(points, landmarks, landmarks @ matrix), points @ matrix, atol=1e-7)


def test_mutual_information_is_that_of_the_counts():
    rng = np.random.default_rng(5)
    a = rng.integers(0, 4, (6, 5, 4))
    mask = rng.random(a.shape) < 0.7
    # An image determines itself: the information is its entropy.
    shares = np.bincount(a[mask]) / np.count_nonzero(mask)
    assert dense_scores.mutual_information(a, 3 - a, mask, bins=4) == pytest.approx(-(shares * np.log(shares)).sum())
    assert dense_scores.mutual_information(a, np.where(mask, 0, a), mask, bins=4) == pytest.approx(0, abs=1e-12)


def test_local_correlation_is_that_of_each_box():
    rng = np.random.default_rng(6)
    a, b = rng.random((2, 7, 6, 5))
    a[:, :, :2] = 1.0  # The boxes around the first voxels along x are constant.
    mask = rng.random(a.shape) < 0.5
    expected = []
    for z, y, x in np.argwhere(mask):
        box = tuple(slice(max(0, n - 1), n + 2) for n in (z, y, x))
        one, other = a[box].ravel(), b[box].ravel()
        expected.append(0.0 if np.ptp(one) == 0 else np.corrcoef(one, other)[0, 1] ** 2)
    assert 0 in expected
    assert dense_scores.local_correlation(a, b, mask, radius=1) == pytest.approx(np.mean(expected))
