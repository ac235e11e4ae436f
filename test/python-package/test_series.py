# SPDX-License-Identifier: Apache-2.0
"""Tests files of four dimensions: every volume is transformed, and the times do not change."""

import gzip
import os

import gpuregistration as gr
import numpy as np
import pytest
from command_line import assert_fails, gpureg_json
from conftest import make_head, turn
from gpuregistration._series import is_series

sitk = pytest.importorskip("SimpleITK")
nibabel = pytest.importorskip("nibabel")

GRID = {"shape": (10, 12, 14), "spacing": (6.0, 5.0, 7.0), "origin": (-40.0, -30.0, -35.0)}
COUNT = 5
MOVED = gr.Affine(turn(9.0), [4.0, -3.0, 6.0])


@pytest.fixture(scope="module")
def volumes():
    head = make_head(**GRID)
    return [head.like((head.array * (1 + n) / COUNT).astype(np.int16)) for n in range(COUNT)]


def write_nifti(path, volumes, step=2.5, units=("mm", "sec"), start=0.0, order="<"):
    made = gr._kinds.to_nibabel(volumes[0])
    values = np.stack([volume.array.T for volume in volumes], axis=-1)
    header = made.header.as_byteswapped(order)
    header.set_data_dtype(values.dtype)
    image = nibabel.Nifti1Image(values, made.affine, header)
    image.header.set_xyzt_units(*units)
    image.header["pixdim"][4] = step
    image.header["toffset"] = start
    nibabel.save(image, path)


def apply(capfd, *words):
    return gpureg_json(capfd, "apply", *words, "--device", "host")


@pytest.mark.parametrize("interpolation", ["linear", "nearest"])
@pytest.mark.parametrize("suffix", [".nii", ".nii.gz"])
@pytest.mark.parametrize("step, unit, start", [(2.5, "sec", 0.0), (720.0, "msec", 30.0), (3.0, "unknown", 0.0)])
def test_nifti(tmp_path, capfd, volumes, interpolation, suffix, step, unit, start):
    write_nifti(tmp_path / f"in{suffix}", volumes, step, ("mm", unit), start)
    gr.write_transform(tmp_path / "t.tfm", MOVED)
    reference = make_head(shape=(8, 9, 7), spacing=(9.0, 8.0, 10.0), origin=GRID["origin"])
    gr.write_image(tmp_path / "r.nii", reference)
    words = (tmp_path / f"in{suffix}", "-o", tmp_path / f"out{suffix}", "-t", tmp_path / "t.tfm", "--reference", tmp_path / "r.nii")
    found = apply(capfd, *words, "--interpolation", interpolation, "--default", "-3")
    assert found["volumes"] == COUNT
    made = nibabel.load(tmp_path / f"out{suffix}")
    assert made.shape == (7, 9, 8, COUNT) and made.get_data_dtype() == np.int16
    assert made.header["pixdim"][4] == np.float32(step) and made.header.get_xyzt_units() == ("mm", unit) and made.header["toffset"] == start
    for n, volume in enumerate(volumes):
        wanted = gr.resample(volume, MOVED, reference, interpolation, -3, device="host")
        assert (np.asarray(made.dataobj[..., n]).T == wanted.array).all() and wanted.array.min() == -3
    assert gr._kinds.read_image(made.slicer[..., 0], "made")[0].has_grid_of(reference)
    assert sitk.ReadImage(str(tmp_path / f"out{suffix}")).GetSize() == (7, 9, 8, COUNT)


@pytest.mark.parametrize("suffix", [".mha", ".mhd", ".nrrd", ".nhdr"])
def test_other_formats(tmp_path, capfd, volumes, suffix):
    write_nifti(tmp_path / "in.nii.gz", volumes, 1500.0, ("mm", "msec"))
    gr.write_transform(tmp_path / "t.tfm", MOVED)
    apply(capfd, tmp_path / "in.nii.gz", "-o", tmp_path / f"out{suffix}", "-t", tmp_path / "t.tfm")
    # They have no unit of time, which then is seconds.
    whole = sitk.ReadImage(str(tmp_path / f"out{suffix}"))
    assert whole.GetSize() == (14, 12, 10, COUNT) and whole.GetSpacing()[3] == pytest.approx(1.5)
    for n, volume in enumerate(volumes):
        one, _ = gr._kinds.read_image(whole[:, :, :, n], "made")
        assert (one.array == gr.resample(volume, MOVED, device="host").array).all() and one.has_grid_of(volume)
    apply(capfd, tmp_path / f"out{suffix}", "-o", tmp_path / "back.nii.gz", "-t", tmp_path / "t.tfm", "--inverse")
    back = nibabel.load(tmp_path / "back.nii.gz")
    assert back.header["pixdim"][4] == np.float32(1.5) and back.header.get_xyzt_units() == ("mm", "sec")


def test_in_python(tmp_path, volumes):
    write_nifti(tmp_path / "in.nii.gz", volumes, 0.8, order=">")
    series = gr.read_series(tmp_path / "in.nii.gz")
    assert (len(series), series.unit) == (COUNT, "sec") and series.step == pytest.approx(0.8)
    # In any order.
    for n in (3, 0, 4, -1, 1):
        assert (series[n].array == volumes[n].array).all() and series[n].has_grid_of(volumes[n])
    assert len(series[1:3]) == 2 and len(list(series)) == COUNT
    with pytest.raises(IndexError):
        series[COUNT]
    gr.write_series(tmp_path / "out.nii", (gr.resample(volume, MOVED, device="host") for volume in series), series)
    made = gr.read_series(tmp_path / "out.nii")
    assert (made[2].array == gr.resample(volumes[2], MOVED, device="host").array).all()
    for wrong, part in ((list(series)[:-1], "fewer volumes than the 5"), ([*volumes, volumes[0]], "more volumes than the 5")):
        with pytest.raises(gr.BadInputError, match=part):
            gr.write_series(tmp_path / "wrong.nii", wrong, series)
    other = volumes[0].like(volumes[0].array.astype(np.float32))
    with pytest.raises(gr.BadInputError, match="volumes that differ"):
        gr.write_series(tmp_path / "wrong.nii", [*volumes[:-1], other], series)
    with pytest.raises(gr.BadInputError, match="cannot hold a series"):
        gr.write_series(tmp_path / "wrong.png", volumes, series)
    skew = np.eye(3)
    skew[0, 1] = 0.1
    skewed = [gr.Image(volume.array, volume.spacing, volume.origin, skew) for volume in volumes]
    for name in ("skewed.nii.gz", "skewed.mha"):
        gr.write_series(tmp_path / name, skewed, series)
        assert all(volume.has_grid_of(skewed[0]) for volume in gr.read_series(tmp_path / name))
    assert int(nibabel.load(tmp_path / "skewed.nii.gz").header["qform_code"]) == 0
    long = gr.Image(np.zeros((1, 1, 40000), np.uint8))
    with pytest.raises(gr.BadInputError, match="NIfTI has room for 32767"):
        gr.write_series(tmp_path / "wrong.nii", [long] * COUNT, series)
    assert not list(tmp_path.glob("wrong*"))
    gr.write_image(tmp_path / "one.nii.gz", volumes[0])
    with pytest.raises(gr.BadInputError, match="holds no series"):
        gr.read_series(tmp_path / "one.nii.gz")


def test_where_a_header_says_two_things(tmp_path, recwarn):
    """Volumes equal single files with that header; each warning occurs once."""
    values = np.random.default_rng(4).integers(1, 99, (9, 8, 7, COUNT)).astype(np.int16)
    image = nibabel.Nifti1Image(values, np.diag([-2000.0, 2000.0, 2500.0, 1.0]))
    image.set_qform(np.diag([-2000.0, 2000.0, 2000.0, 1.0]), code=1)
    image.header.set_xyzt_units("micron", "msec")
    image.header.set_slope_inter(0.5, -3.0)
    nibabel.save(nibabel.Nifti1Image(values, image.affine, image.header), tmp_path / "a.nii.gz")
    header = nibabel.load(tmp_path / "a.nii.gz").header
    series = gr.read_series(tmp_path / "a.nii.gz")
    for n, volume in enumerate(series):
        np.testing.assert_allclose(volume.array, nibabel.load(tmp_path / "a.nii.gz").dataobj[..., n].T, rtol=1e-6)
        assert volume.spacing.tolist() == [2.0, 2.0, 2.5] and volume.direction.tolist() == np.diag([1.0, -1.0, 1.0]).tolist()
    assert header["qform_code"] == 1 and series.unit == "msec"
    reported = [str(one.message) for one in recwarn if issubclass(one.category, gr.InputWarning)]
    assert len(reported) == 1 and "a.nii.gz says two things of where it lies" in reported[0]
    gr.write_series(tmp_path / "b.nii", series, series)
    made = nibabel.load(tmp_path / "b.nii")
    assert made.header["qform_code"] == made.header["sform_code"] == 1 and made.header.get_xyzt_units() == ("mm", "msec")
    np.testing.assert_allclose(made.get_qform(), np.diag([-2.0, 2.0, 2.5, 1.0]), atol=1e-6)
    np.testing.assert_allclose(made.get_sform(), np.diag([-2.0, 2.0, 2.5, 1.0]), atol=1e-6)


def test_vectors(tmp_path, capfd):
    """Several components for each voxel, which NIfTI stores along its fifth axis."""
    values = np.random.default_rng(4).normal(size=(9, 8, 7, COUNT, 3)).astype(np.float32)
    image = nibabel.Nifti1Image(values, np.diag([-2.0, -2.0, 2.0, 1.0]))
    image.header.set_intent("vector")
    nibabel.save(image, tmp_path / "in.nii.gz")
    gr.write_transform(tmp_path / "t.tfm", gr.Affine(translation=[2.0, 0.0, 0.0]))
    apply(capfd, tmp_path / "in.nii.gz", "-o", tmp_path / "out.nii.gz", "-t", tmp_path / "t.tfm")
    made = nibabel.load(tmp_path / "out.nii.gz")
    assert made.shape == values.shape
    np.testing.assert_allclose(np.asarray(made.dataobj)[:-1], values[1:], atol=1e-6)
    assert (np.asarray(made.dataobj)[-1] == 0).all()


def test_slices_over_time(tmp_path, capfd):
    values = np.random.default_rng(4).integers(1, 99, (9, 8, 1, COUNT)).astype(np.uint8)
    nibabel.save(nibabel.Nifti1Image(values, np.diag([-2.0, -2.0, 2.0, 1.0])), tmp_path / "in.nii")
    gr.write_transform(tmp_path / "t.tfm", gr.Affine(translation=[2.0, 0.0]))
    apply(capfd, tmp_path / "in.nii", "-o", tmp_path / "out.nii", "-t", tmp_path / "t.tfm")
    made = np.asarray(nibabel.load(tmp_path / "out.nii").dataobj)
    assert made.shape == values.shape and (made[:-1] == values[1:]).all()


def test_a_reference_that_is_one(tmp_path, capfd, volumes):
    write_nifti(tmp_path / "series.nii.gz", volumes)
    gr.write_image(tmp_path / "a.nii.gz", make_head(shape=(20, 20, 20), spacing=(3.0, 3.0, 3.0), origin=GRID["origin"]))
    apply(capfd, tmp_path / "a.nii.gz", "--reference", tmp_path / "series.nii.gz", "-o", tmp_path / "o.nii.gz")
    assert gr.read_image(tmp_path / "o.nii.gz").has_grid_of(volumes[0])


def test_damaged_ones(tmp_path, capfd, volumes):
    write_nifti(tmp_path / "whole.nii.gz", volumes)
    content = bytearray((tmp_path / "whole.nii.gz").read_bytes())
    plain = gzip.decompress(content)
    (tmp_path / "short.nii").write_bytes(plain[:-1])
    (tmp_path / "short.nii.gz").write_bytes(gzip.compress(plain[:-1]))
    (tmp_path / "ends.nii.gz").write_bytes(content[:-20])
    # The sum, at the end.
    content[-6] ^= 1
    (tmp_path / "check.nii.gz").write_bytes(content)
    cut, damaged = "is cut off", "is damaged"
    for name, part in (("short.nii", cut), ("short.nii.gz", cut), ("ends.nii.gz", cut), ("check.nii.gz", damaged)):
        assert_fails(capfd, 1, f"{name} {part}", None, "apply", tmp_path / name, "-o", tmp_path / "o.nii.gz", "--device", "host")
    assert not (tmp_path / "o.nii.gz").exists()
    for kind in (nibabel.Nifti1Image, nibabel.Nifti2Image, nibabel.Nifti1Pair):
        for shape, wanted in (((3, 4, 5), False), ((3, 4, 5, 1), False), ((3, 4, 5, 2), True), ((3, 4, 5, 1, 3), False), ((3, 4, 5, 2, 3), True)):
            suffix = ".hdr" if kind is nibabel.Nifti1Pair else ".nii.gz"
            nibabel.save(kind(np.zeros(shape, np.float32), np.eye(4)), tmp_path / f"a{suffix}")
            assert is_series(tmp_path / f"a{suffix}") == wanted
    assert not is_series(tmp_path / "none.nii") and not is_series(tmp_path)


def test_names_that_are_no_utf_8(tmp_path, volumes):
    path = os.fsencode(tmp_path) + b"/caf\xe9.nii.gz"
    write_nifti(tmp_path / "a.nii.gz", volumes)
    gr.write_series(path, list(gr.read_series(tmp_path / "a.nii.gz")), gr.read_series(tmp_path / "a.nii.gz"))
    series = gr.read_series(path)
    assert (series[4].array == volumes[4].array).all()
    # It is read when a volume is requested.
    os.truncate(path, 400)
    with pytest.raises(gr.BadInputError, match=r"caf\\xe9.nii.gz is cut off"):
        series[0]
