# SPDX-License-Identifier: Apache-2.0
"""The numbers of DICOM's frames: as they are stored, and what they mean."""

from __future__ import annotations

import math
import tempfile
from pathlib import Path
from typing import Any, Sequence

import numpy as np

from ._dicom_frames import Frame, count_frames
from ._dicom_header import VALUES, import_pydicom
from ._engine import BadInputError
from ._simpleitk import import_simpleitk

# A decoder needs these elements of a header. Without the others it leaves the numbers as they are stored.
_LAYOUT = (
    *("SOPInstanceUID", "SamplesPerPixel", "PlanarConfiguration", "NumberOfFrames", "Rows", "Columns"),
    *("BitsAllocated", "BitsStored", "HighBit", "PixelRepresentation", "PixelData"),
)
# These of them are counts.
_COUNTS = ("Rows", "Columns", "BitsAllocated", "BitsStored", "HighBit")
_SECONDARY_CAPTURE = "1.2.840.10008.5.1.4.1.1.7"
_DOSE = "1.2.840.10008.5.1.4.1.1.481.2"
_COLOURS = "RGB"
# Grey images have one of these; old ones do not say so. Which end of the range is shown white does not change the values.
_GREYS = ("", "MONOCHROME1", "MONOCHROME2")
# The length of an element that does not state it.
_UNDEFINED = 0xFFFFFFFF
_WHOLE: tuple[Any, ...] = (np.uint8, np.int8, np.uint16, np.int16, np.uint32, np.int32)


def check_is_read(header: Any, path: Path) -> None:
    """Raises BadInputError if a header does not say how numbers are stored, or if they are of a kind that is not read: bits, colours but
    RGB, or what a table gives a meaning; or if a dose has no scale."""
    for keyword in _COUNTS:
        if keyword in header and not (isinstance(header[keyword].value, int) and header[keyword].value >= (keyword != "HighBit")):
            raise BadInputError(f"The file {path} has no number, or one below 1, as its {keyword}. Export it again.")
    is_dose = header.get("SOPClassUID") == _DOSE or header.get("Modality") == "RTDOSE"
    if is_dose and header.get("DoseGridScaling") in (None, ""):
        raise BadInputError(
            f"The file {path} is a dose, and does not say what its numbers are multiplied by (DoseGridScaling). Export it again."
        )
    syntax = header.file_meta.TransferSyntaxUID
    if syntax.is_private or not syntax.is_transfer_syntax:
        raise BadInputError(
            f"The file {path} is written in a way that is not known (TransferSyntaxUID: {syntax}). Write it without compression."
        )
    if header.get("BitsAllocated") == 1 or "SegmentSequence" in header:
        raise BadInputError(
            f"The file {path} is a segmentation, whose frames are of several segments. Make an image of labels of it, which dcmqi's "
            "segimage2itkimage does."
        )
    if "MOSAIC" in (header.get("ImageType") or ()):
        raise BadInputError(
            f"The file {path} is a mosaic of slices, in one picture (ImageType). Make a volume of it, which dcm2niix does."
        )
    colour, samples = str(header.get("PhotometricInterpretation") or ""), header.get("SamplesPerPixel", 1)
    if colour not in (*_GREYS, _COLOURS) or samples != (3 if colour == _COLOURS else 1):
        raise BadInputError(
            f"The file {path} has the colours {colour!r}, of {samples} numbers a voxel, which are not read. Write it as RGB, or in grey."
        )
    if header.get("ModalityLUTSequence"):
        raise BadInputError(
            f"The file {path} has values that a table gives a meaning (ModalityLUTSequence), which is not read. Write what they mean to a "
            "NIfTI or a .mha."
        )


def stored_type(header: Any, path: Path) -> np.dtype:
    """Returns the type of a file's numbers, in this machine's order of bytes.

    Raises:
        BadInputError: there is no such type, or it cannot hold the bits that are stored.
    """
    bits = header.get("BitsAllocated")
    # Floats have no bits that are stored apart from others.
    kind = "f" if "BitsStored" not in header else "i" if header.get("PixelRepresentation") == 1 else "u"
    if bits not in ((32, 64) if kind == "f" else (8, 16, 32)):
        raise BadInputError(
            f"The file {path} has values of {bits} bits (BitsAllocated), which are not read. Write it with 8, 16 or 32 bits."
        )
    if kind != "f" and not header.BitsStored - 1 <= _high_bit(header) < bits:
        raise BadInputError(
            f"The file {path} has {header.BitsStored} bits up to bit {_high_bit(header)} among {bits} (BitsStored, HighBit). Mend the header."
        )
    return np.dtype(f"{kind}{bits // 8}")


def _high_bit(header: Any) -> int:
    return int(header.get("HighBit", header.BitsStored - 1))


def find_shape(header: Any, path: Path) -> tuple[int, ...]:
    """Returns the shape of a file's numbers: [frame, y, x], or [frame, y, x, 3] for colours."""
    samples = int(header.get("SamplesPerPixel", 1))
    return (count_frames(header, path), int(header.Rows), int(header.Columns), *((samples,) if samples > 1 else ()))


def check_size(header: Any, path: Path) -> None:
    """Raises what read_stored() does where a file holds fewer or more numbers than its header says, as far as that is seen without reading
    them: not where they are packed."""
    kind = stored_type(header, path)
    keyword = _keyword(kind)
    tag = import_pydicom().datadict.tag_for_keyword(keyword)
    # Asked for by its name, pydicom would read it.
    element = next((one for one in header.values() if one.tag == tag), None)
    if element is None:
        raise _without_values(path, keyword)
    count = element.length if element.value is None else len(element.value)
    if count == 0:
        raise _without_values(path, keyword)
    if header.file_meta.TransferSyntaxUID.is_encapsulated:
        return
    if element.value is None:
        count = min(count, path.stat().st_size - element.value_tell)
        if element.length == _UNDEFINED:
            raise _in_pieces(path)
    _check_count(path, count, find_shape(header, path), kind)


def _in_pieces(path: Path) -> BadInputError:
    return BadInputError(f"The file {path} holds values in pieces, and says that they are not packed (TransferSyntaxUID). Export it again.")


def _keyword(kind: np.dtype) -> str:
    return VALUES[0 if kind.kind != "f" else kind.itemsize // 4]


def _without_values(path: Path, keyword: str) -> BadInputError:
    return BadInputError(f"The file {path} is cut off: it holds no values ({keyword}). Copy it again from where it is whole.")


def read_stored(header: Any, path: Path) -> np.ndarray:
    """Returns a file's numbers as they are stored, [frame, y, x], or [frame, y, x, 3] for colours. The header is not usable afterwards.

    Raises:
        BadInputError: they cannot be read, are fewer or more than the header says, or have more bits.
    """
    shape = find_shape(header, path)
    kind = stored_type(header, path)
    keyword = _keyword(kind)
    if not header.get(keyword):
        raise _without_values(path, keyword)
    stored = None if kind.kind == "f" else _StoredBits(header, path)
    if header.file_meta.TransferSyntaxUID.is_encapsulated:
        values = _unpack(header, path, shape, kind)
    else:
        values = _take_plain(header, path, header[keyword], shape, kind)
    return values if stored is None else stored.take(values)


def _take_plain(header: Any, path: Path, element: Any, shape: Sequence[int], kind: np.dtype) -> np.ndarray:
    """Returns numbers that are not compressed."""
    _check_count(path, len(element.value), shape, kind)
    if element.is_undefined_length:
        raise _in_pieces(path)
    is_little = header.file_meta.TransferSyntaxUID.is_little_endian
    content = element.value
    if not is_little and kind.itemsize == 1 and element.VR == "OW":
        # Two of them are one word.
        content = np.frombuffer(content, np.uint16).byteswap().tobytes()
    values = np.frombuffer(content, kind.newbyteorder("<" if is_little else ">"), math.prod(shape)).astype(kind, copy=False)
    if len(shape) > 3 and header.get("PlanarConfiguration") == 1:
        return np.moveaxis(values.reshape(shape[0], shape[3], *shape[1:3]), 1, -1)
    return values.reshape(shape)


def _check_count(path: Path, found: int, shape: Sequence[int], kind: np.dtype) -> None:
    """Raises BadInputError unless a file has so many bytes of numbers as its header says."""
    wanted = math.prod(shape) * kind.itemsize
    if found < wanted:
        raise BadInputError(
            f"The file {path} is cut off: it holds {found} bytes of values, and is to hold {wanted}. Copy it again from where it is whole."
        )
    # Padding at the end is shorter than a row.
    if found - wanted >= math.prod(shape[2:]) * kind.itemsize:
        raise BadInputError(
            f"The file {path} holds {found} bytes of values, and its header says {wanted} (Rows, Columns, NumberOfFrames). Export it again."
        )


def _unpack(header: Any, path: Path, shape: Sequence[int], kind: np.dtype) -> np.ndarray:
    """Returns numbers that are compressed by JPEG and others. SimpleITK decompresses them from a file without slope and intercept.

    Args:
        header: the header, of which no more is left than is needed.
    """
    sitk, pydicom = import_simpleitk(), import_pydicom()
    is_colour = header.get("PhotometricInterpretation") == _COLOURS
    kept = [pydicom.datadict.tag_for_keyword(keyword) for keyword in _LAYOUT]
    for tag in [tag for tag in header.keys() if tag not in kept]:
        del header[tag]
    header.PhotometricInterpretation = _COLOURS if is_colour else _GREYS[-1]
    # Others' bits are looked at here.
    header.BitsStored, header.HighBit = header.BitsAllocated, header.BitsAllocated - 1
    header.SOPClassUID = header.file_meta.MediaStorageSOPClassUID = _SECONDARY_CAPTURE
    with tempfile.TemporaryDirectory(prefix="gpureg-") as folder:
        there = str(Path(folder) / "packed.dcm")
        try:
            pydicom.dcmwrite(there, header)
            values = sitk.GetArrayFromImage(sitk.ReadImage(there, imageIO="GDCMImageIO"))
        except (RuntimeError, ValueError) as error:
            raise BadInputError(
                f"The file {path} is damaged, or packed in a way that is not read: {header.file_meta.TransferSyntaxUID.name}. Copy it again "
                "from where it is whole, or write it without compression."
            ) from error
    if values.size != math.prod(shape) or not np.can_cast(values.dtype, kind):
        raise BadInputError(
            f"The file {path} holds {values.size} values of the type {values.dtype}, and its header says {math.prod(shape)} of {kind} (Rows, "
            "Columns, NumberOfFrames, BitsAllocated). Export it again."
        )
    return values.reshape(shape).astype(kind, copy=False)


class _StoredBits:
    """The bits of each number that a header says are its own. Others may be of an overlay, or fill up."""

    def __init__(self, header: Any, path: Path) -> None:
        self.path = path
        self.allocated, self.stored, self.high = header.BitsAllocated, header.BitsStored, _high_bit(header)
        # OverlayBitPosition: a header may have 16 overlays.
        self.has_overlay = any(header.get((group, 0x0102)) is not None for group in range(0x6000, 0x6020, 2))

    def take(self, values: np.ndarray) -> np.ndarray:
        """Returns numbers without the bits that are not theirs. Raises BadInputError if other bits are set without a known meaning."""
        if self.stored == self.allocated:
            return values
        taken = values << (self.allocated - 1 - self.high) >> (self.allocated - self.stored)
        if not np.array_equal(taken, values) and not self.has_overlay:
            below = self.high + 1 - self.stored
            # Signed numbers have their sign before them, or zeros.
            wrong = int(np.count_nonzero((values != taken << below) & (values != (taken & ((1 << self.stored) - 1)) << below)))
            if wrong:
                raise BadInputError(
                    f"The file {self.path} has {wrong} value{'' if wrong == 1 else 's'} of more than the {self.stored} bits that its header "
                    "names (BitsStored). Mend the header, or, where they are padding, replace them in the file."
                )
        return taken


def find_type(frames: Sequence[Frame], headers: dict[Path, Any]) -> np.dtype:
    """Returns a type that can hold the values of all frames: floats if a value may not be a whole number."""
    stored = {path: stored_type(header, path) for path, header in headers.items()}
    if all(frame.slope == 1 and frame.intercept == 0 for frame in frames):
        return np.result_type(*stored.values())
    if any(kind.kind == "f" for kind in stored.values()) or not all(
        frame.slope.is_integer() and frame.intercept.is_integer() for frame in frames
    ):
        return np.dtype(np.float64)
    ends: list[float] = []
    for frame in frames:
        bits = int(headers[frame.path].BitsStored)
        low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if stored[frame.path].kind == "i" else (0, (1 << bits) - 1)
        ends += [low * frame.slope + frame.intercept, high * frame.slope + frame.intercept]
    fitting = (kind for kind in _WHOLE if np.iinfo(kind).min <= min(ends) and max(ends) <= np.iinfo(kind).max)
    return np.dtype(next(fitting, np.float64))


def fill(made: np.ndarray, stored: np.ndarray, frame: Frame) -> None:
    """Puts what a frame's stored numbers mean into its place."""
    if frame.slope == 1 and frame.intercept == 0:
        made[...] = stored
        return
    meant = made if made.dtype == np.float64 else np.empty(made.shape)
    np.multiply(stored, frame.slope, out=meant, dtype=np.float64)
    meant += frame.intercept
    if meant is not made:
        made[...] = meant
