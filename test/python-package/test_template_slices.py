# SPDX-License-Identifier: Apache-2.0
"""Tests templates of slices that are stored as images of three dimensions: planes and masks that do not fit are refused."""

import gpuregistration as gr
import numpy as np
import pytest
from template_data import QUICK, build_here, make_person, write_nowhere

pytest.importorskip("SimpleITK")
pytest.importorskip("distributed")


def as_slice(image, thin=2, height=7.0):
    """Returns an image of two dimensions as a slice of 3 mm at a height along an axis."""
    along = [axis for axis in range(3) if axis != thin]
    spacing, origin = np.full(3, 3.0), np.full(3, height)
    spacing[along], origin[along] = image.spacing, image.origin
    return gr.Image(np.expand_dims(image.array, 2 - thin), spacing, origin)


def flat_person(shift=0.0):
    """Returns a slice of a person as an image of two dimensions."""
    whole = make_person(lambda point: 0 * point + shift)
    return gr.Image(whole.array[14], whole.spacing[:2], whole.origin[:2])


@pytest.fixture
def slices(tmp_path):
    """Writes slices of one plane, each at another height, and returns the rows of their table."""
    rows = []
    for n in range(3):
        gr.write_image(tmp_path / f"{n}.nii.gz", as_slice(flat_person(n), height=7.0 * n))
        rows.append({"image": tmp_path / f"{n}.nii.gz"})
    return rows


def of_slices(patch, rows, out, **settings):
    return build_here(patch, rows, out, **{"rounds": 1, "transform": ["rigid"], **settings})[0]


def test_slices_are_of_two_dimensions(slices, patch, tmp_path):
    """Slices of one plane may lie at any height. A mask and a second modality are of the same slice."""
    template = of_slices(patch, slices, tmp_path / "out")
    assert gr.read_image(template.files[0]).dimension == 2
    image = gr.read_image(slices[0]["image"])
    gr.write_image(tmp_path / "mask.nii.gz", image.like((image.array > 40).astype(np.uint8)))
    slices[0]["mask"] = tmp_path / "mask.nii.gz"
    masked = of_slices(patch, slices, tmp_path / "masked")
    assert masked.rounds[1].record["initial"]["0001"] != template.rounds[1].record["initial"]["0001"]
    both = [{**row, "image2": row["image"]} for row in slices]
    assert len(of_slices(patch, both, tmp_path / "both", transform=QUICK).files) == 2


@pytest.mark.parametrize("where", ["image", "image2", "grid"])
def test_slices_of_other_planes(slices, patch, tmp_path, where):
    other, settings = tmp_path / "coronal.nii.gz", {"transform": QUICK}
    gr.write_image(other, as_slice(flat_person(), 1))
    if where == "grid":
        settings["grid"] = other
        names = f"image file {slices[0]['image']} of row 1 and the file {other}"
    else:
        if where == "image2":
            slices = [{**row, "image2": row["image"]} for row in slices]
        slices[1][where] = other
        names = f"{where} file {other} of row 2 and the file {slices[0]['image']}"
    with pytest.raises(gr.BadInputError, match=f"^round 0: The {names} are slices of different planes, 90 degrees apart"):
        of_slices(patch, slices, tmp_path / "out", **settings)


def test_a_mask_of_another_slice(slices, patch, tmp_path):
    image = gr.read_image(slices[1]["image"])
    mask = gr.Image((image.array > 40).astype(np.uint8), image.spacing, image.origin + [0, 0, 6.0], image.direction)
    gr.write_image(tmp_path / "mask.nii.gz", mask)
    slices[1]["mask"] = tmp_path / "mask.nii.gz"
    with pytest.raises(gr.BadInputError, match="^round 1, 0002: The file .*mask.nii.gz is on another grid than the file .*1.nii.gz: .* 6 mm, 2 voxels, apart"):
        of_slices(patch, slices, tmp_path / "out")


def test_a_modality_of_another_slice(slices, patch, tmp_path):
    image = gr.read_image(slices[1]["image"])
    gr.write_image(tmp_path / "other.nii.gz", gr.Image(image.array, image.spacing, image.origin + [0, 0, 6.0], image.direction))
    rows = [{**row, "image2": row["image"]} for row in slices]
    rows[1]["image2"] = tmp_path / "other.nii.gz"
    message = "^round 0: The image2 file .*other.nii.gz of row 2 and the image file .*1.nii.gz are different slices: their planes are 6 mm apart"
    with pytest.raises(gr.BadInputError, match=message):
        of_slices(patch, rows, tmp_path / "out", transform=QUICK)


def test_warnings_of_a_slices_file(slices, patch, tmp_path):
    pytest.importorskip("nibabel")
    slices[1]["image"] = write_nowhere(gr.read_image(slices[1]["image"]), tmp_path / "nowhere.nii.gz")
    (warning,) = (one for one in of_slices(patch, slices, tmp_path / "out").warnings if "nowhere" in one)
    assert warning.startswith("0002: ") and "does not say where it lies" in warning
