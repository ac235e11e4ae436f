# SPDX-License-Identifier: Apache-2.0
"""antsRegistration of this package beside ANTs' own, where ANTsPy is installed."""

import gpuregistration as gr
import numpy as np
import pytest
from ants_heads import write_heads, write_textured
from conftest import assert_within_record, relative_difference
from gpuregistration.ants.programs import main

sitk = pytest.importorskip("SimpleITK")
internal = pytest.importorskip("ants.internal", reason="ANTsPy is not there: pip install antspyx")

END = "-t SyN[0.2,3,0] -c [8x6,0,10] -f 2x1 -s 1x0vox"


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Writes two pairs of heads with noise, of two contrasts, into a folder of its own, and goes there."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ITK_GPU_DEVICE", "host")
    rng = np.random.default_rng(3)
    for name, image in write_heads(rng):
        other = 10 * np.sqrt(np.abs(image.array)) + rng.standard_normal(image.shape)
        gr.write_image(f"{name}2.nii.gz", image.like(other.astype(np.float32)))
        # The third image has the values of the second one on a smaller grid.
        cut = gr.Image(other[1:, :, 2:].astype(np.float32), image.spacing, image.origin + image.spacing * [2, 0, 1])
        gr.write_image(f"{name}3.nii.gz", cut)
    return tmp_path


def find_warps(line):
    """Returns what both programs write for a line, in which P_ stands for the prefix."""
    assert main("antsRegistration", line.replace("P_", "ours_").split()) == 0
    assert internal.get_lib_fn("antsRegistration")(line.replace("P_", "ants_").split() + ["--float", "1"]) == 0
    return [sitk.GetArrayFromImage(sitk.ReadImage(f"{which}_0Warp.nii.gz")) for which in ("ours", "ants")]


@pytest.mark.parametrize(
    "metrics",
    [
        "-m CC[f.nii.gz,m.nii.gz,1,2]",
        "-m Demons[f.nii.gz,m.nii.gz,1]",
        "-m CC[f.nii.gz,m.nii.gz,0.7,2] -m MeanSquares[f2.nii.gz,m2.nii.gz,0.3]",
        "-m MeanSquares[f.nii.gz,m.nii.gz,0] -m CC[f2.nii.gz,m2.nii.gz,2,3]",
        "-m MeanSquares[f.nii.gz,m.nii.gz,0] -m CC[f3.nii.gz,m3.nii.gz,2,3] -m MeanSquares[f2.nii.gz,m2.nii.gz,0.5]",
        # If -u has several values, the last one counts.
        "-m MeanSquares[f.nii.gz,m2.nii.gz,1] -w [0.01,0.98] -u 0 -u 1",
        "-m MeanSquares[f.nii.gz,m.nii.gz,1] -g 1x0x0.5",
    ],
)
def test_syn_has_ants_field(here, metrics):
    ours, theirs = find_warps(f"-d 3 -o P_ {metrics} {END}")
    apart = np.linalg.norm(ours - theirs, axis=-1) / 3.5
    assert np.linalg.norm(theirs, axis=-1).mean() > 1 and apart.mean() < 2e-4 and apart.max() < 5e-3


def test_the_first_metric_ends_levels_of_syn_also_without_a_weight(here):
    """The other metric's values would end levels after other numbers of iterations."""
    metrics = "-m MeanSquares[f2.nii.gz,m.nii.gz,0] -m MeanSquares[f.nii.gz,m.nii.gz,1]"
    ours, theirs = find_warps(f"-d 3 -o P_ {metrics} {END.replace('[8x6,0,10]', '[30x20,1e-3,3]')}")
    apart = np.linalg.norm(ours - theirs, axis=-1) / 3.5
    assert np.linalg.norm(theirs, axis=-1).mean() > 0.1 and apart.mean() < 2e-4 and apart.max() < 5e-3


def read_costs(log):
    """Returns the costs of the iterations that a program has printed."""
    lines = (line.split(",") for line in log.splitlines() if "DIAGNOSTIC," in line and "Iteration" not in line)
    return np.array([float(words[2]) for words in lines])


@pytest.mark.parametrize(("is_single", "most"), [(0, 5e-5), (1, 5e-4)])
def test_correlation_around_a_stripped_head_is_that_of_ants(tmp_path, monkeypatch, capfd, is_single, most):
    # Smoothing leaves values around it that are so small that the number type decides whether a neighborhood is flat: by the other type costs
    # are 0.07 apart.
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ITK_GPU_DEVICE", "host")
    index = np.moveaxis(np.indices((46, 50, 48)), 0, -1)
    for name, shift in (("f", 0.0), ("m", 2.0)):
        points = index - [22.0, 25.0, 24.0] + shift * np.sin(0.2 * index[..., ::-1])
        waves = 60 + 25 * np.sin(0.6 * points).sum(axis=-1)
        inside = (points**2).sum(axis=-1) < 14.0**2
        gr.write_image(f"{name}.nii.gz", gr.Image(np.where(inside, waves, 0).astype(np.float32), (2.0, 2.0, 2.0)))
    line = f"-d 3 -v 1 -m CC[f.nii.gz,m.nii.gz,1,2] -t SyN[0.15,3,0] -c [60x30,1e-7,8] -f 3x2 -s 2x1 --float {is_single}"
    costs = []
    for run in (lambda words: main("antsRegistration", words), internal.get_lib_fn("antsRegistration")):
        assert run([*line.split(), "-o", "P_"]) == 0
        costs.append(read_costs(capfd.readouterr().out))
    assert len(costs[0]) == len(costs[1]) > 20
    assert np.abs(costs[0] - costs[1]).max() < most


CORNERS = np.array(np.meshgrid([-25.0, 25.0], [-30.0, 30.0], [-20.0, 20.0])).reshape(3, -1).T


def find_points_and_measures(prefix, pairs):
    """Returns where the map that a program has written leads CORNERS, and by SimpleITK the measures of pairs of files."""
    found = sitk.ReadTransform(f"{prefix}_0GenericAffine.mat")
    measures = []
    for name, fixed, moving in pairs:
        measure = sitk.ImageRegistrationMethod()
        {"MI": lambda: measure.SetMetricAsMattesMutualInformation(32), "GC": measure.SetMetricAsCorrelation}[name]()
        measure.SetInitialTransform(found)
        measure.SetInterpolator(sitk.sitkLinear)
        measures.append(measure.MetricEvaluate(*(sitk.ReadImage(file, sitk.sitkFloat32) for file in (fixed, moving))))
    return np.array([found.TransformPoint(tuple(corner)) for corner in CORNERS]), measures


# Records are of Translation, Rigid and Affine, mm from the truth and from ANTs' place. Voxels are of 2 mm.
@pytest.mark.parametrize(
    ("pairs", "records"),
    [
        ([("MI", "f.nii.gz", "m.nii.gz"), ("GC", "f.nii.gz", "m.nii.gz")], [(0.00553, 0.00514), (0.0298, 0.0919), (0.0737, 0.45)]),
        ([("MI", "f.nii.gz", "m.nii.gz"), ("MI", "f2.nii.gz", "m2.nii.gz")], [(0.0121, 0.00327), (0.0832, 0.173), (1.29, 0.555)]),
    ],
)
@pytest.mark.parametrize(("number", "name", "most"), [(0, "Translation", 0.02), (1, "Rigid", 0.3), (2, "Affine", 0.8)])
def test_linear_stages_of_several_metrics_come_to_ants_place(here, pairs, records, number, name, most):
    truth = np.eye(4)
    truth[:3, 3] = 3.3, -2.2, 1.7
    if name != "Translation":
        truth[:3, :3] = np.array([[0.995, -0.0998, 0.0], [0.0998, 0.995, 0.0], [0.0, 0.0, 1.0]])
    if name == "Affine":
        truth[:3, :3] = truth[:3, :3] @ [[1.05, 0.02, 0.0], [0.0, 0.96, -0.03], [0.01, 0.0, 1.02]]
    write_textured(gr.Affine.from_matrix(truth))
    metrics = " ".join(f"-m {metric}[{fixed},{moving},1{',32' if metric == 'MI' else ''}]" for metric, fixed, moving in pairs)
    line = f"-d 3 -o P_ -t {name}[0.1] {metrics} -c [100x50,1e-7,10] -f 2x1 -s 1x0vox"
    assert main("antsRegistration", line.replace("P_", "ours_").split()) == 0
    assert internal.get_lib_fn("antsRegistration")(line.replace("P_", "ants_").split()) == 0
    (ours, our_measures), (theirs, their_measures) = (find_points_and_measures(which, pairs) for which in ("ours", "ants"))
    wanted = CORNERS @ truth[:3, :3].T + truth[:3, 3]
    apart, our_error, their_error = (np.linalg.norm(a - b, axis=1).max() for a, b in ((ours, theirs), (ours, wanted), (theirs, wanted)))
    # ANTs stops farther from the truth.
    assert_within_record(our_error, records[number][0])
    assert_within_record(apart, records[number][1], most)
    assert our_error < their_error + 0.02
    nats = [
        sum(0.5 * np.log(1 + one) if metric == "GC" else one for (metric, *_), one in zip(pairs, measures))
        for measures in (our_measures, their_measures)
    ]
    assert nats[0] < nats[1] + 3e-3


@pytest.mark.parametrize("feature", [0, 1, 2])
def test_begins_where_ants_begins(here, feature):
    moved = gr.read_image("m.nii.gz")
    gr.write_image("m.nii.gz", gr.Image(np.abs(moved.array[2:]), moved.spacing, moved.origin + [3.0, 5.0, -7.0]))
    line = f"-d 3 -o P_ -r [f2.nii.gz,m.nii.gz,{feature}] -t Translation[0.1] -m MeanSquares[f2.nii.gz,m.nii.gz,1] -c 0 -f 1 -s 0 -z 0"
    assert main("antsRegistration", line.replace("P_", "ours_").split()) == 0
    assert internal.get_lib_fn("antsRegistration")(line.replace("P_", "ants_").split()) == 0
    ours, theirs = (sitk.ReadTransform(f"{which}_0DerivedInitialMovingTranslation.mat") for which in ("ours", "ants"))
    assert ours.GetName() == theirs.GetName()
    np.testing.assert_allclose(ours.TransformPoint((1.0, 2.0, 3.0)), theirs.TransformPoint((1.0, 2.0, 3.0)), atol=1e-4)
    assert np.abs(np.subtract(ours.TransformPoint((1.0, 2.0, 3.0)), (1.0, 2.0, 3.0))).max() > 2


def test_each_program_applies_the_others_files(here):
    line = f"-d 3 -o [P_,Pw.nii.gz,Pi.nii.gz] -r [f.nii.gz,m.nii.gz,1] -m MeanSquares[f.nii.gz,m.nii.gz,1] {END}"
    assert main("antsRegistration", line.replace("P", "ours").split()) == 0
    assert internal.get_lib_fn("antsRegistration")(line.replace("P", "ants").split()) == 0
    apply = {"ours": lambda words: main("antsApplyTransforms", words), "ants": internal.get_lib_fn("antsApplyTransforms")}
    for who, other in (("ours", "ants"), ("ants", "ours")):
        forward = f"-d 3 -i m.nii.gz -r f.nii.gz -o o.nii.gz -t {who}_1Warp.nii.gz -t {who}_0GenericAffine.mat"
        back = f"-d 3 -i f.nii.gz -r m.nii.gz -o b.nii.gz -t [{who}_0GenericAffine.mat,1] -t {who}_1InverseWarp.nii.gz"
        assert apply[other](forward.split()) == 0 and apply[other](back.split()) == 0
        for name, expected in (("o", f"{who}w"), ("b", f"{who}i")):
            assert relative_difference(gr.read_image(f"{name}.nii.gz").array, gr.read_image(f"{expected}.nii.gz").array) < 1e-4


def test_images_of_antspy_come_back_and_ants_applies_our_files(tmp_path, monkeypatch):
    antspy = pytest.importorskip("ants", reason="ANTsPy is not there: pip install antspyx")
    monkeypatch.setenv("ITK_GPU_DEVICE", "host")
    monkeypatch.chdir(tmp_path)
    for _ in write_heads(np.random.default_rng(5)):
        pass
    fixed, moving = (antspy.image_read(f"{name}.nii.gz") for name in "fm")
    few = {"aff_iterations": (20, 10), "aff_shrink_factors": (2, 1), "aff_smoothing_sigmas": (1, 0), "reg_iterations": (4, 2)}
    for composite in (False, True):
        found = gr.ants.registration(fixed, moving, "SyN", outprefix=str(tmp_path / f"c{composite}_"), write_composite_transform=composite, **few)
        assert isinstance(found["warpedmovout"], type(fixed))
        forward, back = found["fwdtransforms"], found["invtransforms"]
        whichtoinvert = None if composite else [True, False]
        for of, to, files, expected, more in (
            (moving, fixed, forward, "warpedmovout", {}),
            (fixed, moving, back, "warpedfixout", {"whichtoinvert": whichtoinvert}),
        ):
            theirs = antspy.apply_transforms(to, of, files, **more).numpy()
            assert relative_difference(theirs, found[expected].numpy()) < 1e-4
            assert relative_difference(gr.ants.apply_transforms(to, of, files, **more).numpy(), theirs) < 1e-4
