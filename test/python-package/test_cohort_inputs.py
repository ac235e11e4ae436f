# SPDX-License-Identifier: Apache-2.0
"""Tests what a cohort's pairs are made of: inputs that do not fit to each other are refused, and slices are as of two dimensions."""

import gpuregistration as gr
import numpy as np
import pytest
from conftest import make_head
from gpuregistration.cohort.pair import Job, compute, read
from gpuregistration.cohort.pair import _compute_dice as dice_of
from gpuregistration.cohort.settings import Settings
from gpuregistration.cohort.table import Row
from gpuregistration.stages import read_stages

pytest.importorskip("SimpleITK")

FLAT = {"shape": (48, 44), "spacing": (2.0, 2.0), "origin": (-45.0, -50.0)}


def as_slice(image, thin=2, height=7.0):
    """Returns an image of two dimensions as a slice of 3 mm at a height along an axis."""
    along = [axis for axis in range(3) if axis != thin]
    spacing, origin = np.full(3, 3.0), np.full(3, height)
    spacing[along], origin[along] = image.spacing, image.origin
    return gr.Image(np.expand_dims(image.array, 2 - thin), spacing, origin)


def job_of(folder, **images):
    """Writes images, and returns the job of the pair that they are."""
    for name, image in images.items():
        gr.write_image(folder / f"{name}.nii.gz", image)
    files = {name: str(folder / f"{name}.nii.gz") for name in images}
    return Job(Row("one", files), Settings(read_stages("rigid", None)), folder / "one")


def labels_of(image):
    return image.like((image.array // 40).astype(np.uint8))


def test_dice_of_slices_is_that_of_images_of_two_dimensions(tmp_path):
    """Slices at different heights lie on each other before the registration, too."""
    flat = {"fixed": make_head(**FLAT), "moving": make_head(lambda point: point + 3.0, **FLAT)}
    flat.update({"labels": labels_of(flat["moving"]), "fixed_labels": labels_of(flat["fixed"])})
    heights = {"fixed": 7.0, "moving": 40.0, "labels": 40.0, "fixed_labels": 7.0}
    found = []
    for name, images in (("flat", flat), ("slices", {which: as_slice(image, height=heights[which]) for which, image in flat.items()})):
        (tmp_path / name).mkdir()
        job = job_of(tmp_path / name, **images)
        inputs = read(job)
        found.append(dice_of(inputs.images, compute(job, inputs, "host")))
    assert found[0] == found[1] and all(0.3 < before < after for before, after in found[0].values())


@pytest.mark.parametrize(
    "which, thin, height, message",
    [
        ("labels", 2, 13.0, "labels.nii.gz and the file .*moving.nii.gz are different slices: their planes are 6 mm apart"),
        ("labels", 1, 7.0, "labels.nii.gz and the file .*moving.nii.gz are slices of different planes, 90 degrees apart"),
        ("fixed_labels", 2, 13.0, "fixed_labels.nii.gz is on another grid than the file .*fixed.nii.gz"),
        ("moving_mask", 2, 13.0, "moving_mask.nii.gz is on another grid than the file .*moving.nii.gz"),
        ("moving", 1, 7.0, "fixed.nii.gz and the file .*moving.nii.gz are slices of different planes, 90 degrees apart"),
    ],
)
def test_slices_that_do_not_fit(tmp_path, which, thin, height, message):
    fixed, moving = make_head(**FLAT), make_head(lambda point: point + 3.0, **FLAT)
    images = {"fixed": fixed, "moving": moving, "labels": labels_of(moving), "fixed_labels": labels_of(fixed), "moving_mask": labels_of(moving)}
    if which == "moving":
        images = {name: images[name] for name in ("fixed", "moving")}
    at = {name: (2, 7.0) for name in images}
    at[which] = (thin, height)
    job = job_of(tmp_path, **{name: as_slice(image, *at[name]) for name, image in images.items()})
    with pytest.raises(gr.BadInputError, match=message):
        read(job)
