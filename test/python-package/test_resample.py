# SPDX-License-Identifier: Apache-2.0
"""Compares resampling and filters with SimpleITK's."""

import re

import gpuregistration as gr
import numpy as np
import pytest
from conftest import make_head, relative_difference, turn
from gpuregistration._kinds import to_simpleitk

sitk = pytest.importorskip("SimpleITK")


@pytest.fixture
def reference():
    """Returns a rotated grid of other voxels that extends beyond the head's."""
    return gr.Image(np.zeros((30, 35, 50)), (2.2, 2.7, 3.0), (-50.0, -40.0, -50.0), turn(12))


@pytest.mark.parametrize(
    "interpolation, interpolator",
    [("linear", sitk.sitkLinear), ("nearest", sitk.sitkNearestNeighbor), ("bspline", sitk.sitkBSpline)],
)
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_interpolations(device, reference, interpolation, interpolator, kind):
    head = make_head()
    head = head.like(head.array.astype(kind))
    transform = gr.Affine(turn(7), [1.234, 2.345, 3.456], [3, 2, 1])
    ours = gr.resample(head, transform, reference, interpolation, default=-7.0, device=device)
    theirs = sitk.GetArrayFromImage(
        sitk.Resample(to_simpleitk(head), to_simpleitk(reference), transform.to_simpleitk(), interpolator, -7.0)
    )
    assert ours.array.dtype == kind and ours.has_grid_of(reference)
    assert relative_difference(ours.array, theirs) < 1e-4


@pytest.mark.parametrize("kind", ["u1", "i2", "u4", "i4"])
def test_labels_stay_labels(device, reference, kind, rng):
    labels = make_head().like(rng.integers(0, min(np.iinfo(kind).max, 2**31 - 1), (40, 48, 44)).astype(kind))
    ours = gr.resample(labels, gr.Affine(turn(5)), reference, "nearest", device=device)
    theirs = sitk.Resample(
        to_simpleitk(labels), to_simpleitk(reference), gr.Affine(turn(5)).to_simpleitk(), sitk.sitkNearestNeighbor, 0
    )
    assert ours.array.dtype == np.dtype(kind)
    np.testing.assert_array_equal(ours.array, sitk.GetArrayFromImage(theirs))


def test_whole_numbers_are_rounded(device):
    ramp = np.arange(6, dtype=np.int16).reshape(1, 1, 6).repeat(4, 0).repeat(4, 1)
    moved = gr.resample(ramp, gr.Affine(translation=(0.4, 0, 0)), ramp, device=device)
    np.testing.assert_array_equal(moved[1, 1, :5], [0, 1, 2, 3, 4])
    moved = gr.resample(ramp, gr.Affine(translation=(0.6, 0, 0)), ramp, device=device)
    np.testing.assert_array_equal(moved[1, 1, :5], [1, 2, 3, 4, 5])


@pytest.mark.parametrize(
    "kind, least, most, wrong",
    [
        (np.uint8, 0, 255, (-1, 256, 300, 0.5, np.nan, np.inf)),
        (np.int16, -32768, 32767, (-32769, 4e9, -0.5)),
        (np.uint32, 0, 4294967295, (-1, 2.0**32)),
        (np.int64, -(2**53), 2**53, (2**53 + 1, 2**63 - 1, 2**63)),
        (np.bool_, 0, 1, (2, -1)),
        (np.float16, -65504, 65504, (1e5,)),
        (np.float32, -np.inf, np.inf, (1e39,)),
        (np.float64, -1e308, 1e308, ()),
    ],
)
def test_the_default_is_one_of_the_types_values(kind, least, most, wrong):
    ramp, far = np.arange(64).reshape(4, 4, 4).astype(kind), gr.Affine(translation=(90, 0, 0))
    for value in (least, most):
        assert (gr.resample(ramp, far, default=value, interpolation="nearest", device="host") == kind(value)).all()
    for value in wrong:
        text = re.escape(f"default {value!r} is not possible: the image's values are of {np.dtype(kind).name}")
        with pytest.raises(gr.BadInputError, match=text):
            gr.resample(ramp, far, default=value, device="host")


def test_outside_continues(device):
    ramp = np.arange(6, dtype=np.float32).reshape(1, 1, 6).repeat(4, 0).repeat(4, 1)
    moved = gr.resample(ramp, gr.Affine(translation=(3, 0, 0)), extrapolate=True, device=device)
    np.testing.assert_allclose(moved[2, 2], [3, 4, 5, 5, 5, 5])


def test_progress_may_end_it(device):
    def stop(share):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        gr.resample(make_head(), gr.Affine(turn(3)), device=device, progress=stop)


@pytest.mark.parametrize("sigma", [1.0, 3.5, (0.0, 2.0, 8.0)])
def test_smooth(device, sigma):
    head = gr.Image(make_head().array, (1.0, 1.5, 2.5))
    along = np.broadcast_to(sigma, 3).tolist()
    theirs = to_simpleitk(head)
    for axis, width in enumerate(along):
        theirs = sitk.RecursiveGaussian(theirs, width, False, sitk.RecursiveGaussianImageFilter.ZeroOrder, axis) if width else theirs
    ours = gr.smooth(head, sigma, device=device)
    assert ours.array.dtype == np.float32
    assert relative_difference(ours.array, sitk.GetArrayFromImage(theirs)) < 1e-5
    flat = gr.smooth(np.full((8, 9, 10), 5.0), 2.0, device=device)
    np.testing.assert_allclose(flat, 5.0, rtol=1e-12)
    with pytest.raises(gr.BadInputError, match="more than 2000 voxels"):
        gr.smooth(head, [1.0, 1.0, 5001.0], device=device)


def test_pyramid(device):
    head = gr.Image(make_head().array, (1.0, 1.5, 2.5), (3.0, 4.0, 5.0), turn(10))
    levels = gr.pyramid(head, 3, device=device)
    assert levels[0] is head
    assert [level.array.shape for level in levels] == [(40, 48, 44), (40, 48, 22), (20, 16, 11)]
    for level in levels[1:]:
        # The image is at the head's position, as a head with such voxels would be.
        centre = lambda image: (image.index_to_point @ np.append((np.array(image.size) - 1) / 2, 1))[:3]
        np.testing.assert_allclose(centre(level), centre(head), atol=1e-9)
        by_place = gr.resample(head, None, level, device=device)
        inside = np.s_[2:-2, 2:-2, 2:-2]
        assert relative_difference(level.array[inside], by_place.array[inside]) < 0.15
    ones = gr.pyramid(np.ones((16, 16, 16), np.uint8), 2, device=device)
    assert ones[1].shape == (8, 8, 8) and (ones[1] == 1).all()


@pytest.mark.parametrize("interpolation", ["nearest", "linear", "bspline"])
@pytest.mark.parametrize("behind", [None, gr.Affine(turn(3), [2.0, -1.0, 0.5])])
def test_splines_as_on_the_host(device, rng, interpolation, behind):
    """Follows rows that are longer than a group of lanes, and whose last group is not full."""
    labels = gr.Image((np.indices((24, 27, 71)).sum(0) // 9 % 9).astype(np.uint8), (2.0,) * 3)
    spline = gr.BSpline(rng.normal(0, 2, (10, 10, 18, 3)), (10.0,) * 3, (-15.0,) * 3)
    transform = gr.Composite([spline, behind]) if behind else spline
    ours, theirs = (gr.resample(labels, transform, labels, interpolation, device=one).array.astype(int) for one in (device, "host"))
    assert (np.abs(ours - theirs) > (interpolation != "nearest")).mean() < 1e-4
