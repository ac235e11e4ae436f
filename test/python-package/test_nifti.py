# SPDX-License-Identifier: Apache-2.0
"""Tests that NIfTI files mean what their headers say, read by name and as nibabel's images."""

import struct
import sys
import warnings

import gpuregistration as gr
import nifti_files
import numpy as np
import pytest
from command_line import assert_fails, gpureg, gpureg_json
from conftest import assert_within_record, make_head, turn
from gpuregistration._kinds import read_image as read_any
from nifti_files import AFFINE, write_nifti

nibabel = pytest.importorskip("nibabel")
sitk = pytest.importorskip("SimpleITK")

LPS = np.diag([-1.0, -1.0, 1.0, 1.0])
VALUES = np.arange(5 * 6 * 7, dtype=np.int16).reshape(5, 6, 7)


def read_both(path, match=None):
    """Returns the file's image, which must equal that of nibabel's image; each must give one matching warning, or none."""
    read = []
    for load in (lambda: gr.read_image(path), lambda: read_any(nibabel.load(path), "fixed")[0]):
        with warnings.catch_warnings(record=True) as reported:
            warnings.simplefilter("always", gr.InputWarning)
            read.append(load())
        texts = [str(one.message) for one in reported if issubclass(one.category, gr.InputWarning)]
        assert len(texts) == (0 if match is None else 1), texts
        assert match is None or (match in texts[0] and path.name in texts[0]), texts
    by_name, by_nibabel = read
    np.testing.assert_array_equal(by_name.array, by_nibabel.array)
    assert by_name.array.dtype == by_nibabel.array.dtype and by_name.is_vector == by_nibabel.is_vector
    np.testing.assert_array_equal(by_name.index_to_point, by_nibabel.index_to_point)
    return by_name


def check_points(image, affine, scale=1.0):
    """Asserts that voxels are at the points of nibabel's affine, in units of this number of mm."""
    wanted = LPS @ affine
    wanted[:3] *= scale
    np.testing.assert_allclose(image.index_to_point, wanted, atol=1e-5 * scale * 100)


@pytest.mark.parametrize("name", ["a.nii", "a.nii.gz", "A.NII.GZ"])
@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("kind", ["u1", "i1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"])
def test_types_and_byte_orders(tmp_path, kind, order, name):
    values = (np.random.default_rng(1).normal(size=(5, 6, 7)) * 50 + 100).astype(kind)
    read = read_both(write_nifti(tmp_path / name, values, order))
    assert read.array.dtype == np.dtype(kind) and (read.array == values.T).all() and read.array.flags.writeable
    check_points(read, AFFINE)


@pytest.mark.parametrize("code, scale", [(0, 1.0), (1, 1000.0), (2, 1.0), (3, 0.001), (3 + 8, 0.001)])
def test_units_of_length(tmp_path, code, scale):
    check_points(read_both(write_nifti(tmp_path / "a.nii", VALUES, units=("B", code))), AFFINE, scale)


def test_a_unit_that_there_is_not(tmp_path):
    check_points(read_both(write_nifti(tmp_path / "a.nii", VALUES, units=("B", 5)), "xyzt_units"), AFFINE)


def forms(qform=None, sform=None, pixdim=None):
    """Returns the changes of a header for a qform without rotation at an offset, and an sform."""
    header = nibabel.Nifti1Header()
    header.set_data_shape(VALUES.shape)
    changes = {"qform_code": ("2h", int(qform is not None), int(sform is not None))}
    if qform is not None:
        header.set_qform(qform, 1)
        names = "quatern_b quatern_c quatern_d qoffset_x qoffset_y qoffset_z".split()
        changes["quaternion"] = ("6f", *(float(header[name]) for name in names))
    lengths = np.linalg.norm((qform if qform is not None else AFFINE)[:3, :3], axis=0) if pixdim is None else pixdim
    changes["pixdim"] = ("4f", float(header["pixdim"][0]), *lengths)
    if sform is not None:
        changes["srow"] = ("12f", *sform[:3].ravel())
    return changes


def test_which_form_wins(tmp_path):
    moved = AFFINE.copy()
    moved[:3, 3] += (20.0, 0.0, 0.0)
    check_points(read_both(write_nifti(tmp_path / "q.nii", VALUES, **forms(AFFINE))), AFFINE)
    check_points(read_both(write_nifti(tmp_path / "s.nii", VALUES, **forms(None, AFFINE))), AFFINE)
    check_points(read_both(write_nifti(tmp_path / "both.nii", VALUES, **forms(AFFINE, AFFINE))), AFFINE)
    other = write_nifti(tmp_path / "other.nii", VALUES, **forms(moved, AFFINE))
    check_points(read_both(other, "its sform and its qform are up to 20 mm apart. The sform is taken"), AFFINE)
    # A twentieth of a voxel is too little to be visible.
    moved[:3, 3] = AFFINE[:3, 3] + (0.07, 0.0, 0.0)
    read_both(write_nifti(tmp_path / "near.nii", VALUES, **forms(moved, AFFINE)))
    # A half turn, whose quaternion has few digits.
    turned = AFFINE @ np.diag([-1.0, -1.0, 1.0, 1.0])
    read_both(write_nifti(tmp_path / "turned.nii", np.zeros((200, 200, 3), np.int16), **forms(turned, turned)))


def test_mirrored_forms(tmp_path):
    mirrored = AFFINE @ np.diag([-1.0, 1.0, 1.0, 1.0])
    read = read_both(write_nifti(tmp_path / "q.nii", VALUES, **forms(mirrored)))
    check_points(read, mirrored)
    assert np.linalg.det(read.direction) * np.linalg.det(AFFINE[:3, :3]) < 0


def test_no_form_at_all(tmp_path):
    read = read_both(write_nifti(tmp_path / "a.nii", VALUES, **forms()), "qform_code and sform_code are both 0")
    lengths = np.linalg.norm(AFFINE[:3, :3], axis=0)
    # The centre of its voxels is at 0, and x points to the left.
    wanted = np.diag([-lengths[0], lengths[1], lengths[2], 1.0])
    wanted[:3, 3] = -wanted[:3, :3] @ ((np.array(VALUES.shape) - 1) / 2)
    check_points(read, wanted)


def test_nibabel_images_without_an_affine(tmp_path):
    turned = nibabel.Nifti1Header()
    turned.set_sform(AFFINE, 1)
    sized = nibabel.Nifti1Header()
    sized.set_data_shape(VALUES.shape)
    sized.set_zooms((2.0, 3.0, 4.0))
    for header in (turned, sized, None):
        image = nibabel.Nifti1Image(VALUES, None, header)
        nibabel.save(image, tmp_path / "a.nii")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", gr.InputWarning)
            read, wanted = read_any(image, "fixed")[0], gr.read_image(tmp_path / "a.nii")
        np.testing.assert_array_equal(read.index_to_point, wanted.index_to_point)
        np.testing.assert_array_equal(read.array, wanted.array)
        if header is turned:
            check_points(read, AFFINE)
    with pytest.warns(gr.InputWarning, match="nibabel image does not say where it lies"):
        read_any(nibabel.Nifti1Image(VALUES, None), "fixed")


def test_voxels_of_two_sizes(tmp_path):
    read = read_both(write_nifti(tmp_path / "a.nii", VALUES, **forms(None, AFFINE, pixdim=(1.0, 1.0, 1.0))), "1×1×1 by pixdim")
    check_points(read, AFFINE)


@pytest.mark.parametrize("size, warned", [(0.0, "0×1×1"), (-1.0, None), (-3.0, "3×1×1"), (3.0, "3×1×1"), (np.nan, "nan×1×1")])
@pytest.mark.parametrize("millimetres", [1.0, 2.0])
def test_voxels_of_no_size_beside_an_sform(tmp_path, size, warned, millimetres):
    """A size below 0 counts as its magnitude."""
    affine = np.diag([millimetres, 1.0, 1.0, 1.0])
    path = write_nifti(tmp_path / "a.nii", VALUES, affine=affine, pixdim=("4f", 1.0, size, 1.0, 1.0))
    with warnings.catch_warnings(record=True) as reported:
        warnings.simplefilter("always", gr.InputWarning)
        check_points(gr.read_image(path), affine)
    wanted = "1×1×1" if warned is None and millimetres != 1.0 else warned
    assert len(reported) == (wanted is not None)
    assert not reported or f"{millimetres:g}×1×1 by its sform and {wanted} by pixdim" in str(reported[0].message)


@pytest.mark.parametrize("name", ["a.nii", "a.nii.gz"])
def test_values_behind_the_end(tmp_path, name):
    path = write_nifti(tmp_path / name, VALUES, begin=("f", 1e9))
    with pytest.raises(gr.BadInputError, match=rf"header of the file .*{name} is impossible, .* begin at byte 1000000000 .*behind the file's end"):
        gr.read_image(path)


def test_forms_that_are_impossible(tmp_path):
    flat = AFFINE.copy()
    flat[2, 2] = 0
    with pytest.raises(gr.BadInputError, match="flat.nii lies nowhere: its affine has no inverse"):
        gr.read_image(write_nifti(tmp_path / "flat.nii", VALUES, srow=("12f", *flat[:3].ravel())))
    nan = write_nifti(tmp_path / "nan.nii", VALUES, srow=("f", np.nan))
    with pytest.raises(gr.BadInputError, match="nan.nii lies nowhere"):
        gr.read_image(nan)
    wrong = write_nifti(tmp_path / "wrong.nii", VALUES, qform_code=("2h", 1, 0), quaternion=("3f", 1.0, 1.0, 0.0))
    with pytest.raises(gr.BadInputError, match="header of the file .*wrong.nii is impossible"):
        gr.read_image(wrong)
    # The sform is right nevertheless.
    both = write_nifti(tmp_path / "both.nii", VALUES, qform_code=("2h", 1, 1), quaternion=("3f", 1.0, 1.0, 0.0))
    check_points(read_both(both, "a qform that is no rotation; its sform is taken"), AFFINE)


def test_negative_voxels(tmp_path):
    changes = forms(AFFINE)
    changes["pixdim"] = ("4f", changes["pixdim"][1], -changes["pixdim"][2], *changes["pixdim"][3:])
    with pytest.warns(gr.InputWarning, match="pixdim.*are to be greater than 0"):
        check_points(gr.read_image(write_nifti(tmp_path / "a.nii", VALUES, **changes)), AFFINE)


def test_skew_sforms(tmp_path, capfd):
    skew = AFFINE.copy()
    skew[0, 1] += 0.7
    skew[1, 2] += 0.4
    path = write_nifti(tmp_path / "skew.nii", VALUES, affine=skew)
    image = read_both(path)
    check_points(image, skew)
    # The resampled image has the skew grid.
    point = image.index_to_point @ (2, 3, 4, 1)
    grid = gr.Image(np.zeros((1, 1, 1)), origin=point[:3])
    assert gr.resample(image, None, grid, device="host").array[0, 0, 0] == VALUES[2, 3, 4]
    for name in ("o.nii.gz", "o.mha", "o.nrrd"):
        gpureg_json(capfd, "apply", path, "-o", tmp_path / name, "--device", "host")
        again = gr.read_image(tmp_path / name)
        assert (again.array == image.array).all() and again.has_grid_of(image), name


def test_skew_images_are_registered_and_what_is_found_is_written(tmp_path, moved):
    skew = turn(12) @ [[1, 0.25, 0], [0, 1, 0.15], [0, 0, 1]]
    heads = [make_head(there, direction=skew, origin=(-38.0, -50.0, -35.0)) for there in (None, moved.inverse().transform_points)]
    for name, head in zip(("fixed", "moving"), heads):
        gr.write_image(tmp_path / f"{name}.nii.gz", head)
    result = gr.register(*[gr.read_image(tmp_path / f"{name}.nii.gz") for name in ("fixed", "moving")], device="host")
    points = np.random.default_rng(1).uniform(-20, 20, (20, 3))
    wanted = moved.transform_points(points)
    error = np.linalg.norm(result.transform.transform_points(points) - wanted, axis=1).max()
    assert_within_record(error, 0.0446)
    for name in ("w.nii.gz", "w.mha", "w.h5"):
        gr.write_transform(tmp_path / name, result.displacement_field)
        np.testing.assert_allclose(gr.read_transform(tmp_path / name).transform_points(points), wanted, atol=0.1)


@pytest.mark.parametrize(
    "slope, offset, is_scaled",
    [(2.0, 0.0, True), (0.5, -10.0, True), (1.0, 0.0, False), (0.0, 0.0, False), (np.nan, np.nan, False), (np.inf, 0.0, False)],
)
@pytest.mark.parametrize("kind", ["u1", "i2", "i4", "f4", "f8"])
def test_scales(tmp_path, kind, slope, offset, is_scaled):
    values = VALUES.astype(kind)
    read = read_both(write_nifti(tmp_path / "a.nii.gz", values, slope=("2f", slope, offset)))
    if not is_scaled:
        assert read.array.dtype == values.dtype and (read.array == values.T).all()
    else:
        assert read.array.dtype == (np.float32 if kind in ("u1", "i2") else np.float64)
        np.testing.assert_array_equal(read.array, values.T.astype(np.float64) * slope + offset)
        np.testing.assert_array_equal(read.array, nibabel.load(tmp_path / "a.nii.gz").get_fdata().T)


def test_a_scale_of_0_is_none(tmp_path):
    path = write_nifti(tmp_path / "a.nii", VALUES, slope=("2f", 0.0, 7.0))
    with pytest.warns(gr.InputWarning, match="scl_slope 0 and scl_inter 7: its values are as they are stored"):
        assert (gr.read_image(path).array == VALUES.T).all()


@pytest.mark.parametrize("slope, offset", [(2.0**-10, 2.0**20), (2.0**-128, 0.0), (2.0**125, 0.0)])
def test_steps_that_floats_do_not_have_are_kept(tmp_path, slope, offset):
    read = read_both(write_nifti(tmp_path / "a.nii", VALUES, slope=("2f", slope, offset)))
    np.testing.assert_array_equal(read.array, VALUES.T.astype(np.float64) * slope + offset)


def test_a_scale_without_an_offset(tmp_path):
    with pytest.raises(gr.BadInputError, match="header of the file .*a.nii is impossible.*intercept"):
        gr.read_image(write_nifti(tmp_path / "a.nii", VALUES, slope=("2f", 2.0, np.nan)))


@pytest.mark.parametrize("make", [nibabel.Nifti2Image, nibabel.Nifti2Pair, nibabel.Nifti1Pair])
@pytest.mark.parametrize("compressed", ["", ".gz"])
@pytest.mark.parametrize("order", "<>")
def test_other_headers(tmp_path, make, compressed, order):
    header = make.header_class(endianness=order)
    header.set_data_dtype(np.int16)
    image = make(VALUES, AFFINE, header)
    name = ("a.nii" if make is nibabel.Nifti2Image else "a.hdr") + compressed
    nibabel.save(image, tmp_path / name)
    names = [name] if make is nibabel.Nifti2Image else [name, name.replace("hdr", "img")]
    for one in names:
        read = read_both(tmp_path / one)
        assert (read.array == VALUES.T).all()
        check_points(read, AFFINE)
    if len(names) == 2:
        assert set(gr._parts.parts_that_are_read(str(tmp_path / names[0]))) == {tmp_path / one for one in names}
        (tmp_path / names[1]).rename(tmp_path / names[1].upper().replace("A.", "a."))
        assert (gr.read_image(tmp_path / names[0]).array == VALUES.T).all()
        (tmp_path / names[1].upper().replace("A.", "a.")).unlink()
        with pytest.raises(gr.BadInputError, match="no .img or .img.gz beside it"):
            gr.read_image(tmp_path / names[0])


def test_analyze_is_refused(tmp_path):
    nibabel.save(nibabel.AnalyzeImage(VALUES, None), tmp_path / "a.hdr")
    for load in (lambda: gr.read_image(tmp_path / "a.hdr"), lambda: gr.smooth(nibabel.AnalyzeImage.from_filename(tmp_path / "a.hdr"), 1.0)):
        with pytest.raises(gr.BadInputError, match="Analyze.*does not say where left"):
            load()


@pytest.mark.parametrize("shape", [(6, 5), (6, 5, 1), (6, 5, 1, 1), (6, 5, 4, 1), (6, 5, 4, 1, 1, 1)])
def test_axes_of_one(tmp_path, shape):
    values = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    read = read_both(write_nifti(tmp_path / "a.nii", values))
    dimension = min(3, len(shape))
    assert read.shape == shape[:dimension][::-1] and (read.array.ravel() == values.ravel(order="F")).all()
    np.testing.assert_allclose(read.index_to_point[:dimension, :dimension], (LPS @ AFFINE)[:dimension, :dimension], atol=1e-6)
    again = gr.smooth(nibabel.load(tmp_path / "a.nii"), 0.0, device="host")
    assert again.shape == shape[:dimension] and read_any(again, "again")[0].has_grid_of(read)


def test_a_slice_that_lies_elsewhere(tmp_path):
    upright = AFFINE[:, [0, 2, 1, 3]]
    with pytest.raises(gr.BadInputError, match="does not lie across the patient's third axis.*volume of one slice"):
        gr.read_image(write_nifti(tmp_path / "a.nii", np.zeros((6, 5), np.float32), affine=upright))


def test_several_volumes(tmp_path):
    path = write_nifti(tmp_path / "a.nii.gz", np.zeros((6, 5, 4, 3), np.float32))
    with pytest.raises(gr.BadInputError, match="a.nii.gz has 4 dimensions.*Give one volume of it"):
        gr.read_image(path)
    with pytest.raises(gr.BadInputError, match="nibabel image .*a.nii.gz has 4 dimensions.*slicer"):
        gr.smooth(nibabel.load(path), 1.0)


@pytest.mark.parametrize("shape", [(6, 5, 4, 1, 3), (6, 5, 1, 1, 3), (6, 5, 4, 1, 2), (6, 5, 1, 1, 2)])
def test_vectors(tmp_path, shape):
    values = np.random.default_rng(1).normal(size=shape).astype(np.float32)
    read = read_both(write_nifti(tmp_path / "a.nii", values, intent=("h", 1007)))
    wanted = np.moveaxis(values[:, :, :, 0], (0, 1, 2), (2, 1, 0))
    wanted = wanted[0] if shape[2] == 1 and shape[4] == 2 else wanted
    assert read.is_vector and (read.array == wanted).all() and read.array.flags.c_contiguous


@pytest.mark.parametrize("datatype, names", [(128, "RGB"), (2304, "RGBA")])
def test_colours(tmp_path, datatype, names):
    values = np.random.default_rng(1).integers(0, 256, (4, 5, 6, len(names)), np.uint8)
    header = nifti_files.make_header((6, 5, 4), "u1", datatype=datatype)
    struct.pack_into("<h", header, 72, 8 * len(names))
    (tmp_path / "a.nii").write_bytes(bytes(header) + bytes(4) + values.tobytes())
    read = read_both(tmp_path / "a.nii")
    assert read.is_vector and (read.array == values).all()


def test_values_that_are_no_numbers(tmp_path):
    values = np.ones((4, 5, 6), np.complex64)
    with pytest.raises(gr.BadInputError, match="a.nii has complex values.*absolute values"):
        gr.read_image(write_nifti(tmp_path / "a.nii", values))
    with pytest.raises(gr.BadInputError, match="nibabel image has complex values"):
        gr.smooth(nibabel.Nifti1Image(values, np.eye(4)), 1.0)
    for datatype in (1, 1536, 9999):
        with pytest.raises(gr.BadInputError, match="header of the file .*b.nii is impossible.*data"):
            gr.read_image(write_nifti(tmp_path / "b.nii", VALUES, datatype=datatype))


@pytest.mark.filterwarnings("ignore::gpuregistration.InputWarning")
def test_sizes_that_are_impossible(tmp_path):
    for sides in ((3, 5, 0, 7), (3, 5, -6, 7), (0, 5, 6, 7), (9, 5, 6, 7)):
        with pytest.raises(gr.BadInputError, match="a.nii is impossible"):
            gr.read_image(write_nifti(tmp_path / "a.nii", VALUES, dim=("4h", *sides)))
    for name in ("a.nii", "a.nii.gz"):
        with pytest.raises(gr.BadInputError, match=f"{name} is cut off: it is to hold"):
            gr.read_image(write_nifti(tmp_path / name, VALUES, dim=("4h", 3, 32767, 32767, 32767)))
    for begin in (12.0, np.nan):
        with pytest.raises(gr.BadInputError, match="a.nii is impossible"):
            gr.read_image(write_nifti(tmp_path / "a.nii", VALUES, begin=("f", begin)))


def test_a_line(tmp_path):
    path = write_nifti(tmp_path / "a.nii", VALUES[:, 0, 0])
    for load in (lambda: gr.read_image(path), lambda: gr.smooth(nibabel.load(path), 1.0)):
        with pytest.raises(gr.BadInputError, match="a.nii has 1 dimensions, shape .5,.; it is to have 2 or 3.$"):
            load()


def test_damaged_nibabel_images(tmp_path):
    path = write_nifti(tmp_path / "a.nii", VALUES)
    image = nibabel.load(path)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(gr.BadInputError, match="values of the nibabel image .*a.nii cannot be read"):
        gr.smooth(image, 1.0)
    for place in (1, 5):
        values = np.random.default_rng(1).integers(0, 9999, (60, 60, 60), np.int16)
        packed = bytearray(write_nifti(tmp_path / "a.nii.gz", values).read_bytes())
        packed[-place] ^= 1
        (tmp_path / "a.nii.gz").write_bytes(packed)
        # nibabel itself does not verify its checksum.
        assert (np.asarray(nibabel.load(tmp_path / "a.nii.gz").dataobj) == values).all()
        with pytest.raises(gr.BadInputError, match="a.nii.gz is damaged"):
            gr.smooth(nibabel.load(tmp_path / "a.nii.gz"), 1.0)


@pytest.mark.parametrize("name", ["head", "head.gz", "head.nifti", "head.nii.bak"])
def test_names_that_say_nothing(tmp_path, name):
    write_nifti(tmp_path / "a.nii.gz" if name.endswith("gz") else tmp_path / "a.nii", VALUES).rename(tmp_path / name)
    read = gr.read_image(tmp_path / name)
    assert (read.array == VALUES.T).all()
    check_points(read, AFFINE)


def test_headers_that_are_wrong_here_and_there(tmp_path):
    content = bytearray(write_nifti(tmp_path / "a.nii", VALUES).read_bytes())
    struct.pack_into("<h", content, 72, 32)
    (tmp_path / "a.nii").write_bytes(content)
    with pytest.warns(gr.InputWarning, match="header of the file .*a.nii is wrong.*bitpix does not match datatype"):
        assert (gr.read_image(tmp_path / "a.nii").array == VALUES.T).all()
    with pytest.warns(gr.InputWarning, match="qform_code 77 not valid"):
        check_points(gr.read_image(write_nifti(tmp_path / "b.nii", VALUES, qform_code=("h", 77))), AFFINE)


def test_without_nibabel(tmp_path, monkeypatch):
    path = write_nifti(tmp_path / "a.nii", VALUES)
    monkeypatch.setitem(sys.modules, "nibabel", None)
    for work in (lambda: gr.read_image(path), lambda: gr.write_image(tmp_path / "b.nii", gr.Image(VALUES))):
        with pytest.raises(ImportError, match="This needs nibabel: pip install gpuregistration.io."):
            work()
    assert not (tmp_path / "b.nii").exists()
    gr.write_image(tmp_path / "b.mha", gr.Image(VALUES))


def test_warnings_are_printed_by_the_command(tmp_path, capfd):
    path = write_nifti(tmp_path / "a.nii", VALUES, **forms())
    words = ("apply", path, "-o", tmp_path / "o.nii", "--device", "host")
    code, _, err = gpureg(capfd, *words)
    assert code == 0 and err.startswith(f"gpureg: The file {path} does not say where it lies") and err.count("\n") == 1
    found = gpureg_json(capfd, *words)
    assert len(found["warnings"]) == 1 and "both 0" in found["warnings"][0]
    # Once, for any use, and also before an error.
    assert len(gpureg_json(capfd, "compare", path, path, "--device", "host")["warnings"]) == 1
    code, _, err = gpureg(capfd, *words, "-t", tmp_path / "none.tfm")
    assert code == 1 and err.count("gpureg: ") == 2 and "There is no file" in err.splitlines()[-1]
    words = ("register", path, path, "-o", tmp_path / "o.nii", "--device", "host", "--transform", "rigid")
    assert "both 0" in gpureg_json(capfd, *words)["warnings"][0]
    assert "does not say where it lies" in gpureg(capfd, *words)[2]


def test_files_that_are_not_nifti(tmp_path, capfd):
    (tmp_path / "a.nii.gz").write_bytes(b"GIF89a no such thing")
    words = ("-o", tmp_path / "o.nii")
    reported = "a.nii.gz is no image that can be read: it does not begin as NIfTI does"
    assert_fails(capfd, 1, reported, None, "apply", tmp_path / "a.nii.gz", *words)
    (tmp_path / "b.nii").write_bytes(struct.pack("<i", 348) + bytes(50))
    assert_fails(capfd, 1, "b.nii is cut off in its header", None, "apply", tmp_path / "b.nii", *words)
