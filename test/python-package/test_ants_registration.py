# SPDX-License-Identifier: Apache-2.0
"""antsRegistration of this package: the files that it writes, and what it does on the way."""

import os
import subprocess
import sys
from pathlib import Path

import gpuregistration as gr
import numpy as np
import pytest
from ants_lines import LINES
from conftest import assert_within_record, make_head, relative_difference
from gpuregistration import _devices
from gpuregistration._engine import compute_convergences
from gpuregistration.ants.intensities import compute_quantiles, match_histogram, window
from gpuregistration.ants.levels import compute_factors
from gpuregistration.ants.linear_files import write_stage
from gpuregistration.ants.programs import main
from gpuregistration.stages import SyN

sitk = pytest.importorskip("SimpleITK")

GRID = {"shape": (20, 24, 22), "spacing": (4.0, 4.0, 4.0)}
RIGID = "-t Rigid[0.1] -m MI[f.nii.gz,m.nii.gz,1,32,Regular,0.25] -c [20x10,1e-6,10] -f 2x1 -s 1x0vox"
AFFINE = RIGID.replace("Rigid", "Affine")
SYN = "-t SyN[0.25,3,0] -m MeanSquares[f.nii.gz,m.nii.gz,1] -c [6x4,1e-6,10] -f 2x1 -s 1x0vox"
START = "-r [f.nii.gz,m.nii.gz,1]"
IMAGES = "-o [p_,w.nii.gz,i.nii.gz]"


def bend(points):
    """Maps the fixed head's points to the moving one's."""
    return points + [3.0, -2.0, 1.0] + 2.0 * np.sin(0.08 * points[..., ::-1])


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Writes two heads and a mask into a folder of its own, and goes there."""
    monkeypatch.chdir(tmp_path)
    fixed = make_head(**GRID)
    gr.write_image("f.nii.gz", fixed)
    gr.write_image("m.nii.gz", make_head(lambda points: points - (bend(points) - points), **GRID))
    gr.write_image("mask.nii.gz", fixed.like((fixed.array > 1).astype(np.uint8)))
    return tmp_path


def run(line, code=0):
    assert main("antsRegistration", line.split()) == code


def made(folder):
    return sorted(path.name for path in folder.iterdir() if path.name not in ("f.nii.gz", "m.nii.gz", "mask.nii.gz"))


def resampled(image, transform, reference):
    """Resamples a file by SimpleITK, through a transform of it."""
    read = [sitk.Cast(sitk.ReadImage(name), sitk.sitkFloat64) for name in (image, reference)]
    return sitk.GetArrayFromImage(sitk.Resample(read[0], read[1], transform, sitk.sitkLinear))


def warp(name):
    return sitk.DisplacementFieldTransform(sitk.ReadImage(name, sitk.sitkVectorFloat64))


def check_images(forward, inverse):
    """Compares the warped images with those that SimpleITK makes by transforms."""
    assert relative_difference(gr.read_image("w.nii.gz").array, resampled("m.nii.gz", forward, "f.nii.gz")) < 1e-4
    assert relative_difference(gr.read_image("i.nii.gz").array, resampled("f.nii.gz", inverse, "m.nii.gz")) < 1e-4


def test_no_iterations_of_syn_move_nothing(here):
    line = f"-d 3 {IMAGES} {START} {RIGID} {SYN.replace('6x4', '0x0')}"
    run(f"{line} -a 1 -j s.h5")
    assert "s.h5" in made(here)
    run(line)
    fixed = gr.read_image("f.nii.gz")
    for name in ("p_1Warp.nii.gz", "p_1InverseWarp.nii.gz"):
        field = gr.read_transform(name)
        assert field.array.shape == (*fixed.shape, 3) and not field.array.any()
    rigid = sitk.ReadTransform("p_0GenericAffine.mat")
    check_images(rigid, rigid.GetInverse())


def test_writes_what_ants_writes(here, device, monkeypatch, capfd):
    monkeypatch.setenv("ITK_GPU_DEVICE", device)
    run(f"-d 3 {IMAGES} {START} {AFFINE} {SYN} -w [0.005,0.995] -u 1 -v 1")
    out = capfd.readouterr().out
    assert made(here) == ["i.nii.gz", "p_0GenericAffine.mat", "p_1InverseWarp.nii.gz", "p_1Warp.nii.gz", "w.nii.gz"]
    affine = sitk.ReadTransform("p_0GenericAffine.mat")
    assert affine.GetName() == "AffineTransform"
    check_images(
        sitk.CompositeTransform([affine, warp("p_1Warp.nii.gz")]),
        sitk.CompositeTransform([warp("p_1InverseWarp.nii.gz"), affine.GetInverse()]),
    )
    fixed, moving, warped = (gr.read_image(name).array for name in ("f.nii.gz", "m.nii.gz", "w.nii.gz"))
    assert_within_record(np.abs(warped - fixed).mean() / np.abs(moving - fixed).mean(), 0.288, 0.3)
    assert warped.dtype == np.float64
    assert out.count(" 1DIAGNOSTIC,") == 10 and " 2DIAGNOSTIC,     1, -" in out and "Total elapsed time: " in out


def test_writes_composites(here):
    run(f"-d 3 {IMAGES} {START} {AFFINE} {SYN} -a 1 --float 1")
    assert made(here) == ["i.nii.gz", "p_Composite.h5", "p_InverseComposite.h5", "w.nii.gz"]
    check_images(sitk.ReadTransform("p_Composite.h5"), sitk.ReadTransform("p_InverseComposite.h5"))
    assert gr.read_image("w.nii.gz").array.dtype == np.float32


def test_writes_a_file_for_each_stage(here):
    run(f"-d 3 {IMAGES} {START} {RIGID} {AFFINE} {SYN} -z 0")
    assert made(here) == [
        "i.nii.gz",
        "p_0DerivedInitialMovingTranslation.mat",
        "p_1Rigid.mat",
        "p_2Affine.mat",
        "p_3InverseWarp.nii.gz",
        "p_3Warp.nii.gz",
        "w.nii.gz",
    ]
    linear = [sitk.ReadTransform(f"p_{name}.mat") for name in ("0DerivedInitialMovingTranslation", "1Rigid", "2Affine")]
    assert [one.GetName() for one in linear] == ["Euler3DTransform", "Euler3DTransform", "AffineTransform"]
    turn = np.reshape(gr.read_transform("p_1Rigid.mat").matrix, (3, 3))
    np.testing.assert_allclose(turn @ turn.T, np.eye(3), atol=1e-6)
    backs = [one.GetInverse() for one in linear]
    check_images(
        sitk.CompositeTransform([*linear, warp("p_3Warp.nii.gz")]), sitk.CompositeTransform([warp("p_3InverseWarp.nii.gz"), *backs[::-1]])
    )


@pytest.mark.parametrize("dimension", [2, 3])
def test_a_stages_file_has_ants_type(here, dimension):
    if dimension == 2:
        for name in ("f", "m"):
            gr.write_image(f"{name}.nii.gz", gr.Image(gr.read_image(f"{name}.nii.gz").array[10], (4.0, 4.0)))
    names = ("Translation", "Rigid", "Similarity", "Affine")
    run(f"-d {dimension} {IMAGES} {START} {' '.join(RIGID.replace('Rigid', name).replace('MI', 'MeanSquares') for name in names)} -z 0")
    d = dimension
    types = [f"Euler{d}DTransform", "TranslationTransform", f"Euler{d}DTransform", f"Similarity{d}DTransform", "AffineTransform"]
    files = ["p_0DerivedInitialMovingTranslation.mat", *(f"p_{n}{name}.mat" for n, name in enumerate(names, 1))]
    linear = [sitk.ReadTransform(file) for file in files]
    assert [one.GetName() for one in linear] == types
    check_images(sitk.CompositeTransform(linear), sitk.CompositeTransform([one.GetInverse() for one in linear[::-1]]))
    for file, one in zip(files, linear):
        point = [3.0, -5.0, 7.0][:d]
        np.testing.assert_allclose(gr.read_transform(file).transform_points(point), one.TransformPoint(point), atol=1e-6)


def test_a_type_that_does_not_hold_a_matrix_is_not_taken(tmp_path):
    skew = gr.Affine([[1.0, 0.1, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], [1.0, 2.0, 3.0], [4.0, 5.0, 6.0])
    for name in ("Initial", "Translation", "Rigid", "Similarity", "Affine", "GenericAffine"):
        write_stage(str(tmp_path / "s.mat"), name, skew)
        assert sitk.ReadTransform(str(tmp_path / "s.mat")).GetName() == "AffineTransform"
        np.testing.assert_allclose(gr.read_transform(tmp_path / "s.mat").matrix_of(), skew.matrix_of(), atol=1e-12)


def test_all_files_are_put_in_their_places_or_none(here, monkeypatch, capfd):
    (here / "p_0GenericAffine.mat").write_text("old")
    replace, done = os.replace, []

    def fail_at_last(source, target):
        if Path(target).name == "w.nii.gz":
            raise OSError(28, "No space left on device")
        done.append(Path(target).name)
        replace(source, target)

    monkeypatch.setattr(os, "replace", fail_at_last)
    run(f"-d 3 {IMAGES} {START} {AFFINE} {SYN}", 1)
    monkeypatch.setattr(os, "replace", replace)
    assert "No space left" in capfd.readouterr().err and done.count("p_1Warp.nii.gz") > 0
    assert made(here) == ["p_0GenericAffine.mat"] and (here / "p_0GenericAffine.mat").read_text() == "old"
    run(f"-d 3 {IMAGES} {START} {AFFINE} {SYN}")
    assert len(made(here)) == 5 and sitk.ReadTransform("p_0GenericAffine.mat").GetName() == "AffineTransform"


def test_reports_how_long_its_parts_take(here, capfd, monkeypatch):
    monkeypatch.setenv("GPUREG_TIMES", "1")
    run(f"-d 3 {IMAGES} {START} {AFFINE} {SYN}")
    reported = {line.rsplit(maxsplit=2)[0]: float(line.split()[-2]) for line in capfd.readouterr().err.splitlines()}
    named = {"start", "read f.nii.gz", "prepare m.nii.gz", "start device", "stage 0 Affine", "stage 1 SyN, registering", "make w.nii.gz", "write p_1Warp.nii.gz"}
    assert named <= set(reported) and max(reported.values()) == reported["total"] and reported["stage 1 SyN"] >= reported["stage 1 SyN, registering"]


def test_images_stay_on_the_device_from_stage_to_stage(here, monkeypatch):
    from gpuregistration import _image

    loaded = []
    load = _image._engine.load
    monkeypatch.setattr(_image._engine, "load", lambda *given: loaded.append(given[2]) or load(*given))
    run(f"-d 3 -o p_ {START} {RIGID} {AFFINE} {SYN}")
    assert len(loaded) == 2
    # A stage with masks of its own has other pairs.
    run(f"-d 3 -o q_ {START} {RIGID} {AFFINE} {SYN} -x NULL -x NULL -x mask.nii.gz")
    assert len(loaded) == 2 + 2 + 3


def test_itks_variable_counts_before_nslots(monkeypatch):
    asked = []
    monkeypatch.setattr(_devices, "set_threads", asked.append)
    for variables in ({"NSLOTS": "3"}, {"NSLOTS": "3", "ITK_GLOBAL_DEFAULT_NUMBER_OF_THREADS": "2"}, {"NSLOTS": "3", "GPUREG_THREADS": "1"}):
        for name in ("NSLOTS", "ITK_GLOBAL_DEFAULT_NUMBER_OF_THREADS", "GPUREG_THREADS"):
            monkeypatch.delenv(name, raising=False)
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        main("antsApplyTransforms", ["-o"])
    assert asked == [3, 2]


def test_begins_with_files_and_leaves_them_where_they_are(here):
    gr.write_transform("a.mat", gr.Affine(np.diag([1.1, 0.9, 1.0]), [-3.0, 2.0, -1.0]))
    run(f"-d 3 {IMAGES} -r [a.mat,1] {RIGID} {SYN} -z 0")
    assert made(here) == ["a.mat", "i.nii.gz", "p_1Rigid.mat", "p_2InverseWarp.nii.gz", "p_2Warp.nii.gz", "w.nii.gz"]
    first = [sitk.ReadTransform("a.mat").GetInverse(), sitk.ReadTransform("p_1Rigid.mat")]
    turn = gr.read_transform("p_1Rigid.mat").matrix
    np.testing.assert_allclose(turn @ turn.T, np.eye(3), atol=1e-6)
    back = sitk.CompositeTransform([warp("p_2InverseWarp.nii.gz"), *[one.GetInverse() for one in first[::-1]]])
    check_images(sitk.CompositeTransform([*first, warp("p_2Warp.nii.gz")]), back)


# The heads are bent. Mutual information's best translation leaves 0.589 of their difference, and its best similarity 0.4024.
@pytest.mark.parametrize(("name", "record", "most"), [("Translation", 0.589, 0.6), ("Similarity", 0.402, 0.41)])
def test_other_linear_stages(here, device, monkeypatch, name, record, most):
    monkeypatch.setenv("ITK_GPU_DEVICE", device)
    run(f"-d 3 {IMAGES} {RIGID.replace('Rigid', name)} -x [mask.nii.gz,mask.nii.gz]")
    assert made(here) == ["i.nii.gz", "p_0GenericAffine.mat", "w.nii.gz"]
    matrix = gr.read_transform("p_0GenericAffine.mat").matrix
    scale = 1.0 if name == "Translation" else np.cbrt(np.linalg.det(matrix))
    np.testing.assert_allclose(matrix.T @ matrix, scale**2 * np.eye(3), atol=1e-5)
    fixed, moving, warped = (gr.read_image(file).array for file in ("f.nii.gz", "m.nii.gz", "w.nii.gz"))
    assert_within_record(np.abs(warped - fixed).mean() / np.abs(moving - fixed).mean(), record, most)


@pytest.mark.parametrize("stage", [RIGID, SYN, SYN.replace("SyN[0.25,3,0]", "BSpline[0.1,3x3x3]")])
def test_a_first_metric_without_a_weight_gives_the_grid_and_is_warped(here, stage):
    """The stage compares other images, on another grid."""
    for name in ("f", "m"):
        image = gr.read_image(f"{name}.nii.gz")
        gr.write_image(f"{name}2.nii.gz", gr.Image(image.array[2:, 1:], image.spacing, image.origin + [0.0, 4.0, 8.0]))
        gr.write_image(f"{name}.nii.gz", image.like(10 * np.sqrt(np.abs(image.array))))
    metric = stage.split()[3]
    run(f"-d 3 -o [p_,w.nii.gz] {stage.replace(f'-m {metric}', '-m MeanSquares[f.nii.gz,m.nii.gz,0] -m ' + metric.replace('.nii', '2.nii'))}")
    fixed, moving, warped = (gr.read_image(f"{name}.nii.gz") for name in ("f", "m", "w"))
    assert warped.has_grid_of(fixed)
    name = next(name for name in made(here) if name.startswith("p_0") and "Inverse" not in name)
    found = gr.read_transform(name)
    assert relative_difference(warped.array, gr.resample(moving, found, fixed).array) < 1e-4
    if isinstance(found, gr.DisplacementField):
        assert found.array.shape[:-1] == fixed.shape
    if isinstance(found, gr.BSpline):
        np.testing.assert_allclose(found.spacing, (np.array(fixed.size) - 1) * fixed.spacing / 6, rtol=1e-5)
    left = np.abs(warped.array - fixed.array).mean() / np.abs(moving.array - fixed.array).mean()
    assert left < 0.7


def test_a_deformation_may_be_coarse_and_restricted(here):
    run(f"-d 3 -o p_ {SYN.replace('-f 2x1', '-f 4x2')} -g 1x0x1")
    assert made(here) == ["p_0InverseWarp.nii.gz", "p_0Warp.nii.gz"]
    field = gr.read_transform("p_0Warp.nii.gz")
    assert field.array.shape == (10, 12, 11, 3) and np.abs(field.array[..., 0]).max() > 0.5 and not field.array[..., 1].any()
    np.testing.assert_allclose(field.spacing, 8.0)
    np.testing.assert_allclose(field.origin, np.array([-40.0, -45.0, -35.0]) + 2.0)


def test_two_dimensions(here):
    for name in ("f", "m"):
        gr.write_image(f"{name}.nii.gz", gr.Image(gr.read_image(f"{name}.nii.gz").array[10], (4.0, 4.0)))
    # The dimension is the images' where the line does not tell it.
    run(f"{IMAGES} {START} {AFFINE} {SYN}")
    forward = sitk.CompositeTransform([sitk.ReadTransform("p_0GenericAffine.mat"), warp("p_1Warp.nii.gz")])
    inverse = sitk.CompositeTransform([warp("p_1InverseWarp.nii.gz"), sitk.ReadTransform("p_0GenericAffine.mat").GetInverse()])
    check_images(forward, inverse)


def test_no_iterations_leave_the_identity(here):
    run(f"-d 3 -o p_ {AFFINE.replace('20x10', '0x0')} {SYN.replace('6x4', '0x0')}")
    assert (gr.read_transform("p_0GenericAffine.mat").matrix_of() == np.eye(4)).all()
    assert not gr.read_transform("p_1Warp.nii.gz").array.any() and not gr.read_transform("p_1InverseWarp.nii.gz").array.any()


@pytest.mark.parametrize(
    ("name", "record", "files"),
    [
        ("SYN", 0.0484, ["out0GenericAffine.mat", "out1InverseWarp.nii.gz", "out1Warp.nii.gz", "outInverseWarped.nii.gz", "outWarped.nii.gz"]),
        ("QUICK", 0.133, ["out0GenericAffine.mat", "out1InverseWarp.nii.gz", "out1Warp.nii.gz", "outInverseWarped.nii.gz", "outWarped.nii.gz"]),
        ("ANTSPY", 0.128, ["inverse.nii.gz", "out0GenericAffine.mat", "out1InverseWarp.nii.gz", "out1Warp.nii.gz", "warped.nii.gz"]),
        ("PRECISE", 0.105, ["ants_t1_to_mniComposite.h5", "ants_t1_to_mniInverseComposite.h5", "ants_t1_to_mni_Warped.nii.gz"]),
        (
            "FAST",
            0.17,
            ["ants_t1_to_mni0GenericAffine.mat", "ants_t1_to_mni1InverseWarp.nii.gz", "ants_t1_to_mni1Warp.nii.gz", "ants_t1_to_mni_Warped.nii.gz"],
        ),
        ("TESTING", 0.225, ["ants_t1_to_mniComposite.h5", "ants_t1_to_mniInverseComposite.h5", "ants_t1_to_mni_Warped.nii.gz"]),
    ],
)
def test_lines_of_other_programs_run_as_they_stand(here, name, record, files):
    # Eight times fewer voxels are some, too.
    grid = {"shape": (40, 44, 42), "spacing": (3.5, 3.5, 3.5)}
    move = lambda points: points - [6.0, -5.0, 4.0] - 2.0 * np.sin(0.08 * points[..., ::-1])  # noqa: E731
    for file, head in (("f.nii.gz", make_head(**grid)), ("m.nii.gz", make_head(move, **grid))):
        gr.write_image(file, head)
    gr.write_image("mask.nii.gz", head.like((head.array > 1).astype(np.uint8)))
    line = LINES[name]
    for word, file in (("FIXED", "f.nii.gz"), ("MOVING", "m.nii.gz"), ("MASK", "mask.nii.gz"), ("[ INITIAL, 0 ]", "Identity")):
        line = line.replace(word, file)
    run(line)
    assert made(here) == files
    result = next(file for file in files if "arped" in file and "Inv" not in file)
    fixed, moving, warped = (gr.read_image(file).array.astype(float) for file in ("f.nii.gz", "m.nii.gz", result))
    assert_within_record(np.abs(warped - fixed).mean() / np.abs(moving - fixed).mean(), record)


@pytest.mark.parametrize(
    ("line", "part"),
    [
        (f"-d 3 -o p_ {SYN} -x no.nii.gz", "no.nii.gz"),
        (f"-d 3 -o p_ {SYN} -r no.mat", "no.mat"),
        (f"-d 3 -o p_ {SYN} -r f.nii.gz", "f.nii.gz"),
        (f"-d 2 -o p_ {SYN}", "f.nii.gz: it has 3 dimensions; expected 2"),
        (f"-o p_ {SYN} -g 1x0", "-g/--restrict-deformation 1x0 in stage 0: it has 2 factors; expected 3, one for each axis"),
        (f"-d 3 -o no/p_ {SYN}", "no folder"),
        (f"-d 3 -o p_ -q no.mat {SYN}", "no.mat"),
        (f"-d 3 -o p_ -q [warp.nii.gz,1] {SYN}", "[warp.nii.gz,1]: it deforms; expected the file of its inverse"),
        (f"-o p_ -q flat.mat {SYN}", "flat.mat: it is a transform of 2 dimensions; expected one of 3"),
        (f"-d 3 -o p_ -r [warp.nii.gz,1] {SYN}", "[warp.nii.gz,1]: it deforms; expected the file of its inverse"),
        (f"-d 2 -o p_ -r warp.nii.gz {SYN}", "warp.nii.gz: it is a transform of 3 dimensions; expected one of 2"),
        (f"-o p_ -r flat.mat {SYN}", "flat.mat: it is a transform of 2 dimensions; expected one of 3"),
        (f"-d 3 -o p_ -r warp.nii.gz -r other.nii.gz {SYN}", "-z/--collapse-output-transforms 1: displacements"),
        (f"-d 3 -o p_ {SYN} {SYN.replace('-f 2x1', '-f 4x2')}", "-z/--collapse-output-transforms 1: displacements"),
        (f"-d 3 -o [p_,w.xyz] {SYN}", "-o/--output: w.xyz"),
        (f"-d 3 -o [p_,w.nii.gz,./w.nii.gz] {SYN}", "w.nii.gz is to be of two outputs at once"),
        (f"-d 3 -o [p_,p_0Warp.nii.gz] {SYN}", "p_0Warp.nii.gz is to be of two outputs at once"),
        (f"-d 3 -o [p_,w.nii.gz,p_1InverseWarp.nii.gz] {AFFINE} {SYN}", "p_1InverseWarp.nii.gz is to be of two outputs at once"),
        (f"-d 3 -o [p_,w.mnc] {SYN}", "does not do writing .mnc files (w.mnc)"),
        (f"-d 3 -o p_ {SYN} -x mask.mnc", "does not do reading .mnc files (mask.mnc)"),
        (f"-d 3 -o p_ {SYN.replace('m.nii.gz', 'mask.txt')}", "mask.txt"),
        (f"-d 3 -o p_ {SYN} -c 3", "-c/--convergence"),
        (f"-d 3 -o p_ {RIGID.replace(' -c', ' -m Demons[f.nii.gz,m.nii.gz,1] -c')}", "expected another metric in a stage Rigid: Demons are of SyN alone"),
        (f"-d 3 -o p_ {RIGID.replace(' -c', ' -m GC[f.nii.gz,nan.nii.gz,1] -c')}", "file nan.nii.gz has 1 value that is infinite or not a number"),
        (f"-d 3 -o p_ {RIGID.replace(' -c', ' -m GC[f.nii.gz,flat.nii.gz,1] -c')}", "flat.nii.gz: its values from quantile 0 to 1 are all 3"),
        (f"-d 3 -o p_ {RIGID.replace(' -c', ' -m GC[f.nii.gz,m.nii.gz,much] -c')}", "-m/--metric"),
        (f"-d 3 -o [p_,m.nii.gz] {SYN}", "m.nii.gz is read"),
        (f"-d 3 -o p_ {SYN.replace('m.nii.gz', 'nan.nii.gz')}", "file nan.nii.gz has 1 value that is infinite or not a number"),
    ],
)
def test_leaves_nothing_behind_where_it_fails(here, capfd, line, part):
    hole = gr.read_image("m.nii.gz")
    hole.array[3, 4, 5] = np.nan
    gr.write_image("nan.nii.gz", hole)
    gr.write_image("flat.nii.gz", hole.like(np.full(hole.shape, 3.0, np.float32)))
    gr.write_transform("flat.mat", gr.Affine(np.eye(2)))
    gr.write_transform("warp.nii.gz", gr.DisplacementField(np.zeros((10, 12, 11, 3)), 8.0 * np.ones(3), (-40.0, -45.0, -35.0)))
    gr.write_transform("other.nii.gz", gr.DisplacementField(np.zeros((10, 12, 12, 3)), 8.0 * np.ones(3), (-40.0, -45.0, -35.0)))
    gr.write_transform("spline.h5", gr.BSpline(np.zeros((7, 8, 7, 3)), 16.0 * np.ones(3), (-56.0, -61.0, -51.0)))
    before = sorted(here.iterdir())
    run(line, 1)
    captured = capfd.readouterr()
    assert captured.err.startswith("antsRegistration: ") and captured.err.count("\n") == 1 and part in captured.err, captured.err
    assert captured.out == "" and sorted(here.iterdir()) == before


def test_hands_over_what_it_does_not_do(here):
    gpureg = [sys.executable, "-m", "gpuregistration", "ants-commands", "bin"]
    assert subprocess.run(gpureg, check=True, capture_output=True, text=True).stdout.split() == ["bin/antsRegistration", "bin/antsApplyTransforms", "bin/PrintHeader"]
    line = f"-d 3 -o p_ {SYN}".replace("SyN[0.25,3,0]", "BSplineSyN[0.1,26,0,3]").split()

    def start(words, folders):
        path = ":".join([*map(str, folders), "/usr/bin", "/bin"])
        environment = {"PATH": path, "PYTHONPATH": ":".join(sys.path)}
        return subprocess.run(["bin/antsRegistration", *words], env=environment, capture_output=True, text=True, check=False)

    alone = start(line, [here / "bin"])
    assert alone.returncode == 1 and "BSplineSyN" in alone.stderr and alone.stderr.count("\n") == 1 and made(here) == ["bin"]
    (here / "real").mkdir()
    (here / "real" / "antsRegistration").write_text('#!/bin/sh\necho "real $*"\nexit 7\n')
    (here / "real" / "antsRegistration").chmod(0o755)
    handed = start(line, [here / "bin", here / "real"])
    assert handed.returncode == 7 and handed.stdout == f"real {' '.join(line)}\n"
    assert "BSplineSyN" in handed.stderr and str(here / "real") in handed.stderr and handed.stderr.count("\n") == 1
    # A script that calls the launcher gets the command line once, and the launcher does not hand it over again.
    (here / "real" / "antsRegistration").write_text(f'#!/bin/sh\nexec {here}/bin/antsRegistration "$@"\n')
    loop = start(line, [here / "real"])
    assert loop.returncode == 1 and "there is no other antsRegistration" in loop.stderr and loop.stderr.count("\n") == 2
    (here / "real" / "antsRegistration").write_bytes(b"\x7fELF of another machine")
    broken = start(line, [here / "bin", here / "real"])
    assert broken.returncode == 1 and "does not run" in broken.stderr and broken.stderr.count("\n") == 2
    # The working folder's files are no modules.
    (here / "dataclasses.py").write_text("raise SystemExit(9)\n")
    version = start(["--version"], [here / "bin"])
    (here / "dataclasses.py").unlink()
    assert version.returncode == 0 and version.stdout.startswith("ANTs Version: 2.") and "gpuregistration" in version.stdout
    # The command does not replace a file that is no launcher.
    again = subprocess.run([*gpureg[:-1], "real"], capture_output=True, text=True, check=False)
    assert again.returncode == 1 and "no launcher" in again.stderr and len(list((here / "real").iterdir())) == 1


def test_the_first_initial_transform_is_nearest_to_the_fixed_image(here):
    turn, move = gr.Affine([[0.8, -0.6, 0.0], [0.6, 0.8, 0.0], [0.0, 0.0, 1.0]]), gr.Affine(translation=[1.0, 2.0, 3.0])
    gr.write_transform("turn.mat", turn)
    gr.write_transform("move.mat", move)
    run("-d 3 -o p_ -r turn.mat -r move.mat -m MeanSquares[f.nii.gz,m.nii.gz,1] -t Rigid[0.1] -c 0 -f 1 -s 0")
    matrix = gr.read_transform("p_0GenericAffine.mat").matrix_of()
    np.testing.assert_allclose(matrix, move.matrix_of() @ turn.matrix_of(), atol=1e-9)


def test_the_scheduled_syn_is_the_usual_one():
    fixed, moving = make_head(**GRID), make_head(lambda points: points - (bend(points) - points), **GRID)
    usual = gr.register(fixed, moving, SyN("mean_squares", (4, 3)), device="host")
    same = SyN("mean_squares", (4, 3), shrink_factors=[(2, 2, 2), 1], smoothing_sigmas=[1, 0])
    assert (gr.register(fixed, moving, same, device="host").displacement_field.array == usual.displacement_field.array).all()
    in_mm = SyN("mean_squares", (4, 3), shrink_factors=(2, 1), smoothing_sigmas=(4, 0), sigmas_in_mm=1)
    np.testing.assert_allclose(gr.register(fixed, moving, in_mm, device="host").displacement_field.array, usual.displacement_field.array, atol=1e-6)
    for wrong in ({"shrink_factors": (2,)}, {"smoothing_sigmas": (1, -1)}, {"shrink_factors": (2, 0)}, {"weights": (1, 1, 1, 1)}):
        with pytest.raises(gr.BadInputError, match="syn: "):
            gr.register(fixed, moving, SyN("mean_squares", (4, 3), **wrong), device="host")


def test_values_are_cut_and_matched_as_by_itk(rng):
    itk = pytest.importorskip("itk")
    values = rng.gamma(2.0, 50.0, (16, 18, 20)).astype(np.float32)
    image = itk.image_from_array(values)
    filter = itk.ImageToHistogramFilter[type(image)].New(image)
    filter.SetHistogramSize([256])
    filter.SetMarginalScale(10.0)
    filter.SetAutoMinimumMaximum(True)
    filter.Update()
    shares = (0.0, 0.005, 0.25, 0.5, 0.75, 0.995, 1.0)
    expected = [filter.GetOutput().Quantile(0, share) for share in shares]
    np.testing.assert_allclose(compute_quantiles(values, shares), expected, rtol=1e-5, atol=1e-4)
    cut = window(gr.Image(values), (0.005, 0.995), "f").array
    assert cut.min() == 0 and cut.max() == 1 and (cut == 1).mean() == pytest.approx(0.005, abs=2e-3)
    other = gr.Image((values**1.5 / 30).astype(np.float32))
    assert relative_difference(match_histogram(other, gr.Image(values)).array, values) < 0.1
    with pytest.raises(gr.BadInputError, match="f.nii: its values"):
        window(gr.Image(np.ones((4, 4, 4), np.float32)), (0, 1), "f.nii")


def test_factors_make_voxels_isotropic():
    image = gr.Image(np.zeros((8, 8, 8)), (1.0, 1.0, 3.0))
    assert [compute_factors(image, factor) for factor in (1, 2, 4, 8)] == [[1, 1, 1], [2, 2, 1], [4, 4, 1], [8, 8, 3]]


def test_convergences_are_those_that_ants_prints():
    # A level of SyN[0.2,3,0] by Mattes' mutual information between two heads, as antspyx 0.6.3 printed it.
    costs = [-1.235235333443, -1.376067876816, -1.433679223061, -1.447903156281, -1.447849273682, -1.464320182800, -1.453140258789]
    costs += [-1.470676541328, -1.453452944756, -1.472534179688, -1.454839468002, -1.470848798752, -1.453772664070]
    expected = [9.800647385418e-03, 3.142307279631e-03, 1.336073619314e-03, 5.577441188507e-04, 4.650290939026e-04, -1.462110594730e-05]
    found = compute_convergences(costs, 8)
    # ANTs computed with floats.
    assert found[:7] == [sys.float_info.max] * 7
    np.testing.assert_allclose(found[7:], expected, atol=3e-8)
