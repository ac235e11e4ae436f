# SPDX-License-Identifier: Apache-2.0
"""Bad input raises an exception that says what is wrong, where and what to do; unusual input works."""

import gpuregistration as gr
import numpy as np
import pytest
from conftest import make_head
from gpuregistration import stages


@pytest.fixture(scope="module")
def pair():
    return make_head(shape=(24, 26, 28)).array, make_head(shape=(24, 26, 28), origin=(-38, -44, -36)).array


def register(fixed, moving, *arguments, **settings):
    return gr.register(fixed, moving, *arguments, spacing=(3, 3, 3), device="host", **settings)


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda a: a.astype(complex), "complex128"),
        (lambda a: a.astype(object), "object"),
        (lambda a: a.astype(str), "whole numbers or floats"),
        (lambda a: a[0, 0], "1 dimensions"),
        (lambda a: a[np.newaxis], "4 dimensions"),
        (lambda a: a[:0], "no voxels"),
        (lambda a: a[0], "2 dimensions"),
        (lambda a: np.full_like(a, 7), "constant"),
        (lambda a: a.tolist(), "list"),
        (lambda a: None, "NoneType"),
    ],
)
@pytest.mark.parametrize("which", ["fixed", "moving"])
def test_images(pair, make, message, which):
    fixed, moving = pair
    arguments = (make(fixed), moving) if which == "fixed" else (fixed, make(moving))
    with pytest.raises(gr.BadInputError, match=message) as error:
        register(*arguments)
    assert isinstance(error.value, ValueError) and isinstance(error.value, gr.Error)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_values_that_are_not_finite(pair, bad):
    spoilt = pair[1].copy()
    spoilt[3, 4, 5] = bad
    with pytest.raises(gr.BadInputError, match=r"moving image has 1 value that is .*\(3, 4, 5\).*nan_to_num"):
        register(pair[0], spoilt)


def test_masks(pair):
    with pytest.raises(gr.BadInputError, match=r"mask is on another grid.*\(3, 4, 5\), and not \(24, 26, 28\).*resample"):
        register(*pair, fixed_mask=np.ones((3, 4, 5)))
    with pytest.raises(gr.BadInputError, match="moving image is inside of its mask"):
        register(*pair, moving_mask=np.zeros(pair[1].shape))
    with pytest.raises(gr.BadInputError, match="another grid"):
        register(*pair, fixed_mask=gr.Image(np.ones(pair[0].shape), spacing=(1, 1, 1)))


def test_masked_arrays(pair):
    """NumPy's masked arrays are refused: values that their masks hide would be looked at."""
    array = np.ma.masked_less(pair[0], 10)
    for call in (
        lambda: register(array, pair[1]),
        lambda: register(*pair, fixed_mask=array),
        lambda: gr.resample(array),
        lambda: gr.Image(pair[0]).like(array),
        lambda: gr.Image(np.ma.array(pair[0])),
    ):
        with pytest.raises(gr.BadInputError, match=r"array.filled\(0\), .* fixed_mask=~numpy.ma.getmaskarray\(array\)"):
            call()
    # The advice is possible to follow, and the hidden values then make no difference.
    mask = ~np.ma.getmaskarray(array)
    metrics = [gr.metric("mean_squares", array.filled(value), pair[1], fixed_mask=mask, device="host") for value in (0, 9)]
    assert metrics[0].value(gr.Affine()) == metrics[1].value(gr.Affine()) > 0


def test_progress_that_cannot_be_called(pair, tmp_path):
    from gpuregistration.cohort import register_cohort

    for call in (
        lambda: register(*pair, progress=3),
        lambda: gr.resample(pair[0], progress=3),
        lambda: register_cohort(tmp_path / "none.csv", tmp_path / "out", progress=3),
    ):
        with pytest.raises(gr.BadInputError, match="progress=3 is not possible; it is to be callable"):
            call()


def test_names(pair):
    with pytest.raises(gr.BadInputError, match="rigid, affine, global, ffd"):
        register(*pair, "elastic")
    for together in ("affine,ffd", "affine, ffd"):
        with pytest.raises(gr.BadInputError, match=r'of several stages, give a list, \["affine", "ffd"\]'):
            register(*pair, together)
    with pytest.raises(gr.BadInputError, match="no stage 'affine,elastic'; there are: rigid"):
        register(*pair, "affine,elastic")
    with pytest.raises(gr.BadInputError, match="rigid: There is no cost 'likeness'; there are: mean_squares, mean_abs.*, correlation_ratio, mattes"):
        register(*pair, "rigid", "likeness")
    for wrong in (None, 3):
        with pytest.raises(gr.BadInputError, match="no stage"):
            register(*pair, wrong)
    with pytest.raises(gr.BadInputError, match="no stage"):
        register(*pair, [])
    with pytest.raises(gr.DeviceError, match="host") as error:
        gr.register(*pair, device="cuda:77")
    assert isinstance(error.value, RuntimeError)
    with pytest.raises(gr.BadInputError, match="nearest"):
        gr.resample(pair[0], interpolation="sinc")


@pytest.mark.parametrize(
    "stage, message",
    [
        (stages.FreeForm(levels=9), "ffd: levels=9 is not possible; it is to be a whole number from 1 to 5"),
        (stages.FreeForm(levels=2.5), "ffd: levels=2.5"),
        (stages.FreeForm(levels="two"), "ffd: levels='two'"),
        (stages.FreeForm(iterations=99999999999999), "ffd: iterations=99999999999999"),
        (stages.FreeForm(seed=-1), "ffd: seed=-1"),
        (stages.FreeForm(radius=0), "ffd: radius=0"),
        (stages.FreeForm(bins=4), "ffd: bins=4 is not possible; it is to be a whole number from 5 to 4096"),
        (stages.FreeForm(first_step=0), "ffd: first_step=0 .*above 0"),
        (stages.FreeForm(bending_weight="much"), "ffd: bending_weight='much'"),
        (stages.FreeForm(bending_weight=0.6, linear_weight=0.5), "ffd: .*come to 1.1 together"),
        (stages.FreeForm(samples=9, optimizer="conjugate_gradient"), "ffd: samples=9 .*set samples=0"),
        (stages.FreeForm("neighborhood_correlation", samples=9), "ffd: samples=9 .*set samples=0"),
        (stages.FreeForm(spacing=(1, 2)), "ffd: spacing=.*give one number, or 3"),
        (stages.FreeForm(spacing="wide"), "ffd: spacing='wide'"),
        (stages.FreeForm(spacing=2.0), "ffd: spacing=2.0 .*a voxel's edge along x at least: spacing=3"),
        (stages.FreeForm(optimizer="newton"), "ffd: There is no optimizer 'newton'; there are: adam,"),
        (stages.Affine(degrees_of_freedom=8), "affine: degrees_of_freedom=8"),
        (stages.Affine(bins=1), "affine: bins=1 .* from 2 to 4096"),
        (stages.Global(angles=(1, 2, 3)), "global: The angles"),
        (stages.Global(angles=(2, 1)), "global: The angles"),
        (stages.Rigid(finest_edge=-1.0), "rigid: finest_edge=-1.0"),
        (stages.Rigid(least_overlap=2), "rigid: least_overlap=2 .*from 0 on and up to 1"),
    ],
)
def test_settings(pair, stage, message):
    """All of them before the first stage runs, which may take its time."""
    reported = []
    with pytest.raises(gr.BadInputError, match=message):
        register(*pair, ["rigid", stage], progress=reported.append)
    assert reported == []


def test_whole_numbers_of_any_type(pair):
    wanted = stages.FreeForm(levels=1, iterations=2, spacing=12, seed=3).settings()
    found = stages.FreeForm(levels=np.int64(1), iterations=2.0, spacing=np.float32(12), seed=np.uint8(3)).settings()
    for name in ("levels", "iterations", "spacing", "seed"):
        assert getattr(found, name) == getattr(wanted, name)


@pytest.mark.parametrize("seed", [-1, 1.5, "a", None, 2**64])
@pytest.mark.parametrize("transform", ["rigid", "ffd"])
def test_seeds(pair, seed, transform):
    with pytest.raises(gr.BadInputError, match="seed="):
        register(*pair, transform, seed=seed)


def test_the_first_and_the_last_seed(pair):
    for seed in (0, 2**64 - 1):
        result = register(*pair, stages.FreeForm(levels=1, iterations=1, spacing=20), seed=seed)
        assert len(result.stages[0].levels[0].costs) == 1


def test_other_whole_numbers(pair):
    for call, message in (
        (lambda: gr.set_threads("a"), "count='a'"),
        (lambda: gr.set_threads(-1), "count=-1"),
        (lambda: gr.pyramid(pair[0], 2.5), "levels=2.5"),
        (lambda: gr.pyramid(pair[0], 6), "levels=6"),
        (lambda: gr.metric("correlation_ratio", *pair, bins=1.5), "bins=1.5"),
        (lambda: gr.metric("neighborhood_correlation", *pair, radius="wide"), "radius='wide'"),
        (lambda: gr.resample(pair[0], interpolation="bspline", order=9), "order=9"),
    ):
        with pytest.raises(gr.BadInputError, match=message):
            call()


def test_metrics_of_stages(pair):
    short = stages.FreeForm("mean_squares", levels=1, iterations=1, spacing=20)
    found = register(*pair, ["rigid", "affine", short], metric=["correlation", None, None])
    assert [stage.metric for stage in found.stages] == ["correlation", "correlation_ratio", "mean_squares"]
    assert register(*pair, metric=["CorrelationRatio"]).cost == register(*pair).cost
    for transform, metric, message in (
        (stages.Rigid(), "nonsense", r"metric='nonsense' is not possible of a stage that has its own: set Rigid\(cost='nonsense'\)"),
        (["rigid", short], "correlation", r"FreeForm\(similarity='correlation'\)"),
        (["rigid", "affine"], ["correlation"] * 3, "3 metrics for 2 stages"),
        ("rigid", 3, "3 is no metric"),
        ("rigid", [3], "rigid: There is no cost 3"),
        (["affine", "ffd"], "mean_absolute_differences", "ffd: There is no similarity 'mean_absolute_differences'"),
    ):
        with pytest.raises(gr.BadInputError, match=message):
            register(*pair, transform, metric=metric)


def test_files_in_the_place_of_images(pair, tmp_path):
    for name in ("f.nii.gz", tmp_path / "f.nii.gz"):
        with pytest.raises(gr.BadInputError, match="f.nii.gz: gpuregistration.read_image reads it"):
            register(name, pair[1])


def test_a_bare_array_beside_an_image_of_mm(pair):
    image = gr.Image(pair[0], (3, 3, 3), (-38, -44, -36))
    for images in ((image, pair[1]), (pair[1], image)):
        with pytest.raises(gr.BadInputError, match="image is an array that does not say how large its voxels are"):
            gr.register(*images, device="host")
        with pytest.raises(gr.BadInputError, match="how large its voxels are"):
            gr.metric("correlation", *images, device="host")
    found = gr.register(image, pair[1], device="host", spacing=(3, 3, 3), origin=(-38, -44, -36))
    wanted = gr.register(image, gr.Image(pair[1], (3, 3, 3), (-38, -44, -36)), device="host")
    np.testing.assert_array_equal(found.transform.matrix_of(), wanted.transform.matrix_of())


@pytest.mark.parametrize("name", [0, "", "cuda:77"])
def test_devices_that_are_none(pair, name):
    with pytest.raises(gr.DeviceError, match=f'There is no device "{name}"; there are: .*host'):
        gr.register(*pair, device=name)


def test_an_empty_variable_is_none(pair, monkeypatch):
    monkeypatch.setenv("ITK_GPU_DEVICE", "")
    monkeypatch.setenv("GPUREG_THREADS", "")
    assert gr.register(*pair).device == gr.devices()[0].name


@pytest.mark.parametrize("text", ["abc", "-4", "1.5"])
def test_threads_that_the_environment_does_not_say(pair, monkeypatch, text):
    monkeypatch.setenv("GPUREG_THREADS", text)
    with pytest.raises(gr.BadInputError, match=f"GPUREG_THREADS={text} is no number of threads"):
        register(*pair)


def test_geometry():
    array = np.zeros((3, 4, 5))
    for geometry in (dict(spacing=(1, 1)), dict(spacing=(1, 0, 1)), dict(spacing=(1, -1, 1)), dict(origin=(0, np.nan, 0)),
                     dict(direction=np.ones((3, 3))), dict(direction=np.eye(2))):
        with pytest.raises(gr.BadInputError):
            gr.Image(array, **geometry)


def test_transforms():
    for make in (
        lambda: gr.Affine(np.eye(4)),
        lambda: gr.Affine(np.eye(3), [1, 2]),
        lambda: gr.Affine(np.full((3, 3), np.nan)),
        lambda: gr.Affine(np.zeros((3, 3))).inverse(),
        lambda: gr.BSpline(np.zeros((4, 4, 4, 2))),
        lambda: gr.BSpline(np.zeros((3, 4, 4, 3))),
        lambda: gr.DisplacementField(np.full((4, 4, 4, 3), np.inf)),
        lambda: gr.Composite([]),
        lambda: gr.Composite([gr.Affine(np.eye(2)), gr.Affine(np.eye(3))]),
        lambda: gr.resample(np.zeros((3, 4, 5)), gr.Affine(np.eye(2))),
        lambda: gr.resample(np.zeros((3, 4, 5)), "elsewhere"),
    ):
        with pytest.raises(gr.BadInputError):
            make()


@pytest.mark.parametrize(
    "make",
    [
        lambda a: np.asfortranarray(a),
        lambda a: np.repeat(a, 2, axis=2)[:, :, ::2],
        lambda a: a[::-1][::-1],
        lambda a: a.astype(">f4"),
        lambda a: np.frombuffer(a.tobytes(), np.float32).reshape(a.shape),
    ],
    ids=["by columns", "every other", "turned round", "big-endian", "read-only"],
)
def test_other_memory_layouts_are_the_same(pair, make):
    plain = register(*pair).transform.matrix_of()
    np.testing.assert_array_equal(register(make(pair[0]), make(pair[1])).transform.matrix_of(), plain)


@pytest.mark.parametrize("kind", ["u1", "i2", "u2", "i4", "i8", "f2", "f8", "?"])
def test_other_types(pair, kind):
    fixed, moving = [(array > 50) if kind == "?" else array.clip(0, 120).astype(kind) for array in pair]
    # A correlation ratio by 256 bins of so few voxels is not smooth: where it ends depends on the last digits.
    result = register(fixed, moving, metric="mean_squares")
    assert result.warped.dtype == np.dtype(kind)
    plain = register(fixed.astype("f8"), moving.astype("f8"), metric="mean_squares").transform.matrix_of()
    np.testing.assert_allclose(result.transform.matrix_of(), plain, atol=2e-3 if kind != "?" else 0.2)


def test_arrays_by_dlpack(pair):
    class OnHost:
        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **arguments):
            return self.array.__dlpack__(**arguments)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    found = register(OnHost(pair[0]), OnHost(pair[1]))
    assert isinstance(found.warped, np.ndarray)
    np.testing.assert_array_equal(found.transform.matrix_of(), register(*pair).transform.matrix_of())


def test_memory_limit():
    from gpuregistration import _engine

    fixed = make_head(shape=(64, 64, 64))
    names = [device.name for device in gr.devices() if device.name != "host"]
    if not names:
        pytest.skip("there is no device but the host")
    gr.release_memory(names[0])
    _engine.set_memory_limit(names[0], 1 << 16)
    try:
        with pytest.raises(gr.OutOfMemoryError) as error:
            gr.register(fixed, fixed, device=names[0])
        assert isinstance(error.value, MemoryError)
    finally:
        _engine.set_memory_limit(names[0], 0)


@pytest.mark.parametrize(
    "make",
    [
        lambda a: gr.Image(a, spacing="abc"),
        lambda a: gr.Image(a, spacing=[1, [2, 3], 1]),
        lambda a: gr.Image(a, direction="x"),
        lambda a: gr.smooth(a, "x", device="host"),
        lambda a: gr.resample(a, default="x", device="host"),
        lambda a: gr.resample(a, default=None, device="host"),
        lambda a: gr.resample(a.astype(np.int16), default=np.nan, device="host"),
        lambda a: gr.metric("correlation", a, a + a, center="x", device="host"),
        lambda a: gr.metric("correlation", a, a + a, center=[np.nan] * 3, device="host"),
        lambda a: gr.metric("correlation", a, a + a, device="host").value("x"),
        lambda a: gr.metric("correlation", a, a + a, device="host").value(gr.Affine(np.eye(2))),
        lambda a: gr.Affine("abc"),
        lambda a: gr.Affine().transform_points("x"),
        lambda a: gr.register(a, a + a, "rigid", fixed_mask=np.where(a > 5, np.nan, 0), device="host"),
    ],
)
def test_what_is_no_number(pair, make):
    with pytest.raises(gr.BadInputError):
        make(pair[0])


@pytest.mark.parametrize("kind", [np.int64, np.uint64, np.int32])
def test_large_labels_stay_what_they_are(pair, kind):
    first = {np.int64: -(2**62) + 1, np.uint64: 2**63 + 1, np.int32: 2**30 + 1}[kind]
    labels = (pair[0] > 50).astype(kind) * 3 + (pair[0] > 80) + kind(first)
    np.testing.assert_array_equal(gr.resample(labels, interpolation="nearest", device="host"), labels)
    moved = gr.resample(labels, gr.Affine(translation=[4.0, 0, 0]), interpolation="nearest", default=7, device="host")
    assert moved.dtype == kind and (moved[..., :-4] == labels[..., 4:]).all() and (moved[..., -4:] == 7).all()


def test_whole_numbers_that_are_the_same_as_floats(pair):
    far = pair[0].astype(np.int64) + 2**40
    with pytest.raises(gr.BadInputError, match="moving image has values from 10995116277.*Subtract"):
        register(pair[0], far, "rigid")
