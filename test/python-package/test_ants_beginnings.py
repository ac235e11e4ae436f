# SPDX-License-Identifier: Apache-2.0
"""Compares antsRegistration of this package with ANTs' own where SyN begins behind a deformation, and where stages begin with former ones."""

import gpuregistration as gr
import numpy as np
import pytest
from ants_heads import write_heads
from ants_programs import check_fields, read_field, run_both, run_ours
from conftest import assert_within_record, relative_difference
from gpuregistration import ants
from gpuregistration.ants.programs import main

sitk = pytest.importorskip("SimpleITK")

LEVELS = "-c [4x3,0,10] -f 2x1 -s 1x0vox"
CC = f"-t SyN[0.2,3,0] -m CC[f.nii.gz,m.nii.gz,1,2] {LEVELS}"
SQUARES = f"-t SyN[0.2,3,0] -m MeanSquares[f.nii.gz,m.nii.gz,1] {LEVELS}"
COARSE = "-t SyN[0.2,3,0] -m MeanSquares[f.nii.gz,m.nii.gz,1] -c [4,0,10] -f 2 -s 1vox"
# The time of ANTs' own grows with the number of control points.
BSPLINE = f"-t BSpline[0.2,2x2x2] -m MeanSquares[f.nii.gz,m.nii.gz,1] {LEVELS}"
AFFINE, FIELD = "AffineTransform", "DisplacementFieldTransform"
LINEAR = "-t {}[0.1] -m MeanSquares[f.nii.gz,m.nii.gz,1] -c [{},0,10] -f 1 -s 0"


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Writes two heads with noise, a displacement field on a grid of its own, an affine map, both as one, and a B-spline, into a folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ITK_GPU_DEVICE", "host")
    list(write_heads(np.random.default_rng(3)))
    index = np.stack(np.meshgrid(*[np.arange(n) for n in (15, 16, 14)], indexing="ij"), axis=-1)[..., ::-1]
    origin = np.array([-50.0, -52.0, -48.0])
    warp = gr.DisplacementField(1.5 * np.sin(0.07 * (7 * index + origin)[..., [1, 2, 0]]) + [0.5, -0.4, 0.3], 7.0 * np.ones(3), origin)
    affine = gr.Affine([[1.02, 0.03, 0.0], [-0.03, 0.98, 0.0], [0.0, 0.01, 1.01]], [0.8, -0.5, 0.4])
    points = np.random.default_rng(4).uniform(-2, 2, (8, 9, 8, 3))
    spline = gr.BSpline(points, 20.0 * np.ones(3), -70.0 * np.ones(3))
    for name, transform in (("warp.nii.gz", warp), ("a.mat", affine), ("both.h5", gr.Composite([warp, affine])), ("spline.txt", spline)):
        gr.write_transform(name, transform)
    return tmp_path


@pytest.mark.parametrize(
    ("line", "names"),
    [
        (f"-r warp.nii.gz {CC}", ["0Warp.nii.gz", "1InverseWarp.nii.gz", "1Warp.nii.gz"]),
        (f"-r warp.nii.gz {CC} -z 0", ["1InverseWarp.nii.gz", "1Warp.nii.gz"]),
        (f"-r [warp.nii.gz,0] -r a.mat {CC}", ["0GenericAffine.mat", "1Warp.nii.gz", "2InverseWarp.nii.gz", "2Warp.nii.gz"]),
        (f"-r a.mat -r warp.nii.gz {CC}", ["0Warp.nii.gz", "1GenericAffine.mat", "2InverseWarp.nii.gz", "2Warp.nii.gz"]),
        (f"-r a.mat -r warp.nii.gz {CC} -z 0", ["2InverseWarp.nii.gz", "2Warp.nii.gz"]),
        (f"-r both.h5 {CC}", ["0GenericAffine.mat", "1Warp.nii.gz", "2InverseWarp.nii.gz", "2Warp.nii.gz"]),
        (f"-r warp.nii.gz -r warp.nii.gz {CC}", ["0Warp.nii.gz", "1InverseWarp.nii.gz", "1Warp.nii.gz"]),
        (f"-r warp.nii.gz {SQUARES} {CC}", ["0Warp.nii.gz", "1InverseWarp.nii.gz", "1Warp.nii.gz"]),
        (f"{SQUARES} {CC}", ["0InverseWarp.nii.gz", "0Warp.nii.gz"]),
        (f"-r a.mat {SQUARES} {CC}", ["0GenericAffine.mat", "1InverseWarp.nii.gz", "1Warp.nii.gz"]),
        (f"{SQUARES} {CC} -z 0", ["0InverseWarp.nii.gz", "0Warp.nii.gz", "1InverseWarp.nii.gz", "1Warp.nii.gz"]),
        (f"{COARSE} {CC} -z 0", ["0InverseWarp.nii.gz", "0Warp.nii.gz", "1InverseWarp.nii.gz", "1Warp.nii.gz"]),
        (f"-r spline.txt {CC} -z 0", ["1InverseWarp.nii.gz", "1Warp.nii.gz"]),
        (f"-r spline.txt -r a.mat {CC}", ["0GenericAffine.mat", "1BSpline.txt", "2InverseWarp.nii.gz", "2Warp.nii.gz"]),
    ],
)
def test_syn_goes_on_behind_deformations_as_ants(here, line, names):
    assert run_both(f"-d 3 -o P_ {line}") == names
    check_fields(names)
    last = [name for name in names if name.endswith("Warp.nii.gz") and "Inverse" not in name][-1]
    assert np.linalg.norm(read_field(f"ants_{last}"), axis=-1).mean() > 0.2


@pytest.mark.parametrize(
    ("line", "types"),
    [
        (f"-r warp.nii.gz {COARSE} -a 1", [FIELD, FIELD]),
        (f"-r both.h5 {COARSE} -a 1", [AFFINE, FIELD, FIELD]),
        (f"-r spline.txt {COARSE} -a 1 -z 0", ["BSplineTransform", FIELD]),
        (f"-r a.mat {SQUARES} {CC} -a 1", [AFFINE, FIELD]),
        (f"{SQUARES} {CC} -a 1 -z 0", [FIELD, FIELD]),
        (f"-r [f.nii.gz,m.nii.gz,1] -r a.mat {COARSE} -a 1 -z 0", None),
        (f"-r a.mat {LINEAR.format('Affine', 0)} {COARSE} -i 1 -a 1 -z 0", [AFFINE, FIELD]),
        (f"-r a.mat {LINEAR.format('Rigid', 0)} -i 1 -a 1 -z 0", None),
        (f"-r [f.nii.gz,m.nii.gz,1] {LINEAR.format('Rigid', 0)} {LINEAR.format('Affine', 0)} -i 1 -a 1 -z 0", None),
        (f"-r [f.nii.gz,m.nii.gz,1] {LINEAR.format('Translation', 0)} -i 1 -a 1 -z 0", None),
    ],
)
def test_composites_have_ants_parts(here, line, types):
    names = run_both(f"-d 3 -o P_ {line}")
    for name in names:
        ours, theirs = (sitk.ReadTransform(f"{who}_{name}") for who in ("ours", "ants"))
        points = np.random.default_rng(5).uniform(-25, 25, (40, 3))
        mapped = [np.array([one.TransformPoint(point.tolist()) for point in points]) for one in (ours, theirs)]
        # The forward maps are as close as fields; here the way back is iterated to its end.
        assert np.linalg.norm(mapped[0] - mapped[1], axis=1).max() < (0.3 if "Inverse" in name else 5e-3 * 3.5)
        if ours.GetName() == "CompositeTransform":
            assert ours.GetNumberOfTransforms() == (theirs.GetNumberOfTransforms() if theirs.GetName() == "CompositeTransform" else 1)
    if types is not None:
        composite = sitk.ReadTransform("ours_Composite.h5")
        assert [composite.GetNthTransform(n).GetName() for n in range(composite.GetNumberOfTransforms())] == types


def test_each_program_applies_what_the_other_found_behind_a_deformation(here):
    internal = pytest.importorskip("ants.internal", reason="ANTsPy is not there: pip install antspyx")
    names = run_both(f"-d 3 -o [P_,P_w.nii.gz,P_i.nii.gz] -r a.mat -r warp.nii.gz {COARSE.replace('-f 2', '-f 1')}")
    # There is no image of the way back, which the field has not.
    assert names == ["0Warp.nii.gz", "1GenericAffine.mat", "2InverseWarp.nii.gz", "2Warp.nii.gz", "w.nii.gz"]
    apply = {"ours": lambda words: main("antsApplyTransforms", words), "ants": internal.get_lib_fn("antsApplyTransforms")}
    for who, other in (("ours", "ants"), ("ants", "ours")):
        line = f"-d 3 -i m.nii.gz -r f.nii.gz -o o.nii.gz -t {who}_2Warp.nii.gz -t {who}_1GenericAffine.mat -t {who}_0Warp.nii.gz"
        assert apply[other](line.split()) == 0
        assert relative_difference(gr.read_image("o.nii.gz").array, gr.read_image(f"{who}_w.nii.gz").array) < 1e-4
    names = run_both(f"-d 3 -o [P_,P_w.nii.gz,P_i.nii.gz] -r a.mat {SQUARES} {CC}")
    for who, other in (("ours", "ants"), ("ants", "ours")):
        forward = f"-d 3 -i m.nii.gz -r f.nii.gz -o o.nii.gz -t {who}_1Warp.nii.gz -t {who}_0GenericAffine.mat"
        back = f"-d 3 -i f.nii.gz -r m.nii.gz -o b.nii.gz -t [{who}_0GenericAffine.mat,1] -t {who}_1InverseWarp.nii.gz"
        assert apply[other](forward.split()) == 0 and apply[other](back.split()) == 0
        for name in ("w", "i"):
            made = gr.read_image({"w": "o.nii.gz", "i": "b.nii.gz"}[name]).array
            # Images are made by the stages' own fields, and files hold these composed at the fixed image's voxels.
            assert relative_difference(made, gr.read_image(f"{who}_{name}.nii.gz").array) < {"w": 1e-4, "i": 5e-3}[name]


def test_a_second_stage_goes_on_from_the_first(here, device, monkeypatch):
    monkeypatch.setenv("ITK_GPU_DEVICE", device)
    run_ours(f"-d 3 -o [P_,w.nii.gz,i.nii.gz] {SQUARES} {CC} -z 0")
    first, second = (gr.read_transform(f"ours_{n}Warp.nii.gz") for n in (0, 1))
    backs = [gr.read_transform(f"ours_{n}InverseWarp.nii.gz") for n in (0, 1)]
    warped = gr.resample(gr.read_image("m.nii.gz"), gr.Composite([second, first]), gr.read_image("f.nii.gz"))
    inverse = gr.resample(gr.read_image("f.nii.gz"), gr.Composite(backs), gr.read_image("m.nii.gz"))
    assert relative_difference(warped.array, gr.read_image("w.nii.gz").array) < 1e-4
    assert relative_difference(inverse.array, gr.read_image("i.nii.gz").array) < 1e-4
    # A call with the first stage's field as the initial transform gives the same field.
    run_ours(f"-d 3 -o P_ -r ours_0Warp.nii.gz {CC} -z 0")
    np.testing.assert_allclose(gr.read_transform("ours_1Warp.nii.gz").array, second.array, atol=1e-3)
    run_ours(f"-d 3 -o joined_ {SQUARES} {CC}")
    joined = gr.read_transform("joined_0Warp.nii.gz")
    expected = gr.Composite([second, first]).to_displacement_field(gr.read_image("f.nii.gz"), "host")
    np.testing.assert_allclose(joined.array, expected.array, atol=1e-3)


def test_a_b_spline_goes_on_behind_deformations(here):
    assert run_both(f"-d 3 -o [P_,P_w.nii.gz] -r warp.nii.gz {BSPLINE}") == ["0Warp.nii.gz", "1BSpline.txt", "w.nii.gz"]
    fixed = gr.read_image("f.nii.gz").array
    start = gr.resample(gr.read_image("m.nii.gz"), gr.read_transform("warp.nii.gz"), gr.read_image("f.nii.gz")).array
    left = [np.abs(image - fixed).mean() for image in (gr.read_image("ours_w.nii.gz").array, gr.read_image("ants_w.nii.gz").array, start)]
    assert left[0] < left[1] < left[2]
    assert run_both(f"-d 3 -o P_ {SQUARES} {BSPLINE}")[:3] == ["0InverseWarp.nii.gz", "0Warp.nii.gz", "1BSpline.txt"]


@pytest.mark.parametrize(
    ("name", "factors", "kept", "record"), [("Rigid", "0x0x0x1x1x1", "Translation", 0.0316), ("Similarity", "1x1x1x1x1x1x0", "Rigid", 0.471)]
)
def test_a_restricted_stage_has_the_result_of_one_with_fewer_degrees(here, name, factors, kept, record):
    line = LINEAR.replace(",0,10", "x50,1e-7,10").replace("-f 1 -s 0", "-f 2x1 -s 1x0vox")
    for prefix, of, more in (("restricted", name, f"-g {factors}"), ("kept", kept, "")):
        assert main("antsRegistration", f"-d 3 -o {prefix}_ {line.format(of, 100)} {more} -z 0".split()) == 0
    matrices = [gr.read_transform(file).matrix_of() for file in (f"restricted_0{name}.mat", f"kept_0{kept}.mat")]
    np.testing.assert_allclose(*matrices, atol=1e-9)
    assert sitk.ReadTransform(f"restricted_0{name}.mat").GetName() == {"Rigid": "Euler3DTransform", "Similarity": "Similarity3DTransform"}[name]
    assert run_both(f"-d 3 -o P_ {line.format(name, 100)} -g {factors}") == ["0GenericAffine.mat"]
    # ANTs' restriction leaves the same degrees of freedom: no turn, or no scale. Its optimizer ends elsewhere within a fraction of a voxel.
    theirs = gr.read_transform("ants_0GenericAffine.mat")
    np.testing.assert_allclose(theirs.matrix.T @ theirs.matrix, np.eye(3), atol=1e-5)
    assert kept == "Rigid" or np.abs(theirs.matrix - np.eye(3)).max() < 1e-6
    points = np.array([[20.0, -10.0, 5.0], [-20.0, 15.0, 10.0]])
    apart = gr.read_transform("ours_0GenericAffine.mat").transform_points(points) - theirs.transform_points(points)
    assert_within_record(np.linalg.norm(apart, axis=1).max(), record, 0.2 * 3.5)


def test_the_function_begins_with_a_deformation(here):
    fixed, moving = gr.read_image("f.nii.gz"), gr.read_image("m.nii.gz")
    begins = ["warp.nii.gz", "a.mat"]
    found = ants.registration(fixed, moving, "SyNOnly", initial_transform=begins, outprefix="p_", reg_iterations=(4, 3), device="host")
    assert found["fwdtransforms"] == ["p_2Warp.nii.gz", "p_1Warp.nii.gz", "p_0GenericAffine.mat"]
    assert found["invtransforms"] == [] and found["warpedfixout"] is None
    again = ants.apply_transforms(fixed, moving, found["fwdtransforms"], device="host")
    assert relative_difference(again.array, found["warpedmovout"].array) < 1e-4
    found = ants.registration(fixed, moving, "Affine", initial_transform="warp.nii.gz", outprefix="q_", device="host")
    assert found["fwdtransforms"] == ["q_1GenericAffine.mat", "q_0Warp.nii.gz"] and found["invtransforms"] == []
    # ANTsPy takes the inverse of a matrix in front of a deformation, unless it is told.
    again = ants.apply_transforms(fixed, moving, found["fwdtransforms"], whichtoinvert=[False, False], device="host")
    assert relative_difference(again.array, found["warpedmovout"].array) < 1e-4
