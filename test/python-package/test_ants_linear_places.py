# SPDX-License-Identifier: Apache-2.0
"""Linear stages of antsRegistration where the fixed image has a transform of its own (-q), and behind deformations: beside the truth, and beside ANTs' own."""

import gpuregistration as gr
import numpy as np
import pytest
from ants_heads import write_heads, write_textured
from ants_programs import check_fields, find_made, read_field, run_both, run_ours
from conftest import assert_within_record
from gpuregistration.ants.programs import main

sitk = pytest.importorskip("SimpleITK")

CORNERS = np.array(np.meshgrid([-25.0, 25.0], [-30.0, 30.0], [-20.0, 20.0])).reshape(3, -1).T
TURN = [[0.995, -0.0998, 0.0], [0.0998, 0.995, 0.0], [0.0, 0.0, 1.0]]
TRUTHS = {
    "Translation": gr.Affine(np.eye(3), [3.3, -2.2, 1.7]),
    "Rigid": gr.Affine(TURN, [3.3, -2.2, 1.7]),
    "Affine": gr.Affine(np.array(TURN) @ [[1.05, 0.02, 0.0], [0.0, 0.96, -0.03], [0.01, 0.0, 1.02]], [3.3, -2.2, 1.7]),
}
OWN = gr.Affine([[0.98, 0.05, 0.0], [-0.02, 1.03, 0.04], [0.0, 0.02, 1.01]], [4.0, 1.5, -2.0])
# A tenth of a voxel, mm.
MOST = 0.2
LEVELS = "-c [100x50,1e-7,10] -f 2x1 -s 1x0vox"
STAGE = "-t {}[0.1] -m MeanSquares[f.nii.gz,m.nii.gz,1] " + LEVELS
SYN = "-t SyN[0.2,3,0] -m MeanSquares[f.nii.gz,m.nii.gz,1] -c [4x3,0,10] -f 2x1 -s 1x0vox"
BSPLINE = "-t BSpline[0.2,3x3x3] -m MeanSquares[f.nii.gz,m.nii.gz,1] -c [4x3,0,10] -f 2x1 -s 1x0vox"


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Goes into a folder of its own, and writes a displacement field into it, and the affine map OWN."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ITK_GPU_DEVICE", "host")
    gr.write_transform("warp.nii.gz", make_warp())
    gr.write_transform("own.mat", OWN)
    return tmp_path


def make_warp():
    """Makes a displacement field, on a grid of its own, of some millimetres."""
    index = np.stack(np.meshgrid(*[np.arange(n) for n in (21, 22, 20)], indexing="ij"), axis=-1)[..., ::-1]
    origin = np.array([-70.0, -72.0, -68.0])
    return gr.DisplacementField(2.5 * np.sin(0.05 * (7 * index + origin)[..., [1, 2, 0]]) + [1.0, -0.8, 0.6], 7.0 * np.ones(3), origin)


def find_error(prefix, number, truth):
    """Returns how far a linear file leads CORNERS from where the truth leads them, mm."""
    found = gr.read_transform(f"{prefix}_{number}GenericAffine.mat")
    return np.linalg.norm(found.transform_points(CORNERS) - truth.transform_points(CORNERS), axis=1).max()


def run_and_compare(line, number, truth, record):
    """Runs both programs, and compares what they find with the truth: no farther from it than ANTs, and by an error of record, mm."""
    names = run_both(f"-d 3 -o [P_,P_w.nii.gz] {line}")
    ours, theirs = (find_error(which, number, truth) for which in ("ours", "ants"))
    assert_within_record(ours, record, MOST)
    assert ours < theirs + 0.05
    return names


def find_left(warped, fixed="f.nii.gz", moving="m.nii.gz"):
    """Returns what is left of the images' mean difference where a file is warped."""
    moved, there, before = (gr.read_image(name).array for name in (warped, fixed, moving))
    return np.abs(moved - there).mean() / np.abs(before - there).mean()


@pytest.mark.parametrize(
    ("own", "name", "record"),
    [
        ("own.mat", "Rigid", 0.0207),
        ("own.mat", "Affine", 0.0434),
        ("[own.mat,1]", "Rigid", 0.0904),
        ("[own.mat,1]", "Affine", 0.17),
        ("warp.nii.gz", "Rigid", 0.0552),
        ("warp.nii.gz", "Affine", 0.0779),
    ],
)
def test_a_fixed_image_has_a_transform_of_its_own(here, own, name, record):
    transform = {"own.mat": OWN, "[own.mat,1]": OWN.inverse(), "warp.nii.gz": make_warp()}[own]
    # Points of the grid are led by the truth to the moving image, and by the own transform to the fixed one.
    write_textured(gr.Composite([transform.inverse(), TRUTHS[name]]))
    line = f"-q {own} {STAGE.format(name)}"
    if own == "[own.mat,1]" and name == "Rigid":
        line += f" {STAGE.format('Affine')}"
    assert run_and_compare(line, 0, TRUTHS[name], record) == ["0GenericAffine.mat", "w.nii.gz"]
    # The own transform is in no output.
    warped = gr.resample(gr.read_image("m.nii.gz"), gr.read_transform("ours_0GenericAffine.mat"), gr.read_image("f.nii.gz"))
    np.testing.assert_allclose(gr.read_image("ours_w.nii.gz").array, warped.array, atol=0.01)


def test_a_finest_level_has_the_voxels_that_are_seen(here):
    write_textured(gr.Affine(np.eye(3), [1.5, -1.0, 0.5]))
    fixed, moving = (gr.read_image(name) for name in ("f.nii.gz", "m.nii.gz"))
    gr.write_image("m.nii.gz", gr.Image(moving.array, 0.5 * moving.spacing, 0.5 * moving.origin, moving.direction))
    gr.write_transform("zoom.mat", gr.Affine(2 * np.eye(3)))
    line = "-t Rigid[0.1] -m MeanSquares[{},m.nii.gz,1] -c [100,1e-7,10] -f 2 -s 0"
    run_ours(f"-d 3 -o P_ -q zoom.mat {line.format('f.nii.gz')}")
    # It is the same as with the fixed image where it is seen.
    gr.write_image("half.nii.gz", gr.Image(fixed.array, 0.5 * fixed.spacing, 0.5 * fixed.origin, fixed.direction))
    run_ours(f"-d 3 -o half_ {line.format('half.nii.gz')}")
    found, wanted = (gr.read_transform(f"{who}_0GenericAffine.mat").transform_points(CORNERS) for who in ("ours", "half"))
    np.testing.assert_allclose(found, wanted, atol=1e-5)


def test_several_own_transforms_begin_with_a_mask(here):
    write_textured(gr.Composite([OWN.inverse(), gr.Affine(np.eye(3), [-4.0, 2.0, 1.0]), TRUTHS["Rigid"]]))
    gr.write_transform("shift.mat", gr.Affine(np.eye(3), [4.0, -2.0, -1.0]))
    fixed = gr.read_image("f.nii.gz")
    gr.write_image("mask.nii.gz", fixed.like((fixed.array > 20).astype(np.uint8)))
    # The first one that is given is applied first.
    line = f"-q shift.mat -q own.mat -x [mask.nii.gz,NULL] {STAGE.format('Rigid')}"
    run_and_compare(line, 0, TRUTHS["Rigid"], 0.0363)


@pytest.mark.parametrize(
    ("line", "names"),
    [
        (f"-q own.mat {SYN}", ["0InverseWarp.nii.gz", "0Warp.nii.gz"]),
        (f"-q warp.nii.gz {SYN}", ["0InverseWarp.nii.gz", "0Warp.nii.gz"]),
        (f"-q own.mat -q warp.nii.gz -r own.mat {SYN}", ["0GenericAffine.mat", "1InverseWarp.nii.gz", "1Warp.nii.gz"]),
        (f"-q [f.nii.gz,m.nii.gz,1] {SYN} -z 0", ["0DerivedInitialFixedTranslation.mat", "0InverseWarp.nii.gz", "0Warp.nii.gz"]),
    ],
)
def test_syn_begins_with_a_fixed_images_own_transform_as_ants(here, line, names):
    list(write_heads(np.random.default_rng(3)))
    assert run_both(f"-d 3 -o P_ {line}") == names
    check_fields(names)
    for name in names:
        if name.endswith("Translation.mat"):
            ours, theirs = (sitk.ReadTransform(f"{which}_{name}") for which in ("ours", "ants"))
            assert ours.GetName() == theirs.GetName()
            np.testing.assert_allclose(ours.TransformPoint((1.0, 2.0, 3.0)), theirs.TransformPoint((1.0, 2.0, 3.0)), atol=1e-4)


def test_devices_agree_on_a_fixed_images_own_transform(here, device, monkeypatch):
    list(write_heads(np.random.default_rng(3)))
    run_ours(f"-d 3 -o P_ -q own.mat -q warp.nii.gz {SYN}")
    host = read_field("ours_0Warp.nii.gz")
    monkeypatch.setenv("ITK_GPU_DEVICE", device)
    run_ours(f"-d 3 -o P_ -q own.mat -q warp.nii.gz {SYN}")
    assert np.linalg.norm(read_field("ours_0Warp.nii.gz") - host, axis=-1).max() < 1e-3


def test_a_b_spline_begins_with_a_fixed_images_own_transform(here):
    list(write_heads(np.random.default_rng(3)))
    run_ours(f"-d 3 -o [P_,P_w.nii.gz] -q own.mat {BSPLINE}")
    gr.write_image("seen.nii.gz", gr.resample(gr.read_image("f.nii.gz"), OWN, gr.read_image("f.nii.gz")))
    assert_within_record(find_left("ours_w.nii.gz", "seen.nii.gz"), 0.348)


@pytest.mark.parametrize(("name", "record"), [("Translation", 0.0282), ("Rigid", 0.0286), ("Affine", 0.162)])
def test_linear_stages_behind_a_deformation_come_to_ants_place(here, name, record):
    write_textured(gr.Composite([TRUTHS[name], make_warp()]))
    line = f"-r warp.nii.gz {STAGE.format(name)}"
    assert run_and_compare(line, 1, TRUTHS[name], record) == ["0Warp.nii.gz", "1GenericAffine.mat", "w.nii.gz"]
    # ANTs keeps the type of a part that stands alone behind others.
    assert len({sitk.ReadTransform(f"{which}_1GenericAffine.mat").GetName() for which in ("ours", "ants")}) == 1
    composite = gr.Composite([gr.read_transform("ours_1GenericAffine.mat"), gr.read_transform("warp.nii.gz")])
    warped = gr.resample(gr.read_image("m.nii.gz"), composite, gr.read_image("f.nii.gz"))
    np.testing.assert_allclose(gr.read_image("ours_w.nii.gz").array, warped.array, atol=0.01)


def test_linear_stages_behind_a_deformation_go_on_from_linear_files(here):
    # A rigid stage keeps the shear of the map that it begins with, which is applied between it and the deformation.
    write_textured(gr.Composite([TRUTHS["Rigid"], OWN, make_warp()]))
    line = f"-r own.mat -r warp.nii.gz {STAGE.format('Rigid')} {STAGE.format('Affine').replace('100x50', '0x0')}"
    both = gr.Composite([TRUTHS["Rigid"], OWN])
    run_and_compare(line, 1, both, 0.0919)
    gr.write_image("mask.nii.gz", gr.read_image("m.nii.gz").like((gr.read_image("m.nii.gz").array > 10).astype(np.uint8)))
    run_ours(f"-d 3 -o P_ {line} -x [NULL,mask.nii.gz]")
    assert_within_record(find_error("ours", 1, both), 0.0939)


def test_linear_stages_behind_a_large_displacement_see_the_whole_moving_image(here):
    # The moving image's own grid would hold half of what the deformation shows.
    far = gr.DisplacementField(np.broadcast_to([45.0, -30.0, 20.0], (40, 40, 40, 3)).copy(), 10.0 * np.ones(3), -200.0 * np.ones(3))
    gr.write_transform("far.nii.gz", far)
    gr.write_transform("back.mat", gr.Affine(np.eye(3), [-45.0, 30.0, -20.0]))
    write_textured(TRUTHS["Rigid"])
    run_ours(f"-d 3 -o P_ -r back.mat -r far.nii.gz {STAGE.format('Rigid')}")
    found = gr.Composite([gr.read_transform("ours_1GenericAffine.mat"), far])
    apart = found.transform_points(CORNERS) - TRUTHS["Rigid"].transform_points(CORNERS)
    assert_within_record(np.linalg.norm(apart, axis=1).max(), 0.0422)


# The records are what is left of the difference from the fixed image, and of that from the moving one.
@pytest.mark.parametrize(
    ("line", "names", "records"),
    [
        (f"{SYN} {STAGE.format('Rigid')}", ["0InverseWarp.nii.gz", "0Warp.nii.gz", "1GenericAffine.mat"], (0.251, 0.248)),
        (
            f"{SYN} {STAGE.format('Rigid')} {STAGE.format('Affine')} -z 0",
            ["0InverseWarp.nii.gz", "0Warp.nii.gz", "1Rigid.mat", "2Affine.mat"],
            (0.245, 0.243),
        ),
        (
            f"-r own.mat {SYN} {STAGE.format('Rigid')} {SYN}",
            ["0GenericAffine.mat", "1InverseWarp.nii.gz", "1Warp.nii.gz", "2GenericAffine.mat", "3InverseWarp.nii.gz", "3Warp.nii.gz"],
            (0.159, 0.163),
        ),
    ],
)
def test_linear_stages_go_on_behind_syn(here, line, names, records):
    write_textured(TRUTHS["Rigid"])
    assert run_both(f"-d 3 -o [P_,P_w.nii.gz,P_i.nii.gz] {line}") == [*names, "i.nii.gz", "w.nii.gz"]
    first = next(name for name in names if name.endswith("Warp.nii.gz") and "Inverse" not in name)
    check_fields([first])
    for name, there, before, record in (("w", "f", "m", records[0]), ("i", "m", "f", records[1])):
        ours, theirs = (find_left(f"{which}_{name}.nii.gz", f"{there}.nii.gz", f"{before}.nii.gz") for which in ("ours", "ants"))
        assert_within_record(ours, record)
        assert ours < 1.02 * theirs


def test_stages_go_on_behind_a_b_spline(here):
    list(write_heads(np.random.default_rng(3)))
    run_ours(f"-d 3 -o [P_,P_w.nii.gz] {BSPLINE} {STAGE.format('Affine')} {SYN}")
    # ANTs writes nothing of what is behind a B-spline, unless -z 0 is given.
    assert find_made("ours_") == ["0BSpline.txt", "1GenericAffine.mat", "2InverseWarp.nii.gz", "2Warp.nii.gz", "w.nii.gz"]
    files = [f"ours_{name}" for name in ("0BSpline.txt", "1GenericAffine.mat", "2Warp.nii.gz")]
    assert main("antsApplyTransforms", ["-d", "3", "-i", "m.nii.gz", "-r", "f.nii.gz", "-o", "o.nii.gz", "-t", *files[::-1]]) == 0
    np.testing.assert_allclose(gr.read_image("o.nii.gz").array, gr.read_image("ours_w.nii.gz").array, atol=0.01)
    fixed = gr.read_image("f.nii.gz").array
    steps = [gr.Composite([gr.read_transform(file) for file in files[:n]][::-1]) for n in (1, 2, 3)]
    left = [np.abs(gr.resample(gr.read_image("m.nii.gz"), step, gr.read_image("f.nii.gz")).array - fixed).mean() for step in steps]
    before = np.abs(gr.read_image("m.nii.gz").array - fixed).mean()
    assert left[2] < left[1] < left[0] < before
    assert_within_record(left[2] / before, 0.472)
    for name in find_made("ours_"):
        (here / f"ours_{name}").unlink()
    assert run_both(f"-d 3 -o P_ {BSPLINE} {SYN} -z 0 -a 1") == ["Composite.h5"]
    parts = [sitk.CompositeTransform(sitk.ReadTransform(f"{which}_Composite.h5")) for which in ("ours", "ants")]
    assert len({tuple(one.GetNthTransform(n).GetName() for n in range(one.GetNumberOfTransforms())) for one in parts}) == 1


def write_masked(name):
    """Writes images whose truth has a name, and a mask of the fixed head: noise around it has a local correlation, too."""
    write_textured(TRUTHS[name])
    fixed = gr.read_image("f.nii.gz")
    gr.write_image("mask.nii.gz", fixed.like((fixed.array > 25).astype(np.uint8)))


def test_a_linear_stage_by_local_correlation_comes_to_ants_place(here):
    write_masked("Rigid")
    # ANTs takes long by this metric.
    run_and_compare("-t Rigid[0.1] -m CC[f.nii.gz,m.nii.gz,1,2] -x [mask.nii.gz,NULL] -c [30,1e-7,10] -f 2 -s 1vox", 0, TRUTHS["Rigid"], 0.0821)


# Records are of Translation, Rigid and Affine.
@pytest.mark.parametrize(
    ("metrics", "records"),
    [
        ("-m CC[f.nii.gz,m.nii.gz,1,2]", (0.014, 0.0373, 0.106)),
        # Grey values that are no linear function of the other contrast's lead an affine map a bit aside.
        ("-m CC[f.nii.gz,m2.nii.gz,1,4]", (0.0385, 0.0601, 0.267)),
        ("-m CC[f.nii.gz,m.nii.gz,1,2] -m MI[f2.nii.gz,m2.nii.gz,1,32]", (0.0132, 0.0358, 0.0794)),
    ],
)
@pytest.mark.parametrize("name", TRUTHS)
def test_local_correlation_finds_the_truth_of_another_contrast_and_beside_others(here, name, metrics, records):
    write_masked(name)
    run_ours(f"-d 3 -o P_ -t {name}[0.1] {metrics} {LEVELS} -x [mask.nii.gz,NULL]")
    assert_within_record(find_error("ours", 0, TRUTHS[name]), records[list(TRUTHS).index(name)], 1.5 * MOST if "m2.nii.gz,1,4" in metrics else MOST)


def test_devices_agree_on_a_linear_stage_by_local_correlation(here, device, monkeypatch):
    write_masked("Affine")
    line = f"-d 3 -o P_ -t Affine[0.1] -m CC[f.nii.gz,m.nii.gz,1,2] {LEVELS} -x [mask.nii.gz,NULL]"
    run_ours(line)
    host = gr.read_transform("ours_0GenericAffine.mat").transform_points(CORNERS)
    monkeypatch.setenv("ITK_GPU_DEVICE", device)
    run_ours(line)
    np.testing.assert_allclose(gr.read_transform("ours_0GenericAffine.mat").transform_points(CORNERS), host, atol=0.01)


def test_a_radius_changes_what_local_correlation_finds(here):
    write_masked("Rigid")
    found = []
    for radius, record in ((1, 0.0484), (5, 0.0266)):
        run_ours(f"-d 3 -o P_ -t Rigid[0.1] -m CC[f.nii.gz,m.nii.gz,1,{radius}] {LEVELS} -x [mask.nii.gz,NULL]")
        found.append(gr.read_transform("ours_0GenericAffine.mat").transform_points(CORNERS))
        assert_within_record(find_error("ours", 0, TRUTHS["Rigid"]), record)
    assert np.abs(found[0] - found[1]).max() > 1e-4


def test_syn_takes_the_correlation(here):
    list(write_heads(np.random.default_rng(3)))
    for metric, record in (("GC[f.nii.gz,m.nii.gz,1]", 0.519), ("GC[f.nii.gz,m.nii.gz,1] -m MeanSquares[f.nii.gz,m.nii.gz,1]", 0.519)):
        run_ours(f"-d 3 -o [P_,w.nii.gz] {SYN.replace('MeanSquares[f.nii.gz,m.nii.gz,1]', metric).replace('4x3', '20x20')}")
        assert_within_record(find_left("w.nii.gz"), record, 0.7)
