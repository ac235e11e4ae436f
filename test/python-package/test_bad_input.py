# SPDX-License-Identifier: Apache-2.0
"""What is wrong is an exception that says what, where and what to do; what is only unusual is right."""

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
    with pytest.raises(gr.BadInputError, match=r"moving image has 1 values.*\(3, 4, 5\).*nan_to_num"):
        register(pair[0], spoilt)


def test_masks(pair):
    with pytest.raises(gr.BadInputError, match=r"mask has shape \(3, 4, 5\).*resample"):
        register(*pair, fixed_mask=np.ones((3, 4, 5)))
    with pytest.raises(gr.BadInputError, match="moving image is inside of its mask"):
        register(*pair, moving_mask=np.zeros(pair[1].shape))
    with pytest.raises(gr.BadInputError, match="another grid"):
        register(*pair, fixed_mask=gr.Image(np.ones(pair[0].shape), spacing=(1, 1, 1)))


def test_names(pair):
    with pytest.raises(gr.BadInputError, match="rigid, affine, global, ffd"):
        register(*pair, "elastic")
    with pytest.raises(gr.BadInputError, match="Correlation"):
        register(*pair, "rigid", "likeness")
    with pytest.raises(gr.BadInputError, match="no stage"):
        register(*pair, [])
    with pytest.raises(gr.DeviceError, match="host") as error:
        gr.register(*pair, device="cuda:77")
    assert isinstance(error.value, RuntimeError)
    with pytest.raises(gr.BadInputError, match="nearest"):
        gr.resample(pair[0], interpolation="sinc")


def test_settings(pair):
    for stage in (stages.FreeForm(levels=9), stages.FreeForm(spacing=(1, 2)), stages.Affine(degrees_of_freedom=8),
                  stages.Global(angles=(1, 2, 3)), stages.Rigid(finest_edge=-1.0)):
        with pytest.raises(gr.BadInputError):
            register(*pair, stage)


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
    result = register(fixed, moving)
    assert result.warped.dtype == np.dtype(kind)
    plain = register(fixed.astype("f8"), moving.astype("f8")).transform.matrix_of()
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
