# SPDX-License-Identifier: Apache-2.0
"""Tests the data that a result passes to its report."""

import html
import re

import gpuregistration as gr
import numpy as np
import pytest
from command_line import gpureg
from conftest import make_head, turn
from gpuregistration import stages
from gpuregistration._report_data import deformation_from, report_data
from gpuregistration._similarity import Subsample
from nifti_files import write_nifti

FREE_FORM = stages.FreeForm(levels=1, iterations=4, spacing=12.0)


def points_of(transform, grid, device="host"):
    """Returns the points to which a grid's voxels are mapped: (…, d)."""
    index = np.stack(np.meshgrid(*[np.arange(n) for n in grid.array.shape], indexing="ij"), axis=-1)[..., ::-1]
    return index @ grid.index_to_point[:-1, :-1].T + grid.origin + transform.to_displacement_field(grid, device).array


@pytest.mark.parametrize(
    "transform, initial",
    [
        (["rigid"], gr.Affine(turn(3.0), [2.0, 0, 0])),
        (["rigid", FREE_FORM], gr.Affine(turn(3.0), [2.0, 0, 0])),
        (FREE_FORM, gr.Composite([gr.Affine(turn(6.0)), gr.Affine(translation=[3.0, -2.0, 2.0])])),
        (FREE_FORM, None),
    ],
)
def test_deformation_leads_from_before_to_found(heads, transform, initial):
    fixed, moving = heads
    result = gr.register(fixed, moving, transform, initial=initial, device="host")
    deformation = deformation_from(initial, result.transform)
    whole = deformation if initial is None else gr.Composite([deformation, initial])
    # Each displacement field is exact to 1e-6 mm.
    assert np.abs(points_of(whole, fixed) - points_of(result.transform, fixed)).max() < 2e-6


def test_report_data(device, heads):
    # The version is shown.
    pytest.importorskip("SimpleITK")
    fixed, moving = heads
    mask = fixed.like((fixed.array > 5).astype(np.uint8))
    moving_mask = moving.like((moving.array > 5).astype(np.uint8))
    initial = gr.Affine(translation=[1.0, -1.0, 0.5])
    result = gr.register(
        fixed, moving, ["rigid", FREE_FORM], initial=initial, fixed_mask=mask, moving_mask=moving_mask, device=device
    )
    files = {"fixed": "f.nii", "moving": "m.nii"}
    data = report_data(
        result._pair, result._warped_array, result.stages, initial, device, command="a command", files=files
    )
    data.check()
    assert (data.moving_before == gr.resample(moving, initial, fixed, device=device).array).all()
    assert (data.moving_after == result.warped.array).all()
    assert (data.fixed_mask == mask.array).all() and data.moving_mask.shape == fixed.array.shape
    assert [(stage.name, len(stage.levels)) for stage in data.stages] == [("rigid", 6), ("ffd", 1)]
    assert data.stages[0].levels[0] == ("pyramid", []) and all(len(level.costs) == 1 for level in data.stages[0].levels[1:])
    assert data.headline == "normalized_mutual_information" and data.less_is_better and "scaled to 0 to 1" in data.similarity_text
    assert data.files == files and data.date[:2] == "20" and {"NumPy", "SimpleITK"} <= set(data.versions)
    assert data.stages[1].levels[0].costs == result.stages[1].levels[0].costs
    assert data.stages[0].milliseconds == pytest.approx(1e3 * result.stages[0].seconds)
    assert data.device.startswith(f"{device}: ") and data.command == "a command" and "NumPy" in data.versions
    for name, (before, after) in data.similarity.items():
        assert after < before, name


def test_the_moving_side_shows_the_fixed_image_brought_back(device, heads):
    fixed, moving = heads
    for stages_of in ("rigid", ["rigid", FREE_FORM]):
        result = gr.register(fixed, moving, stages_of, device=device)
        side = report_data(result._pair, result._warped_array, result.stages, None, device).moving_side
        back = gr.resample(fixed, result.inverse, moving, device=device).array
        middle = [n // 2 for n in moving.array.shape]
        # As radiologists look: the patient's left is on the right, and the top of the head is up.
        for cut, axis, up in zip(side.cuts, range(3), (False, True, True)):
            for shown, whole in ((cut.moving, moving.array), (cut.back, back)):
                expected = np.take(whole, middle[axis], axis=axis)
                np.testing.assert_allclose(shown, expected[::-1] if up else expected, atol=2e-3 * np.ptp(whole))
        assert [cut.name for cut in side.cuts] == ["Axial", "Coronal", "Sagittal"]
        assert side.cuts[1].spacing == (moving.spacing[0], moving.spacing[2])
        assert side.errors.startswith("There and back, points end") == (stages_of != "rigid")


def test_without_an_inverse_there_is_a_report(heads, monkeypatch):
    result = gr.register(*heads, "rigid", device="host")

    def refuse(*_):
        raise gr.BadInputError("It is singular.")

    monkeypatch.setattr(gr.Affine, "inverse", refuse)
    data = report_data(result._pair, result._warped_array, result.stages, None, "host")
    assert data.moving_side is None and "there is no inverse: It is singular" in data.warnings[-1]


def test_syn_brings_back_by_its_own_inverse(heads):
    fixed, moving = heads
    result = gr.register(fixed, moving, ["rigid", stages.SyN(iterations=(3,), radius=2)], device="host")
    side = report_data(result._pair, result._warped_array, result.stages, None, "host").moving_side
    back = gr.resample(fixed, result.stages[-1].inverse, moving, device="host").array
    np.testing.assert_allclose(side.cuts[0].back, back[back.shape[0] // 2], atol=1e-3 * np.ptp(back))
    [errors] = result.inverse_errors
    assert side.errors.startswith(f"There and back, points end {errors.mean:.2g} voxels away")
    assert side.errors.endswith(f"voxels of {' × '.join(f'{s:.3g}' for s in fixed.spacing)} mm.")


def test_the_moving_side_of_two_dimensions(device):
    heads = [gr.Image(make_head(where).array[12], [1.5, 2.0], direction=[[-1, 0], [0, 1]]) for where in (None, lambda p: p + 2.0)]
    result = gr.register(*heads, "rigid", device=device)
    (cut,) = report_data(result._pair, result._warped_array, result.stages, None, device).moving_side.cuts
    assert cut.name == "Image" and cut.spacing == (1.5, 2.0)
    assert (cut.moving == heads[1].array[:, ::-1]).all()
    back = gr.resample(heads[0], result.inverse, heads[1], device=device).array
    np.testing.assert_allclose(cut.back, back[:, ::-1], atol=1e-3 * np.ptp(back))


def test_a_large_image_is_compared_on_a_subsample(heads, monkeypatch):
    """The metrics are over every second voxel along each axis, and the report says so."""
    fixed, moving = heads
    mask = fixed.like((fixed.array > 5).astype(np.uint8))
    result = gr.register(fixed, moving, "rigid", fixed_mask=mask, device="host")
    arguments = result._pair, result._warped_array, result.stages, None, "host"
    whole = report_data(*arguments)
    assert "one of each" not in whole.similarity_text
    monkeypatch.setattr("gpuregistration._report_data._VOXELS", 20_000)
    monkeypatch.setattr("gpuregistration._report_data._VOXELS_INSIDE", 1_000)
    part = report_data(*arguments)
    assert part.similarity_text.endswith("that the moving one reaches, one of each 2 × 2 × 2.")
    slices = (slice(None, None, 2),) * 3
    thin = gr.Image(fixed.array[slices], fixed.spacing * 2, fixed.origin)
    after = thin.like(np.ascontiguousarray(result.warped.array[slices]))
    reached = gr.resample(moving.like(np.ones(moving.array.shape, np.uint8)), result.transform, thin, "nearest", device="host")
    for name, values in whole.similarity.items():
        metric = gr.metric(name, thin, after, thin.like(mask.array[slices]), reached, radius=2, device="host")
        assert part.similarity[name][1] == metric.value(gr.Affine(np.eye(3))) != values[1], name
    # A small mask keeps enough voxels.
    monkeypatch.setattr("gpuregistration._report_data._VOXELS_INSIDE", 10**6)
    assert report_data(*arguments).similarity == whole.similarity


def test_neighborhoods_of_a_subsample_are_as_large():
    assert [Subsample(steps).radius for steps in ((1, 1, 1), (2, 2, 2), (2, 2, 1), (4, 4), (9, 9, 9))] == [4, 2, 3, 1, 1]


def test_warnings_get_to_the_report(heads):
    wild = stages.FreeForm(levels=1, iterations=20, spacing=5.0, bending_weight=0.0, first_step=8.0)
    result = gr.register(*heads, wild, device="host")
    data = report_data(result._pair, result._warped_array, result.stages, None, "host")
    assert data.warnings == result.stages[0].warnings and "ffd has folded" in data.warnings[-1]


FORMLESS = {"sform_code": ("h", 0)}


def write_formless(path, image):
    """Writes a file without a geometry, of an image whose axes are the patient's."""
    return write_nifti(path, np.asfortranarray(image.array.T), affine=np.diag([*image.spacing, 1.0]), **FORMLESS)


def test_warnings_of_files_get_to_the_report(tmp_path, heads):
    """Warnings about images, masks, initial transforms, volumes of series and another library's images occur once each, before those of
    stages."""
    nibabel = pytest.importorskip("nibabel")
    images = {name: write_formless(tmp_path / f"{name} <b>.nii.gz", image) for name, image in zip(("fixed", "moving"), heads)}
    images["mask"] = write_formless(tmp_path / "mask.nii", heads[0].like((heads[0].array > 5).astype(np.uint8)))
    four = heads[1].array.T[..., np.newaxis].repeat(2, axis=-1)
    write_nifti(tmp_path / "series.nii", np.asfortranarray(four), affine=np.diag([*heads[1].spacing, 1.0]), **FORMLESS)
    field = np.zeros((*heads[0].size, 1, 3), "f4")
    initial = write_nifti(tmp_path / "field.nii", field, affine=np.diag([*heads[0].spacing, 1.0]), **FORMLESS)
    with pytest.warns(gr.InputWarning) as reported:
        fixed, moving, mask = (gr.read_image(images[name]) for name in ("fixed", "moving", "mask"))
        volume, start = gr.read_series(tmp_path / "series.nii")[1], gr.read_transform(initial)
    found = [str(one.message) for one in reported]
    assert [len(image.warnings) for image in (fixed, moving, mask, volume)] == [1, 1, 1, 1] and len(start.warnings) == 2 and len(found) == 6
    stage = stages.FreeForm(levels=1, iterations=1, spacing=12.0)

    def warnings_of(*arguments, **more):
        result = gr.register(*arguments, stage, device="host", **more)
        result.write_report(tmp_path / "r.html")
        shown = re.findall('<p class="message">Warning: (.*?[^.])[.]</p>', (tmp_path / "r.html").read_text("utf-8"))
        return [f"{html.unescape(one)}." for one in shown], [f"{one}." for one in result.warnings]

    shown, own = warnings_of(fixed, moving, fixed_mask=mask, initial=start)
    assert shown == [*fixed.warnings, *moving.warnings, *mask.warnings, *start.warnings, *own]
    assert "moving <b>.nii.gz does not say where it lies" in shown[1] and "what its vectors are" in " ".join(start.warnings)
    assert "<b>" not in (tmp_path / "r.html").read_text("utf-8").split("<main>")[1].split("<section")[0]
    assert warnings_of(fixed, volume)[0][:2] == [*fixed.warnings, *volume.warnings]
    with pytest.warns(gr.InputWarning):
        shown, own = warnings_of(nibabel.load(images["fixed"]), nibabel.load(images["fixed"]))
    assert len(shown) == 1 + len(own) and "nibabel image" in shown[0] and "does not say where it lies" in shown[0]
    # An image derived from another one has its geometry.
    assert fixed.like(fixed.array + 1).warnings == fixed.warnings and heads[0].warnings == []


def test_the_command_shows_warnings_of_files(tmp_path, heads, capfd):
    fixed, moving = (write_formless(tmp_path / f"{name}.nii", image) for name, image in zip("fm", heads))
    assert gpureg(capfd, "register", fixed, moving, "--report", tmp_path / "r.html", "--device", "host")[0] == 0
    page = (tmp_path / "r.html").read_text("utf-8")
    for path in (fixed, moving):
        assert f'<p class="message">Warning: The file {path} does not say where it lies' in page


def test_result_writes_its_report(tmp_path, heads):
    result = gr.register(*heads, "rigid", device="host")
    result.write_report(tmp_path / "r.html", "repeat me", {"fixed": "f.nii"})
    text = (tmp_path / "r.html").read_text("utf-8")
    assert "repeat me" in text and "<th>Fixed file</th><td>f.nii</td>" in text
    # The minimized cost is listed first, and linear stages have one value for each level.
    assert "<dt>Correlation ratio</dt>" in text and "less is better" in text and "Linear stages have one value for each level" in text
    assert "<td>4 mm</td>" in text and "<td>pyramid</td>" not in text
    with pytest.raises(gr.BadInputError, match="There is no folder"):
        result.write_report(tmp_path / "none" / "r.html")


def test_two_dimensions(tmp_path):
    fixed = make_head(shape=(48, 44), spacing=(2.0, 2.0), origin=(-45.0, -35.0))
    moving = make_head(lambda p: p + [2.0, 1.0], shape=(48, 44), spacing=(2.0, 2.0), origin=(-45.0, -35.0))
    gr.register(fixed, moving, ["rigid", FREE_FORM], device="host").write_report(tmp_path / "r.html")
    assert (tmp_path / "r.html").stat().st_size > 10_000
