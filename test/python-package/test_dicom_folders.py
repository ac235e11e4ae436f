# SPDX-License-Identifier: Apache-2.0
"""Tests folders of DICOM slices: their order, and whether they are one volume."""

import os
from decimal import Decimal

import gpuregistration as gr
import numpy as np
import pytest
from command_line import assert_fails, gpureg_json
from gpuregistration._dicom_places import Source, last_digit, order_slices

sitk = pytest.importorskip("SimpleITK")
pytest.importorskip("pydicom")

from dicom_files import CT, PET, make_header, write, write_series  # noqa: E402


def write_slice(part, path):
    """Writes a slice with its ids."""
    writer = sitk.ImageFileWriter()
    writer.KeepOriginalImageUIDOn()
    writer.SetFileName(str(path))
    writer.Execute(part)


def write_dicom(folder, image, series="1.2.826.0.1.3680043.2.1125.1", digits=17):
    """Writes a series of 16-bit slices with rounded positions."""
    folder.mkdir(exist_ok=True)
    volume = sitk.Cast(image, sitk.sitkInt16)
    direction = volume.GetDirection()
    for number in range(volume.GetDepth()):
        part = volume[:, :, number]
        for tag, text in (
            ("0008|0060", "MR"),
            ("0020|000e", series),
            ("0020|000d", "1.2.826.0.1.3680043.2.1125.9"),
            ("0008|0018", f"{series}.{number + 1}"),
            ("0020|0032", "\\".join(str(round(x, digits)) for x in volume.TransformIndexToPhysicalPoint((0, 0, number)))),
            ("0020|0037", "\\".join(map(str, direction[0:9:3] + direction[1:9:3]))),
            ("0020|0013", str(number)),
            ("0018|0050", str(volume.GetSpacing()[2])),
        ):
            part.SetMetaData(tag, text)
        # The order of the names is not that of the slices.
        write_slice(part, folder / f"{(7 * number) % volume.GetDepth():03}-{series[-1]}.dcm")


@pytest.fixture
def dicom(tmp_path, heads):
    write_dicom(tmp_path / "series", gr._kinds.to_simpleitk(heads[0]))
    return tmp_path / "series"


def test_dicom_folder(dicom, heads, head_files, tmp_path, capfd):
    image = gr.read_image(dicom)
    assert image.has_grid_of(heads[0])
    assert (image.array == heads[0].array.astype(np.int16)).all()
    found = gpureg_json(capfd, "register", dicom, head_files.moving, "-o", tmp_path / "o.nii.gz", "--device", "host")
    assert found["stages"][0]["overlap"] > 0.8 and gr.read_image(tmp_path / "o.nii.gz").has_grid_of(heads[0])


def slice_at(folder, number):
    """Returns the file of one of a head's 40 slices."""
    return folder / f"{(7 * number) % 40:03}-1.dcm"


def test_dicom_folder_that_lacks_a_slice(dicom, head_files, tmp_path, capfd):
    slice_at(dicom, 17).unlink()
    gap = (f"{slice_at(dicom, 16).name} and {slice_at(dicom, 18).name} are 4 mm apart, and others 2 mm", dicom)
    with pytest.raises(gr.BadInputError, match=gap[0]):
        gr.read_image(dicom)
    assert_fails(capfd, 1, *gap, None, "register", dicom, head_files.moving, "-o", tmp_path / "o.nii.gz")
    assert not (tmp_path / "o.nii.gz").exists()


def test_dicom_folder_of_a_tilted_gantry(dicom, heads, tmp_path, capfd):
    # Each slice is shifted to the side by a hundredth of the slices' distance: less than a degree.
    for number in range(heads[0].shape[0]):
        part = sitk.ReadImage(str(slice_at(dicom, number)))
        place = [float(word) for word in part.GetMetaData("0020|0032").split("\\")]
        place[1] += 0.01 * heads[0].spacing[2] * number
        part.SetMetaData("0020|0032", "\\".join(map(str, place)))
        write_slice(part, slice_at(dicom, number))
    assert_fails(capfd, 1, "shifted sideways, by up to 0.78 mm", dicom, None, "apply", dicom, "-o", tmp_path / "o.nii.gz")


def test_dicom_folder_with_two_slices_at_one_place(dicom, head_files, tmp_path, capfd):
    first, second = slice_at(dicom, 17), dicom / "twice.dcm"
    part = sitk.ReadImage(str(first))
    part.SetMetaData("0008|0018", "1.2.826.0.1.3680043.2.1125.1.99")
    write_slice(part, second)
    twice = f"two slices at one place: {first.name} and {second.name}"
    assert_fails(capfd, 1, twice, dicom, None, "apply", dicom, "-o", tmp_path / "o.nii.gz")


@pytest.mark.parametrize("angle", [0.0, 0.2])
@pytest.mark.parametrize("spacing, digits", [(1.25, 1), (0.33, 1), (0.1, 2), (3.0, 17), (0.7, 17)])
def test_places_of_slices_are_rounded(dicom, rng, spacing, digits, angle):
    image = sitk.GetImageFromArray(rng.integers(0, 99, (40, 6, 5), dtype=np.int16))
    image.SetSpacing((1.0, 1.0, spacing))
    image.SetOrigin((-33.3, 21.7, -4.9))
    image.SetDirection(sitk.Euler3DTransform((0, 0, 0), angle, 1.5 * angle, 0.1).GetMatrix())
    write_dicom(dicom, image, digits=digits)
    found = gr.read_image(dicom)
    assert (found.array == sitk.GetArrayViewFromImage(image)).all() and abs(found.spacing[2] - spacing) < 0.02
    slice_at(dicom, 9).unlink()
    with pytest.raises(gr.BadInputError, match=f"{slice_at(dicom, 8).name} and {slice_at(dicom, 10).name} are"):
        gr.read_image(dicom)


def test_slices_as_far_apart_as_a_place_is_rounded(dicom):
    image = sitk.Image([6, 5, 40], sitk.sitkInt16)
    image.SetSpacing((1.0, 1.0, 0.1))
    write_dicom(dicom, image, digits=1)
    gr.read_image(dicom)
    slice_at(dicom, 9).unlink()
    with pytest.raises(gr.BadInputError, match="are 0.2 mm apart, and others 0.1 mm"):
        gr.read_image(dicom)


@pytest.mark.parametrize("angles", [(0.1, 0.2, 0.3), (0.4, -0.3, 0.7), (-0.123, 0.456, 1.1)])
def test_directions_of_slices_are_rounded(dicom, angles):
    image = sitk.Image([6, 5, 40], sitk.sitkInt16)
    image.SetSpacing((1.0, 1.0, 3.0))
    image.SetDirection(sitk.Euler3DTransform((0, 0, 0), *angles).GetMatrix())
    write_dicom(dicom, image)
    for number in range(40):
        # pydicom's writer refuses these.
        content = slice_at(dicom, number).read_bytes()
        begin = content.index(b"\x20\0\x37\0") + 8
        end = begin + int.from_bytes(content[begin - 4 : begin], "little")
        rounded = b"\\".join(b"%.2f" % float(word) for word in content[begin:end].split(b"\\"))
        slice_at(dicom, number).write_bytes(content[:begin] + rounded.ljust(end - begin) + content[end:])
    assert abs(gr.read_image(dicom).spacing[2] - 3) < 0.01
    slice_at(dicom, 9).unlink()
    with pytest.raises(gr.BadInputError, match="some may be missing, or their positions are rounded"):
        gr.read_image(dicom)


def places(*numbers):
    return [f"0\\0\\{number}" for number in numbers]


def check_places(positions, orientation="1\\0\\0\\0\\1\\0", source=Source("folder", True)):
    numbers = [tuple(map(Decimal, text.split("\\"))) for text in (*positions, orientation)]
    return order_slices(source, [f"{number}.dcm" for number in range(len(positions))], numbers[:-1], numbers[-1])


def test_more_than_rounded_directions_is_a_tilted_gantry():
    for row, column, slant in (("1\\0", "0\\1", 0.01), ("0.99\\0.1", "-0.1\\0.99", 0.02), ("0.8\\0.6", "-0.6\\0.8", 0.02)):
        orientation = f"{row}\\0\\{column}\\0"
        check_places([f"0\\{slant * 0.1 * n:.6f}\\{3 * n}" for n in range(40)], orientation)
        with pytest.raises(gr.BadInputError, match="as of a tilted gantry, or of directions that are rounded"):
            check_places([f"0\\{slant * 3 * n:.6f}\\{3 * n}" for n in range(40)], orientation)


def test_slices_at_one_place_whatever_their_distances():
    check_places(places(*(f"{n * 5e-4:.7f}" for n in range(20))))
    for numbers in (["0", "0.0005", "0.0010", "0.0010", "0.0015"], [n for n in range(9) for _ in range(3)], [7, 7, 7]):
        with pytest.raises(gr.BadInputError, match="two slices at one place"):
            check_places(places(*numbers))


def test_positions_of_whole_numbers():
    with pytest.raises(gr.BadInputError, match="or their positions are rounded"):
        check_places(places(0, 2, 3, 5, 6, 8))


def test_last_digit_of_large_numbers():
    # The stored value is no 64-bit number.
    assert last_digit([Decimal("1e400"), Decimal("0.25")]) == 0.01


def test_dicom_folders_without_places(dicom):
    paths = [slice_at(dicom, number) for number in range(40)]
    for number, path in enumerate(paths):
        content = path.read_bytes()
        # The header has another element in place of the position, and is not read.
        assert content.count(b"\x20\0\x32\0") == 1
        path.write_bytes(content.replace(b"\x20\0\x32\0", b"\x20\0\x33\0"))
        if number == 0:
            with pytest.raises(gr.BadInputError, match=f"{path.name} with none"):
                gr.read_image(dicom)
    # The slices' numbers do not determine their direction.
    with pytest.raises(gr.BadInputError, match="has 40 slices, and does not say where each of them is"):
        gr.read_image(dicom)


def test_folders_that_are_no_series(dicom, heads, head_files, tmp_path, capfd):
    words = ("-o", tmp_path / "o.nii.gz")
    write_dicom(dicom, gr._kinds.to_simpleitk(heads[0]), "1.2.826.0.1.3680043.2.1125.2")
    assert_fails(capfd, 1, "holds 2 series", "a folder of its own", None, "register", dicom, head_files.moving, *words)
    assert_fails(capfd, 1, "no series of DICOM", None, "register", head_files.fixed, head_files.folder, *words)


def series(tmp_path, rng, count=9, **more):
    arrays = [rng.integers(0, 99, (5, 6), np.uint16) for _ in range(count)]
    return write_series(tmp_path / "slices", arrays, **more), np.stack(arrays)


def refused(folder, *texts):
    with pytest.raises(gr.BadInputError) as raised:
        gr.read_image(folder)
    assert all(text in str(raised.value) for text in (*texts, str(folder))), raised.value


@pytest.mark.parametrize("angles", [(0, 0, 0), (0.3, -0.2, 0.5), (np.pi, 0, 0), (np.pi / 2, 0, 0), (0, 0, np.pi), (1.2, 0.7, -2.5)])
def test_grids_are_those_of_simpleitk(tmp_path, rng, angles):
    direction = np.round(np.reshape(sitk.Euler3DTransform((0, 0, 0), *angles).GetMatrix(), (3, 3)), 12)
    # The names are sorted neither upwards nor downwards.
    order = rng.permutation(9)
    places = [np.round(np.array([-30.5, 17.25, -99.125]) + 1.25 * n * direction[:, 2], 10).tolist() for n in order]
    folder, arrays = series(tmp_path, rng, places=places, axes=direction[:, :2].T.ravel().tolist(), spacing=[0.7, 0.9])
    found = gr.read_image(folder)
    reader = sitk.ImageSeriesReader()
    reader.SetFileNames([str(folder / f"{n}.dcm") for n in np.argsort(order)])
    wanted = gr._kinds.read_image(reader.Execute(), "")[0]
    assert (found.array == wanted.array).all() and (found.array == arrays[np.argsort(order)]).all()
    assert np.abs(found.index_to_point - wanted.index_to_point).max() < 1e-8
    assert found.origin.tolist() == places[list(order).index(0)] and np.abs(found.direction - direction).max() < 1e-11
    assert found.spacing[:2].tolist() == [0.9, 0.7] and abs(found.spacing[2] - 1.25) < 1e-9


@pytest.mark.parametrize(
    "elements, text",
    [
        ({"Rows": 3, "Columns": 10}, "different sizes: 0.dcm has 6×5 voxels, and 4.dcm 10×3 voxels (Rows, Columns)"),
        ({"ImageOrientationPatient": [0.9999, 0.0141, 0, -0.0141, 0.9999, 0]}, "different directions: 0.dcm has 1.0\\0.0"),
        ({"ImageOrientationPatient": [0, 1, 0, 0, 0, 1]}, "and 4.dcm 0.0\\1.0"),
        ({"PixelSpacing": [2, 1.6]}, "different spacings: 0.dcm has 1.5\\2.0, and 4.dcm 1.6\\2.0"),
        ({"FrameOfReferenceUID": "1.2.9"}, "different systems of coordinates: 0.dcm has 1.2.3, and 4.dcm 1.2.9"),
        ({"PixelSpacing": None}, "does not say how far its voxels are apart"),
        ({"ImagePositionPatient": None}, "4.dcm with none (ImagePositionPatient)"),
    ],
)
def test_slices_of_another_volume(tmp_path, rng, elements, text):
    each = [elements if n == 4 else {} for n in range(9)]
    refused(series(tmp_path, rng, each=each)[0], text)


@pytest.mark.parametrize(
    "others, one, text",
    [
        ({"Units": "BQML"}, {"Units": "CNTS"}, "different units: 0.dcm has BQML, and 4.dcm CNTS (Units)"),
        ({"Units": "BQML"}, {"Units": None}, "0.dcm has BQML, and 4.dcm none (Units)"),
        ({"DoseUnits": "GY"}, {"DoseUnits": "RELATIVE"}, "0.dcm has GY, and 4.dcm RELATIVE (DoseUnits)"),
        ({"RescaleType": "HU"}, {"RescaleType": "OD"}, "different quantities: 0.dcm has HU, and 4.dcm OD (RescaleType)"),
        ({"SUVType": "BW"}, {"SUVType": "LBM"}, "0.dcm has BW, and 4.dcm LBM (SUVType)"),
        ({"PatientID": "P1"}, {"PatientID": "P2"}, "different patients: 0.dcm has P1, and 4.dcm P2 (PatientID)"),
        ({"RescaleSlope": "2.5"}, {"RescaleSlope": None}, "different slopes: 0.dcm has 2.5, and 4.dcm none (RescaleSlope)"),
        ({}, {"RescaleSlope": "2.5"}, "different slopes: 4.dcm has 2.5, and 0.dcm none (RescaleSlope)"),
        ({"RescaleIntercept": "-1024"}, {"RescaleIntercept": ""}, "0.dcm has -1024.0, and 4.dcm none (RescaleIntercept)"),
        ({"TemporalPositionIdentifier": 1}, {"TemporalPositionIdentifier": 2}, "different points in time: 0.dcm has 1, and 4.dcm 2 (Temp"),
    ],
)
def test_slices_of_another_quantity(tmp_path, rng, others, one, text):
    each = [{**others, **(one if n == 4 else {})} for n in range(9)]
    refused(series(tmp_path, rng, each=each)[0], text)


@pytest.mark.parametrize("kind", [CT, PET])
def test_slices_of_one_quantity(tmp_path, rng, kind):
    """Elements that all slices have, elements that some lack, and a scale that changes nothing."""
    same = {"Units": "BQML", "TemporalPositionIdentifier": 3}
    some = {"PatientID": "P1", "RescaleType": "HU", "RescaleSlope": "1", "RescaleIntercept": "0"}
    each = [{**same, **(some if n % 2 else {})} for n in range(9)]
    folder, arrays = series(tmp_path, rng, each=each, kind=kind)
    assert (gr.read_image(folder).array == arrays).all()
    # A single slice without it does not mean that there are several points in time.
    each = [{"TemporalPositionIdentifier": n if n < 8 else None} for n in range(9)]
    (tmp_path / "other").mkdir()
    folder, arrays = series(tmp_path / "other", rng, each=each)
    assert (gr.read_image(folder).array == arrays).all()


def test_slices_that_differ_by_rounding(tmp_path, rng):
    each = [{"PixelSpacing": [2 + 1e-5 * n, 1.5], "ImageOrientationPatient": [1, 1e-6 * n, 0, -1e-6 * n, 1, 0]} for n in range(9)]
    folder, arrays = series(tmp_path, rng, each=each)
    assert (gr.read_image(folder).array == arrays).all()


def test_two_points_in_time(tmp_path, rng):
    places = [[0, 0, 2.0 * (n % 5)] for n in range(10)]
    refused(series(tmp_path, rng, 10, places=places)[0], "two slices at one place", "as of two points in time, echoes or b-values")


def test_slices_without_suffixes_and_other_files(tmp_path, rng):
    folder, arrays = series(tmp_path, rng)
    for n in range(9):
        (folder / f"{n}.dcm").rename(folder / f"IM{n}")
    (folder / "notes.txt").write_text("of the scanner's")
    (folder / "._IM0.dcm").write_bytes(b"\0\5\x16\7")
    (folder / "empty").touch()
    (folder / "within").mkdir()
    report = make_header(arrays[0], "1.2.840.10008.5.1.4.1.1.88.11", Rows=None, Columns=None, PixelData=None, SeriesInstanceUID="1.2.8")
    write(folder / "report.dcm", report)
    directory = make_header(arrays[0], "1.2.840.10008.1.3.10", Rows=None, Columns=None, PixelData=None)
    write(folder / "DICOMDIR", directory)
    assert (gr.read_image(folder).array == arrays).all()
    refused(folder / "report.dcm", "is of DICOM, but no image")
    # A file that looks like a slice is not skipped.
    (folder / "IM9.dcm").touch()
    with pytest.raises(gr.BadInputError, match="IM9.dcm is cut off, or no DICOM"):
        gr.read_image(folder)


@pytest.mark.parametrize("share", [0.1, 0.3, 0.6, 0.95])
def test_the_last_slice_is_cut_off(tmp_path, rng, share):
    folder, _ = series(tmp_path, rng)
    content = (folder / "8.dcm").read_bytes()
    (folder / "8.dcm").write_bytes(content[: int(share * len(content))])
    with pytest.raises(gr.BadInputError, match="8.dcm is cut off"):
        gr.read_image(folder)


def test_names_that_are_no_utf8(tmp_path, rng):
    arrays = [rng.integers(0, 99, (5, 6), np.uint16) for _ in range(3)]
    folder = write_series(tmp_path / os.fsdecode(b"\xff\xe9"), arrays)
    (folder / "1.dcm").rename(folder / os.fsdecode(b"1\xe9"))
    assert (gr.read_image(folder).array == np.stack(arrays)).all()
    assert (gr.read_image(folder / os.fsdecode(b"1\xe9")).array == arrays[1:2]).all()


def test_folders_within(tmp_path, rng):
    series(tmp_path, rng)
    refused(tmp_path, "holds no series of DICOM", "Slices may be in a folder that is in it: name that one.")


def test_one_slice(tmp_path, rng):
    folder, arrays = series(tmp_path, rng, SliceThickness=4)
    found = gr.read_image(folder / "3.dcm")
    assert (found.array == arrays[3:4]).all() and found.spacing.tolist() == [1.5, 2, 4] and found.origin.tolist() == [-10, 20, 9]
    for n in range(1, 9):
        (folder / f"{n}.dcm").unlink()
    assert (gr.read_image(folder).array == arrays[:1]).all()
