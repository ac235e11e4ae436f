# SPDX-License-Identifier: Apache-2.0
"""Tests the meaning of the numbers in DICOM files: slopes, types, bits, compression; and damaged files."""

import sys

import gpuregistration as gr
import numpy as np
import pytest

sitk = pytest.importorskip("SimpleITK")
pydicom = pytest.importorskip("pydicom")

from dicom_files import AXIAL, CT, DX, MR, PET, SECONDARY, make_header, make_item, write, write_series  # noqa: E402
from pydicom import uid  # noqa: E402

PLACED = {"ImagePositionPatient": [1, 2, 3], "ImageOrientationPatient": AXIAL, "PixelSpacing": [2, 1.5]}


def numbers(rng, *shape, kind=np.uint16):
    return rng.integers(np.iinfo(kind).min, np.iinfo(kind).max, shape, kind, endpoint=True)


def read_one(path, array, kind=CT, syntax=None, **elements):
    """Writes a slice with a position, and reads it."""
    found = gr.read_image(write(path, make_header(array, kind, **{**PLACED, **elements}), syntax))
    assert found.shape == (1, *array.shape[:2])
    return found.array[0]


@pytest.mark.parametrize("kind", [np.uint16, np.int16])
def test_each_slice_of_a_pet_series_has_its_slope(tmp_path, rng, kind):
    arrays = [numbers(rng, 5, 6, kind=kind) for _ in range(7)]
    # The first slope is so small that the others' values would not fit into its type.
    slopes = ["0.00213", "0.5", "1", "2", "37.25", "150.1234567", "3e3"]
    each = [{"RescaleSlope": slope, "RescaleIntercept": n % 2} for n, slope in enumerate(slopes)]
    found = gr.read_image(write_series(tmp_path / "pet", arrays, PET, each=each))
    wanted = [array * float(slope) + n % 2 for n, (array, slope) in enumerate(zip(arrays, slopes))]
    assert found.array.dtype == np.float64 and (found.array == np.stack(wanted)).all()


@pytest.mark.parametrize(
    "each, wanted",
    [
        ([("1", "0"), ("1", "0")], np.uint16),
        ([("1", "-1024"), ("1", "-1024")], np.int32),
        ([("1", "0"), ("1", "-1")], np.int32),
        ([("1", "0"), ("65537", "0")], np.uint32),
        ([("1", "0"), ("65538", "0")], np.float64),
        ([("1", "0"), ("70000", "-5000")], np.float64),
        ([("1", "0"), ("1", "0.5")], np.float64),
        ([("1.0", "0.0"), ("-1.0", "0.0")], np.int32),
        ([("", ""), ("1", "0")], np.uint16),
    ],
)
def test_types_hold_the_values_of_all_slices(tmp_path, each, wanted):
    arrays = [np.array([[0, 1, 65535]], np.uint16), np.array([[65535, 3, 0]], np.uint16)]
    rescale = [{"RescaleSlope": slope, "RescaleIntercept": intercept} for slope, intercept in each]
    found = gr.read_image(write_series(tmp_path / "s", arrays, CT, each=rescale)).array
    assert found.dtype == wanted
    for slice_, array, (slope, intercept) in zip(found, arrays, each):
        assert (slice_ == array * float(slope or 1) + float(intercept or 0)).all()


def test_slices_of_different_bits_and_signs(tmp_path, rng):
    kinds = [np.uint8, np.int8, np.uint16, np.int16]
    arrays = [numbers(rng, 4, 6, kind=kind) for kind in kinds]
    found = gr.read_image(write_series(tmp_path / "s", arrays))
    assert found.array.dtype == np.int32
    assert all((slice_ == array).all() for slice_, array in zip(found.array, arrays))


@pytest.mark.parametrize("kind", [MR, SECONDARY, DX])
def test_slopes_hold_for_every_kind_of_image(tmp_path, rng, kind):
    array = numbers(rng, 5, 6)
    found = read_one(tmp_path / "a", array, kind, RescaleSlope="0.37", RescaleIntercept="-12.5")
    assert (found == array * 0.37 - 12.5).all()


def test_bytes_in_words_of_the_other_order(tmp_path):
    header = make_header(np.array([[2, 1, 4, 3]], np.uint8), **PLACED)
    header["PixelData"].VR = "OW"
    assert gr.read_image(write(tmp_path / "a", header, uid.ExplicitVRBigEndian)).array.tolist() == [[[1, 2, 3, 4]]]


@pytest.mark.parametrize("kind", [np.uint8, np.int8, np.uint16, np.int16, np.uint32, np.int32, np.float32, np.float64])
@pytest.mark.parametrize("syntax", [None, uid.ImplicitVRLittleEndian, uid.ExplicitVRBigEndian, uid.DeflatedExplicitVRLittleEndian])
def test_every_type_and_order_of_bytes(tmp_path, rng, kind, syntax):
    if np.dtype(kind).kind == "f":
        array = rng.normal(size=(5, 7)).astype(kind)
    else:
        array = numbers(rng, 5, 7, kind=kind)
    written = array.byteswap() if syntax == uid.ExplicitVRBigEndian else array
    found = read_one(tmp_path / "a.dcm", written, syntax=syntax)
    assert found.dtype == kind and (found == array).all()


def test_white_as_the_least_value_turns_no_values_round(tmp_path):
    array = np.array([[0, 1, 4095]], np.uint16)
    meaning = {"RescaleSlope": 1, "RescaleIntercept": -1024, "BitsStored": 12, "HighBit": 11}
    for colour in ("MONOCHROME1", "MONOCHROME2", None):
        found = read_one(tmp_path / "a.dcm", array, PhotometricInterpretation=colour, **meaning)
        assert found.tolist() == [[-1024, -1023, 3071]] and found.dtype == np.int16


def test_bits_that_are_stored(tmp_path):
    signed = {"BitsStored": 12, "HighBit": 11, "PixelRepresentation": 1}
    # Padded by zeros, and by the sign.
    assert read_one(tmp_path / "a", np.array([[0x0FFF, 0xFFFF, 0x07FF, 0xF800]], np.uint16), **signed).tolist() == [[-1, -1, 2047, -2048]]
    assert read_one(tmp_path / "a", np.array([[0x1230, 0xFFF0]], np.uint16), BitsStored=12, HighBit=15).tolist() == [[0x123, 0xFFF]]
    with pytest.raises(gr.BadInputError, match="has 1 value of more than the 12 bits"):
        read_one(tmp_path / "a", np.array([[0x1230, 0xFFF1]], np.uint16), BitsStored=12, HighBit=15)
    # A padding value outside of the stored bits, which would become 2096, in the midst of the others.
    with pytest.raises(gr.BadInputError, match=r"has 1 value of more than the 12 bits that its header names \(BitsStored\)"):
        read_one(tmp_path / "a", np.array([[63536, 100]], np.uint16), BitsStored=12, HighBit=11)
    with pytest.raises(gr.BadInputError, match="has 12 bits up to bit 16 among 16"):
        read_one(tmp_path / "a", np.array([[1, 100]], np.uint16), BitsStored=12, HighBit=16)


def test_an_overlay_in_bits_beside_the_numbers(tmp_path):
    header = make_header(np.array([[0x8123, 0x0FFF]], np.uint16), BitsStored=12, HighBit=11, **PLACED)
    header.add_new((0x6000, 0x0100), "US", 16)
    header.add_new((0x6000, 0x0102), "US", 15)
    assert gr.read_image(write(tmp_path / "a", header)).array.tolist() == [[[0x123, 0xFFF]]]


def test_signed_padding(tmp_path):
    array = np.array([[-2000, 5, 1000]], np.int16)
    found = read_one(tmp_path / "a", array, PixelPaddingValue=-2000, RescaleSlope=1, RescaleIntercept=-1024)
    assert found.tolist() == [[-3024, -1019, -24]]


@pytest.mark.parametrize("planar", [0, 1])
def test_colours(tmp_path, rng, planar):
    array = numbers(rng, 5, 6, 3, kind=np.uint8)
    header = make_header(array, SECONDARY, PlanarConfiguration=planar)
    if planar:
        header.PixelData = np.moveaxis(array, -1, 0).tobytes()
    found = gr.read_image(write(tmp_path / "a", header))
    assert found.is_vector and found.dimension == 2 and (found.array == array).all()


@pytest.mark.parametrize(
    "elements, text",
    [
        ({"PhotometricInterpretation": "PALETTE COLOR"}, "has the colours 'PALETTE COLOR'"),
        ({"PhotometricInterpretation": "YBR_FULL"}, "has the colours 'YBR_FULL'"),
        ({"SamplesPerPixel": 3}, "has the colours 'MONOCHROME2', of 3 numbers a voxel"),
        ({"ImageType": ["ORIGINAL", "PRIMARY", "M", "ND", "MOSAIC"]}, "is a mosaic of slices"),
        ({"PixelSpacing": None}, "does not say how far its voxels are apart"),
        ({"ModalityLUTSequence": make_item(LUTDescriptor=[2, 0, 16])}, "values that a table gives a meaning"),
        ({"RescaleSlope": 0, "RescaleIntercept": 1}, "are multiplied by 0"),
        ({"NumberOfFrames": 0}, "says that it has 0 frames"),
        ({"BitsAllocated": 12}, "has values of 12 bits"),
        ({"PixelSpacing": [0, 1]}, "has voxels of 0.0×1.0 mm"),
        ({"PixelSpacing": [-1, 1]}, "has voxels of -1.0×1.0 mm"),
        ({"PixelSpacing": [1]}, "has a PixelSpacing of 1 numbers, in the place of 2"),
        ({"ImageOrientationPatient": [0] * 6}, "has directions that are not at right angles"),
        ({"ImageOrientationPatient": [1, 0, 0, 1, 0, 0]}, "has directions that are not at right angles"),
        ({"ImageOrientationPatient": [2, 0, 0, 0, 2, 0]}, "has directions that are not at right angles"),
        ({"Rows": 4}, "holds 60 bytes of values, and its header says 48"),
        ({"Rows": 6}, "is cut off: it holds 60 bytes of values, and is to hold 72"),
        ({"PixelData": None}, "is cut off: it ends before the image"),
        ({"PixelData": b""}, "is cut off: it holds no values"),
    ],
)
def test_what_is_not_read(tmp_path, rng, elements, text):
    path = write(tmp_path / "a", make_header(numbers(rng, 5, 6), **{**PLACED, **elements}))
    with pytest.raises(gr.BadInputError, match=text) as raised:
        gr.read_image(path)
    assert str(path) in str(raised.value)


@pytest.mark.parametrize("keyword", ["Rows", "Columns", "BitsStored", "HighBit", "BitsAllocated"])
def test_counts_that_are_empty(tmp_path, rng, keyword):
    header = make_header(numbers(rng, 5, 6), **PLACED)
    header[keyword].value = None
    with pytest.raises(gr.BadInputError, match=f"has no number, or one below 1, as its {keyword}"):
        gr.read_image(write(tmp_path / "a", header))


def change(path, old, new):
    """Replaces bytes of a file that occur in it once."""
    content = path.read_bytes()
    assert content.count(old) == 1 and len(new) == len(old)
    path.write_bytes(content.replace(old, new))
    return path


def test_ways_of_writing_that_do_not_fit(tmp_path, rng):
    plain = b"1.2.840.10008.1.2.1\0"
    array = numbers(rng, 5, 6)
    others = ((b"1.2.840.113619.5.2\0\0", "is written in a way that is not known"), (b"1.2.840.10008.1.2.5\0", "is damaged, or packed"))
    for other, text in others:
        with pytest.raises(gr.BadInputError, match=text):
            gr.read_image(change(write(tmp_path / "a", make_header(array, **PLACED)), plain, other))
    path = pack(tmp_path / "b", array, "RLE")
    with pytest.raises(gr.BadInputError, match="holds"):
        gr.read_image(change(path, b"1.2.840.10008.1.2.5\0", plain))


@pytest.mark.parametrize("text", ["nan", "1e400", "one", "1,5"])
def test_what_is_no_number(tmp_path, rng, text):
    path = write(tmp_path / "a", make_header(numbers(rng, 5, 6), RescaleSlope="2.5", RescaleIntercept=0, **PLACED))
    content = path.read_bytes()
    at = content.index(b"\x28\0\x53\x10DS") + 6
    path.write_bytes(content[:at] + len(text.ljust(6)).to_bytes(2, "little") + text.ljust(6).encode() + content[at + 6 :])
    with pytest.raises(gr.BadInputError, match="has a RescaleSlope that is no number"):
        gr.read_image(path)


def test_dicom_needs_pydicom(tmp_path, rng, monkeypatch):
    path = write(tmp_path / "a", make_header(numbers(rng, 5, 6), **PLACED))
    monkeypatch.setitem(sys.modules, "pydicom", None)
    with pytest.raises(ImportError, match=r"This needs pydicom: pip install gpuregistration\[io\]"):
        gr.read_image(path)


def pack(path, array, how, **elements):
    """Returns a compressed file: by SimpleITK's JPEG, or by pydicom's run-length encoding."""
    header = make_header(array, **PLACED, **elements)
    if how == "RLE":
        header.compress(uid.RLELossless)
        return write(path, header)
    writer = sitk.ImageFileWriter()
    writer.SetImageIO("GDCMImageIO")
    writer.UseCompressionOn()
    writer.SetCompressor(how)
    writer.SetFileName(f"{path}.dcm")
    writer.Execute(sitk.GetImageFromArray(array))
    packed = pydicom.dcmread(f"{path}.dcm")
    header.PixelData = packed.PixelData
    header["PixelData"].VR, header["PixelData"].is_undefined_length = "OB", True
    return write(path, header, packed.file_meta.TransferSyntaxUID)


@pytest.mark.parametrize("how", ["JPEG", "JPEG2000", "RLE"])
@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.int16])
def test_packed_values(tmp_path, rng, how, kind):
    array = numbers(rng, 16, 20, kind=kind)
    # The decoder ignores both the photometric interpretation and the slope.
    meaning = {"RescaleSlope": "0.5", "RescaleIntercept": "-3", "PhotometricInterpretation": "MONOCHROME1"}
    path = pack(tmp_path / "a", array, how, **meaning)
    found = gr.read_image(path)
    assert (found.array[0] == array * 0.5 - 3).all() and found.spacing.tolist() == [1.5, 2, 1]


@pytest.mark.parametrize("how", ["JPEG", "JPEG2000", "RLE"])
def test_bits_of_packed_values(tmp_path, rng, how):
    twelve = {"BitsStored": 12, "HighBit": 11}
    array = rng.integers(-2048, 2048, (16, 20), np.int16)
    assert (gr.read_image(pack(tmp_path / "a", array, how, **twelve)).array[0] == array).all()
    filled = (array & 0xFFF).astype(np.uint16)
    assert (gr.read_image(pack(tmp_path / "a", filled, how, **{**twelve, "PixelRepresentation": 1})).array[0] == array).all()
    assert (gr.read_image(pack(tmp_path / "a", filled << 4, how, BitsStored=12, HighBit=15)).array[0] == filled).all()
    with pytest.raises(gr.BadInputError, match="has 320 values of more than the 12 bits"):
        gr.read_image(pack(tmp_path / "a", filled // 2 + 60000, how, **twelve))


@pytest.mark.parametrize("how", ["JPEG", "JPEG2000", "RLE"])
def test_packed_values_that_are_cut_off(tmp_path, rng, how):
    path = pack(tmp_path / "a", numbers(rng, 16, 20), how)
    content = path.read_bytes()
    path.write_bytes(content[:-200])
    with pytest.raises(gr.BadInputError, match="is cut off|is damaged"):
        gr.read_image(path)
    header = pydicom.dcmread(pack(tmp_path / "b", numbers(rng, 16, 20), how))
    # The file is complete, but its frame is not.
    encaps = pydicom.encaps
    frames = encaps.generate_pixel_data_frame if pydicom.__version__ < "3" else encaps.generate_frames
    frame = next(iter(frames(header.PixelData, 1) if pydicom.__version__ < "3" else frames(header.PixelData, number_of_frames=1)))
    header.PixelData = pydicom.encaps.encapsulate([frame[: len(frame) // 4 * 2]])
    with pytest.raises(gr.BadInputError, match="is damaged, or packed in a way that is not read"):
        gr.read_image(write(tmp_path / "c", header))


@pytest.mark.parametrize("syntax", [uid.ImplicitVRLittleEndian, uid.ExplicitVRLittleEndian, uid.ExplicitVRBigEndian])
def test_files_without_a_preamble_or_a_suffix(tmp_path, rng, syntax):
    array = numbers(rng, 5, 6)
    path = write(tmp_path / "a", make_header(array.byteswap() if syntax == uid.ExplicitVRBigEndian else array, **PLACED), syntax)
    content = path.read_bytes()
    # From the end of the meta header on, whose length is stored there.
    begin = 144 + int.from_bytes(content[140:144], "little")
    for name, part in (("bare", content[begin:]), ("bare.IMA", content[begin:]), ("bare.nii", content), ("bare.txt", content)):
        (tmp_path / name).write_bytes(part)
        assert (gr.read_image(tmp_path / name).array == array).all()


def test_files_that_are_cut_off_anywhere(tmp_path, rng):
    content = write(tmp_path / "a", make_header(numbers(rng, 5, 6), **PLACED)).read_bytes()
    for size in (*range(140, len(content), 37), len(content) - 1):
        (tmp_path / "cut.dcm").write_bytes(content[:size])
        with pytest.raises(gr.BadInputError, match="cut off|damaged"):
            gr.read_image(tmp_path / "cut.dcm")


def test_a_damaged_header_is_reported(tmp_path, rng):
    source = make_header(numbers(rng, 5, 6), **PLACED)
    for old, new in (
        (b"\x20\0\x52\0UI", b"\x20\0\x52\0XI"),
        (b"\x20\0\x37\0DS", b"\x20\0\x37\0SQ"),
        (b"\x28\0\x10\0US", b"\x28\0\x10\0SH"),
    ):
        with pytest.raises(gr.BadInputError, match="Copy it again|Export it again"):
            gr.read_image(change(write(tmp_path / "a", source), old, new))
