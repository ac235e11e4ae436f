# SPDX-License-Identifier: Apache-2.0
"""Tests that transforms mean the same here, in SimpleITK, in ITK, and in files."""

import gpuregistration as gr
import numpy as np
import pytest
from conftest import assert_within_record, make_head, relative_difference, turn
from gpuregistration import stages
from gpuregistration._kinds import to_simpleitk

sitk = pytest.importorskip("SimpleITK")

NAMES = ["affine", "bspline", "field", "composite", "other order"]


def make_transform(name, rng, dimension=3):
    head = head_of(dimension)
    affine = gr.Affine(
        turn(8, dimension) + rng.uniform(-0.05, 0.05, (dimension, dimension)), rng.uniform(-5, 5, dimension),
        rng.uniform(-20, 20, dimension),
    )
    if name == "affine":
        return affine
    # The grid is rotated against the image's, and ends inside of it.
    spline = gr.BSpline(
        rng.normal(0, 3, (8, 7, 9)[-dimension:] + (dimension,)), (9.0, 11.0, 10.0)[:dimension],
        (-35.0, -30.0, -32.0)[:dimension], turn(15, dimension),
    )
    return {
        "bspline": lambda: spline,
        "field": lambda: spline.to_displacement_field(head.like(head.array), "host"),
        "composite": lambda: gr.Composite([spline, affine]),
        "other order": lambda: gr.Composite([affine, spline]),
    }[name]()


def head_of(dimension):
    return make_head() if dimension == 3 else make_head(shape=(48, 44), spacing=(2.0, 2.0), origin=(-40.0, -45.0))


def resample_by_simpleitk(image, transform, reference, interpolator=None):
    image, reference = to_simpleitk(image), to_simpleitk(reference)
    made = sitk.Resample(image, reference, transform, interpolator or sitk.sitkLinear, 0.0)
    return sitk.GetArrayFromImage(made)


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("name", NAMES)
def test_simpleitk_applies_it_the_same(device, rng, name, dimension):
    transform, head = make_transform(name, rng, dimension), head_of(dimension)
    ours = gr.resample(head, transform, head, device=device)
    theirs = resample_by_simpleitk(head, transform.to_simpleitk(), head)
    # At a grid's edge a voxel may be on either side, by the rounding of SimpleITK's own result: one of the head's 84,480 now and then.
    apart = np.abs(ours.array - theirs) / np.ptp(theirs)
    assert (apart > 1e-4).sum() <= 1
    # SimpleITK's transforms are read without a change.
    back = gr.resample(head, transform.to_simpleitk(), head, device=device)
    assert relative_difference(back.array, ours.array) < 1e-6


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("name", NAMES)
def test_a_free_form_deformation_begins_with_it(device, name, dimension):
    initial, moving = make_transform(name, np.random.default_rng(3), dimension), head_of(dimension)
    rest = gr.BSpline(np.random.default_rng(4).normal(0, 2, (7, 7, 7)[:dimension] + (dimension,)), (24.0,) * dimension, (-64.0,) * dimension)
    fixed = gr.resample(moving, gr.Composite([rest, initial]), moving, device=device)
    stage = stages.FreeForm(similarity="mean_squares", levels=2, iterations=60, spacing=12, bending_weight=1e-4)
    result = gr.register(fixed, moving, stage, initial=initial, device=device)
    before = np.square(gr.resample(moving, initial, fixed, device=device).array - fixed.array).mean()
    assert_within_record(np.square(result.warped.array - fixed.array).mean() / before, 0.0394)
    deformation, *behind = result.transform.transforms
    assert isinstance(deformation, gr.BSpline)
    assert behind == (list(initial.transforms) if isinstance(initial, gr.Composite) else [initial])
    theirs = resample_by_simpleitk(moving, result.transform.to_simpleitk(), fixed)
    apart = np.abs(result.warped.array - theirs) / np.ptp(theirs)
    assert (apart > 1e-4).mean() < 1e-5
    # Scales or folds of the initial transform are not counted for the deformation.
    stage = stages.FreeForm(levels=1, iterations=1, spacing=24, first_step=1e-3)
    still = gr.register(fixed, moving, stage, initial=gr.Composite([initial, gr.Affine(0.8 * np.eye(dimension))]), device=device)
    assert abs(still.stages[0].smallest_determinant - 1) < 1e-3


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("name", NAMES)
def test_itk_says_the_same(rng, name, dimension):
    itk = pytest.importorskip("itk")
    if name == "field" and not hasattr(itk, "DisplacementFieldTransform"):
        pytest.skip("this is a part of ITK's Python without transforms of fields: install all of it, itk")
    transform, head = make_transform(name, rng, dimension), head_of(dimension)
    theirs = transform.to_itk()
    back = gr.as_transform(theirs)
    field = transform.to_displacement_field(head, "host")
    np.testing.assert_allclose(back.to_displacement_field(head, "host").array, field.array, atol=1e-9)
    for index in rng.integers(0, head.size, (20, dimension)):
        point = (head.index_to_point @ np.append(index, 1))[:-1]
        moved = np.array(list(theirs.TransformPoint(point.tolist())))
        np.testing.assert_allclose(moved - point, field.array[tuple(index[::-1])], atol=1e-4)


@pytest.mark.parametrize(
    "make",
    [
        lambda: sitk.TranslationTransform(3, (1, 2, 3)),
        lambda: sitk.Euler3DTransform((1, 2, 3), 0.1, 0.2, -0.1, (4, 5, 6)),
        lambda: sitk.VersorRigid3DTransform((0, 0, 1), 0.3, (1, 2, 3), (4, 5, 6)),
        lambda: sitk.Similarity3DTransform(1.1, (0, 1, 0), 0.2, (1, 2, 3), (4, 5, 6)),
        lambda: sitk.ScaleTransform(3, (1.1, 0.9, 1.2)),
        lambda: sitk.Transform(3, sitk.sitkIdentity),
        lambda: sitk.CompositeTransform([sitk.TranslationTransform(3, (1, 2, 3)), sitk.ScaleTransform(3, (1.1, 0.9, 1.2))]),
        lambda: make_skewed(),
        lambda: sitk.CompositeTransform([sitk.TranslationTransform(3, (1, 2, 3)), make_skewed()]),
        lambda: sitk.CompositeTransform([sitk.CompositeTransform([sitk.ScaleTransform(3, (1.1, 0.9, 1.2))])]),
    ],
)
def test_simpleitks_linear_transforms(make):
    theirs = make()
    matrix = gr.as_transform(theirs).matrix_of()
    for point in ((0, 0, 0), (10, -20, 30), (-5.5, 7, 1.25)):
        np.testing.assert_allclose(matrix[:3] @ np.append(point, 1), theirs.TransformPoint(point), atol=1e-10)


def make_skewed():
    """Makes a transform of a class that SimpleITK's Downcast does not know."""
    made = sitk.ComposeScaleSkewVersor3DTransform()
    made.SetCenter((5.0, 6.0, 7.0))
    made.SetParameters((0.1, 0.0, 0.05, 1.0, 2.0, 3.0, 1.1, 1.0, 0.9, 0.05, 0.0, 0.1))
    return made


def test_parts_that_simpleitk_does_not_have(rng):
    spline = make_transform("bspline", rng).to_simpleitk()
    with pytest.raises(gr.UnsupportedError, match="has a part that SimpleITK's Python has no class for"):
        gr.as_transform(sitk.CompositeTransform([spline, make_skewed()]))
    # A composite within another one is not such a part.
    nested = sitk.CompositeTransform([sitk.CompositeTransform([spline])])
    point = (1.0, 2.0, 3.0)
    np.testing.assert_allclose(gr.as_transform(nested).transform_points(point), spline.TransformPoint(point), atol=1e-9)


def test_what_is_found_is_applied_the_same_by_simpleitk(device):
    bend = lambda point: point + 3.0 * np.sin(point / 15.0)[..., [1, 2, 0]]
    fixed, moving = make_head(bend), make_head()
    result = gr.register(
        fixed, moving, ["rigid", stages.FreeForm(levels=2, iterations=15, spacing=10)], device=device
    )
    theirs = resample_by_simpleitk(moving, result.transform.to_simpleitk(), fixed)
    assert relative_difference(result.warped.array, theirs) < 1e-4
    field = result.displacement_field
    vectors = sitk.TransformToDisplacementField(
        result.transform.to_simpleitk(), sitk.sitkVectorFloat64, fixed.size, fixed.origin.tolist(), fixed.spacing.tolist(),
        fixed.direction.ravel().tolist(),
    )
    np.testing.assert_allclose(field.array, sitk.GetArrayFromImage(vectors), atol=1e-5)


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("name", NAMES)
def test_points_are_led_where_simpleitk_leads_them(rng, name, dimension):
    transform = make_transform(name, rng, dimension)
    theirs = transform.to_simpleitk()
    # Inside of the grids, and far around them.
    points = np.concatenate([rng.uniform(-half, half, (20, 10, dimension)) for half in (25, 90)])
    found = transform.transform_points(points)
    assert found.shape == points.shape
    wanted = [theirs.TransformPoint(point.tolist()) for point in points.reshape(-1, dimension)]
    np.testing.assert_allclose(found.reshape(-1, dimension), wanted, atol=1e-9)
    assert np.abs(found - points).max() > 1
    np.testing.assert_allclose(transform.transform_points(points[0, 0].tolist()), found[0, 0], atol=1e-12)
    with pytest.raises(gr.BadInputError, match=r"Points of shape \(4,\)"):
        transform.transform_points(np.zeros(4))


def test_affine(rng):
    one = make_transform("affine", rng)
    points = rng.normal(0, 30, (7, 5, 3))
    np.testing.assert_allclose(one.inverse().transform_points(one.transform_points(points)), points, atol=1e-10)
    np.testing.assert_allclose(gr.Affine.from_matrix(one.matrix_of(), (1, 2, 3)).matrix_of(), one.matrix_of(), atol=1e-12)
    both = gr.Composite([one, gr.Composite([one.inverse()])])
    assert len(both.transforms) == 2
    np.testing.assert_allclose(both.matrix_of(), np.eye(4), atol=1e-12)
    np.testing.assert_allclose(one.parameters, one.to_simpleitk().GetParameters())


def test_what_is_singular_but_for_rounding_has_no_inverse(tmp_path):
    """The determinant is 7e-16."""
    matrix = np.arange(1.0, 10.0).reshape(3, 3)
    with pytest.raises(gr.BadInputError, match="has no inverse"):
        gr.Affine(matrix, (0.0, 0.0, 0.0)).inverse()
    image = gr.Image(np.zeros((4, 5, 6), np.float32))
    whole = np.eye(4)
    whole[:3, :3] = matrix
    np.savetxt(tmp_path / "singular.mat", whole)
    with pytest.raises(gr.BadInputError, match="has no inverse"):
        gr.read_transform(tmp_path / "singular.mat", fixed=image, moving=image)



def test_bsplines_of_other_orders_are_refused():
    theirs = sitk.BSplineTransform(3, 2)
    with pytest.raises(gr.UnsupportedError, match="order 2"):
        gr.as_transform(theirs)


@pytest.mark.parametrize("spacing", [(0.7, 1.1, 1.3), (0.05, 0.06, 0.07), (25.0, 2.0, 1.0)])
def test_the_outermost_voxels_of_a_spline_whose_domain_is_the_image_are_moved(device, spacing):
    image = gr.Image(np.random.default_rng(5).normal(0, 1, (23, 31, 27)).astype(np.float32), spacing, (11.3, -70.7, 33.1), turn(20))
    theirs = sitk.BSplineTransformInitializer(to_simpleitk(image), [5, 3, 7], 3)
    # By a constant, in the whole domain.
    moved = 0.4 * np.array(spacing)
    theirs.SetParameters(np.repeat(moved, len(theirs.GetParameters()) // 3).tolist())
    spline = gr.as_transform(theirs)
    index = np.stack(np.meshgrid(*[np.arange(n) for n in image.size], indexing="ij"), axis=-1).reshape(-1, 3)
    points = index @ image.index_to_point[:-1, :-1].T + image.origin
    assert np.abs(spline.transform_points(points) - points - moved).max() < 1e-9 * np.abs(points).max()
    field = spline.to_displacement_field(image, device).array
    assert np.abs(field - moved).max() < 1e-5 * moved.max()
