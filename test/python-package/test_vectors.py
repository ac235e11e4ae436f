# SPDX-License-Identifier: Apache-2.0
"""Tests images of several numbers for each voxel: colours and vectors."""

import gpuregistration as gr
import numpy as np
import pytest
from conftest import make_head, relative_difference, turn
from gpuregistration._kinds import to_itk, to_nibabel, to_simpleitk

MOVE = gr.Affine(turn(7), [1.234, 2.345, 3.456], [3, 2, 1])


@pytest.fixture
def colours():
    """Returns a head in three colours."""
    head = make_head()
    parts = [head.array, 200 - head.array, head.array[::-1]]
    return gr.Image(
        np.stack(parts, axis=-1).clip(0, 255).astype(np.uint8), head.spacing, head.origin, head.direction, is_vector=True
    )


def part(image, n):
    return gr.Image(image.array[..., n], image.spacing, image.origin, image.direction)


def test_what_they_say(colours):
    assert (colours.dimension, colours.components, colours.is_vector) == (3, 3, True)
    assert colours.shape == (40, 48, 44) and colours.size == (44, 48, 40)
    assert "is_vector=True" in repr(colours)
    plain = part(colours, 0)
    assert (plain.components, plain.is_vector) == (1, False) and plain.has_grid_of(colours)
    assert colours.like(plain.array).components == 1 and plain.like(colours.array).components == 3
    with pytest.raises(gr.BadInputError, match="does not fit"):
        colours.like(colours.array[1:])


@pytest.mark.parametrize("interpolation", ["linear", "nearest", "bspline"])
@pytest.mark.parametrize("kind", ["u1", "f4", "f8"])
def test_resampling_is_that_of_each_component(device, colours, interpolation, kind):
    image = colours.like(colours.array.astype(kind))
    made = gr.resample(image, MOVE, None, interpolation, default=9, device=device)
    assert made.is_vector and made.array.dtype == np.dtype(kind)
    for n in range(3):
        alone = gr.resample(part(image, n), MOVE, None, interpolation, default=9, device=device).array
        if kind == "u1":
            # If the exact value is a half, its last digit decides.
            assert np.abs(made.array[..., n].astype(int) - alone).max() <= 1
            assert (made.array[..., n] != alone).mean() < 1e-3
        else:
            assert relative_difference(made.array[..., n], alone) < 1e-6


def test_resampling_of_two_dimensions_on_another_grid(device, colours):
    image = gr.Image(colours.array[20], (2.0, 3.0), is_vector=True)
    grid = gr.Image(np.zeros((30, 35)), (2.5, 2.5))
    made = gr.resample(image, gr.Affine(turn(5, 2)), grid, device=device)
    assert made.array.shape == (30, 35, 3) and made.dimension == 2 and made.has_grid_of(grid)
    alone = gr.resample(part(image, 1), gr.Affine(turn(5, 2)), grid, device=device)
    assert np.abs(made.array[..., 1].astype(int) - alone.array).max() <= 1
    # The grid may be that of a colour image, too.
    assert not gr.resample(grid, None, image, device=device).is_vector


def test_smoothing_is_that_of_each_component(device, colours):
    image = colours.like(colours.array.astype(np.float32))
    made = gr.smooth(image, (2.0, 0.0, 3.0), device)
    for n in range(3):
        alone = gr.smooth(part(image, n), (2.0, 0.0, 3.0), device)
        assert relative_difference(made.array[..., n], alone.array) < 1e-6


def test_simpleitk(device, colours):
    sitk = pytest.importorskip("SimpleITK")
    image = to_simpleitk(colours)
    assert image.GetNumberOfComponentsPerPixel() == 3
    ours = gr.resample(image, MOVE, device=device)
    theirs = sitk.Resample(image, image, MOVE.to_simpleitk(), sitk.sitkLinear, 0)
    assert ours.GetPixelID() == theirs.GetPixelID()
    difference = sitk.GetArrayFromImage(ours).astype(int) - sitk.GetArrayFromImage(theirs)
    assert np.abs(difference).max() <= 1


def test_itk(colours):
    itk = pytest.importorskip("itk")
    made = gr.smooth(to_itk(colours), 0.0, "host")
    assert made.GetNumberOfComponentsPerPixel() == 3
    np.testing.assert_array_equal(itk.array_from_image(made), colours.array)


def test_files(colours, tmp_path):
    pytest.importorskip("SimpleITK")
    gr.write_image(tmp_path / "colours.mha", colours)
    read = gr.read_image(tmp_path / "colours.mha")
    assert read.is_vector and read.has_grid_of(colours)
    np.testing.assert_array_equal(read.array, colours.array)


def test_they_are_not_registered(colours):
    plain = part(colours, 0)
    for use in (
        lambda: gr.register(colours, plain),
        lambda: gr.register(plain, colours),
        lambda: gr.metric("mean_squares", colours, plain),
        lambda: gr.register(plain, plain, fixed_mask=colours),
        lambda: gr.pyramid(colours, 2),
    ):
        with pytest.raises(gr.BadInputError, match=r"3 components a voxel.*\[\.\.\., 0\]"):
            use()


def test_shapes_that_are_not_possible():
    for shape in ((4, 5), (2, 3, 4, 5, 6)):
        with pytest.raises(gr.BadInputError, match="component"):
            gr.Image(np.zeros(shape), is_vector=True)
    with pytest.raises(gr.BadInputError, match="is_vector"):
        gr.Image(np.zeros((4, 5, 6, 3)))


def test_nibabel_has_them_along_the_fifth_axis_or_as_colours(colours):
    nibabel = pytest.importorskip("nibabel")
    made = to_nibabel(colours)
    assert made.shape == (44, 48, 40, 1, 3) and int(made.header["intent_code"]) == 1007
    of_colours = nibabel.Nifti1Image(
        np.ascontiguousarray(colours.array).view([(name, "u1") for name in "RGB"])[..., 0].T, made.affine
    )
    for image in (made, of_colours):
        again = gr.resample(image, device="host")
        assert again.shape == image.shape and again.get_data_dtype() == image.get_data_dtype()
        assert (np.asarray(again.dataobj) == np.asarray(image.dataobj)).all()
