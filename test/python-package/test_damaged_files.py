# SPDX-License-Identifier: Apache-2.0
"""Tests that a damaged or truncated file is refused, as far as its format allows to detect it, and that a file that only looks damaged
is read."""

import bz2
import gzip
import random
import re
import struct
import zlib

import gpuregistration as gr
import numpy as np
import pytest
from command_line import assert_fails, gpureg, gpureg_json
from nifti_files import make_header, write_nifti

sitk = pytest.importorskip("SimpleITK")
pytest.importorskip("nibabel")

VOLUME = np.cumsum(np.random.default_rng(1).integers(-3, 4, (9, 10, 11)), axis=2).astype(np.int16)
PICTURE = (VOLUME[0] % 256).astype(np.uint8)


def flips(content, begin=0, count=40):
    """Returns copies of the content with one bit inverted, at places all over it."""
    places = random.Random(1)
    for _ in range(count):
        damaged = bytearray(content)
        damaged[places.randrange(begin, len(content))] ^= 1 << places.randrange(8)
        yield bytes(damaged)


def check_flips(path, holder, begin=0):
    """Asserts that each copy is refused, or gives the same image: some bits of deflate's codes have no meaning."""
    words = "is damaged|is cut off|no image that can be read|is impossible"
    whole, content = gr.read_image(path).array, holder.read_bytes()
    refused = 0
    for damaged in flips(content, begin):
        holder.write_bytes(damaged)
        try:
            read = gr.read_image(path).array
        except gr.BadInputError as error:
            assert re.search(words, str(error)) and holder.name.split(".")[0] in str(error), error
            refused += 1
        else:
            assert read.dtype == whole.dtype and (read == whole).all()
    assert refused >= 30
    holder.write_bytes(content)
    assert (gr.read_image(path).array == whole).all()


def check_cuts(path, holder, cuts=(1, 4, 9, 200)):
    content = holder.read_bytes()
    for cut in (*cuts, len(content) // 2):
        holder.write_bytes(content[:-cut])
        with pytest.raises(gr.BadInputError, match=holder.name.split(".")[0]):
            gr.read_image(path)
    holder.write_bytes(content)
    gr.read_image(path)


@pytest.mark.parametrize("kind", ["u1", "i2", "f4", "f8", "i4"])
def test_compressed_nifti(tmp_path, kind, deflate_library):
    path = write_nifti(tmp_path / "a.nii.gz", VOLUME.astype(kind))
    # A bit of gzip's header may belong to the time of packing, which does not affect the image.
    check_flips(path, path, begin=10)
    check_cuts(path, path)
    content = path.read_bytes()
    for place in range(10):
        for bit in range(8):
            damaged = bytearray(content)
            damaged[place] ^= 1 << bit
            path.write_bytes(damaged)
            try:
                assert (gr.read_image(path).array == VOLUME.T.astype(kind)).all()
            except gr.BadInputError:
                pass


def test_compressed_nifti_of_colours_and_vectors(tmp_path):
    colours = np.random.default_rng(1).integers(0, 60, (9, 8, 7, 3), np.uint8)
    header = make_header((7, 8, 9), "u1", datatype=128)
    struct.pack_into("<h", header, 72, 24)
    (tmp_path / "c.nii.gz").write_bytes(gzip.compress(bytes(header) + bytes(4) + colours.tobytes()))
    check_flips(tmp_path / "c.nii.gz", tmp_path / "c.nii.gz", begin=10)
    gr.write_image(tmp_path / "v.nii.gz", gr.Image(colours.astype(np.float32), is_vector=True))
    check_flips(tmp_path / "v.nii.gz", tmp_path / "v.nii.gz", begin=10)


def test_pairs_of_nifti(tmp_path):
    content = bytearray(make_header(VOLUME.shape, "i2", begin=("f", 0.0)))
    content[344:347] = b"ni1"
    (tmp_path / "a.hdr.gz").write_bytes(gzip.compress(content))
    (tmp_path / "a.img.gz").write_bytes(gzip.compress(VOLUME.tobytes(order="F")))
    assert (gr.read_image(tmp_path / "a.hdr.gz").array == VOLUME.T).all()
    for name in ("a.hdr.gz", "a.img.gz"):
        check_flips(tmp_path / "a.hdr.gz", tmp_path / name, begin=10)
        check_cuts(tmp_path / "a.img.gz", tmp_path / name, cuts=(1, 4, 9))


def test_damaged_fields(tmp_path, capfd):
    field = gr.DisplacementField(np.random.default_rng(1).normal(size=(6, 7, 8, 3)))
    gr.write_transform(tmp_path / "w.nii.gz", field)
    for damaged in flips((tmp_path / "w.nii.gz").read_bytes(), begin=10, count=10):
        (tmp_path / "d.nii.gz").write_bytes(damaged)
        with pytest.raises(gr.BadInputError, match="d.nii.gz is damaged.*Copy it again"):
            gr.read_transform(tmp_path / "d.nii.gz")
    gr.write_image(tmp_path / "i.mha", gr.Image(VOLUME))
    assert_fails(capfd, 1, "d.nii.gz is damaged", None, "apply", tmp_path / "i.mha", "-t", tmp_path / "d.nii.gz", "-o", tmp_path / "o.mha")


def test_gzip_of_several_members(tmp_path, deflate_library):
    content = gzip.decompress(write_nifti(tmp_path / "a.nii.gz", VOLUME).read_bytes())
    path = tmp_path / "a.nii.gz"
    for parts in ((99,), (352,), (1000, 1400), (0,)):
        cuts = (0, *parts, len(content))
        path.write_bytes(b"".join(gzip.compress(content[a:b]) for a, b in zip(cuts, cuts[1:])))
        assert (gr.read_image(path).array == VOLUME.T).all()
    check_flips(path, path, begin=40)
    # The second member is missing, of which the first one does not know.
    path.write_bytes(gzip.compress(content[:999]))
    with pytest.raises(gr.BadInputError, match=f"a.nii.gz is cut off: it is to hold {len(content)} bytes, unpacked"):
        gr.read_image(path)


def make_member(content, flags, name=b"", check=None):
    """Returns a member of gzip whose header has all optional parts."""
    header = b"\x1f\x8b\x08" + bytes([flags]) + bytes(6)
    header += struct.pack("<H", 300) + bytes(range(1, 251)) + bytes(50) if flags & 4 else b""
    header += name + b"\0" if flags & 8 else b""
    header += b"a comment\0" if flags & 16 else b""
    header += struct.pack("<H", zlib.crc32(header) & 0xFFFF if check is None else check) if flags & 2 else b""
    work = zlib.compressobj(6, zlib.DEFLATED, -15)
    return header + work.compress(content) + work.flush() + struct.pack("<II", zlib.crc32(content), len(content))


@pytest.mark.parametrize("part", [2, 7, 1 << 15])
def test_headers_of_gzip(tmp_path, monkeypatch, deflate_library, part):
    """Tests each optional part, for any division of the file into chunks, in the first member and in the second one."""
    monkeypatch.setattr("gpuregistration._unpack._PART", part)
    content = gzip.decompress(write_nifti(tmp_path / "a.nii.gz", VOLUME).read_bytes())
    path = tmp_path / "a.nii.gz"
    for flags in range(32):
        path.write_bytes(make_member(content[:500], flags, b"a name") + make_member(content[500:], flags))
        assert (gr.read_image(path).array == VOLUME.T).all(), flags
    for flags in (0x20, 0x40, 0x80):
        path.write_bytes(make_member(content, flags))
        with pytest.raises(gr.BadInputError, match="a.nii.gz is damaged.*with flags .* is not known"):
            gr.read_image(path)
    path.write_bytes(make_member(content, 2, check=1))
    with pytest.raises(gr.BadInputError, match="a.nii.gz is damaged.*checksum of its header"):
        gr.read_image(path)
    whole = make_member(content, 0)
    for behind, words in ((struct.pack("<II", 1, len(content)), "its checksum is"), (whole[-8:-4] + bytes(4), "and 0 are stated")):
        path.write_bytes(whole[:-8] + behind)
        with pytest.raises(gr.BadInputError, match=f"a.nii.gz is damaged.*{words}"):
            gr.read_image(path)
    for cut in range(1, 9):
        path.write_bytes(whole[:-cut])
        with pytest.raises(gr.BadInputError, match="a.nii.gz is cut off"):
            gr.read_image(path)
    for length in range(2, 11):
        path.write_bytes(make_member(content[:500], 0) + make_member(content[500:], 31)[:length])
        with pytest.raises(gr.BadInputError, match="a.nii.gz is cut off"):
            gr.read_image(path)


def test_bytes_behind_the_end(tmp_path, capfd, deflate_library):
    path = write_nifti(tmp_path / "a.nii.gz", VOLUME)
    content = path.read_bytes()
    path.write_bytes(content + bytes(1000))
    assert (gr.read_image(path).array == VOLUME.T).all()
    words = ("apply", path, "-o", tmp_path / "o.nii", "--device", "host")
    assert gpureg_json(capfd, *words)["warnings"] == []
    for behind, count in ((b"more", 4), (b"x", 1), (bytes(5) + b"xy", 2), (b"\x1e\x8b" * 40000, 80000)):
        path.write_bytes(content + behind)
        with pytest.warns(gr.InputWarning, match=f"a.nii.gz is whole, and {count} bytes that are no part of it follow"):
            assert (gr.read_image(path).array == VOLUME.T).all()
    assert "follow its end" in gpureg(capfd, *words)[2]
    for name in ("b.nii", "b.nii.gz"):
        unpacked = gzip.decompress(content) + b"more"
        (tmp_path / name).write_bytes(gzip.compress(unpacked) if name.endswith("gz") else unpacked)
        with pytest.warns(gr.InputWarning, match=f"{name} has 4 bytes behind the last value"):
            assert (gr.read_image(tmp_path / name).array == VOLUME.T).all()


@pytest.mark.parametrize(
    "name, is_packed, words",
    [
        ("a.nii.gz", False, "is not compressed, though its name ends on .gz"),
        ("a.nii", True, "is compressed by gzip"),
        ("a.mgz", False, "is not compressed, though its name ends on .mgz"),
    ],
)
def test_names_that_say_something_else(tmp_path, name, is_packed, words):
    path = write_nifti(tmp_path / name, VOLUME, compress=is_packed)
    with pytest.warns(gr.InputWarning, match=f"{name} {words}.*Rename it"):
        assert (gr.read_image(path).array == VOLUME.T).all()
    if is_packed:
        path.write_bytes(path.read_bytes()[:-1] + b"\x55")
        with pytest.raises(gr.BadInputError, match="a.nii is damaged"), pytest.warns(gr.InputWarning):
            gr.read_image(path)
    else:
        path.write_bytes(path.read_bytes()[:-1])
        with pytest.raises(gr.BadInputError, match=f"{name} is cut off: it is to hold [0-9]+ bytes. Copy"), pytest.warns(gr.InputWarning):
            gr.read_image(path)


@pytest.mark.parametrize("name, holder", [("a.mha", "a.mha"), ("a.mhd", "a.zraw")])
def test_packed_metaimages(tmp_path, name, holder):
    sitk.WriteImage(sitk.GetImageFromArray(VOLUME), str(tmp_path / name), useCompression=True)
    begin = (tmp_path / holder).read_bytes().find(b"LOCAL\n") + 6 if name == holder else 0
    check_flips(tmp_path / name, tmp_path / holder, begin)
    check_cuts(tmp_path / name, tmp_path / holder)


def test_a_metaimage_whose_checksum_is_missing(tmp_path):
    """The number of compressed bytes is optional for a file beside the header."""
    packed = zlib.compress(VOLUME.tobytes())
    header = "ObjectType = Image\nNDims = 3\nDimSize = 11 10 9\nElementType = MET_SHORT\nCompressedData = True\nElementDataFile = x.zraw\n"
    (tmp_path / "a.mhd").write_text(header)
    for cut in (0, 1, 4):
        (tmp_path / "x.zraw").write_bytes(packed[: len(packed) - cut])
        if cut == 0:
            assert (gr.read_image(tmp_path / "a.mhd").array == VOLUME).all()
        else:
            with pytest.raises(gr.BadInputError, match="x.zraw is damaged"):
                gr.read_image(tmp_path / "a.mhd")


def test_metaimages_of_a_file_a_slice(tmp_path):
    names = [f"s{n}.raw" for n in range(9)]
    for name, values in zip(names, VOLUME):
        (tmp_path / name).write_bytes(values.tobytes())
    header = "ObjectType = Image\nNDims = 3\nDimSize = 11 10 9\nElementType = MET_SHORT\nElementDataFile = "
    for end in ("LIST\n" + "\n".join(names) + "\n", "s%d.raw 0 8 1\n"):
        (tmp_path / "a.mhd").write_text(header + end)
        assert (gr.read_image(tmp_path / "a.mhd").array == VOLUME).all()
    (tmp_path / "s4.raw").write_bytes(VOLUME[4].tobytes()[:-3])
    with pytest.raises(gr.BadInputError, match="s4.raw is cut off: it is to hold 220 bytes"):
        gr.read_image(tmp_path / "a.mhd")


def write_nrrd(path, encoding, values, *lines, holder=None):
    """Writes a NRRD's header, followed by values, or with values in a file beside it."""
    lines = ["NRRD0004", "type: short", "dimension: 3", "sizes: 11 10 9", "endian: little", f"encoding: {encoding}", *lines]
    if holder is None:
        path.write_bytes("\n".join([*lines, "", ""]).encode() + values)
    else:
        path.write_bytes("\n".join([*lines, f"data file: {holder.name}", ""]).encode())
        holder.write_bytes(values)
    return path


@pytest.mark.parametrize("lines, before", [((), b""), (("line skip: 2",), b"one\ntwo\n")])
@pytest.mark.parametrize("name", ["a.nrrd", "a.nhdr"])
@pytest.mark.parametrize("encoding", ["gzip", "gz"])
def test_compressed_nrrd(tmp_path, encoding, name, lines, before):
    holder = None if name == "a.nrrd" else tmp_path / "a.raw.gz"
    path = write_nrrd(tmp_path / name, encoding, before + gzip.compress(VOLUME.tobytes()), *lines, holder=holder)
    assert (gr.read_image(path).array == VOLUME).all()
    begin = (holder or path).read_bytes().find(b"\x1f\x8b") + 10
    check_flips(path, holder or path, begin)
    check_cuts(path, holder or path)


@pytest.mark.parametrize("encoding", ["raw", "ascii", "hex"])
def test_nrrd_that_is_not_compressed(tmp_path, encoding):
    values = {"raw": VOLUME.tobytes(), "ascii": b" ".join(b"%d" % n for n in VOLUME.ravel()), "hex": VOLUME.tobytes().hex().encode()}[encoding]
    for name, holder in (("a.nrrd", None), ("b.nrrd", tmp_path / "b.raw"), ("b.nhdr", tmp_path / "b.raw")):
        path = write_nrrd(tmp_path / name, encoding, values, holder=holder)
        assert (gr.read_image(path).array == VOLUME).all()
        check_cuts(path, holder or path, cuts=(20, 200))
    assert gr._parts.parts_that_are_read(str(tmp_path / "b.nrrd")) == [tmp_path / "b.nrrd", tmp_path / "b.raw"]


@pytest.mark.parametrize("lines, before", [((), b""), (("line skip: 1", "byte skip: 2"), b"one\n12")])
def test_raw_nrrd_that_is_cut_off(tmp_path, lines, before):
    for name, holder in (("a.nrrd", None), ("b.nhdr", tmp_path / "b.raw")):
        path = write_nrrd(tmp_path / name, "raw", before + VOLUME.tobytes(), *lines, holder=holder)
        assert (gr.read_image(path).array == VOLUME).all()
        holder = holder or path
        content = holder.read_bytes()
        holder.write_bytes(content[:-1])
        with pytest.raises(gr.BadInputError, match=f"{holder.name} is cut off: it is to hold {len(content)} bytes. Copy it again"):
            gr.read_image(path)


@pytest.mark.parametrize(
    "kind, size",
    [
        ("uchar", 1),
        ("signed char", 1),
        ("int8_t", 1),
        ("unsigned short int", 2),
        ("uint16", 2),
        ("int", 4),
        ("uint32_t", 4),
        ("float", 4),
        ("double", 8),
        ("unsigned long long int", 8),
        ("int64_t", 8),
    ],
)
def test_raw_nrrd_of_all_types(tmp_path, kind, size):
    """A complete file is read; one that lacks a byte is refused."""
    header = f"NRRD0004\ntype: {kind}\ndimension: 2\nsizes: 3 2\nendian: little\nencoding: raw\n\n".encode()
    path = tmp_path / "a.nrrd"
    path.write_bytes(header + bytes(6 * size))
    assert gr.read_image(path).array.dtype.itemsize == size
    path.write_bytes(header + bytes(6 * size - 1))
    with pytest.raises(gr.BadInputError, match=f"is to hold {len(header) + 6 * size} bytes"):
        gr.read_image(path)


@pytest.mark.parametrize("name", ["a.mha", "a.MHD"])
def test_metaimages_that_are_none(tmp_path, name):
    write_nifti(tmp_path / "a.nii", VOLUME.T).rename(tmp_path / name)
    with pytest.raises(gr.BadInputError, match=f"{name} is no image that can be read: it does not begin as a MetaImage does"):
        gr.read_image(tmp_path / name)


@pytest.mark.parametrize("key", ["TransformMatrix", "Rotation", "Orientation"])
def test_a_metaimage_whose_axes_have_no_inverse(tmp_path, key):
    lines = ["ObjectType = Image", "NDims = 3", "DimSize = 11 10 9", "ElementType = MET_SHORT", f"{key} = 1 0 0 0 1 0 %d 0 %d"]
    text = "\n".join([*lines, "ElementDataFile = LOCAL", ""])
    path = tmp_path / "a.mha"
    path.write_bytes((text % (0, 1)).encode() + VOLUME.tobytes())
    assert (gr.read_image(path).array == VOLUME).all()
    path.write_bytes((text % (1, 0)).encode() + VOLUME.tobytes())
    with pytest.raises(gr.BadInputError, match="a.mha lies nowhere: its TransformMatrix has no inverse: .1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0"):
        gr.read_image(path)


@pytest.mark.parametrize("skip, before", [(3, b"abc"), (-1, b"whatever")])
def test_nrrd_that_leaves_bytes_out(tmp_path, skip, before):
    path = write_nrrd(tmp_path / "a.nrrd", "raw", before + VOLUME.tobytes(), f"byte skip: {skip}")
    assert (gr.read_image(path).array == VOLUME).all()
    path = write_nrrd(tmp_path / "b.nrrd", "gzip", gzip.compress(before + VOLUME.tobytes()), f"byte skip: {skip}")
    assert (gr.read_image(path).array == VOLUME).all()


def test_nrrd_by_bzip2(tmp_path):
    path = write_nrrd(tmp_path / "a.nrrd", "bzip2", bz2.compress(VOLUME.tobytes()))
    with pytest.raises(gr.BadInputError, match="a.nrrd is compressed by bzip2, which cannot be read. Write it by gzip"):
        gr.read_image(path)


@pytest.mark.parametrize("name", ["a.tif", "a.png", "a.jpg", "a.bmp", "s.tif", "s.gipl", "s.gipl.gz", "s.vtk", "s.h5"])
def test_other_formats_that_are_cut_off(tmp_path, name):
    image = sitk.GetImageFromArray(PICTURE if name[0] == "a" else VOLUME)
    for is_packed in (False, True):
        sitk.WriteImage(image, str(tmp_path / name), is_packed)
        check_cuts(tmp_path / name, tmp_path / name, cuts=(1, 9) if name != "s.h5" else ())
    if name in ("a.png", "s.gipl.gz"):
        check_flips(tmp_path / name, tmp_path / name, begin=60)


def test_big_tiff(tmp_path):
    """Made byte by byte: a header, a page's directory and a strip, in either byte order."""
    for order, mark in (("<", b"II"), (">", b"MM")):
        entries = [(256, 3, 11), (257, 3, 10), (258, 3, 8), (259, 3, 1), (262, 3, 1), (273, 16, 196), (277, 3, 1), (278, 3, 10), (279, 16, 110)]
        content = mark + struct.pack(f"{order}3HQQ", 43, 8, 0, 16, len(entries))
        for tag, kind, value in entries:
            content += struct.pack(f"{order}HHQ", tag, kind, 1) + (struct.pack(f"{order}H6x" if kind == 3 else f"{order}Q", value))
        content += bytes(8)
        path = tmp_path / "a.tif"
        offset = len(content)
        content = content.replace(struct.pack(f"{order}Q", 196), struct.pack(f"{order}Q", offset))
        path.write_bytes(content + PICTURE.tobytes())
        assert (gr.read_image(path).array == PICTURE).all()
        check_cuts(path, path, cuts=(1, 9))


def test_a_vtk_of_text(tmp_path):
    path = tmp_path / "a.vtk"
    header = "# vtk DataFile Version 3.0\nx\nASCII\nDATASET STRUCTURED_POINTS\nDIMENSIONS 3 2 2\nSPACING 1 1 1\nORIGIN 0 0 0\nPOINT_DATA 12\n"
    header += "SCALARS scalars float 1\nLOOKUP_TABLE default\n"
    path.write_text(header + " ".join(map(str, range(12))) + "\n")
    assert gr.read_image(path).array.ravel().tolist() == list(range(12))
    path.write_text(header + " ".join(map(str, range(11))) + "\n")
    with pytest.raises(gr.BadInputError, match="a.vtk"):
        gr.read_image(path)


@pytest.mark.parametrize(
    "name, program",
    [("a.mha.gz", "gunzip"), ("a.NRRD.GZ", "gunzip"), ("a.nii.bz2", "bunzip2"), ("a.nii.zst", "unzstd"), ("a.zip", "unzip")],
)
def test_files_that_are_compressed_as_a_whole(tmp_path, name, program):
    (tmp_path / name).write_bytes(gzip.compress(b"some image"))
    for load in (gr.read_image, gr.read_transform):
        with pytest.raises(gr.BadInputError, match=f"{name} is compressed as a whole.*Unpack it: {program}."):
            load(tmp_path / name)


def test_formats_of_which_nothing_is_known(tmp_path):
    sitk.WriteImage(sitk.GetImageFromArray(VOLUME), str(tmp_path / "a.mrc"))
    with pytest.warns(gr.InputWarning, match="a.mrc is read as SimpleITK's MRCImageIO does"):
        gr.read_image(tmp_path / "a.mrc")


@pytest.mark.parametrize("name", ["a.mnc", "A.MNC", "a.mnc2", "a.mnc.gz"])
def test_minc_is_refused(tmp_path, capfd, name):
    (tmp_path / name).write_bytes(b"\x89HDF\r\n\x1a\n")
    for load in (gr.read_image, gr.read_transform, lambda path: gr.write_image(path, VOLUME)):
        with pytest.raises(gr.BadInputError, match=f"{name} is of MINC, which is not read or written. Make NIfTI of it: mnc2nii"):
            load(tmp_path / name)
    assert_fails(capfd, 1, "is of MINC", None, "apply", tmp_path / name, "-o", tmp_path / "o.nii")


def test_transforms_of_minc_are_refused(tmp_path):
    (tmp_path / "a.xfm").write_text(
        "MNI Transform File\nTransform_Type = Linear;\nLinear_Transform =\n 1 0.1 0 5\n 0 1 0 6\n 0 0 1 7;\n"
    )
    with pytest.raises(gr.BadInputError, match=r"a.xfm is a transform of MINC's.*D @ M @ D"):
        gr.read_transform(tmp_path / "a.xfm")
    with pytest.raises(gr.BadInputError, match="a.xfm"):
        gr.write_transform(tmp_path / "a.xfm", gr.Affine())
    # The message is right.
    m = np.array([[1, 0.1, 0, 5], [0, 1, 0, 6], [0, 0, 1, 7], [0, 0, 0, 1]])
    d = np.diag([-1, -1, 1, 1])
    there = gr.Affine.from_matrix(d @ m @ d).transform_points([-1.0, -2.0, 3.0])
    np.testing.assert_allclose(there * [-1, -1, 1], (m @ [1, 2, 3, 1])[:3])
