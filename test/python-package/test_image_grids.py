# SPDX-License-Identifier: Apache-2.0
"""Tests that the grid and the type of a file's values are read without the values, and are those of the image; and that references are read so."""

import gzip
import json
import os
import warnings

import gpuregistration as gr
import numpy as np
import pytest

sitk = pytest.importorskip("SimpleITK")
nibabel = pytest.importorskip("nibabel")
pytest.importorskip("pydicom")

from command_line import assert_fails, gpureg, gpureg_json  # noqa: E402
from conftest import make_head, turn  # noqa: E402
from dicom_files import DOSE, DX, ENHANCED_CT, SAGITTAL, make_enhanced, make_header, write, write_series  # noqa: E402
from gpuregistration import _large_files, _unpack  # noqa: E402
from gpuregistration._files import read_image_grid  # noqa: E402
from gpuregistration._kinds import to_simpleitk  # noqa: E402
from gpuregistration._series import read_grid, read_times  # noqa: E402
from gpuregistration.ants.programs import main as run_ants  # noqa: E402
from nifti_files import AFFINE, write_nifti  # noqa: E402
from pydicom import uid  # noqa: E402

VALUES = np.random.default_rng(1).integers(1, 200, (7, 6, 5)).astype(np.int16)


def oblique(kind="int16", dimension=3, components=1):
    shape = (7, 6, 5)[3 - dimension :] + ((components,) if components > 1 else ())
    values = np.random.default_rng(2).integers(0, 100, shape).astype(kind)
    return gr.Image(values, (1 / 3, 1.5, 2.0)[:dimension], (-7.1, 8.0, 1e-3)[:dimension], turn(30.0, dimension), components > 1)


def nifti(**changes):
    def make(folder, name="a.nii"):
        values = changes.get("values", VALUES)
        return write_nifti(folder / name, values, **{key: one for key, one in changes.items() if key != "values"})

    return make


def packed(make):
    return lambda folder: make(folder, "a.nii.gz")


def by_nibabel(shape, kind, affine=AFFINE, name="a.nii.gz", type=nibabel.Nifti1Image, order="<", **units):
    def make(folder):
        values = np.arange(np.prod(shape)).reshape(shape).astype(np.uint8 if isinstance(kind, list) else kind)
        if isinstance(kind, list):
            values = np.zeros(shape, kind)
        header = nibabel.Nifti1Header(endianness=order) if type is nibabel.Nifti1Image else None
        image = type(values, affine, header)
        image.header.set_data_dtype(values.dtype)
        if units:
            image.header.set_xyzt_units(**units)
        nibabel.save(image, folder / name)
        return folder / name

    return make


def ours(name, *kind):
    def make(folder):
        gr.write_image(folder / name, oblique(*kind))
        return folder / name

    return make


def by_itk(name, *kind, packed=False):
    def make(folder):
        image = oblique(*kind)
        if not name.endswith((".mha", ".mhd", ".nrrd", ".nhdr", ".h5")):
            image.direction = np.eye(image.dimension)
        sitk.WriteImage(to_simpleitk(image), str(folder / name), useCompression=packed)
        return folder / name

    return make


def text(name, lines, content=b""):
    def make(folder):
        (folder / name).write_bytes("\n".join(lines).encode() + b"\n" + content)
        return folder / name

    return make


def with_index(folder):
    """A .nii.gz of several blocks."""
    gr.write_image(folder / "a.nii.gz", gr.Image(np.random.default_rng(1).integers(0, 9, (220, 210, 200)).astype(np.uint8)))
    return folder / "a.nii.gz"


def enhanced(folder):
    header = make_enhanced(VALUES.astype(np.uint16), ENHANCED_CT, axes=SAGITTAL, places=[[3.0 * n, -10.0, 20.0] for n in range(7)], rescale=[(0.5, -3)] * 7)
    return write(folder / "a", header)


def zarr_of(leading=""):
    def make(folder):
        pytest.importorskip("zarr", minversion="3")
        from zarr_data import write_zarr

        values = np.zeros((3, 7, 6, 5) if leading else (7, 6, 5), np.uint16)
        return write_zarr(folder / "a.zarr", [values, values[..., ::2, ::2, ::2]], "0.5", leading=leading)

    return make


RGB = [("R", "u1"), ("G", "u1"), ("B", "u1")]
META = ["ObjectType = Image", "NDims = 3", "DimSize = 5 6 7"]
NRRD = ["NRRD0004", "type: short", "dimension: 3", "sizes: 5 6 7"]
STORED = VALUES.astype("<i2").tobytes()
FORMATS = {
    **{f"nifti {kind}": by_nibabel((7, 6, 5), kind) for kind in ("u1", "i1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8")},
    "nifti, big endian": by_nibabel((7, 6, 5), "i2", name="a.nii", order=">"),
    "nifti, big endian floats": nifti(values=VALUES.astype("f4"), order=">"),
    "nifti-2": by_nibabel((7, 6, 5), "i2", type=nibabel.Nifti2Image),
    "nifti, pair": by_nibabel((7, 6, 5), "i2", name="a.hdr", type=nibabel.Nifti1Pair),
    "nifti, plane": by_nibabel((7, 6), "u1", np.diag([-2.0, -3.0, 1.0, 1.0])),
    "nifti, slice": by_nibabel((7, 6, 1), "u1"),
    "nifti, one time": by_nibabel((7, 6, 5, 1), "f4"),
    "nifti, vectors": by_nibabel((7, 6, 5, 1, 3), "f4"),
    "nifti, vectors of a slice": by_nibabel((7, 6, 1, 1, 2), "f4", np.diag([-2.0, -3.0, 1.0, 1.0])),
    "nifti, colours": by_nibabel((7, 6, 5), RGB),
    "nifti, µm": by_nibabel((7, 6, 5), "i2", xyz="micron"),
    "nifti, scaled": nifti(slope=("2f", 0.5, -3.0)),
    "nifti, scaled to doubles": packed(nifti(slope=("2f", 1e-3, 4000.0))),
    "nifti, scaled, big endian": nifti(slope=("2f", 2.0, 0.0), order=">"),
    "nifti, scaled long ones": nifti(values=VALUES.astype("i4"), slope=("2f", 2.0, 0.0)),
    "nifti, scaled by 0": nifti(slope=("2f", 0.0, 4.0)),
    "nifti, scaled vectors": nifti(values=np.ones((7, 6, 5, 1, 3), "i2"), slope=("2f", 0.5, 0.0)),
    "nifti, nowhere": packed(nifti(sform_code=("h", 0))),
    "nifti, qform elsewhere": nifti(qform_code=("h", 1)),
    "nifti, pixdim of others": nifti(pixdim=("4f", 1.0, 9.0, 9.0, 9.0)),
    "nifti, no unit that there is": nifti(units=("B", 5)),
    "nifti, packed by another name": lambda folder: write_nifti(folder / "a.nii", VALUES, compress=True),
    "nifti, not packed by its name": lambda folder: write_nifti(folder / "a.nii.gz", VALUES, compress=False),
    "nifti, no suffix": lambda folder: write_nifti(folder / "a", VALUES),
    "nifti, bytes behind": lambda folder: add(write_nifti(folder / "a.nii", VALUES), b"more"),
    "nifti, index": with_index,
    **{name: ours(name) for name in ("a.nii", "a.nii.gz", "a.mgz", "a.mgh", "a.mha", "a.mhd", "a.nrrd", "a.nhdr", "A.NII.GZ", "A.MHA")},
    **{f"{name} of {kind}": by_itk(name, *kind) for name in ("a.mha", "a.mhd", "a.nrrd", "a.nhdr") for kind in (("uint8", 2), ("float32", 3, 3), ("float64", 2, 2))},
    **{f"{name}, packed": by_itk(name, packed=True) for name in ("a.mha", "a.mhd", "a.nrrd", "a.nhdr")},
    "mhd, big endian": lambda folder: text("a.mhd", [*META, "ElementByteOrderMSB = True", "ElementType = MET_SHORT", "ElementDataFile = a.raw"])(beside(folder, ">i2")),
    "mha, spacing below 0": text("a.mha", [*META, "ElementSpacing = -1 2 3", "Offset = 4 5 6", "ElementType = MET_SHORT", "ElementDataFile = LOCAL"], STORED),
    "mha, nowhere": text("a.mha", [*META, "qform_code = 0", "sform_code = 0", "ElementType = MET_SHORT", "ElementDataFile = LOCAL"], STORED),
    "mha, text": text("a.mha", [*META, "BinaryData = False", "ElementType = MET_SHORT", "ElementDataFile = LOCAL", " ".join(map(str, VALUES.ravel()))]),
    "nrrd, spacing below 0": text("a.nrrd", [*NRRD, "spacings: -1 2 3", "endian: little", "encoding: raw", ""], STORED),
    "nrrd, text": text("a.nrrd", [*NRRD, "encoding: ascii", "", " ".join(map(str, VALUES.ravel()))]),
    "nrrd, gzip": text("a.nrrd", [*NRRD, "endian: little", "encoding: gzip", ""], gzip.compress(STORED)),
    "nrrd, µm": text("a.nrrd", [*NRRD, "space dimension: 3", "space directions: (2,0,0) (0,3,0) (0,0,4)", "space origin: (5,6,7)", 'space units: "um" "um" "um"', "endian: big", "encoding: raw", ""], STORED),
    "nrrd, no unit that is known": text("a.nrrd", [*NRRD, 'units: "inch" "inch" "inch"', "endian: little", "encoding: raw", ""], STORED),
    **{name: by_itk(name, *kind) for name, kind in (("a.gipl", ("int16",)), ("a.gipl.gz", ("int16",)), ("a.vtk", ("float32",)), ("a.h5", ("float64",)))},
    **{name: by_itk(name, "uint8", 2, 3) for name in ("a.png", "a.jpg", "a.bmp")},
    "tif": by_itk("a.tif", "uint16"),
    "mrc": by_itk("a.mrc", "float32"),
    "dicom, folder": lambda folder: write_series(folder / "a", VALUES),
    "dicom, slopes": lambda folder: write_series(folder / "a", VALUES, each=[{"RescaleSlope": n + 1, "RescaleIntercept": -5} for n in range(7)]),
    "dicom, large slices": lambda folder: write_series(folder / "a", np.zeros((3, 100, 120), np.uint16)),
    "dicom, frames": enhanced,
    "dicom, dose": lambda folder: write(folder / "a", make_header(VALUES.astype(np.uint16), DOSE, ImagePositionPatient=[1, 2, 3], ImageOrientationPatient=[1, 0, 0, 0, 1, 0], PixelSpacing=[2, 3], GridFrameOffsetVector=[2.0 * n for n in range(7)], DoseGridScaling=0.01)),
    "dicom, picture": lambda folder: write(folder / "a.dcm", make_header(np.zeros((90, 120, 3), np.uint8), DX)),
    "dicom, deflated": lambda folder: write(folder / "a.dcm", make_header(VALUES[0], DX), uid.DeflatedExplicitVRLittleEndian),
    "zarr": zarr_of(),
    "zarr, channels": zarr_of("c"),
}


def add(path, content):
    with open(path, "ab") as file:
        file.write(content)
    return path


def beside(folder, kind):
    (folder / "a.raw").write_bytes(VALUES.astype(kind).tobytes())
    return folder


def collect(read, path, **more):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", gr.InputWarning)
        image = read(path, **more)
    return image, [str(one.message) for one in caught if issubclass(one.category, gr.InputWarning)]


def assert_is_grid_of(grid, image):
    assert not any(grid.content.strides), "it holds values"
    assert (grid.content.shape, grid.content.dtype, grid.is_vector) == (image.content.shape, image.content.dtype, image.is_vector)
    assert grid.is_placed == image.is_placed and grid.warnings == image.warnings
    for name in ("spacing", "origin", "direction"):
        np.testing.assert_array_equal(getattr(grid, name), getattr(image, name))


@pytest.mark.parametrize("name", FORMATS)
def test_every_format(tmp_path, name):
    path = FORMATS[name](tmp_path)
    image, wanted = collect(gr.read_image, path)
    grid, found = collect(read_image_grid, path)
    assert_is_grid_of(grid, image)
    assert found == wanted
    if image.is_vector:
        assert_is_grid_of(read_image_grid(path, channel=1), gr.read_image(path, channel=1))
    if "zarr" not in name:
        assert_is_grid_of(collect(read_grid, path)[0], image)


@pytest.mark.parametrize("name", ["a.mha", "a.mhd", "a.nrrd", "a.nhdr"])
def test_large_files(tmp_path, monkeypatch, name):
    """Their values are read by this package."""
    path = by_itk(name)(tmp_path)
    monkeypatch.setattr(_large_files, "is_large", lambda size: True)
    assert_is_grid_of(read_image_grid(path), gr.read_image(path))


VAST = 10_000
SPARSE = {
    "nifti": lambda folder: nibabel_header(folder),
    "mha": text("a.mha", ["ObjectType = Image", "NDims = 3", f"DimSize = {VAST} {VAST} {VAST}", "ElementType = MET_UCHAR", "ElementDataFile = LOCAL"]),
    "nrrd": text("a.nrrd", ["NRRD0004", "type: uchar", "dimension: 3", f"sizes: {VAST} {VAST} {VAST}", "encoding: raw", ""]),
}


def nibabel_header(folder):
    header = nibabel.Nifti1Header()
    header.set_data_shape((VAST,) * 3)
    header.set_data_dtype("u1")
    header["vox_offset"], header["sform_code"] = 352, 1
    header.set_sform(np.eye(4))
    (folder / "a.nii").write_bytes(header.binaryblock + bytes(4))
    return folder / "a.nii"


@pytest.mark.parametrize("name", SPARSE)
def test_no_values_are_read(tmp_path, name):
    """The file has a terabyte."""
    path = SPARSE[name](tmp_path)
    wanted = path.stat().st_size + VAST**3
    try:
        os.truncate(path, wanted)
    except OSError:
        pytest.skip("this disk's files are not so large")
    grid = read_image_grid(path)
    assert grid.size == (VAST,) * 3 and grid.content.dtype == np.uint8
    os.truncate(path, wanted - 1)
    with pytest.raises(gr.BadInputError, match=f"{path} is cut off: it is to hold {wanted} bytes"):
        read_image_grid(path)


@pytest.mark.parametrize("name", ["a.nii", "a.mgh", "a.mha", "a.mhd", "a.nrrd", "a.nhdr", "a.gipl", "a.vtk", "a.tif"])
def test_files_that_are_cut_off(tmp_path, name):
    path = (ours if name in ("a.nii", "a.mgh") else by_itk)(name, "uint8" if name == "a.tif" else "int16")(tmp_path)
    holder = tmp_path / "a.raw" if name in ("a.mhd", "a.nhdr") else path
    read_image_grid(path)
    # The grid has nothing of what FreeSurfer stores behind the values.
    whole = 284 + 2 * 210 if name == "a.mgh" else holder.stat().st_size
    for cut in (1, 100):
        os.truncate(holder, whole - cut)
        with pytest.raises(gr.BadInputError, match=f"{holder.name} is cut off"):
            read_image_grid(path)


def test_packed_files_that_are_cut_off(tmp_path):
    """As far as their size shows it: nothing is packed so well."""
    values = np.zeros((300, 300, 300), np.int16)
    path = write_nifti(tmp_path / "a.nii.gz", values)
    os.truncate(path, values.nbytes // 1100)
    with pytest.raises(gr.BadInputError, match="a.nii.gz is cut off"):
        read_image_grid(path)


def test_dicom_that_is_cut_off(tmp_path):
    for folder, values in (("small", VALUES), ("large", np.zeros((3, 100, 120), np.uint16))):
        path = write_series(tmp_path / folder, values)
        last = path / f"{len(values) - 1}.dcm"
        os.truncate(last, last.stat().st_size - 8)
        with pytest.raises(gr.BadInputError, match=f"{last} is (cut off|damaged)"):
            read_image_grid(path)


@pytest.mark.parametrize(
    "make",
    [
        nifti(values=VALUES, sform_code=("h", 1), srow=("12f", *[0.0] * 12)),
        nifti(datatype=32),
        nifti(dim=("8h", 3, 7, -6, 5, 1, 1, 1, 1)),
        nifti(begin=("f", 1e6)),
        nifti(values=np.ones((7, 6, 5, 3), "i2")),
        lambda folder: write_nifti(folder / "a.nii", VALUES[0, 0]),
        text("a.mha", ["none"]),
        text("a.mha", ["ObjectType = Image", "NDims = 4", "DimSize = 5 6 7 2", "ElementType = MET_SHORT", "ElementDataFile = LOCAL"], 2 * STORED),
        text("a.mha", [*META, "TransformMatrix = 1 0 0 1 0 0 0 0 1", "ElementType = MET_SHORT", "ElementDataFile = LOCAL"], STORED),
        text("a.mhd", [*META, "ElementType = MET_SHORT", "ElementDataFile = missing.raw"]),
        text("a.nrrd", [*NRRD, "encoding: bzip2", ""], STORED),
        text("a.nrrd", [*NRRD, 'units: "mm" "cm" "mm"', "endian: little", "encoding: raw", ""], STORED),
        text("a.png", ["none"]),
        text("a.unknown", ["none"]),
        text("a.mnc", ["none"]),
        text("a.mha.gz", ["none"]),
        lambda folder: folder / "missing.nii",
        lambda folder: folder,
    ],
)
def test_errors_are_those_of_reading(tmp_path, make):
    path = make(tmp_path)
    with pytest.raises(Exception) as wanted:
        collect(gr.read_image, path)
    with pytest.raises(type(wanted.value)) as found:
        collect(read_image_grid, path)
    assert str(found.value) == str(wanted.value)


@pytest.mark.parametrize("kind", ["u1", "i2"])
def test_little_of_a_packed_file_is_unpacked(tmp_path, monkeypatch, kind):
    """Though it is small when packed."""
    path = write_nifti(tmp_path / "a.nii.gz", np.zeros((400, 400, 400), kind))
    unpacked = []

    def count(*words):
        for part in read(*words):
            unpacked.append(len(part))
            yield part

    read = _unpack.read_unpacked
    monkeypatch.setattr(_unpack, "read_unpacked", count)
    assert read_image_grid(path).size == (400,) * 3
    assert 0 < sum(unpacked) < 1 << 24


def refuse(*words):
    raise AssertionError("values are read")


def read_no_values(monkeypatch):
    for name in ("_unpack.Content.take_array", "_files.read_by_simpleitk", "_series.read_by_simpleitk", "_files.read_large"):
        monkeypatch.setattr(f"gpuregistration.{name}", refuse)


@pytest.fixture
def without_values(monkeypatch):
    """No values are read."""
    read_no_values(monkeypatch)


def write_four(path, volumes):
    gr.write_series(path, volumes, gr.Series(len(volumes), None, 2.0, 0.0, "sec"))


@pytest.mark.parametrize("suffix", [".nii", ".nii.gz", ".mha", ".nhdr"])
@pytest.mark.parametrize("components", [1, 3])
def test_series(tmp_path, monkeypatch, suffix, components):
    image = oblique("float32", 3, components)
    write_four(tmp_path / f"a{suffix}", [image] * 4)
    wanted = gr.read_series(tmp_path / f"a{suffix}")[0]
    read_no_values(monkeypatch)
    assert_is_grid_of(read_grid(tmp_path / f"a{suffix}"), wanted)
    with pytest.raises(gr.BadInputError, match="has 4 dimensions|is to have 2 or 3"):
        read_image_grid(tmp_path / f"a{suffix}")


FOUR = ["ObjectType = Image", "NDims = 4", "DimSize = 5 6 7 2", "Offset = 5 6 7 8", "ElementType = MET_SHORT", "ElementDataFile = LOCAL"]
# Matrices of four axes with an inverse, of which the first three rows and columns have none, or none to speak of.
EXCHANGED, ALMOST = "0 0 0 1 0 1 0 0 0 0 1 0 1 0 0 0", "1e-13 0 0 1 0 1 0 0 0 0 1 0 1 0 0 0"


@pytest.mark.parametrize("spacing", ["2 3 4 5", "-2 3 -4 -5"])
@pytest.mark.parametrize("matrix", [EXCHANGED, "0.5 0.5 0 0.5 0.5 0.5 0 -0.5 0 0 1 0 0.5 -0.5 0 0", "0 1 0 0 -1 0 0 0 0 0 1 0 0 0 0 1"])
def test_series_of_other_directions(tmp_path, matrix, spacing):
    """Also such as have none along the first three axes."""
    path = text("a.mha", [*FOUR[:3], f"TransformMatrix = {matrix}", f"ElementSpacing = {spacing}", *FOUR[3:]], 2 * STORED)(tmp_path)
    series = gr.read_series(path)
    grid, times = read_times(path)
    assert_is_grid_of(grid, series[0])
    assert (times.count, times.step, times.start, times.unit) == (len(series), series.step, series.start, series.unit) == (2, 5.0, 8.0, "sec")


@pytest.mark.parametrize("read", [read_grid, lambda path: gr.read_series(path)[0]])
def test_series_that_lie_nowhere(tmp_path, read):
    path = text("a.mha", [*FOUR[:3], f"TransformMatrix = {ALMOST}", *FOUR[3:]], 2 * STORED)(tmp_path)
    with pytest.raises(gr.BadInputError, match=f"The file {path} holds volumes that cannot be read: An image's direction .* has no inverse"):
        read(path)
    path = text("b.nrrd", ["NRRD0004", "type: short", "dimension: 4", "sizes: 5 6 7 2", "space dimension: 4", "space directions: (1,0,0,0) (0,1,0,0) (1,1,0,0) (0,0,0,1)", "endian: little", "encoding: raw", ""], 2 * STORED)(tmp_path)
    with pytest.raises(gr.BadInputError, match=f"The file {path} is no image that can be read"):
        read(path)


def test_series_that_are_cut_off(tmp_path, capfd):
    write_four(tmp_path / "a.nii", [oblique()] * 4)
    gr.write_image(tmp_path / "b.nii", oblique())
    os.truncate(tmp_path / "a.nii", (tmp_path / "a.nii").stat().st_size - 1)
    assert_fails(capfd, 1, "a.nii is cut off", None, "apply", tmp_path / "b.nii", "--reference", tmp_path / "a.nii", "-o", tmp_path / "o.nii", "--device", "host")


@pytest.mark.parametrize("suffix", [".nii", ".nii.gz", ".mha", ".nrrd"])
@pytest.mark.parametrize("volumes", [1, 3])
@pytest.mark.parametrize("out", ["o.nii.gz", "o.zarr"])
def test_references_of_the_command(tmp_path, capfd, without_values, suffix, volumes, out):
    """Only the grid counts: of an image, or of one of four dimensions."""
    zarr_data = pytest.importorskip("zarr_data")
    pytest.importorskip("zarr", minversion="3")
    grid = make_head(shape=(9, 8, 7), spacing=np.array([5.0, 6.0, 7.0]) / 1024, origin=np.array([30.0, 20.0, 10.0]) / 1024)
    reference = tmp_path / f"r{suffix}"
    if volumes == 1:
        gr.write_image(reference, grid)
    else:
        write_four(reference, [grid] * volumes)
    image = zarr_data.write_zarr(tmp_path / "a.zarr", [zarr_data.make_values((12, 14, 16))])
    gpureg_json(capfd, "apply", image, "--reference", reference, "-o", tmp_path / out, "--device", "host")
    expected = gr.resample(zarr_data.image_of(zarr_data.make_values((12, 14, 16))), None, grid, device="host").array
    assert expected.any()
    if out == "o.zarr":
        assert (gr.read_image(tmp_path / out).array == expected).all() and gr.read_image(tmp_path / out).has_grid_of(grid)
    else:
        assert (np.asarray(nibabel.load(tmp_path / out).dataobj).T == expected).all()


def test_references_of_ants_programs(tmp_path, without_values, monkeypatch):
    gr.write_image(tmp_path / "r.nii", oblique())
    monkeypatch.setattr("gpuregistration.ants.apply.read_image", lambda path: make_head(shape=(12, 12, 12), spacing=(1.0, 1.0, 1.0)))
    assert run_ants("antsApplyTransforms", ["-d", "3", "-i", "unread.nii", "-r", str(tmp_path / "r.nii"), "-o", str(tmp_path / "o.nii")]) == 0
    assert nibabel.load(tmp_path / "o.nii").shape == oblique().size


def plan_line(folder, *more, suffix=".nii"):
    """The files of a pair, a mask and a further pair, and the line that plans their registration."""
    head, other = make_head(shape=(30, 32, 34)), make_head(shape=(33, 31, 30))
    images = {
        "fixed": head.like(head.array.astype(np.uint8)),
        "moving": other.like(other.array.astype(np.int16)),
        "mask": head.like((head.array > 20).astype(np.uint8)),
        "fixed2": head,
    }
    for name, image in images.items():
        gr.write_image(folder / f"{name}{suffix}", image)
    fixed, moving, mask, fixed2 = (folder / f"{name}{suffix}" for name in images)
    words = ["--mask", mask, "--also", fixed2, moving, "metric=mean_squares", f"mask={mask}"]
    return ["register", fixed, moving, *words, "--transform", "greedy", "--device", "host", "--plan", *more], images


@pytest.mark.parametrize("suffix", [".nii", ".nii.gz", ".mha"])
def test_plans_need_no_values(tmp_path, capfd, without_values, suffix):
    line, images = plan_line(tmp_path, suffix=suffix)
    also = gr.ImagePair(images["fixed2"], images["moving"], "mean_squares", fixed_mask=images["mask"])
    plan = gr.plan_registration(images["fixed"], images["moving"], "greedy", fixed_mask=images["mask"], device="host", also=also)
    assert gpureg_json(capfd, *line)["bytes"] == plan.bytes
    assert gpureg_json(capfd, *line[:3], *line[line.index("--transform") :])["bytes"] < plan.bytes


def test_a_plan_that_does_not_fit_is_a_failure(tmp_path, capfd):
    path = nibabel_header(tmp_path)
    try:
        os.truncate(path, 352 + VAST**3)
    except OSError:
        pytest.skip("this disk's files are not so large")
    line = ["register", path, path, "--transform", "greedy", "--device", "host", "--plan"]
    code, out, err = gpureg(capfd, *line)
    assert code == 1 and "does not fit: " in out and err == ""
    code, out, err = gpureg(capfd, *line, "--json")
    assert code == 1 and json.loads(out)["fits"] is False and err == ""
    assert gpureg(capfd, *plan_line(tmp_path)[0])[0] == 0
    assert "exit code is 1 where there is too little" in " ".join(gpureg(capfd, "register", "--help")[1].split())


def test_plans_of_files_that_do_not_fit_to_each_other(tmp_path, capfd):
    line, images = plan_line(tmp_path)
    gr.write_image(tmp_path / "mask.nii", images["moving"])
    assert_fails(capfd, 1, "mask.nii is on another grid than the file", "its size is (30, 31, 33), and not (", None, *line)
    gr.write_image(tmp_path / "fixed.nii", oblique("float32", 3, 5))
    assert_fails(capfd, 1, "fixed.nii has 5 components a voxel; it is to have one. They are no colours", None, *line)


def test_plans_of_colours_and_slices(tmp_path, capfd):
    """Colours are taken for grey ones, and slices are flat."""
    grey = np.random.default_rng(1).integers(0, 99, (1, 80, 90)).astype(np.uint8)
    gr.write_image(tmp_path / "colours.mha", gr.Image(np.stack([grey] * 3, axis=-1), is_vector=True))
    gr.write_image(tmp_path / "grey.mha", gr.Image(grey))
    words = ("--transform", "ffd:levels=2", "--device", "host", "--plan")
    plans = [gpureg_json(capfd, "register", tmp_path / f"{name}.mha", tmp_path / "grey.mha", *words) for name in ("colours", "grey")]
    for plan in plans:
        # The host has more room or less at any time.
        assert plan.pop("room") > plan["bytes"]
    assert plans[0] == plans[1] and len(plans[0]["stages"][0]["levels"][0]["size"]) == 2


@pytest.mark.parametrize("kind", ["float32", "int16"])
def test_plans_of_vectors(tmp_path, capfd, kind):
    """A field of displacements is no picture, whose registration is refused, too."""
    image = gr.Image(np.random.default_rng(1).integers(0, 99, (20, 20, 20)).astype(np.float32))
    gr.write_image(tmp_path / "a.mha", image)
    gr.write_image(tmp_path / "field.mha", gr.Image(np.random.default_rng(1).integers(-9, 9, (20, 20, 20, 3)).astype(kind), is_vector=True))
    line = ("register", tmp_path / "a.mha", tmp_path / "field.mha", "--device", "host", "--transform", "affine")
    for more in (["--plan"], ["--output-transform", tmp_path / "t.tfm", "--quiet"]):
        assert_fails(capfd, 1, "field.mha has 3 components a voxel; it is to have one. They ", "--channel 0", None, *line, *more)
    assert gpureg(capfd, *line, "--channel", "1", "--plan")[0] == 0


def test_plans_of_images_that_there_are_not_yet():
    shape = (1024,) * 3
    absent = gr.Image(np.broadcast_to(np.uint8(0), shape))
    plan = gr.plan_registration(absent, absent, "greedy", fixed_mask=absent, device="host")
    assert 70 < plan.bytes / 1024**3 < 80
    # To register them is another thing.
    with pytest.raises(gr.BadInputError, match="is constant"):
        gr.register(gr.Image(np.broadcast_to(np.uint8(0), (20, 20, 20))), make_head(shape=(20, 20, 20)), device="host")
    with pytest.raises(gr.BadInputError, match="is constant"):
        gr.plan_registration(gr.Image(np.zeros((20, 20, 20))), make_head(shape=(20, 20, 20)), device="host")
