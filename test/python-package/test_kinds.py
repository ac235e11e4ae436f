# SPDX-License-Identifier: Apache-2.0
"""Tests that images of other libraries are accepted by their type, and that results have the same type."""

import pickle
import subprocess
import sys

import gpuregistration as gr
import numpy as np
import pytest
from conftest import make_head, turn
from gpuregistration._kinds import read_image, to_itk, to_nibabel, to_simpleitk

DIRECTION = turn(20) @ np.array([[0, 0, 1], [1, 0, 0], [0, 1, 0.0]])


@pytest.fixture
def oblique(rng):
    """Returns an image with axes of different lengths, rotated, and far from the origin."""
    return gr.Image(rng.normal(size=(4, 5, 6)).astype(np.float32), (0.7, 1.3, 2.1), (-31.0, 12.5, 4.25), DIRECTION)


MAKERS = {"SimpleITK": to_simpleitk, "itk": to_itk, "nibabel": to_nibabel}


@pytest.mark.parametrize("library", MAKERS)
def test_there_and_back(library, oblique):
    pytest.importorskip(library)
    made = MAKERS[library](oblique)
    image, wrap = read_image(made, "tested")
    np.testing.assert_array_equal(image.array, oblique.array)
    assert image.has_grid_of(oblique)
    np.testing.assert_allclose(image.index_to_point, oblique.index_to_point, atol=2e-6)
    assert type(wrap(image)) is type(made)


def test_simpleitk_and_nibabel_read_a_file_the_same(oblique, tmp_path):
    """The file distinguishes RAS from LPS: each library reads it in its own way."""
    sitk, nibabel = pytest.importorskip("SimpleITK"), pytest.importorskip("nibabel")
    name = str(tmp_path / "image.nii.gz")
    sitk.WriteImage(to_simpleitk(oblique), name)
    by_sitk, _ = read_image(sitk.ReadImage(name), "first")
    by_nibabel, _ = read_image(nibabel.load(name), "second")
    np.testing.assert_array_equal(by_sitk.array, by_nibabel.array)
    np.testing.assert_allclose(by_sitk.index_to_point, by_nibabel.index_to_point, atol=1e-5)
    np.testing.assert_allclose(by_nibabel.index_to_point, oblique.index_to_point, atol=1e-5)
    # A voxel's point is nibabel's, with x and y negated.
    index = np.array([1, 2, 3])
    ras = nibabel.load(name).affine[:3] @ np.append(index, 1)
    np.testing.assert_allclose(by_nibabel.index_to_point[:3] @ np.append(index, 1), ras * [-1, -1, 1], atol=1e-5)
    back = str(tmp_path / "back.nii.gz")
    nibabel.save(to_nibabel(by_nibabel), back)
    again, _ = read_image(sitk.ReadImage(back), "third")
    np.testing.assert_array_equal(again.array, oblique.array)
    np.testing.assert_allclose(again.index_to_point, oblique.index_to_point, atol=1e-5)


@pytest.mark.parametrize("library", MAKERS)
def test_registration_gives_that_kind_and_the_same_transform(library, heads):
    pytest.importorskip(library)
    fixed, moving = [MAKERS[library](image) for image in heads]
    plain = gr.register(*heads, "rigid", device="host")
    result = gr.register(fixed, moving, "rigid", device="host")
    assert type(result.warped) is type(moving)
    np.testing.assert_allclose(result.transform.matrix_of(), plain.transform.matrix_of(), atol=1e-6)
    warped, _ = read_image(result.warped, "warped")
    np.testing.assert_allclose(warped.array, plain.warped.array, atol=1e-3)
    assert warped.has_grid_of(heads[0])


def test_kinds_may_be_mixed(heads):
    pytest.importorskip("SimpleITK")
    result = gr.register(heads[0], to_simpleitk(heads[1]), "rigid", fixed_mask=heads[0].array > 10, device="host")
    assert type(result.warped).__module__.startswith("SimpleITK")


def test_several_volumes_are_refused():
    nibabel = pytest.importorskip("nibabel")
    with pytest.raises(gr.BadInputError, match="slicer"):
        gr.smooth(nibabel.Nifti1Image(np.zeros((4, 5, 6, 7), np.float32), np.eye(4)), 1.0)
    one = gr.smooth(nibabel.Nifti1Image(np.ones((4, 5, 6, 1), np.float32), np.eye(4)), 1.0)
    assert one.shape == (4, 5, 6)


def test_itk_region_that_does_not_begin_at_zero():
    itk = pytest.importorskip("itk")
    whole = make_head(shape=(10, 11, 12))
    image = to_itk(whole)
    region = itk.ImageRegion[3]()
    region.SetIndex([2, 3, 4])
    region.SetSize([6, 5, 4])
    cropped = itk.extract_image_filter(image, extraction_region=region)
    read, _ = read_image(cropped, "cropped")
    np.testing.assert_array_equal(read.array, whole.array[4:8, 3:8, 2:8])
    np.testing.assert_allclose(read.origin, (whole.index_to_point @ [2, 3, 4, 1])[:3])


def test_libraries_are_not_imported_for_arrays():
    code = (
        "import sys, numpy as np, gpuregistration as gr; rng = np.random.default_rng(0); a = rng.normal(size=(16, 16, 16)); "
        "gr.register(a, a, device='host').warped; "
        "print([name for name in ('SimpleITK', 'itk', 'nibabel', 'torch', 'cupy') if name in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_label_maps_are_refused():
    sitk = pytest.importorskip("SimpleITK")
    labels = sitk.Cast(sitk.GetImageFromArray(np.eye(5, dtype=np.uint8)), sitk.sitkLabelUInt8)
    with pytest.raises(gr.BadInputError, match="LabelMapToLabel"):
        gr.resample(labels, device="host")


def test_geometry_is_of_arrays(heads):
    with pytest.raises(gr.BadInputError, match="spacing is of bare arrays"):
        gr.register(*heads, spacing=(3, 3, 3), device="host")
    with pytest.raises(gr.BadInputError, match="moving image is a file's name, m.nii"):
        gr.register(heads[0].array, "m.nii", device="host")
    with pytest.raises(gr.BadInputError, match="moving image is of type .*NoneType"):
        gr.register(heads[0].array, None, device="host")


@pytest.mark.parametrize("kind", ["array", "Image", "SimpleITK"])
def test_results_can_be_pickled(heads, kind):
    if kind == "SimpleITK":
        pytest.importorskip("SimpleITK")
    images = [image.array if kind == "array" else gr._kinds.to_simpleitk(image) if kind == "SimpleITK" else image for image in heads]
    result = gr.register(*images, "rigid", device="host")
    again = pickle.loads(pickle.dumps(result))
    assert type(again.warped) is type(result.warped) and again.cost == result.cost
