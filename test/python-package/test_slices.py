# SPDX-License-Identifier: Apache-2.0
"""Tests one slice stored as a three-dimensional image: the results equal those of the same two-dimensional image."""

import gpuregistration as gr
import numpy as np
import pytest
from command_line import assert_fails, gpureg_json
from conftest import assert_within_record, make_head, turn
from gpuregistration import _slices

sitk = pytest.importorskip("SimpleITK")

MOVED = gr.Affine(turn(6.0, 2), [5.0, -3.0])
FLAT = {"shape": (48, 44), "spacing": (2.0, 2.0), "origin": (-45.0, -50.0)}
# The axis with one voxel.
THIN = {"axial": 2, "coronal": 1, "sagittal": 0}


@pytest.fixture(scope="module")
def flat():
    return make_head(**FLAT), make_head(MOVED.inverse().transform_points, **FLAT)


def as_slice(image, thin=2, height=7.0, thickness=3.0):
    """Returns a two-dimensional image as a slice at a height along an axis."""
    along = [axis for axis in range(3) if axis != thin]
    spacing, origin, direction = np.full(3, thickness), np.full(3, height), np.eye(3)
    spacing[along], origin[along] = image.spacing, image.origin
    direction[np.ix_(along, along)] = image.direction
    return gr.Image(np.expand_dims(image.array, 2 - thin), spacing, origin, direction)


@pytest.mark.parametrize("thin", THIN)
@pytest.mark.parametrize("stages", [["rigid"], ["affine", "ffd"]])
def test_registered_as_of_two_dimensions(flat, thin, stages):
    axis = THIN[thin]
    fixed, moving = (as_slice(image, axis) for image in flat)
    mask = flat[0].like((flat[0].array > 5).astype(np.uint8))
    wanted = gr.register(*flat, stages, fixed_mask=mask, device="host")
    found = gr.register(fixed, moving, stages, fixed_mask=as_slice(mask, axis), device="host")
    assert found.transform.dimension == 2 and found.cost == wanted.cost
    assert found.warped.has_grid_of(fixed) and (found.warped.array.ravel() == wanted.warped.array.ravel()).all()
    assert (gr.resample(moving, found.transform, fixed, device="host").array == found.warped.array).all()
    field = found.transform.to_displacement_field(fixed, "host")
    assert (field.array == found.displacement_field.array).all() and field.array.shape == (48, 44, 2)
    if stages == ["rigid"]:
        np.testing.assert_allclose(found.transform.matrix_of(), MOVED.matrix_of(), atol=0.1)


def test_beside_an_image_of_two_dimensions(flat):
    wanted = gr.register(*flat, device="host")
    for fixed, moving in ((flat[0], as_slice(flat[1])), (as_slice(flat[0]), flat[1])):
        found = gr.register(fixed, moving, device="host", moving_mask=flat[1].like(np.ones(flat[1].shape, np.uint8)))
        np.testing.assert_allclose(found.transform.matrix_of(), wanted.transform.matrix_of(), atol=1e-3)
        assert found.warped.shape == fixed.shape
        assert gr.resample(moving, found.transform, fixed, device="host").shape == fixed.shape
        # Points do not change.
        assert (gr.resample(fixed, None, moving, device="host").array.ravel() == fixed.array.ravel()).all()


@pytest.mark.parametrize("angles", [(0, 0), (20, 0), (0, -35), (44, 44), (45, 45), (90, 10)])
def test_oblique_slices(flat, angles):
    """Slices of parallel planes have the same in-plane axes, for any direction of their own axes."""
    a, b = np.radians(angles)
    tilt = np.array([[1, 0, 0], [0, np.cos(a), -np.sin(a)], [0, np.sin(a), np.cos(a)]])
    tilt = np.array([[np.cos(b), 0, np.sin(b)], [0, 1, 0], [-np.sin(b), 0, np.cos(b)]]) @ tilt
    values = flat[0].array[np.newaxis]
    one = gr.Image(values, (2, 2, 5), tilt @ (-45.0, -50.0, 3.0), tilt)
    inside = turn(30) @ np.diag([1.0, -1.0, -1.0])
    other = gr.Image(values, (2, 2, 5), tilt @ (40.0, 10.0, 80.0), tilt @ inside)
    first, second = _slices.flattened(one), _slices.flattened(other)
    for image, whole in ((first, one), (second, other)):
        np.testing.assert_allclose(image.direction.T @ image.direction, np.eye(2), atol=1e-12)
        # Distances in the plane are preserved.
        for index in ((0, 0), (43, 0), (43, 47)):
            point = image.index_to_point @ [*index, 1]
            there = whole.index_to_point @ [*index, 0, 1] - whole.index_to_point @ [0, 0, 0, 1]
            assert np.linalg.norm(point[:2] - image.origin) == pytest.approx(np.linalg.norm(there), abs=1e-9)
    # A step within the plane is the same step in both.
    step = one.direction[:, 0]
    by_other = np.linalg.lstsq(other.direction[:, :2], step, rcond=None)[0]
    np.testing.assert_allclose(first.direction[:, 0], second.direction @ by_other, atol=1e-9)


@pytest.mark.parametrize("thin", ["coronal", "sagittal"])
def test_slices_of_other_planes(flat, thin, tmp_path, capfd):
    fixed, moving = as_slice(flat[0]), as_slice(flat[1], THIN[thin])
    with pytest.raises(gr.BadInputError, match="fixed image and the moving image are slices of different planes, 90 degrees apart"):
        gr.register(fixed, moving, device="host")
    shift = gr.Affine(np.eye(2), [1.0, 0.0])
    with pytest.raises(gr.BadInputError, match="reference and the image are slices of different planes, 90 degrees apart"):
        gr.resample(moving, shift, fixed, device="host")
    files = [tmp_path / "fixed.nii.gz", tmp_path / "moving.nii.gz"]
    for path, image in zip(files, (fixed, moving)):
        gr.write_image(path, image)
    gr.write_transform(tmp_path / "t.tfm", shift)
    out = tmp_path / "o.nii.gz"
    for words in (
        ("register", *files, "-o", out, "--quiet"),
        ("apply", files[1], "--reference", files[0], "-t", tmp_path / "t.tfm", "-o", out),
        ("compare", *files, "--transform", tmp_path / "t.tfm"),
    ):
        assert_fails(capfd, 1, f"file {files[0]} and the file {files[1]} are slices of different planes, 90 degrees", None, *words, "--device", "host")
        assert not out.exists()


@pytest.mark.parametrize("degrees, is_taken", [(29.9, True), (150.1, True), (180, True), (30.1, False), (149.9, False)])
def test_planes_that_are_turned_a_little(flat, degrees, is_taken):
    cosine, sine = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    fixed, moving = (as_slice(image) for image in flat)
    turned = gr.Image(moving.array, moving.spacing, moving.origin, [[1, 0, 0], [0, cosine, -sine], [0, sine, cosine]])
    if is_taken:
        assert _slices.check_planes(fixed, turned, "fixed image", "moving image") is None
    else:
        with pytest.raises(gr.BadInputError, match="30.1 degrees apart"):
            _slices.check_planes(fixed, turned, "fixed image", "moving image")


def test_masks(flat):
    fixed, moving = (as_slice(image) for image in flat)
    ones = flat[0].like((flat[0].array > 5).astype(np.uint8))
    wanted = gr.register(*flat, fixed_mask=ones, device="host").cost
    for mask in (ones, as_slice(ones), as_slice(ones, height=7.5), ones.array, ones.array[np.newaxis], as_slice(ones).array):
        assert gr.register(fixed, moving, fixed_mask=mask, device="host").cost == wanted
    assert gr.register(*flat, fixed_mask=as_slice(ones), device="host").cost == wanted
    # The transform of another slice.
    with pytest.raises(gr.BadInputError, match="another grid .*up to 10 mm, 3.33 voxels, apart, of origin"):
        gr.register(fixed, moving, fixed_mask=as_slice(ones, height=17.0), device="host")
    with pytest.raises(gr.BadInputError, match="another grid .*its shape is"):
        gr.register(fixed, moving, fixed_mask=np.ones((1, 44, 48)), device="host")


def test_further_pairs_of_other_slices(flat, tmp_path, capfd):
    """Each pair fits together, but not to the first one."""
    first = [as_slice(image) for image in flat]
    same, bare, higher, coronal = (
        gr.ImagePair(*pair)
        for pair in (
            [as_slice(image, height=7.5) for image in flat],
            [image.array[np.newaxis] for image in flat],
            [as_slice(image, height=17.0) for image in flat],
            [as_slice(image, 1) for image in flat],
        )
    )
    costs = [gr.register(*first, "affine", also=also, device="host").cost for also in (None, same, bare)]
    assert costs[1] != costs[0] and costs[2] != costs[0]
    with pytest.raises(gr.BadInputError, match="pair 2: The fixed image and the fixed image of pair 1 are different slices: .* 10 mm apart"):
        gr.register(*first, "affine", also=higher, device="host")
    with pytest.raises(gr.BadInputError, match="pair 2: The fixed image and the fixed image of pair 1 are slices of different planes, 90 degrees"):
        gr.register(*first, "affine", also=coronal, device="host")
    half = gr.ImagePair(first[0], higher.moving)
    with pytest.raises(gr.BadInputError, match="pair 2: The moving image and the moving image of pair 1 are different slices: .* 10 mm apart"):
        gr.register(*first, "affine", also=half, device="host")
    # Arrays say of no height.
    arrays = [image.array for image in first]
    geometry = {"spacing": first[0].spacing, "direction": first[0].direction}
    placed = [gr.register(*arrays, "affine", also=also, device="host", **geometry).cost for also in (same, higher)]
    assert placed[0] == placed[1]
    files = [tmp_path / f"{name}.nii.gz" for name in ("fixed", "moving", "fixed2", "moving2")]
    for path, image in zip(files, (*first, higher.fixed, higher.moving)):
        gr.write_image(path, image)
    words = ("register", *files[:2], "--also", *files[2:], "-o", tmp_path / "o.nii.gz", "--device", "host", "--quiet")
    assert_fails(capfd, 1, f"pair 2: The file {files[2]} and the fixed image of pair 1 are different slices", None, *words)


def test_arrays_and_other_libraries(flat):
    nibabel = pytest.importorskip("nibabel")
    bare = [image.array[np.newaxis] for image in flat]
    wanted = gr.register(*(image.array for image in flat), device="host")
    found = gr.register(*bare, device="host")
    assert found.warped.shape == (1, 48, 44) and (found.warped[0] == wanted.warped).all()
    images = [sitk.GetImageFromArray(array) for array in bare]
    assert gr.register(*images, device="host").warped.GetSize() == (44, 48, 1)
    images = [nibabel.Nifti1Image(array.T, np.diag([-2.0, -2.0, 1.0, 1.0])) for array in bare]
    assert gr.register(*images, device="host").warped.shape == (44, 48, 1)


def test_a_slice_and_a_volume(flat, heads, tmp_path, capfd):
    thin, volume = as_slice(flat[0]), heads[1]
    for pair in ((thin, volume), (volume, thin)):
        with pytest.raises(gr.BadInputError, match=r"is one slice, \(44, 48, 1\).*a volume, \(44, 48, 40\).*resample\("):
            gr.register(*pair, device="host")
    gr.write_image(tmp_path / "thin.nii.gz", thin)
    gr.write_image(tmp_path / "volume.nii.gz", volume)
    words = ("register", tmp_path / "thin.nii.gz", tmp_path / "volume.nii.gz", "-o", tmp_path / "o.nii.gz", "--quiet", "--device", "host")
    hint = f"gpureg apply {tmp_path}/volume.nii.gz --reference {tmp_path}/thin.nii.gz -o SLICE.nii.gz"
    assert_fails(capfd, 1, "is one slice", hint, None, *words)
    # The advice works.
    gpureg_json(capfd, "apply", tmp_path / "volume.nii.gz", "--reference", tmp_path / "thin.nii.gz", "-o", tmp_path / "slice.nii.gz")
    gpureg_json(capfd, *words[:2], tmp_path / "slice.nii.gz", *words[3:-3], "--device", "host")
    with pytest.raises(gr.BadInputError, match="2 dimensions"):
        gr.register(flat[0], volume, device="host")


def test_the_commands(flat, tmp_path, capfd):
    fixed, moving = (as_slice(image) for image in flat)
    for name, image in (("fixed", fixed), ("moving", moving)):
        gr.write_image(tmp_path / f"{name}.nii.gz", image)
        gr.write_image(tmp_path / f"{name}-labels.nii.gz", image.like((image.array // 40).astype(np.uint8)))
    gr.write_image(tmp_path / "flat.mha", flat[1])
    files = (tmp_path / "fixed.nii.gz", tmp_path / "moving.nii.gz")
    outs = ("-o", tmp_path / "o.nii.gz", "--output-transform", tmp_path / "t.h5", "--output-field", tmp_path / "f.mha", "--report")
    gpureg_json(capfd, "register", *files, *outs, "--transform", "affine,ffd:spacing=16x16", "--mask", files[0], "--device", "host")
    warped = gr.read_image(tmp_path / "o.nii.gz")
    assert warped.has_grid_of(fixed) and (tmp_path / "o.html").is_file()
    for image, reference in (("moving.nii.gz", "fixed.nii.gz"), ("flat.mha", "fixed.nii.gz")):
        words = ("apply", tmp_path / image, "--reference", tmp_path / reference, "-t", tmp_path / "t.h5", "-o", tmp_path / "a.nii.gz")
        gpureg_json(capfd, *words, "--device", "host")
        np.testing.assert_allclose(gr.read_image(tmp_path / "a.nii.gz").array, warped.array, atol=1e-2)
    labels = ("--labels", tmp_path / "fixed-labels.nii.gz", tmp_path / "moving-labels.nii.gz", "--mask", files[0], "--device", "host")
    before = gpureg_json(capfd, "compare", *files, *labels)
    after = gpureg_json(capfd, "compare", *files, *labels, "--transform", tmp_path / "t.h5")
    assert after["dice"]["mean"] > before["dice"]["mean"] + 0.02 and after["jacobian"]["voxels"] > 0
    assert_within_record(after["metrics"]["mean_squares"] / before["metrics"]["mean_squares"], 0.00423)
    gr.write_transform(tmp_path / "three.tfm", gr.Affine())
    words = ("register", *files, "--output-transform", tmp_path / "f.mat", "--mat", "fsl", "--device", "host", "--quiet")
    assert_fails(capfd, 1, "FSL's matrices are of 3 dimensions, and the transform of 2", None, *words)
    # A three-dimensional transform belongs to three-dimensional images.
    gpureg_json(capfd, "compare", *files, "--transform", tmp_path / "three.tfm", "--device", "host")
    gpureg_json(capfd, "apply", files[0], "-t", tmp_path / "three.tfm", "-o", tmp_path / "a.nii.gz", "--device", "host")
    assert (gr.read_image(tmp_path / "a.nii.gz").array == fixed.array).all()


def test_a_cohort(flat, tmp_path):
    pytest.importorskip("distributed")
    from gpuregistration.cohort.pair import Job, compute, read, write
    from gpuregistration.cohort.settings import Settings
    from gpuregistration.cohort.table import read_table

    rows = {}
    for name, image in (("fixed", flat[0]), ("moving", flat[1])):
        rows[name] = tmp_path / f"{name}.nii.gz"
        gr.write_image(rows[name], as_slice(image))
    rows["labels"] = tmp_path / "labels.nii.gz"
    gr.write_image(rows["labels"], as_slice(flat[1].like((flat[1].array // 40).astype(np.uint8))))
    job = Job(read_table([{"id": "one", **rows}])[0], Settings([gr.stages.Rigid()], reports=True, default=-7.0), tmp_path / "one")
    inputs = read(job)
    found = compute(job, inputs, "host")
    record = write(job, inputs, found, gr.devices()[-1], {})
    assert record["settings"]["default"] == -7.0
    warped, labels = (gr.read_image(tmp_path / "one" / f"{name}.nii.gz") for name in ("warped", "labels"))
    assert warped.shape == labels.shape == (1, 48, 44) and warped.array.min() == -7.0
