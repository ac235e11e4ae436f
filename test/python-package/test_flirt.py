# SPDX-License-Identifier: Apache-2.0
"""Tests FSL's matrices for files that define their geometry in several ways, or not at all."""

import itertools
import struct

import gpuregistration as gr
import numpy as np
import pytest
from command_line import assert_fails, gpureg_json
from gpuregistration._kinds import read_image

sitk = pytest.importorskip("SimpleITK")
nibabel = pytest.importorskip("nibabel")

SIZE, SPACING = (11, 21, 31), (2.0, 3.0, 4.0)
# Directions of a voxel's axes, to right, anterior and superior: with a positive determinant, with a negative one, and rotated, with a
# positive one.
RIGHT, LEFT = np.diag([1.0, 1.0, 1.0]), np.diag([-1.0, 1.0, 1.0])
DOWN = np.array([[0.0, 0, 1], [1, 0, 0], [0, -1, 0]])
QUATERNIONS = {id(RIGHT): (1, 0, 0, 0), id(LEFT): (-1, 0, 1, 0)}


def write_nifti(path, sform_code=0, qform_code=0, sform=RIGHT, qform=RIGHT, offset=(5.0, -7.0, 9.0)):
    """Writes a NIfTI-1 file of random values, byte by byte."""
    values = np.random.default_rng(3).integers(1, 200, SIZE, np.uint8)
    header = bytearray(352)
    qfac, b, c, d = QUATERNIONS[id(qform)]
    struct.pack_into("<i", header, 0, 348)
    struct.pack_into("<8h", header, 40, 3, *SIZE, 1, 1, 1, 1)
    struct.pack_into("<2h", header, 70, 2, 8)
    struct.pack_into("<8f", header, 76, qfac, *SPACING, 1, 1, 1, 1)
    struct.pack_into("<f", header, 108, 352)
    struct.pack_into("<b", header, 123, 2)
    struct.pack_into("<2h6f", header, 252, qform_code, sform_code, b, c, d, *offset)
    struct.pack_into("<12f", header, 280, *np.column_stack([sform * SPACING, offset]).ravel())
    header[344:348] = b"n+1\0"
    path.write_bytes(bytes(header) + values.tobytes(order="F"))


def fsl_mm(voxel, is_turned):
    """Returns FSL's coordinates of a voxel."""
    x, y, z = voxel
    return np.array([(SIZE[0] - 1 - x if is_turned else x) * SPACING[0], y * SPACING[1], z * SPACING[2]])


READERS = {
    "file": gr.read_image,
    "nibabel": nibabel.load,
    "SimpleITK": lambda path: sitk.ReadImage(str(path)),
    "itk": lambda path: pytest.importorskip("itk").imread(str(path)),
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("sform_code, qform_code", itertools.product((0, 1, 4), (0, 2)))
@pytest.mark.parametrize("sform, qform", [(RIGHT, RIGHT), (LEFT, LEFT), (DOWN, LEFT)], ids=["right", "left", "down"])
def test_x_as_fsl_counts_it(tmp_path, rng, reader, sform_code, qform_code, sform, qform):
    """FSL's rule, of fslio, newimage and FLIRT identically: x is counted from the other end if the determinant of the sform is above 0, or of
    the qform where the sform's code is 0, and not where both codes are."""
    write_nifti(tmp_path / "fixed.nii", sform_code, qform_code, sform, qform)
    write_nifti(tmp_path / "moving.nii", 0, 1, RIGHT, RIGHT)
    fixed, moving = READERS[reader](tmp_path / "fixed.nii"), gr.read_image(tmp_path / "moving.nii")
    if sform_code:
        is_turned = np.linalg.det(sform) > 0
    else:
        is_turned = qform_code > 0 and np.linalg.det(qform) > 0
    # FLIRT's matrix maps the moving image's coordinates to the fixed one's.
    matrix = np.eye(4)
    matrix[:3] = np.column_stack([np.eye(3) + 0.1 * rng.normal(size=(3, 3)), rng.normal(size=3)])
    np.savetxt(tmp_path / "flirt.mat", matrix)
    transform = gr.read_transform(tmp_path / "flirt.mat", fixed, moving)
    grid = read_image(fixed, "fixed")[0]
    for voxel in ((0, 0, 0), (10, 20, 30), (3, 4, 5)):
        there = transform.transform_points((grid.index_to_point @ [*voxel, 1])[:3])
        found = np.linalg.solve(moving.index_to_point, [*there, 1])[:3]
        leads_to = matrix[:3] @ [*fsl_mm(found, is_turned=True), 1]
        np.testing.assert_allclose(leads_to, fsl_mm(voxel, is_turned), atol=1e-4)
    gr.write_transform(tmp_path / "again.mat", transform, fixed, moving, "fsl")
    np.testing.assert_allclose(np.loadtxt(tmp_path / "again.mat"), matrix, atol=1e-5)


def test_the_command_applies_it(tmp_path, capfd):
    """In files without a geometry, a shift by two voxels of FSL's x is one by two voxels of the array."""
    write_nifti(tmp_path / "a.nii")
    shift = np.eye(4)
    shift[0, 3] = 2 * SPACING[0]
    np.savetxt(tmp_path / "shift.mat", shift)
    words = ("apply", tmp_path / "a.nii", "-o", tmp_path / "o.mha", "-t", tmp_path / "shift.mat", "--device", "host")
    assert_fails(capfd, 2, "shift.mat is FSL's", "--reference", None, *words)
    assert_fails(capfd, 2, "shift.mat is FSL's", "--reference", None, *words, "--inverse")
    assert not (tmp_path / "o.mha").exists()
    gpureg_json(capfd, *words, "--reference", tmp_path / "a.nii")
    before, after = gr.read_image(tmp_path / "a.nii").array, gr.read_image(tmp_path / "o.mha").array
    # The matrix maps the image to the reference: what was at x is at x + 2.
    assert (after[..., 2:] == before[..., :-2]).all() and (after[..., :2] == 0).all()


def test_another_array_lies_as_the_image_does(tmp_path):
    """Compares SimpleITK's image of a file without a geometry with another array that has the same geometry."""
    write_nifti(tmp_path / "a.nii")
    image = read_image(sitk.ReadImage(str(tmp_path / "a.nii")), "fixed")[0]
    np.savetxt(tmp_path / "flirt.mat", np.diag([1.0, 1.0, 1.0, 1.0]) + np.eye(4, k=3) * 4.0)
    wanted = gr.read_transform(tmp_path / "flirt.mat", image, image).matrix_of()
    other = image.like(image.array.astype(np.float32))
    assert (gr.read_transform(tmp_path / "flirt.mat", other, other).matrix_of() == wanted).all()
    # The matrix shifts towards +x of voxels, as in the array.
    assert wanted[0, 3] * image.direction[0, 0] == pytest.approx(-4.0)
