# SPDX-License-Identifier: Apache-2.0
"""Makes DICOM files as scanners and converters do, with pydicom."""

import numpy as np
import pydicom
from pydicom.dataset import Dataset, FileMetaDataset
from pydicom.uid import ExplicitVRBigEndian, ExplicitVRLittleEndian

CT, MR, PET, DX, SECONDARY = (f"1.2.840.10008.5.1.4.1.1.{end}" for end in ("2", "4", "128", "1.1", "7"))
ENHANCED_MR, ENHANCED_CT, ENHANCED_PET, NM, DOSE, ULTRASOUND, SEGMENTATION = (
    f"1.2.840.10008.5.1.4.1.1.{end}" for end in ("4.1", "2.1", "130", "20", "481.2", "3.1", "66.4")
)
#: Rows lie along y, columns along z, and the normal along x.
SAGITTAL = [0, 1, 0, 0, 0, 1]
AXIAL = [1, 0, 0, 0, 1, 0]


def make_header(array, kind=CT, **elements):
    """A data set of stored numbers.

    Args:
        array: [y, x] or [frame, y, x], and one axis more of colours.
        elements: whatever else is in it, or in the place of what is. None: that is missing.
    """
    header = Dataset()
    header.file_meta = FileMetaDataset()
    header.file_meta.MediaStorageSOPClassUID = header.SOPClassUID = kind
    header.file_meta.MediaStorageSOPInstanceUID = header.SOPInstanceUID = pydicom.uid.generate_uid()
    header.file_meta.TransferSyntaxUID = ExplicitVRLittleEndian
    header.StudyInstanceUID, header.SeriesInstanceUID, header.FrameOfReferenceUID = "1.2.1", "1.2.2", "1.2.3"
    colours = array.shape[-1] == 3 and array.dtype == np.uint8 and array.ndim > 2
    header.SamplesPerPixel = 3 if colours else 1
    header.PhotometricInterpretation = "RGB" if colours else "MONOCHROME2"
    if colours:
        header.PlanarConfiguration = 0
    header.Rows, header.Columns = array.shape[-3:-1] if colours else array.shape[-2:]
    if array.ndim > (3 if colours else 2):
        header.NumberOfFrames = len(array)
    header.BitsAllocated = 8 * array.itemsize
    if array.dtype.kind == "f":
        setattr(header, "FloatPixelData" if array.itemsize == 4 else "DoubleFloatPixelData", array.tobytes())
    else:
        header.BitsStored, header.HighBit = header.BitsAllocated, header.BitsAllocated - 1
        header.PixelRepresentation = int(array.dtype.kind == "i")
        header.PixelData = array.tobytes() + bytes(array.nbytes % 2)
        # Big-endian numbers are reversed by their length.
        header["PixelData"].VR = "OB" if array.itemsize == 1 else "OW"
    set_elements(header, elements)
    return header


def set_elements(header, elements):
    for keyword, value in elements.items():
        if value is None:
            header.pop(pydicom.datadict.tag_for_keyword(keyword), None)
        else:
            setattr(header, keyword, value)


def make_item(**elements):
    """Returns a sequence of one item."""
    item = Dataset()
    set_elements(item, elements)
    return [item]


def write(path, header, syntax=None):
    """Writes a data set as a file with the standard's preamble and meta header."""
    if syntax is not None:
        header.file_meta.TransferSyntaxUID = syntax
    uid = header.file_meta.TransferSyntaxUID
    if pydicom.__version__ < "3":
        header.is_little_endian = uid != ExplicitVRBigEndian
        header.is_implicit_VR = uid.is_implicit_VR
        pydicom.dcmwrite(path, header, write_like_original=False)
    else:
        pydicom.dcmwrite(path, header, enforce_file_format=True)
    return path


def write_series(folder, arrays, kind=CT, places=None, axes=AXIAL, spacing=(2.0, 1.5), each=None, **elements):
    """A folder of slices.

    Args:
        arrays: stored numbers, one [y, x] a slice.
        places: of first voxels; 3 mm apart along z unless they are given.
        spacing: between rows and between columns.
        each: for each slice its own elements.
    """
    folder.mkdir(exist_ok=True)
    places = [[-10.0, 20.0, 3.0 * n] for n in range(len(arrays))] if places is None else places
    for number, array in enumerate(arrays):
        position = {"ImagePositionPatient": list(places[number]), "ImageOrientationPatient": list(axes), "PixelSpacing": list(spacing)}
        header = make_header(array, kind, **{**position, "InstanceNumber": number + 1, **elements, **(each[number] if each else {})})
        write(folder / f"{number}.dcm", header)
    return folder


def make_enhanced(array, kind=ENHANCED_MR, places=None, axes=AXIAL, spacing=(2.0, 1.5), rescale=None, **elements):
    """A data set of frames, whose functional groups say where they are.

    Args:
        rescale: for each frame its slope and its intercept.
    """
    places = [[-10.0, 20.0, 3.0 * n] for n in range(len(array))] if places is None else places
    header = make_header(array, kind, **elements)
    header.SharedFunctionalGroupsSequence = make_item(
        PlaneOrientationSequence=make_item(ImageOrientationPatient=list(axes)),
        PixelMeasuresSequence=make_item(PixelSpacing=list(spacing), SliceThickness=99),
    )
    groups = []
    for number, place in enumerate(places):
        groups += make_item(PlanePositionSequence=make_item(ImagePositionPatient=list(place)))
        if rescale:
            slope, intercept = rescale[number]
            groups[-1].PixelValueTransformationSequence = make_item(RescaleSlope=slope, RescaleIntercept=intercept, RescaleType="US")
    header.PerFrameFunctionalGroupsSequence = groups
    return header
