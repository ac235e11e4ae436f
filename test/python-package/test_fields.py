# SPDX-License-Identifier: Apache-2.0
"""Tests displacement fields, whose meaning their header gives."""

import warnings

import gpuregistration as gr
import numpy as np
import pytest
from command_line import assert_fails, gpureg, gpureg_json
from conftest import make_head, turn
from nifti_files import AFFINE, write_nifti

sitk = pytest.importorskip("SimpleITK")
nibabel = pytest.importorskip("nibabel")

LPS = np.array([-1.0, -1.0, 1.0])
SHAPE = (8, 7, 6)
# Right and anterior, mm.
VECTORS = np.random.default_rng(1).normal(size=(*SHAPE, 3)).astype(np.float32) * 3


def points_of(shape, affine):
    """Returns the points of voxels [x, y, z] by nibabel's affine."""
    index = np.stack(np.meshgrid(*map(np.arange, shape), indexing="ij"), axis=-1)
    return index @ affine[:3, :3].T + affine[:3, 3]


def write_field(path, vectors, intent, name=b"", p1=0.0, **more):
    values = vectors[:, :, :, np.newaxis].astype(np.float32)
    return write_nifti(path, values, intent=("h", intent), intent_name=(f"{len(name)}s", name), intent_p1=("f", p1), **more)


def check(path, match=None):
    """Asserts that a field displaces each voxel by VECTORS; returns the warnings about it."""
    with warnings.catch_warnings(record=True) as reported:
        warnings.simplefilter("always")
        field = gr.read_transform(path)
    assert [str(one.message) for one in reported if match is None or match not in str(one.message)] == []
    assert match is None or len(reported) == 1
    points = points_of(SHAPE, AFFINE)
    for index in ((0, 0, 0), (3, 2, 4), (7, 6, 5)):
        there = field.transform_points(points[index] * LPS)
        np.testing.assert_allclose(there * LPS, points[index] + VECTORS[index], atol=1e-4)


POSITIONS = points_of(SHAPE, AFFINE) + VECTORS


def test_itks_and_ants(tmp_path):
    check(write_field(tmp_path / "w.nii.gz", VECTORS * LPS, 1007))


def test_nifti_displacements_are_right_and_anterior(tmp_path):
    path = write_field(tmp_path / "w.nii", VECTORS, 1006)
    check(path)
    # As in ITK from 5.4 on.
    if tuple(map(int, sitk.Version.ITKVersionString().split(".")[:2])) >= (5, 4):
        np.testing.assert_allclose(gr.read_transform(path).array, sitk.GetArrayFromImage(sitk.ReadImage(str(path))), atol=1e-6)
    plane = VECTORS[:, :, :1, :2]
    with pytest.raises(gr.BadInputError, match="in two dimensions by intent_code 1006.*Write them with 1007"):
        gr.read_transform(write_field(tmp_path / "p.nii", plane, 1006))
    assert gr.read_transform(write_field(tmp_path / "p.nii", plane, 1007)).dimension == 2


def test_no_intent(tmp_path, capfd):
    path = write_field(tmp_path / "w.nii", VECTORS * LPS, 0)
    check(path, "does not say what its vectors are (intent_code 0)")
    gr.write_image(tmp_path / "i.nii", make_head())
    words = ("apply", tmp_path / "i.nii", "-t", path, "-o", tmp_path / "o.nii", "--device", "host")
    assert "intent_code 0" in gpureg_json(capfd, *words)["warnings"][0] and "intent_code 0" in gpureg(capfd, *words)[2]


@pytest.mark.parametrize("p1, vectors", [(0.0, POSITIONS), (1.0, VECTORS)])
def test_niftyreg(tmp_path, p1, vectors):
    check(write_field(tmp_path / "w.nii.gz", vectors, 1007, b"NREG_TRANS", p1))


@pytest.mark.parametrize(
    "p1, what",
    [
        (2, "a cubic B-spline"),
        (3, "velocities"),
        (4, "velocities"),
        (5, "a B-spline of velocities"),
        (6, "a linear B-spline"),
        (7, "a transform"),
    ],
)
def test_niftyregs_other_transforms(tmp_path, p1, what):
    with pytest.raises(gr.BadInputError, match=f"w.nii holds {what} of NiftyReg's .intent_p1 {p1}.*reg_transform -ref"):
        gr.read_transform(write_field(tmp_path / "w.nii", VECTORS, 1007, b"NREG_TRANS", p1))


def test_niftyreg_in_two_dimensions(tmp_path):
    field = gr.read_transform(write_field(tmp_path / "w.nii", POSITIONS[:, :, :1, :2], 1007, b"NREG_TRANS"))
    point = points_of(SHAPE, AFFINE)[3, 2, 0, :2]
    np.testing.assert_allclose(field.transform_points(point * LPS[:2]) * LPS[:2], point + VECTORS[3, 2, 0, :2], atol=1e-4)


@pytest.mark.parametrize("p1", [0.5, 1.5, np.nan, np.inf])
def test_niftyregs_transforms_that_are_not_recognized(tmp_path, p1):
    with pytest.raises(gr.BadInputError, match=f"w.nii does not say which of NiftyReg's.*intent_p1 is {p1:g}.*reg_transform -ref"):
        gr.read_transform(write_field(tmp_path / "w.nii", VECTORS, 1007, b"NREG_TRANS", p1))


@pytest.mark.parametrize("intent", [0, 1006, 1007])
def test_spms_positions_by_any_intent(tmp_path, intent):
    check(write_field(tmp_path / "y.nii", POSITIONS, intent, b"Mapping"))


@pytest.mark.parametrize("intent", [0, 1007])
def test_names_of_vectors_that_are_not_known(tmp_path, intent):
    for name in (b"Positions", b"NREG_CPP_FILE", b"mapping of mine"):
        with pytest.raises(gr.BadInputError, match=f"w.nii has vectors of which .* calls them '{name.decode()}' .intent_name.*empty"):
            gr.read_transform(write_field(tmp_path / "w.nii", VECTORS, intent, name))


def test_names_of_displacements(tmp_path):
    check(write_field(tmp_path / "w.nii", VECTORS * LPS, 1007, b"Displacement", descrip=("17s", b"Nipype's workflow")))
    check(write_field(tmp_path / "w.nii", VECTORS, 1006, b"warp"))


def test_spm(tmp_path, capfd):
    path = write_field(tmp_path / "y.nii", POSITIONS, 1007, b"Mapping")
    check(path)
    # From end to end: a head that is shifted by 5 mm to the right is shifted back.
    head = make_head()
    affine = np.diag([*LPS, 1.0]) @ head.index_to_point
    shifted = points_of(head.size, affine) + (5.0, 0.0, 0.0)
    write_field(tmp_path / "y.nii", shifted, 1007, b"Mapping", affine=affine)
    moved = make_head(gr.Affine(np.eye(3), (5.0, 0.0, 0.0)).transform_points)
    gr.write_image(tmp_path / "moved.nii", moved)
    gr.write_image(tmp_path / "head.nii", head)
    words = ("apply", tmp_path / "moved.nii", "-t", tmp_path / "y.nii", "--reference", tmp_path / "head.nii", "-o", tmp_path / "o.nii")
    gpureg_json(capfd, *words, "--device", "host")
    inside = np.s_[5:-5, 5:-5, 5:-5]
    assert np.abs(gr.read_image(tmp_path / "o.nii").array - head.array)[inside].max() < 2.0


@pytest.mark.parametrize("intent", [2006, 2007, 2008, 2009, 2016])
@pytest.mark.parametrize("along", [np.s_[:], np.s_[:, :, :, np.newaxis]])
def test_fsl_is_refused(tmp_path, capfd, intent, along):
    path = write_nifti(tmp_path / "w.nii", VECTORS[along], intent=("h", intent))
    with pytest.raises(gr.BadInputError, match=f"w.nii holds .* of FSL's .*intent_code {intent}.*wb_command -convert-warpfield"):
        gr.read_transform(path)
    gr.write_image(tmp_path / "i.nii", make_head())
    assert_fails(capfd, 1, "FSL's two images alone", None, "apply", tmp_path / "i.nii", "-t", path, "-o", tmp_path / "o.nii")


def test_flow_fields_are_refused(tmp_path):
    for text in (b"Flow Field", b"Velocity", b"Stationary velocity"):
        reported = (f"{len(text)}s", text)
        for intent in (0, 1006, 1007):
            for path in (
                write_field(tmp_path / "u.nii", VECTORS, intent, descrip=reported),
                write_field(tmp_path / "v.nii", VECTORS, intent, text[:16]),
            ):
                with pytest.raises(gr.BadInputError, match=f"its header calls it '{text.decode()[:15]}"):
                    gr.read_transform(path)


def test_other_intents_are_refused(tmp_path):
    for intent in (1005, 1009, 1002):
        with pytest.raises(gr.BadInputError, match=f"something else .intent_code {intent}"):
            gr.read_transform(write_field(tmp_path / "w.nii", VECTORS, intent))


def test_spaces_that_are_not_known(tmp_path):
    for name, intent in ((b"NREG_TRANS", 1007), (b"Mapping", 1007)):
        path = write_field(tmp_path / "w.nii", POSITIONS, intent, name, sform_code=("h", 0))
        with pytest.raises(gr.BadInputError, match="both 0. Write it with an sform"):
            gr.read_transform(path)
    with pytest.raises(gr.BadInputError, match="not in mm"):
        gr.read_transform(write_field(tmp_path / "w.nii", VECTORS, 1007, units=("B", 3)))


def test_what_is_no_field(tmp_path):
    with pytest.raises(gr.BadInputError, match="w.nii has 4 dimensions"):
        gr.read_transform(write_nifti(tmp_path / "w.nii", VECTORS))
    with pytest.raises(gr.BadInputError, match="w.nii has 1 components a voxel; a field of displacements of 3 dimensions has 3"):
        gr.read_transform(write_nifti(tmp_path / "w.nii", VECTORS[..., 0]))
    vectors = VECTORS.copy()
    vectors[1, 2, 3, 0] = np.nan
    with pytest.raises(gr.BadInputError, match="not finite"):
        gr.read_transform(write_field(tmp_path / "w.nii", vectors, 1007))


def test_a_skew_field(tmp_path, rng):
    """The field is written and read on its own grid, by this package and in ITK's transform files."""
    direction = turn(20) @ [[1, 0.2, 0], [0, 1, 0.1], [0, 0, 1]]
    field = gr.DisplacementField(rng.normal(size=(6, 7, 8, 3)), (1, 2, 3), (4, 5, 6), direction)
    points = rng.uniform(-1, 1, (20, 3)) + (7, 10, 12)
    for name in ("w.nii.gz", "w.mha", "w.h5"):
        gr.write_transform(tmp_path / name, field)
        np.testing.assert_allclose(gr.read_transform(tmp_path / name).transform_points(points), field.transform_points(points), atol=1e-4)
    by_itk = np.array([field.to_simpleitk().TransformPoint(point) for point in points.tolist()])
    np.testing.assert_allclose(by_itk, field.transform_points(points), atol=1e-6)
