# SPDX-License-Identifier: Apache-2.0
"""Tests files of several frames: their positions, the meaning of their numbers, and errors."""

import gpuregistration as gr
import numpy as np
import pytest

sitk = pytest.importorskip("SimpleITK")
pydicom = pytest.importorskip("pydicom")

from command_line import assert_fails  # noqa: E402
from dicom_files import (  # noqa: E402
    AXIAL,
    DOSE,
    DX,
    ENHANCED_CT,
    ENHANCED_MR,
    ENHANCED_PET,
    NM,
    SAGITTAL,
    SECONDARY,
    SEGMENTATION,
    ULTRASOUND,
    make_enhanced,
    make_header,
    make_item,
    write,
)

COUNT = 7


@pytest.fixture
def stored(rng):
    return rng.integers(0, 4000, (COUNT, 5, 6), np.uint16)


def oblique(angles=(0.3, -0.2, 0.5)):
    """Returns directions with a header's digits, and their normal."""
    direction = np.reshape(sitk.Euler3DTransform((0, 0, 0), *angles).GetMatrix(), (3, 3))
    return [round(float(x), 9) for x in direction[:, :2].T.ravel()], direction


def refused(path, *texts):
    with pytest.raises(gr.BadInputError) as raised:
        gr.read_image(path)
    assert all(text in str(raised.value) for text in (*texts, str(path))), raised.value


@pytest.mark.parametrize("kind", [ENHANCED_MR, ENHANCED_CT, ENHANCED_PET])
@pytest.mark.parametrize("axes", [AXIAL, SAGITTAL, [1, 0, 0, 0, -1, 0], None])
def test_frames_stand_in_the_order_of_their_places(tmp_path, stored, kind, axes):
    axes, normal = (axes, np.cross(axes[:3], axes[3:])) if axes else (oblique()[0], oblique()[1][:, 2])
    # Positions are sorted neither upwards nor downwards.
    order = np.array([3, 0, 6, 1, 5, 2, 4])
    places = [[round(float(x), 6) for x in np.array([-10, 20, 30]) + 2.5 * n * normal] for n in order]
    rescale = [(0.25 * (n + 1), -float(n)) for n in range(COUNT)]
    found = gr.read_image(write(tmp_path / "a", make_enhanced(stored, kind, places, axes, rescale=rescale)))
    assert found.array.dtype == np.float64
    for frame, n in enumerate(order):
        assert (found.array[n] == stored[frame] * rescale[frame][0] + rescale[frame][1]).all()
    assert np.abs(found.spacing - [1.5, 2, 2.5]).max() < 1e-6
    assert found.origin.tolist() == [-10, 20, 30]
    assert np.abs(found.direction - np.column_stack([axes[:3], axes[3:], normal])).max() < 1e-8
    assert abs(np.linalg.det(found.direction) - 1) < 1e-12


def test_rescale_of_all_frames(tmp_path, stored):
    header = make_enhanced(stored)
    shared = header.SharedFunctionalGroupsSequence[0]
    shared.PixelValueTransformationSequence = make_item(RescaleSlope=2, RescaleIntercept=-5)
    found = gr.read_image(write(tmp_path / "a", header))
    assert found.array.dtype == np.int32 and (found.array == stored.astype(int) * 2 - 5).all()


def test_spacings_of_each_frame(tmp_path, stored):
    header = make_enhanced(stored)
    for groups in header.PerFrameFunctionalGroupsSequence:
        groups.PixelMeasuresSequence = make_item(PixelSpacing=[4, 3])
    assert gr.read_image(write(tmp_path / "a", header)).spacing.tolist() == [3, 4, 3]
    header.PerFrameFunctionalGroupsSequence[2].PixelMeasuresSequence[0].PixelSpacing = [4, 3.1]
    refused(write(tmp_path / "b", header), "has frames of different spacings: frame 1 has", "frame 3 3.1\\4")


def test_frames_that_are_no_volume(tmp_path, stored, capfd):
    def places(*heights):
        return [[0.1 * n if "tilt" in heights else 0, 0, z] for n, z in enumerate(h for h in heights if h != "tilt")]

    def written(*heights, **more):
        return write(tmp_path / "a", make_enhanced(stored[: len(places(*heights))], places=places(*heights), **more))

    refused(written(0, 2, 4, 8, 10), "has frames at uneven distances", "frame 3 and frame 4 are 4 mm apart, and others 2 mm")
    refused(written(0, 4, 2, 4, 6), "has two frames at one place: frame 2 and frame 4", "Give each volume a file of its own")
    refused(written(0, 2, 4, 0, 2, 4), "has two frames at one place: frame 1 and frame 4")
    refused(written("tilt", 0, 2, 4, 6), "has frames that are shifted sideways, by up to 0.3 mm")
    assert_fails(capfd, 1, "frame 3 and frame 4 are 4 mm apart", None, "apply", written(0, 2, 4, 8), "-o", tmp_path / "o.nii.gz")
    header = make_enhanced(stored)
    turned = make_item(ImageOrientationPatient=[0.995, 0.0998, 0, -0.0998, 0.995, 0])
    header.PerFrameFunctionalGroupsSequence[4].PlaneOrientationSequence = turned
    refused(write(tmp_path / "a", header), "has frames of different directions: frame 1 has", "frame 5 0.995")
    header = make_enhanced(stored)
    del header.PerFrameFunctionalGroupsSequence[4].PlanePositionSequence
    refused(write(tmp_path / "a", header), "has frames with a position, and frame 5 with none")
    header = make_enhanced(stored)
    del header.PerFrameFunctionalGroupsSequence[4]
    refused(write(tmp_path / "a", header), "has 7 frames, and says of 6 where they are")
    header = make_enhanced(stored)
    del header.SharedFunctionalGroupsSequence[0].PixelMeasuresSequence
    refused(write(tmp_path / "a", header), "does not say how far its voxels are apart (PixelSpacing)")


def test_distances_are_those_of_places_not_of_thickness(tmp_path, stored):
    header = make_enhanced(stored, places=[[0, 0, -1.25 * n] for n in range(COUNT)])
    found = gr.read_image(write(tmp_path / "a", header))
    assert found.spacing.tolist() == [1.5, 2, 1.25] and found.origin.tolist() == [0, 0, -7.5]
    assert (found.array == stored[::-1]).all()


def make_dose(stored, offsets, position=(-10, 20, 30), axes=AXIAL, **elements):
    return make_header(
        stored,
        DOSE,
        **{
            "ImagePositionPatient": list(position),
            "ImageOrientationPatient": axes,
            "PixelSpacing": [2, 1.5],
            "GridFrameOffsetVector": list(offsets),
            "DoseGridScaling": "0.00123",
            **elements,
        },
    )


@pytest.mark.parametrize("axes, normal", [(AXIAL, [0, 0, 1]), (SAGITTAL, [1, 0, 0]), ([1, 0, 0, 0, -1, 0], [0, 0, -1])])
@pytest.mark.parametrize("sign", [1, -1])
def test_doses(tmp_path, stored, axes, normal, sign):
    found = gr.read_image(write(tmp_path / "a", make_dose(stored, [2.5 * sign * n for n in range(COUNT)], axes=axes)))
    last = np.array([-10, 20, 30]) - (2.5 * (COUNT - 1) * np.array(normal) if sign < 0 else 0)
    assert (found.array == (stored[::sign] * 0.00123)).all() and found.spacing.tolist() == [1.5, 2, 2.5]
    assert found.origin.tolist() == last.tolist() and found.direction[:, 2].tolist() == normal


@pytest.mark.parametrize("axes, sign", [(AXIAL, 1), ([1, 0, 0, 0, -1, 0], -1)])
def test_doses_by_places_along_the_patient(tmp_path, stored, axes, sign):
    found = gr.read_image(write(tmp_path / "a", make_dose(stored, [30 + 2.5 * n for n in range(COUNT)], axes=axes)))
    assert (found.array == stored[::sign] * 0.00123).all()
    heights = [(found.index_to_point @ [0, 0, n, 1])[2] for n in range(COUNT)]
    assert heights == [30 + 2.5 * n for n in range(COUNT)][::sign]


def test_doses_that_are_no_volume(tmp_path, stored):
    refused(write(tmp_path / "a", make_dose(stored, [0, 2, 4, 6, 8, 10, 14])), "frame 6 and frame 7 are 4 mm apart")
    refused(write(tmp_path / "a", make_dose(stored, [0, 2, 4, 4, 6, 8, 10])), "frame 3 and frame 4")
    refused(write(tmp_path / "a", make_dose(stored, [0, 2, 4])), "a GridFrameOffsetVector of 3 numbers, in the place of 7")
    refused(write(tmp_path / "a", make_dose(stored, [5.0 * n + 1 for n in range(COUNT)])), "do not begin with 0")
    refused(write(tmp_path / "a", make_dose(stored, range(30, 37), axes=SAGITTAL)), "do not begin with 0")
    refused(write(tmp_path / "a", make_dose(stored, [], GridFrameOffsetVector=None)), "does not say where each of them is")


@pytest.mark.parametrize("scaling", [None, ""])
def test_doses_without_a_scale(tmp_path, stored, scaling):
    path = write(tmp_path / "a", make_dose(stored, range(COUNT), DoseGridScaling=scaling))
    refused(path, "is a dose, and does not say what its numbers are multiplied by (DoseGridScaling)")
    refused(write(tmp_path / "b", make_dose(stored[:1], [0], DoseGridScaling=scaling)), "(DoseGridScaling)")


def test_frames_of_another_quantity(tmp_path, stored):
    header = make_enhanced(stored, rescale=[(2, 0)] * COUNT)
    header.PerFrameFunctionalGroupsSequence[4].PixelValueTransformationSequence[0].RescaleType = "HU"
    refused(write(tmp_path / "a", header), "frames of different quantities: frame 1 has US, and frame 5 HU (RescaleType)")
    header = make_enhanced(stored, rescale=[(2, 0)] * COUNT)
    del header.PerFrameFunctionalGroupsSequence[4].PixelValueTransformationSequence
    refused(write(tmp_path / "a", header), "frames of different slopes: frame 1 has 2.0, and frame 5 none (RescaleSlope)")
    header = make_enhanced(stored)
    for number, group in enumerate(header.PerFrameFunctionalGroupsSequence):
        group.FrameContentSequence = make_item(TemporalPositionIndex=1 + number // 4)
    refused(write(tmp_path / "a", header), "different points in time: frame 1 has 1, and frame 5 2", "TemporalPositionIndex")
    del header.PerFrameFunctionalGroupsSequence[0].FrameContentSequence
    assert (gr.read_image(write(tmp_path / "a", header)).array == stored).all()


def make_tomogram(stored, distance, slices, **elements):
    """Returns a tomographic reconstruction of nuclear medicine."""
    detector = make_item(ImagePositionPatient=[-10, 20, 30], ImageOrientationPatient=AXIAL)
    more = {
        "DetectorInformationSequence": detector,
        "SpacingBetweenSlices": distance,
        "SliceVector": list(slices),
        "PixelSpacing": [2, 1.5],
    }
    return make_header(stored, NM, **{**more, **elements})


def test_nuclear_medicine(tmp_path, stored):
    up = gr.read_image(write(tmp_path / "a", make_tomogram(stored, 4, range(1, COUNT + 1))))
    assert (up.array == stored).all() and up.origin.tolist() == [-10, 20, 30] and up.spacing.tolist() == [1.5, 2, 4]
    down = gr.read_image(write(tmp_path / "b", make_tomogram(stored, -4, range(1, COUNT + 1))))
    assert (down.array == stored[::-1]).all() and down.origin.tolist() == [-10, 20, 6] and down.spacing.tolist() == [1.5, 2, 4]
    gated = make_tomogram(stored[:6], 4, [1, 2, 3, 1, 2, 3])
    refused(write(tmp_path / "c", gated), "has two frames at one place: frame 1 and frame 4")
    projections = make_tomogram(stored, 4, [], SliceVector=None)
    refused(write(tmp_path / "d", projections), "does not say where each of them is")


def test_films_are_refused(tmp_path, rng):
    for array, kind in ((rng.integers(0, 9, (4, 5, 6), np.uint8), ULTRASOUND), (rng.integers(0, 9, (4, 5, 6, 3), np.uint8), SECONDARY)):
        refused(write(tmp_path / "a", make_header(array, kind)), "has 4 frames, and does not say where each of them is", "of a film")


def test_segmentations_are_refused(tmp_path, stored):
    segments = make_enhanced(stored, SEGMENTATION, SegmentSequence=make_item(SegmentNumber=1))
    refused(write(tmp_path / "a", segments), "is a segmentation", "segimage2itkimage")
    bits = make_header(np.zeros((1, 8), np.uint8), SEGMENTATION, BitsAllocated=1, BitsStored=1, HighBit=0, Columns=64)
    refused(write(tmp_path / "a", bits), "is a segmentation")


def test_maps_of_floats(tmp_path, rng):
    array = rng.normal(size=(COUNT, 5, 6)).astype(np.float32)
    found = gr.read_image(write(tmp_path / "a", make_enhanced(array, "1.2.840.10008.5.1.4.1.1.30")))
    assert found.array.dtype == np.float32 and (found.array == array).all() and found.spacing.tolist() == [1.5, 2, 3]


def test_frames_that_are_packed(tmp_path, stored):
    header = make_enhanced(
        stored, places=[[0, 0, 3.0 * (n * 3 % COUNT)] for n in range(COUNT)], rescale=[(n + 1, n) for n in range(COUNT)]
    )
    header.compress(pydicom.uid.RLELossless)
    found = gr.read_image(write(tmp_path / "a", header))
    assert all((found.array[n * 3 % COUNT] == stored[n].astype(int) * (n + 1) + n).all() for n in range(COUNT))


def test_frames_that_are_cut_off(tmp_path, stored):
    content = write(tmp_path / "a", make_enhanced(stored)).read_bytes()
    (tmp_path / "b").write_bytes(content[:-60])
    refused(tmp_path / "b", "is cut off: it holds 360 bytes of values, and is to hold 420")
    refused(write(tmp_path / "c", make_enhanced(stored[:5], NumberOfFrames=4, places=[[0, 0, n] for n in range(4)])), "holds 300 bytes")


def test_folders_of_frames(tmp_path, stored):
    folder = tmp_path / "series"
    folder.mkdir()
    (folder / "notes.txt").write_text("of the scanner's")
    write(folder / "one", make_enhanced(stored[:4]))
    assert (gr.read_image(folder).array == stored[:4]).all()
    write(folder / "two", make_enhanced(stored[4:], places=[[-10, 20, 3.0 * n] for n in (4, 5, 6)]))
    assert (gr.read_image(folder).array == stored).all()
    write(folder / "two", make_enhanced(stored[4:], places=[[-10, 20, 3.0 * n] for n in (3, 4, 5)]))
    with pytest.raises(gr.BadInputError, match="has two slices at one place: frame 4 of one and frame 1 of two"):
        gr.read_image(folder)


def test_images_without_a_place_are_of_two_dimensions(tmp_path, stored):
    for elements, spacing in (
        ({"ImagerPixelSpacing": [0.2, 0.1]}, [0.1, 0.2]),
        ({"ImagerPixelSpacing": [0.2, 0.1], "PixelSpacing": [0.4, 0.3]}, [0.3, 0.4]),
        ({"PixelAspectRatio": [3, 2]}, [2, 3]),
        ({}, [1, 1]),
    ):
        found = gr.read_image(write(tmp_path / "a", make_header(stored[0], DX, **elements)))
        assert found.shape == (5, 6) and found.spacing.tolist() == spacing and (found.array == stored[0]).all()
        assert found.origin.tolist() == [0, 0] and (found.direction == np.eye(2)).all()


def test_what_is_written_is_read(tmp_path, stored):
    _, direction = oblique()
    image = gr.Image(stored, [1.5, 2, 2.5], [-10, 20, 30], direction)
    gr.write_image(tmp_path / "o.dcm", image)
    found = gr.read_image(tmp_path / "o.dcm")
    assert found.has_grid_of(image) and (found.array == stored).all()
