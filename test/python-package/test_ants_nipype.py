# SPDX-License-Identifier: Apache-2.0
"""nipype's interfaces to ANTs, on this package's commands."""

import os
import sys
from pathlib import Path

import gpuregistration as gr
import numpy as np
import pytest
from conftest import assert_within_record, make_head, relative_difference
from gpuregistration.command.launchers import write_launchers
from gpuregistration.ants.registration_call import read_registration

sitk = pytest.importorskip("SimpleITK")
nipype = pytest.importorskip("nipype.interfaces.ants", reason="nipype is not there: pip install nipype")

GRID = {"shape": (24, 26, 25), "spacing": (3.5, 3.5, 3.5)}
PREFIX = "ants_t1_to_mni"

#: fMRIPrep's settings, as niworkflows' files t1w-mni_registration_{precise,fast,testing}_000.json have them.
COMMON = {
    "collapse_output_transforms": True,
    "dimension": 3,
    "interpolation": "LanczosWindowedSinc",
    "output_transform_prefix": PREFIX,
    "output_warped_image": True,
}
WINSORIZED = {"winsorize_lower_quantile": 0.005, "winsorize_upper_quantile": 0.995, "write_composite_transform": True}
SETTINGS = {
    "precise": {
        **COMMON,
        **WINSORIZED,
        "convergence_threshold": [1e-6, 1e-6, 1e-6],
        "convergence_window_size": [20, 20, 10],
        "metric": ["Mattes", "Mattes", "CC"],
        "metric_weight": [1, 1, 1],
        "number_of_iterations": [[100, 100], [100, 100], [100, 70, 50, 20]],
        "radius_or_number_of_bins": [56, 56, 4],
        "sampling_percentage": [0.25, 0.25, 1.0],
        "sampling_strategy": ["Regular", "Regular", "None"],
        "shrink_factors": [[2, 1], [2, 1], [8, 4, 2, 1]],
        "sigma_units": ["vox", "vox", "vox"],
        "smoothing_sigmas": [[2, 1], [1, 0], [3, 2, 1, 0]],
        "transform_parameters": [[0.05], [0.08], [0.1, 3.0, 0.0]],
        "transforms": ["Rigid", "Affine", "SyN"],
        "use_estimate_learning_rate_once": [True, True, True],
        "use_histogram_matching": [True, True, True],
    },
    "fast": {
        **COMMON,
        "convergence_threshold": [1e-6, 1e-6, 1e-6],
        "convergence_window_size": [20, 20, 10],
        "metric": ["Mattes", "Mattes", "Mattes"],
        "metric_weight": [1, 1, 1],
        "number_of_iterations": [[1000], [500, 250, 100], [50, 20]],
        "radius_or_number_of_bins": [32, 32, 56],
        "sampling_percentage": [0.15, 0.15, 0.25],
        "sampling_strategy": ["Random", "Regular", "Regular"],
        "shrink_factors": [[4], [4, 2, 1], [2, 1]],
        "sigma_units": ["vox", "vox", "vox"],
        "smoothing_sigmas": [[4], [4, 2, 0], [1, 0]],
        "transform_parameters": [[0.01], [0.08], [0.1, 3.0, 0.0]],
        "transforms": ["Rigid", "Affine", "SyN"],
        "use_histogram_matching": [True, True, True],
        "write_composite_transform": False,
    },
    "testing": {
        **COMMON,
        **WINSORIZED,
        "convergence_threshold": [1e-7, 1e-8],
        "convergence_window_size": [15, 5],
        "metric": ["Mattes", "Mattes"],
        "metric_weight": [1, 1],
        "number_of_iterations": [[20], [15]],
        "radius_or_number_of_bins": [56, 56],
        "sampling_percentage": [0.2, 0.1],
        "sampling_strategy": ["Random", "Random"],
        "shrink_factors": [[2], [1]],
        "sigma_units": ["vox", "vox"],
        "smoothing_sigmas": [[4], [2]],
        "transform_parameters": [[1.0], [1.0]],
        "transforms": ["Rigid", "Affine"],
        "use_histogram_matching": [False, True],
    },
}
#: How many iterations SyN's levels have here: these images are small.
FEW = {"precise": [10, 8, 6, 4], "fast": [20, 8]}


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Writes two heads, a mask and the launchers into a folder of its own, goes there, and puts the launchers in front of PATH."""
    monkeypatch.chdir(tmp_path)
    fixed = make_head(**GRID)
    gr.write_image("f.nii.gz", fixed)
    gr.write_image("m.nii.gz", make_head(lambda points: points - [3.0, -2.0, 1.0] - 2.0 * np.sin(0.08 * points[..., ::-1]), **GRID))
    gr.write_image("mask.nii.gz", fixed.like((fixed.array > 1).astype(np.uint8)))
    write_launchers(tmp_path / "bin")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", ":".join(sys.path))
    monkeypatch.setenv("ITK_GPU_DEVICE", "host")
    return tmp_path


def run(interface):
    """Runs an interface in the working folder. Returns its outputs; fails if nipype does not find one of them."""
    return interface.run(cwd=os.getcwd()).outputs


def by_simpleitk(transforms, image, reference):
    """Resamples a file. The first transform is applied first to the reference's points."""
    read = [sitk.Cast(sitk.ReadImage(name), sitk.sitkFloat64) for name in (image, reference)]
    return sitk.GetArrayFromImage(sitk.Resample(read[0], read[1], sitk.CompositeTransform(list(transforms)[::-1]), sitk.sitkLinear))


def read_transform(path):
    if path.endswith(".nii.gz"):
        return sitk.DisplacementFieldTransform(sitk.ReadImage(path, sitk.sitkVectorFloat64))
    return sitk.ReadTransform(path)


def distance(warped):
    fixed, moving = (gr.read_image(name).array for name in ("f.nii.gz", "m.nii.gz"))
    return np.abs(warped - fixed).mean() / np.abs(moving - fixed).mean()


@pytest.mark.parametrize("name", list(SETTINGS))
def test_fmripreps_settings_run_as_nipype_writes_them(here, name):
    settings = dict(SETTINGS[name])
    # The command line asks for nothing that this package does not do.
    published = nipype.Registration(**settings, fixed_image="f.nii.gz", moving_image="m.nii.gz", initial_moving_transform_com=1).cmdline
    assert not read_registration(published.split()[1:]).others
    if name in FEW:
        settings["number_of_iterations"] = [*settings["number_of_iterations"][:-1], FEW[name]]
    interface = nipype.Registration(**settings, fixed_image="f.nii.gz", moving_image="m.nii.gz", float=True)
    if name == "fast":
        gr.write_transform("initial.mat", gr.Affine(translation=[1.0, -1.0, 0.5]))
        interface.inputs.initial_moving_transform = ["initial.mat"]
    else:
        interface.inputs.initial_moving_transform_com = 1
    if name == "precise":
        # A lesion's mask, which stands at the last stage.
        interface.inputs.fixed_image_masks = ["NULL", "NULL", "mask.nii.gz"]
    found = run(interface)
    assert found.warped_image == str(here / f"{PREFIX}_Warped.nii.gz")
    if settings["write_composite_transform"]:
        transforms = [found.composite_transform]
        assert found.inverse_composite_transform == str(here / f"{PREFIX}InverseComposite.h5")
        back = [found.inverse_composite_transform]
    else:
        assert found.forward_transforms == [str(here / f"{PREFIX}{name}") for name in ("0GenericAffine.mat", "1Warp.nii.gz")]
        assert found.reverse_transforms == [str(here / f"{PREFIX}{name}") for name in ("0GenericAffine.mat", "1InverseWarp.nii.gz")]
        transforms, back = found.forward_transforms[::-1], None
    left = distance(by_simpleitk(map(read_transform, transforms), "m.nii.gz", "f.nii.gz"))
    assert_within_record(left, *{"precise": (0.244, 0.3), "fast": (0.384, 0.5), "testing": (0.478, 0.55)}[name])
    if back is not None:
        both = by_simpleitk([read_transform(transforms[0]), read_transform(back[0])], "f.nii.gz", "f.nii.gz")
        fixed = gr.read_image("f.nii.gz").array
        # There is no deformation in "testing".
        assert_within_record(relative_difference(both[3:-3, 3:-3, 3:-3], fixed[3:-3, 3:-3, 3:-3]), {"precise": 0.0119, "testing": 1e-14}[name])


def test_files_of_each_stage_and_several_metrics_are_found(here):
    interface = nipype.Registration(
        fixed_image=["f.nii.gz", "f.nii.gz"],
        moving_image=["m.nii.gz", "m.nii.gz"],
        initial_moving_transform_com=0,
        transforms=["Rigid", "SyN"],
        transform_parameters=[(0.1,), (0.2, 3.0, 0.0)],
        metric=["Mattes", ["Mattes", "CC"]],
        metric_weight=[1, [0.5, 0.5]],
        radius_or_number_of_bins=[32, [32, 2]],
        sampling_strategy=["Regular", None],
        sampling_percentage=[0.5, None],
        number_of_iterations=[[20], [4, 2]],
        shrink_factors=[[2], [2, 1]],
        smoothing_sigmas=[[1], [1, 0]],
        sigma_units=["vox", "mm"],
        output_transform_prefix="out_",
        output_warped_image="w.nii.gz",
        output_inverse_warped_image="i.nii.gz",
        collapse_output_transforms=False,
        interpolation="BSpline",
        interpolation_parameters=(2,),
        verbose=True,
    )
    assert interface.cmdline.count("--metric") == 3
    found = run(interface)
    names = ("0DerivedInitialMovingTranslation.mat", "1Rigid.mat", "2Warp.nii.gz")
    assert found.forward_transforms == [str(here / f"out_{name}") for name in names]
    assert all(Path(name).is_file() for name in [*found.forward_transforms, *found.reverse_transforms])
    assert found.elapsed_time > 0 and found.metric_value < 0
    expected = distance(by_simpleitk(map(read_transform, found.forward_transforms[::-1]), "m.nii.gz", "f.nii.gz"))
    assert_within_record(expected, 0.202, 0.3)
    assert distance(gr.read_image(found.warped_image).array) == pytest.approx(expected, abs=0.02)


def test_apply_transforms(here):
    gr.write_transform("a.mat", gr.Affine(np.diag([1.05, 0.95, 1.0]), [2.0, -1.0, 1.0]))
    points = np.moveaxis(np.indices(GRID["shape"]), 0, -1)[..., ::-1] * GRID["spacing"]
    fixed = gr.read_image("f.nii.gz")
    gr.write_transform("warp.nii.gz", gr.DisplacementField(2.0 * np.sin(0.1 * points), fixed.spacing, fixed.origin))
    interface = nipype.ApplyTransforms(
        input_image="m.nii.gz",
        reference_image="f.nii.gz",
        transforms=["warp.nii.gz", "a.mat"],
        invert_transform_flags=[False, True],
        default_value=3,
        interpolation="Linear",
        dimension=3,
        input_image_type=0,
        float=True,
    )
    found = run(interface)
    assert found.output_image == str(here / "m_trans.nii.gz")
    expected = by_simpleitk([read_transform("warp.nii.gz"), sitk.ReadTransform("a.mat").GetInverse()], "m.nii.gz", "f.nii.gz")
    made = gr.read_image(found.output_image).array
    inside = expected != 0
    assert inside.mean() > 0.5 and np.abs(made - expected)[inside].max() < 1e-4 * np.ptp(expected) and (made[~inside] == 3).all()
    labels = fixed.like((fixed.array // 40).astype(np.uint8))
    gr.write_image("labels.nii.gz", labels)
    for number, (interpolation, more) in enumerate((("GenericLabel", {}), ("MultiLabel", {"interpolation_parameters": (4.0, 4.0)}), ("MultiLabel", {}))):
        interface = nipype.ApplyTransforms(
            input_image="labels.nii.gz",
            reference_image="f.nii.gz",
            transforms="identity",
            interpolation=interpolation,
            output_image=f"l{number}.nii.gz",
            **more,
        )
        made = gr.read_image(run(interface).output_image).array
        assert set(np.unique(made)) <= set(np.unique(labels.array)) and (made == labels.array).mean() > 0.9


def test_the_version_is_read():
    from nipype.interfaces.ants.base import Info

    from gpuregistration.ants.programs import ANTS_VERSION

    assert Info.parse_version(f"ANTs Version: {ANTS_VERSION}\ngpuregistration 0") == ANTS_VERSION
