# SPDX-License-Identifier: Apache-2.0
"""Bad input of the dense stages is an exception that says what, where and what to do; odd input gives what the same in a plain form does."""

import gpuregistration as gr
import numpy as np
import pytest
from gpuregistration.stages import Greedy, SyN, Velocity
from test_greedy import make_pair

DENSE = [Greedy, SyN, Velocity]
FEW = {"iterations": (4, 3), "step": 0.25}


@pytest.fixture(scope="module")
def pair():
    return make_pair(2)[:2]


@pytest.fixture(scope="module")
def volumes():
    return [image.array for image in make_pair(3)[:2]]


def register(fixed, moving, stage, device="host", **settings):
    return gr.register(fixed, moving, stage, device=device, **settings)


def field_of(fixed, moving, stage, device="host", **settings):
    return register(fixed, moving, stage, device, **settings).displacement_field.array


def spoil(image, value):
    array = image.array.copy()
    array[3, 4] = value
    return gr.Image(array)


@pytest.mark.parametrize("kind", DENSE)
@pytest.mark.parametrize("which", ["fixed", "moving"])
@pytest.mark.parametrize(
    "change, message",
    [
        (lambda image: gr.Image(np.full_like(image.array, 3)), "{} image is constant"),
        (lambda image: spoil(image, np.nan), r"{} image has 1 value that is infinite or not a number.*\(3, 4\)"),
        (lambda image: spoil(image, -np.inf), r"{} image has 1 value that is infinite or not a number.*\(3, 4\)"),
        (lambda image: gr.Image(np.stack([image.array] * 5)), "fixed image has [23] dimensions and the moving image [23]"),
    ],
)
def test_images(device, pair, kind, which, change, message):
    images = dict(zip(("fixed", "moving"), pair))
    images[which] = change(images[which])
    with pytest.raises(gr.BadInputError, match=message.format(which)):
        register(images["fixed"], images["moving"], kind(**FEW), device)


@pytest.mark.parametrize("kind", DENSE)
def test_overlap_and_masks(device, pair, kind):
    fixed, moving = pair
    columns = np.broadcast_to(np.arange(fixed.shape[1]), fixed.shape)
    together = f"{kind.name}: .*begin with a transform that brings them together"
    for message, images, masks in (
        (together, (fixed, gr.Image(moving.array, origin=(1e5, 0))), {}),
        (together, pair, {"fixed_mask": columns < 9, "moving_mask": columns > 30}),
        ("No voxel of the fixed image is inside of its mask", pair, {"fixed_mask": columns < 0}),
        ("No voxel of the moving image is inside of its mask", pair, {"moving_mask": columns < 0}),
        ("moving image's mask is on another grid.*resample", pair, {"moving_mask": np.ones((3, 3))}),
    ):
        with pytest.raises(gr.BadInputError, match=message):
            register(*images, kind(**FEW), device, **masks)


@pytest.mark.parametrize(
    "stage, message",
    [
        (Greedy(step=0), "greedy: step=0 .*above 0"),
        (SyN(step=np.nan), "syn: step=nan .*above 0"),
        (Velocity(step=9), "velocity: step=9 .*above 0 and up to 5"),
        (Greedy(iterations=()), r"greedy: iterations=\(\) .*1 to 6 whole numbers"),
        (SyN(iterations=(1, -1)), "syn: iterations=-1"),
        (SyN(iterations=2_000_000), "syn: iterations=2000000 .*from 0 to 1000000"),
        (Greedy(iterations=0), "greedy: iterations=0 is not possible; one level at least is to have 1 or more"),
        (SyN(iterations=(0, 0)), r"syn: iterations=\(0, 0\) is not possible; one level"),
        (Velocity(iterations=[0, 0]), r"velocity: iterations=\[0, 0\] is not possible; one level"),
        (Greedy(update_sigma=25), "greedy: update_sigma=25 .*from 0 on and up to 20"),
        (Velocity(field_sigma=25), "velocity: field_sigma=25 .*up to 20"),
        (SyN(update_variance=1e4), "syn: update_variance=10000.0 .*up to 400"),
        (SyN(field_variance=-1), "syn: field_variance=-1"),
        (SyN(iterations=(2, 1), smoothing_sigmas=(50, 0)), "syn: a level's smoothing sigma of 50 voxels is longer than the fixed image"),
        (SyN(iterations=(2, 1), smoothing_sigmas=(1,)), "syn: smoothing_sigmas has 1 entries for 2 levels"),
        (SyN(iterations=(2, 1), smoothing_sigmas=(1e4, 1)), "syn: smoothing_sigmas=10000.0 .*up to 1000"),
        (SyN(iterations=(2, 1), shrink_factors=(1, 1, 1)), "syn: shrink_factors has 3 entries for 2 levels"),
        (SyN(iterations=(2, 1), shrink_factors=(90, 1)), "syn: a shrink factor is 90; it is to be 1 to 13"),
        (SyN(iterations=(2, 1), shrink_factors=(0, 1)), "syn: shrink_factors=0"),
        (Velocity(weights=(0, 0)), "velocity: .*then nothing moves"),
        (Greedy(weights=(1, 1e7)), "greedy: weights=10000000.0 .*up to 1e"),
        (Greedy(weights=(1, 0.5), optimizer="adam"), r"greedy: weights=\(1, 0.5\) .*adam.*give 0 or 1"),
        (Velocity(optimizer="adam"), "velocity: optimizer='adam'"),
        (Greedy(weights=(1,)), "greedy: weights=.*one number for each axis"),
        (Greedy(radius=0), "greedy: radius=0"),
        (SyN(radius=99), "syn: radius=99 .*from 1 to 32"),
        (Velocity("mattes_mutual_information", bins=2), "velocity: bins=2"),
        (Greedy(convergence_window=1), "greedy: convergence_window=1 .*from 2 to 1000000, or 0"),
        (Velocity(fixed_range=(2, 1)), r"velocity: fixed_range=\(2, 1\)"),
        (SyN(moving_range=(100, 200)), "syn: the range from 100 to 200 leaves nothing of the moving image"),
        (SyN("joint_histogram_mutual_information"), "syn: There is no similarity 'joint_histogram_mutual_information'"),
    ],
)
def test_settings(pair, stage, message):
    with pytest.raises(gr.BadInputError, match=message):
        register(*pair, stage)


@pytest.mark.parametrize("kind", DENSE)
def test_largest_settings_are_the_engines(pair, kind):
    """The engine takes what Python lets through."""
    smoothing = {"update_variance": 400, "field_variance": 400} if kind is SyN else {"update_sigma": 20, "field_sigma": 20}
    largest = kind(iterations=(1, 0), step=5, radius=32, weights=(1e6, 1e6), convergence_window=1_000_000, **smoothing)
    assert np.isfinite(field_of(*pair, largest)).all()
    # Nothing but neighborhoods has a radius.
    field_of(*pair, kind("mean_squares", radius=99, **FEW))


@pytest.mark.parametrize("kind", DENSE)
def test_works_after_errors(device, pair, kind):
    """With the engine that the errors have left."""
    wanted = field_of(*pair, kind(**FEW), device)
    away = gr.Image(pair[1].array, origin=(1e5, 0))
    for _ in range(3):
        with pytest.raises(gr.BadInputError):
            register(pair[0], away, kind(**FEW), device)
        np.testing.assert_array_equal(field_of(*pair, kind(**FEW), device), wanted)


@pytest.mark.parametrize("kind", DENSE)
@pytest.mark.parametrize("exponent", [-100, 100])
def test_values_of_any_magnitude(device, pair, kind, exponent):
    scaled = [gr.Image(np.ldexp(image.array, exponent)) for image in pair]
    np.testing.assert_array_equal(field_of(*scaled, kind(**FEW), device), field_of(*pair, kind(**FEW), device))
    if exponent > 0:
        assert np.abs(field_of(*scaled, kind("demons", **FEW), device)).max() > 0.2
    else:
        with pytest.raises(gr.BadInputError, match=f"{kind.name}: demons take values that differ by less than 0.001"):
            register(*scaled, kind("demons", **FEW), device)


@pytest.mark.parametrize("kind", DENSE)
def test_types_of_numbers(device, pair, kind):
    whole = [np.round(100 * image.array) for image in pair]
    wanted = field_of(*[gr.Image(array.astype(np.float32)) for array in whole], kind(**FEW), device)
    for dtype in (np.uint16, np.int32, np.uint64, np.float64, ">i2"):
        found = field_of(*[gr.Image(array.astype(dtype)) for array in whole], kind(**FEW), device)
        np.testing.assert_allclose(found, wanted, atol=1e-4)
    masks = [gr.Image(image.array > 1) for image in pair]
    assert np.abs(field_of(*masks, kind(**FEW), device)).max() > 0.2


@pytest.mark.parametrize("kind", DENSE)
def test_grids_anywhere(device, pair, kind):
    wanted = field_of(*pair, kind(**FEW), device)
    for spacing, origin in ((1, 1e5), (0.05, -3), (25, 7)):
        images = [gr.Image(image.array, (spacing, spacing), (origin, -origin)) for image in pair]
        np.testing.assert_allclose(field_of(*images, kind(**FEW), device) / spacing, wanted, atol=1e-3)


@pytest.mark.parametrize("kind", DENSE)
def test_arrays_of_any_layout(device, pair, kind):
    """As programs make them: in Fortran's order, with strides, and read-only."""
    wanted = field_of(*pair, kind(**FEW), device)
    arrays = [image.array for image in pair]
    read_only = [array.copy() for array in arrays]
    for array in read_only:
        array.setflags(write=False)
    for odd in ([np.asfortranarray(a) for a in arrays], [np.repeat(a, 2, axis=1)[:, ::2] for a in arrays], read_only):
        np.testing.assert_array_equal(field_of(*odd, kind(**FEW), device), wanted)


@pytest.mark.parametrize("kind", DENSE)
def test_few_voxels_along_an_axis(device, volumes, kind):
    """One slice is an image of two dimensions; SyN does not register two, or one row."""
    fixed, moving = volumes
    wanted = field_of(fixed[12], moving[12], kind(**FEW), device)
    found = field_of(fixed[12:13], moving[12:13], kind(**FEW), device)
    np.testing.assert_allclose(found.reshape(*wanted.shape[:2], -1)[..., :2], wanted, atol=1e-4)
    for thin in ([a[12:14] for a in volumes], [a[12, 15:17] for a in volumes], [a[12, 15:16] for a in volumes]):
        if kind is SyN:
            with pytest.raises(gr.BadInputError, match="syn: the fixed image has .* along axis [12], and SyN.*greedy scheme or a velocity"):
                register(*thin, kind(**FEW), device)
        else:
            found = field_of(*thin, kind(**FEW), device)
            assert np.isfinite(found).all() and 0.1 < np.abs(found).max() < 3
