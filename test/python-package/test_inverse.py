# SPDX-License-Identifier: Apache-2.0
"""Inverses of deformations, against the transforms in doubles on the host."""

import gpuregistration as gr
import numpy as np
import pytest
from command_line import gpureg_json
from conftest import assert_within_record, make_head

GRID = {"spacing": (1.5, 1.2, 2.0), "origin": (-30.0, 20.0, 400.0)}


def smooth_field(shape, spacing, largest=4.0, seed=1):
    """A field in mm that ends at the grid's edge and folds nowhere."""
    random = np.random.default_rng(seed)
    places = np.stack(np.meshgrid(*[np.linspace(0, np.pi, n) for n in shape], indexing="ij"), axis=-1)
    window = np.prod(np.sin(places), axis=-1, keepdims=True)
    waves = sum(np.sin(places @ random.uniform(0.5, 2.0, (len(shape), len(shape))) + random.uniform(0, 6, len(shape))) for _ in range(3))
    return largest / 3 * window * waves


def points_in_the_head(image):
    """Returns points of voxels that are not near the edge: (n, 3)."""
    return np.argwhere(image.array > 60)[::7, ::-1] * image.spacing @ image.direction.T + image.origin


@pytest.mark.parametrize("shape", [(24, 31, 28), (45, 52)])
def test_a_field(device, shape):
    d = len(shape)
    turn = np.linalg.qr(np.random.default_rng(3).normal(size=(d, d)))[0]
    field = gr.DisplacementField(smooth_field(shape, 1.0), GRID["spacing"][:d], GRID["origin"][:d], turn)
    back = field.inverse(device=device)
    assert back.array.shape == field.array.shape and np.array_equal(back.direction, field.direction)
    index = np.random.default_rng(4).uniform(1, np.array(shape[::-1]) - 2, (2000, d))
    # At voxels' centres, where the inverse is found, and between them, where it is interpolated.
    for places, most in ((np.rint(index), 2e-4), (index, 0.05)):
        points = places * field.spacing @ turn.T + field.origin
        errors = np.linalg.norm((field.transform_points(back.transform_points(points)) - points) @ turn / field.spacing, axis=1)
        assert errors.max() < most
    assert back.inverse_errors.largest < 2e-4 and back.inverse_errors.off_voxels == back.inverse_errors.unmapped_voxels == 0
    assert list(back.warnings) == []


@pytest.mark.parametrize("deviation", [0.05, 0.2])
@pytest.mark.parametrize("d", [2, 3])
def test_a_spline(device, d, deviation):
    """The coefficients' standard deviation is a share of their distance: of a smooth spline, and of a rough one."""
    spacing = np.array([8.0, 9.0, 7.0][:d])
    points = np.random.default_rng(5).normal(0, deviation, (*(11, 12, 10)[:d], d)) * spacing
    spline = gr.BSpline(points, spacing, [1.0, 2.0, 3.0][:d])
    back = spline.inverse(device=device)
    np.testing.assert_allclose(back.spacing, spacing / 5)
    size = np.array(points.shape[-2::-1])
    low, high = spline.origin + 3 * spacing, spline.origin + (size - 4) * spacing
    places = np.random.default_rng(6).uniform(low, high, (2000, d))
    voxels = np.rint((places - back.origin) / back.spacing) * back.spacing + back.origin
    # At voxels Newton's method solves for the spline itself; between them its inverse is interpolated.
    for where, mean, most in ((voxels, 1e-4, 1e-3), (places, 0.01, 0.1)):
        errors = np.linalg.norm((spline.transform_points(back.transform_points(where)) - where) / back.spacing, axis=1)
        assert errors.mean() < mean and errors.max() < most
    reported = back.inverse_errors
    assert reported.mean < 1e-4 and reported.largest < 1e-3 and reported.off_voxels == reported.folded_voxels == 0


def test_an_inverse_on_another_grid_is_of_the_transform_and_not_of_its_samples(device):
    """The reference grid is too coarse to represent either transform."""
    points = np.random.default_rng(5).normal(0, 0.1, (14, 14, 2)) * 8.0
    spline = gr.BSpline(points, [8.0, 8.0], [-8.0, -8.0])
    rough = gr.DisplacementField(np.random.default_rng(6).normal(0, 0.2, (89, 89, 2)))
    reference = gr.Image(np.zeros((6, 7)), [11.0, 10.0], [13.0, 15.0])
    voxels = np.stack(np.meshgrid(*[np.arange(n) for n in (7, 6)]), axis=-1).reshape(-1, 2) * reference.spacing + reference.origin
    for transform in (spline, rough):
        back = transform.inverse(reference, device)
        errors = np.linalg.norm((transform.transform_points(back.transform_points(voxels)) - voxels) / reference.spacing, axis=1)
        assert errors.max() < 1e-3
        assert back.inverse_errors.largest == pytest.approx(errors.max(), abs=1e-5)
        assert back.inverse_errors.mean == pytest.approx(errors.mean(), abs=1e-5)
        assert back.inverse_errors.off_voxels == back.inverse_errors.unmapped_voxels == 0


def test_a_reference_says_where():
    spline = gr.BSpline(np.random.default_rng(7).normal(0, 1.0, (8, 8, 8, 3)), [8.0] * 3, [-8.0] * 3)
    grid = gr.Image(np.zeros((40, 36, 30)))
    back = spline.inverse(grid, device="host")
    assert back.array.shape == (40, 36, 30, 3) and np.array_equal(back.spacing, grid.spacing)
    with pytest.raises(gr.BadInputError, match="3 dimensions"):
        spline.inverse(gr.Image(np.zeros((40, 36))), device="host")


def test_a_composite_goes_the_way_back():
    affine = gr.Affine(np.diag([1.1, 0.9, 1.0]), [3.0, -2.0, 1.0])
    field = gr.DisplacementField(smooth_field((24, 31, 28), 1.0), **GRID)
    both = gr.Composite([field, affine])
    back = both.inverse(device="host")
    assert [type(part) for part in back.transforms] == [gr.Affine, gr.DisplacementField]
    points = np.random.default_rng(8).uniform(2, 20, (500, 3)) * GRID["spacing"] + GRID["origin"]
    np.testing.assert_allclose(back.transform_points(both.transform_points(points)), points, atol=0.1)


def test_what_folds_says_so():
    vectors = np.zeros((20, 20, 20, 3))
    vectors[8:12, 8:12, 8:12, 0] = 6.0
    back = gr.DisplacementField(vectors).inverse(device="host")
    assert back.inverse_errors.folded_voxels > 0
    assert "folds at" in back.warnings[0] and "folds at" in gr.Composite([gr.DisplacementField(vectors)]).inverse().warnings[0]


def test_a_rough_field_that_folds_has_an_inverse_at_each_voxel(device):
    """Newton's method reaches some of these voxels from a neighbour across an edge or a corner alone."""
    size, sigma = 60, 2.0
    waves = np.fft.fftfreq(size) ** 2
    gaussian = np.exp(-2 * (np.pi * sigma) ** 2 * (waves[:, None, None] + waves[:, None] + waves))[..., None]
    noise = np.random.default_rng(3).normal(size=(size, size, size, 3))
    vectors = np.fft.ifftn(np.fft.fftn(noise, axes=(0, 1, 2)) * gaussian, axes=(0, 1, 2)).real
    ramp = np.minimum(np.arange(size), np.arange(size)[::-1])
    ends = np.minimum(np.minimum(ramp[:, None, None], ramp[:, None]), ramp)[..., None]
    errors = gr.DisplacementField(2.0 * vectors / vectors.std() * np.clip(ends / 6, 0, 1)).inverse(device=device).inverse_errors
    assert errors.folded_voxels > 20000
    assert errors.off_voxels == errors.unmapped_voxels == 0 and errors.mean < 2e-5


def test_too_large():
    with pytest.raises(gr.BadInputError, match="too large"):
        gr.DisplacementField(np.full((4, 4, 4, 3), 1e60)).inverse(device="host")


# The errors of record are voxels: at voxels and between them, each the mean and the largest.
@pytest.mark.parametrize(("stage", "at_voxels", "between_them"), [("ffd", (1.42e-5, 1.04e-4), (0.00316, 0.00842)), ("greedy", (1.49e-5, 1.11e-4), (0.0251, 0.21))])
def test_a_registration(device, stage, at_voxels, between_them):
    fixed, moving = make_head(), make_head(lambda points: points + 3.0 * np.sin(points[..., ::-1] / 15.0))
    result = gr.register(fixed, moving, ["affine", stage], device=device)
    errors = result.inverse_errors
    assert len(errors) == 1 and errors[0].mean < 1e-4 and errors[0].off_voxels == errors[0].folded_voxels == 0
    there, back = result.transform, result.inverse
    points = points_in_the_head(fixed)
    # Where the fixed image's voxels come to by what is behind the deformation: its inverse was found there.
    voxels = there.transforms[1].transform_points(points)
    off = np.linalg.norm((there.transform_points(back.transform_points(voxels)) - voxels) / fixed.spacing, axis=1)
    assert_within_record(off.mean(), at_voxels[0])
    assert_within_record(off.max(), at_voxels[1])
    between = np.linalg.norm((back.transform_points(there.transform_points(points)) - points) / fixed.spacing, axis=1)
    assert_within_record(between.mean(), between_them[0])
    assert_within_record(between.max(), between_them[1])


def test_a_linear_registration_has_an_exact_one(heads):
    result = gr.register(*heads, "affine", device="host")
    assert result.inverse_errors == []
    np.testing.assert_allclose(result.inverse.matrix_of() @ result.transform.matrix_of(), np.eye(4), atol=1e-12)


@pytest.mark.parametrize("stage", ["syn:iterations=5x3:radius=2", "velocity:iterations=5x3", "greedy:iterations=5x3", "ffd:levels=1:iterations=5"])
def test_the_command_tells_how_good_it_is(head_files, stage, tmp_path, capfd):
    words = ("register", head_files.fixed, head_files.moving, "--transform", f"affine,{stage}", "--device", "host")
    reported = gpureg_json(capfd, *words, "--output-inverse", tmp_path / "back.h5", "--report", tmp_path / "found.html")
    [errors] = reported["inverse_errors"]
    assert 0 < errors["mean"] < 1e-4 and errors["largest"] < 1e-3 and errors["off_voxels"] == errors["folded_voxels"] == 0
    found_it = stage.split(":")[0] in ("syn", "velocity")
    assert reported["stages"][1]["inverse_errors"] == (errors if found_it else None)
    assert "There and back, points end" in (tmp_path / "found.html").read_text("utf-8")


# The errors of record are voxels, the mean and the largest.
@pytest.mark.parametrize(("name", "mean", "largest"), [("back.h5", 0.00243, 0.00826), ("back.nii.gz", 0.00438, 0.0146)])
def test_the_command_writes_it(head_files, heads, name, mean, largest, tmp_path, capfd):
    words = ("register", head_files.fixed, head_files.moving, "--transform", "affine,ffd", "--device", "host")
    reported = gpureg_json(capfd, *words, "--output-transform", tmp_path / "there.h5", "--output-inverse", tmp_path / name)
    assert reported["output_inverse"] == str(tmp_path / name)
    assert reported["inverse_errors"][0]["mean"] < 1e-4
    there, back = gr.read_transform(tmp_path / "there.h5"), gr.read_transform(tmp_path / name)
    if name.endswith(".nii.gz"):
        assert back.array.shape[:-1] == heads[1].shape
    points = points_in_the_head(heads[0])
    errors = np.linalg.norm((back.transform_points(there.transform_points(points)) - points) / heads[0].spacing, axis=1)
    assert_within_record(errors.mean(), mean)
    assert_within_record(errors.max(), largest)
