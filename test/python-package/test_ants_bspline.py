# SPDX-License-Identifier: Apache-2.0
"""A stage BSpline of antsRegistration: its files, which ANTs and SimpleITK read, and what it comes to."""

import gpuregistration as gr
import numpy as np
import pytest
from conftest import assert_within_record, make_head, relative_difference
from gpuregistration.ants.programs import main

sitk = pytest.importorskip("SimpleITK")

GRID = {"shape": (20, 22, 21), "spacing": (4.0, 4.0, 4.0)}
IMAGES = "-r [f.nii.gz,m.nii.gz,1] -o [p_,w.nii.gz,i.nii.gz]"
BSPLINE = "-t BSpline[0.1,3x4x3] -m MeanSquares[f.nii.gz,m.nii.gz,1] -c [20x10,1e-6,5] -f 2x1 -s 1x0vox"


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Writes two heads into a folder of its own, and goes there."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ITK_GPU_DEVICE", "host")
    gr.write_image("f.nii.gz", make_head(**GRID))
    gr.write_image("m.nii.gz", make_head(lambda points: points - [3.0, -2.0, 1.0] - 2.0 * np.sin(0.08 * points[..., ::-1]), **GRID))
    return tmp_path


def run(line, code=0):
    assert main("antsRegistration", line.split()) == code


def made(folder):
    return sorted(path.name for path in folder.iterdir() if path.name not in ("f.nii.gz", "m.nii.gz"))


def check_warped(transform):
    """Compares the warped image with SimpleITK's, and returns how much of the difference of the heads is left."""
    fixed, moving, warped = (sitk.Cast(sitk.ReadImage(name), sitk.sitkFloat64) for name in ("f.nii.gz", "m.nii.gz", "w.nii.gz"))
    fixed_values, moving_values, values = (sitk.GetArrayFromImage(image) for image in (fixed, moving, warped))
    assert relative_difference(values, sitk.GetArrayFromImage(sitk.Resample(moving, fixed, transform))) < 1e-4
    return np.abs(values - fixed_values).mean() / np.abs(moving_values - fixed_values).mean()


def find_what_is_left(transform):
    """Returns how much of the difference is left by a transform."""
    fixed, moving = (sitk.Cast(sitk.ReadImage(name), sitk.sitkFloat64) for name in ("f.nii.gz", "m.nii.gz"))
    fixed_values, moving_values = (sitk.GetArrayFromImage(image) for image in (fixed, moving))
    values = sitk.GetArrayFromImage(sitk.Resample(moving, fixed, transform))
    return np.abs(values - fixed_values).mean() / np.abs(moving_values - fixed_values).mean()


def test_writes_what_ants_writes(here, capfd):
    run(f"-d 3 {IMAGES} {BSPLINE}")
    # There is no way back, of ANTs neither.
    assert made(here) == ["p_0GenericAffine.mat", "p_1BSpline.txt", "w.nii.gz"]
    err = capfd.readouterr().err
    assert err.count("\n") == 1 and "i.nii.gz is not written: a B-spline" in err
    deformation = sitk.ReadTransform("p_1BSpline.txt")
    assert deformation.GetName() == "BSplineTransform"
    # Twice as many cells at the second level, along 80, 84 and 76 mm.
    spline = sitk.BSplineTransform(deformation)
    np.testing.assert_allclose(gr.read_transform("p_1BSpline.txt").spacing, [80 / 6, 84 / 8, 76 / 6], rtol=1e-6)
    assert spline.GetOrder() == 3
    before = sitk.ReadTransform("p_0GenericAffine.mat")
    left = check_warped(sitk.CompositeTransform([before, deformation]))
    assert_within_record(left, 0.0771)
    assert left < 0.75 * find_what_is_left(before)


def test_other_files(here):
    run(f"-d 3 {IMAGES} {BSPLINE.replace('MeanSquares', 'GC')} -z 0")
    names = ["p_0DerivedInitialMovingTranslation.mat", "p_1BSpline.txt"]
    assert made(here) == [*names, "w.nii.gz"]
    check_warped(sitk.CompositeTransform([sitk.ReadTransform(name) for name in names]))
    for name in names:
        (here / name).unlink()
    run(f"-d 3 {IMAGES} {BSPLINE.replace('MeanSquares[f.nii.gz,m.nii.gz,1]', 'CC[f.nii.gz,m.nii.gz,1,2]')} -a 1")
    assert made(here) == ["p_Composite.h5", "w.nii.gz"]
    check_warped(sitk.ReadTransform("p_Composite.h5"))


MI = "-m MI[f.nii.gz,m.nii.gz,1,24,Regular,0.2]"
TWO_CONTRASTS = f"{MI} -m Mattes[f2.nii.gz,m2.nii.gz,0.5,24,Regular,0.2]"
LEVELS = "-t BSpline[0.1,3x3x3] {} -c [12x6,1e-6,5] -f 2x1 -s 1x0vox"


@pytest.fixture
def contrasts(here):
    """Writes the heads of another contrast, too: with noise of their own, as the first ones have it."""
    rng = np.random.default_rng(5)
    for name in ("f", "m"):
        image = gr.read_image(f"{name}.nii.gz")
        noisy = image.array + rng.standard_normal(image.shape)
        gr.write_image(f"{name}2.nii.gz", image.like((10 * np.sqrt(np.abs(noisy))).astype(np.float32)))
        gr.write_image(f"{name}.nii.gz", image.like(noisy.astype(np.float32)))
    return here


def measure(transform, fixed, moving):
    """Returns Mattes' measure of two files by SimpleITK."""
    method = sitk.ImageRegistrationMethod()
    method.SetMetricAsMattesMutualInformation(24)
    method.SetInterpolator(sitk.sitkLinear)
    method.SetInitialTransform(transform)
    return method.MetricEvaluate(*(sitk.ReadImage(file, sitk.sitkFloat32) for file in (fixed, moving)))


def find_measures(prefix, *names):
    """Returns Mattes' measure of both contrasts, by transforms that a program has written."""
    found = sitk.CompositeTransform([sitk.ReadTransform(f"{prefix}{name}") for name in names])
    return np.array([measure(found, "f.nii.gz", "m.nii.gz"), measure(found, "f2.nii.gz", "m2.nii.gz")])


@pytest.mark.parametrize("metrics", [MI, TWO_CONTRASTS], ids=["MI", "two contrasts"])
def test_mutual_information_comes_as_far_as_ants(contrasts, metrics):
    internal = pytest.importorskip("ants.internal", reason="ANTsPy is not there: pip install antspyx")
    line = f"-d 3 -o P_ -r [f.nii.gz,m.nii.gz,1] {LEVELS.format(metrics)}"
    run(line.replace("P_", "ours_"))
    assert internal.get_lib_fn("antsRegistration")(line.replace("P_", "ants_").split()) == 0
    ours, theirs = (find_measures(prefix, "0GenericAffine.mat", "1BSpline.txt") for prefix in ("ours_", "ants_"))
    assert (ours < theirs + 0.01).all(), (ours, theirs)


@pytest.mark.parametrize(
    "metrics",
    [
        MI,
        TWO_CONTRASTS,
        f"{MI} -m CC[f.nii.gz,m.nii.gz,0.5,2]",
        "-m GC[f.nii.gz,m.nii.gz,1] -m MeanSquares[f2.nii.gz,m2.nii.gz,3]",
        "-m MeanSquares[f.nii.gz,m.nii.gz,0] -m Mattes[f.nii.gz,m.nii.gz,1,24]",
    ],
)
def test_each_metric_and_several_find_the_deformation(contrasts, metrics):
    run(f"-d 3 -o p_ -r [f.nii.gz,m.nii.gz,1] {LEVELS.format(metrics)}")
    before, found = (find_measures("p_", *names) for names in (["0GenericAffine.mat"], ["0GenericAffine.mat", "1BSpline.txt"]))
    assert (found < before - 0.2).all(), (before, found)
    grid = sitk.ReadImage("f.nii.gz")
    field = sitk.TransformToDisplacementField(
        sitk.ReadTransform("p_1BSpline.txt"), sitk.sitkVectorFloat64, grid.GetSize(), grid.GetOrigin(), grid.GetSpacing(), grid.GetDirection()
    )
    assert sitk.GetArrayFromImage(sitk.DisplacementFieldJacobianDeterminant(field)).min() > 0


@pytest.mark.parametrize(
    ("mesh", "levels", "plain_mesh", "plain_levels"),
    [
        ("3x4x3", "-c [20x10,1e-6,5] -f 3x1 -s 1x0vox", "3x4x3", "-c [20x10,1e-6,5] -f 2x1 -s 1x0vox"),
        ("3x4x3", "-c [20x10,1e-6,5] -f 6x2 -s 1x0vox", "3x4x3", "-c [20x10,1e-6,5] -f 2x1 -s 1x0vox"),
        ("2x2x2", "-c [0x20x10,1e-6,5] -f 4x2x1 -s 2x1x0vox", "4x4x4", "-c [20x10,1e-6,5] -f 2x1 -s 1x0vox"),
        ("3x4x3", "-c [20x10x0,1e-6,5] -f 4x2x1 -s 2x1x0vox", "3x4x3", "-c [20x10,1e-6,5] -f 2x1 -s 1x0vox"),
    ],
)
def test_shrink_factors_and_levels_without_iterations(here, mesh, levels, plain_mesh, plain_levels):
    found = []
    for cells, line in ((mesh, levels), (plain_mesh, plain_levels)):
        run(f"-d 3 {IMAGES} -t BSpline[0.1,{cells}] -m MeanSquares[f.nii.gz,m.nii.gz,1] {line}")
        found.append(gr.read_transform("p_1BSpline.txt"))
    # Factors do not count, and levels without iterations leave their halving of cells alone.
    np.testing.assert_allclose(found[0].spacing, found[1].spacing)
    np.testing.assert_allclose(found[0].array, found[1].array, atol=1e-6)
    assert np.abs(found[0].array).max() > 1


def test_no_iterations_leave_ants_flat_mesh(here):
    run(f"-d 3 {IMAGES} {BSPLINE.replace('20x10', '0x0')}")
    flat = sitk.BSplineTransform(sitk.ReadTransform("p_1BSpline.txt"))
    assert not any(flat.GetParameters())
    # ITK's mesh of 6, 8 and 6 cells on the fixed image.
    wanted = sitk.BSplineTransformInitializer(sitk.ReadImage("f.nii.gz"), [6, 8, 6])
    np.testing.assert_allclose(flat.GetTransformDomainPhysicalDimensions(), [76.0, 84.0, 80.0][::-1], rtol=1e-6)
    assert flat.GetTransformDomainMeshSize() == wanted.GetTransformDomainMeshSize() == (6, 8, 6)
    np.testing.assert_allclose(flat.GetTransformDomainOrigin(), gr.read_image("f.nii.gz").origin, atol=1e-4)


@pytest.mark.parametrize(
    ("number", "cells"),
    [
        ("4", (10, 10, 8)),
        ("10", (4, 4, 3)),
        ("13", (3, 3, 3)),
        ("17", (3, 3, 2)),
        ("30", (2, 2, 1)),
        ("50", (1, 1, 1)),
        ("4x5x6", (4, 5, 6)),
    ],
)
def test_one_number_is_the_length_of_a_cell(tmp_path, monkeypatch, number, cells):
    """The cells are those of ANTs' mesh on 39 x 39 x 30 mm; two levels double them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ITK_GPU_DEVICE", "host")
    for name in "fm":
        gr.write_image(f"{name}.nii.gz", make_head(shape=(31, 40, 40), spacing=(1.0, 1.0, 1.0)))
    run(f"-d 3 -o p_ -t BSpline[0.1,{number}] -m MeanSquares[f.nii.gz,m.nii.gz,1] -c 0x0 -f 2x1 -s 1x0vox")
    assert sitk.BSplineTransform(sitk.ReadTransform("p_0BSpline.txt")).GetTransformDomainMeshSize() == tuple(2 * n for n in cells)


@pytest.mark.parametrize(("number", "spacing"), [("1", (0.1, 0.1)), ("3", (0.1, 0.1)), ("1", (0.3, 0.7)), ("2x3", (0.1, 0.1))])
@pytest.mark.parametrize("is_single", [0, 1])
def test_one_number_makes_ants_cells(tmp_path, monkeypatch, number, spacing, is_single):
    """Beside ANTs, on an image whose lengths of voxels are no floats, so that rounding decides where cells just fit."""
    internal = pytest.importorskip("ants.internal", reason="ANTsPy is not there: pip install antspyx")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ITK_GPU_DEVICE", "host")
    head = make_head(shape=(31, 41), spacing=(2.0, 2.0), origin=(-40.0, -30.0))
    for name in "fm":
        gr.write_image(f"{name}.nii.gz", gr.Image(head.array, spacing))
    line = f"-d 2 -o P_ --float {is_single} -t BSpline[0.1,{number}] -m MeanSquares[f.nii.gz,m.nii.gz,1] -c 0 -f 1 -s 0vox"
    run(line.replace("P_", "ours_"))
    assert internal.get_lib_fn("antsRegistration")(line.replace("P_", "ants_").split()) == 0
    ours, theirs = (sitk.BSplineTransform(sitk.ReadTransform(f"{who}_0BSpline.txt")).GetTransformDomainMeshSize() for who in ("ours", "ants"))
    assert ours == theirs


def test_a_mesh_has_to_fit(here, capfd):
    for mesh, part in (("3x4", "expected one, the length of a cell in mm, or 3"), ("12x12x12", "less than a voxel long"), ("7", "less than a voxel long")):
        run(f"-d 3 {IMAGES} {BSPLINE.replace('3x4x3', mesh)}", 1)
        assert part in capfd.readouterr().err and made(here) == []
