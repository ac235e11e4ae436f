# SPDX-License-Identifier: Apache-2.0
"""Tests masks and labels whose headers differ from their images': so little that no voxel's value changes, or more."""

import gpuregistration as gr
import numpy as np
import pytest
from command_line import assert_fails, gpureg_json
from conftest import turn
from gpuregistration._sides import check_grid


def shifted(image, voxels=(0.0, 0.0, 0.0), spacing=1.0, direction=None):
    """Returns the same array with shifted voxels."""
    origin = image.origin + image.direction @ (np.array(voxels) * image.spacing)
    return gr.Image(image.array, image.spacing * spacing, origin, image.direction if direction is None else direction)


@pytest.fixture(scope="module")
def masked(heads):
    fixed, moving = (image.like(image.array) for image in heads)
    fixed.direction = turn(20.0)
    mask = fixed.like((fixed.array > 20).astype(np.uint8))
    return fixed, moving, mask


# For 40 x 48 x 44 voxels, a shift of half a voxel at the corner is 1.06 % of the spacing, or a rotation by 0.6 degrees.
LITTLE = {
    "last digit": dict(voxels=(1e-6, -2e-6, 1e-6)),
    "two decimals": dict(voxels=(0.004, -0.004, 0.002)),
    "spacing of three digits": dict(spacing=1.0009),
    "nearly half": dict(voxels=(0.49, -0.49, 0.49)),
    "a little turned": dict(direction=turn(20.3)),
}
MUCH = {
    "half": (dict(voxels=(0.0, 0.5, 0.0)), r"up to 1 mm, 0.5 voxels, apart, of origin"),
    "more": (dict(voxels=(3.0, 0.0, 0.0)), r"up to 6 mm, 3 voxels, apart, of origin \[.*\] and not \[-40.0"),
    "spacing": (dict(spacing=1.02), r"voxels, apart, of spacing \[2.04, 2.04, 2.04\] and not \[2.0, 2.0, 2.0\]"),
    "direction": (dict(direction=turn(22)), r"apart, of direction \["),
}


@pytest.mark.parametrize("what", LITTLE)
def test_what_changes_no_voxels_answer(masked, what):
    fixed, moving, mask = masked
    other = shifted(mask, **LITTLE[what])
    # The nearest voxel of the mask to each of the image's voxels has the same index.
    assert (gr.resample(other, None, fixed, "nearest", extrapolate=True, device="host").array == mask.array).all()
    assert gr.register(fixed, moving, fixed_mask=other, device="host").cost == gr.register(fixed, moving, fixed_mask=mask, device="host").cost


@pytest.mark.parametrize("what", MUCH)
def test_more_bytes_are_reported_by_their_number(masked, what):
    fixed, moving, mask = masked
    change, text = MUCH[what]
    with pytest.raises(gr.BadInputError, match=f"fixed image's mask is on another grid than the fixed image: .*{text}.*resample"):
        gr.register(fixed, moving, fixed_mask=shifted(mask, **change), device="host")


@pytest.mark.parametrize("corner", range(8))
def test_every_corner_counts(corner):
    """A shear moves one corner more than all others, whichever corner that is."""
    image = gr.Image(np.zeros((10, 20, 30)))
    signs = np.array([1 if corner >> axis & 1 else -1 for axis in range(3)])
    # Moves this corner, and its opposite, outwards by more than half a voxel, and the others by less.
    direction = np.eye(3) + 0.012 * np.outer([1, 0, 0], signs)
    centre = np.array([14.5, 9.5, 4.5])
    other = gr.Image(image.array, direction=direction, origin=centre - direction @ centre)
    apart = 0.012 * centre.sum()
    index = np.where(signs > 0, 2 * centre, 0)
    assert abs((direction @ index + other.origin - index)[0]) == pytest.approx(apart)
    check_grid(gr.Image(image.array, direction=np.eye(3) + (direction - np.eye(3)) * 0.9, origin=0.9 * other.origin), image, "a", "b", "", False)
    nearly = np.eye(3) + (direction - np.eye(3)) * 1.5
    with pytest.raises(gr.BadInputError, match="apart"):
        check_grid(gr.Image(image.array, direction=nearly, origin=centre - nearly @ centre), image, "a", "b", "", False)


def test_files_with_rounded_headers(head_files, heads, tmp_path, capfd):
    sitk = pytest.importorskip("SimpleITK")
    mask = sitk.ReadImage(str(head_files.mask))
    mask.SetOrigin([value + 3e-3 for value in mask.GetOrigin()])
    mask.SetSpacing([value * 1.00001 for value in mask.GetSpacing()])
    sitk.WriteImage(mask, str(tmp_path / "m.nii.gz"))
    words = ("register", head_files.fixed, head_files.moving, "-o", tmp_path / "o.nii.gz", "--device", "host")
    found = gpureg_json(capfd, *words, "--mask", tmp_path / "m.nii.gz")
    assert found["cost"] == gpureg_json(capfd, *words, "--mask", head_files.mask)["cost"]
    compare = ("compare", head_files.fixed, head_files.moving, "--device", "host", "--mask")
    by_mask, by_other = (gpureg_json(capfd, *compare, path)["metrics"] for path in (head_files.mask, tmp_path / "m.nii.gz"))
    assert by_mask == by_other
    mask.SetOrigin([value + 4 for value in mask.GetOrigin()])
    sitk.WriteImage(mask, str(tmp_path / "m.nii.gz"))
    text = (f"{tmp_path}/m.nii.gz is on another grid", "mm", "2 voxels, apart", "gpureg apply")
    assert_fails(capfd, 1, *text, None, *words, "--mask", tmp_path / "m.nii.gz", "--quiet")


@pytest.mark.parametrize(
    "shape, text",
    [((7,), "1 dimensions.*the axes that it lacks"), ((4, 5, 6, 7), "4 dimensions.*hand in one volume")],
)
def test_arrays_of_other_dimensions(shape, text):
    with pytest.raises(gr.BadInputError, match=text):
        gr.Image(np.zeros(shape))
