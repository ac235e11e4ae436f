# SPDX-License-Identifier: Apache-2.0
"""Images of DICOM: folders of slices, and files of one frame or of many.

Headers are read by pydicom, since SimpleITK hands out no sequences, where multi-frame files say where their frames are and what their
numbers mean. So are numbers that are not packed; those that are, SimpleITK's GDCM unpacks.
"""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any, Callable, Sequence

import numpy as np

from ._dicom_consistency import check_are_consistent
from ._dicom_frames import Frame, read_frames
from ._dicom_header import damaged, is_dicom, read_header
from ._dicom_places import Source, find_directions, order_slices
from ._dicom_values import check_is_read, check_size, fill, find_shape, find_type, read_stored
from ._engine import BadInputError
from ._image import Image, no_values

# Names of DICOM's files have one of these suffixes, or none.
_SUFFIXES = (".dcm", ".dicom", ".ima")


# Returns the values of frames, in their order, of the files with these headers.
_ReadValues = Callable[[Sequence[Frame], dict[Path, Any]], np.ndarray]


def read_dicom(path: Path, reads_values: bool = True) -> Image:
    """Reads a file, or the one series in a folder, as an image.

    Slices stand in the order of their places. An image of two dimensions is what has one frame, and does not say where it is. Values are
    what the header gives numbers as a meaning: multiplied by a slope, with an intercept added. MONOCHROME1, which is shown with the least
    value as white, has them, too, not turned round.

    Args:
        reads_values: False: they are left out.

    Raises:
        BadInputError: there is no series, there are several, a file is damaged or holds what is not read; or slices are not of one volume,
            are missing, twice there, or shifted sideways.
        ImportError: there is no pydicom, or, for packed values, no SimpleITK.
    """
    try:
        headers = _read_folder(path) if path.is_dir() else _read_file(path)
        return _read_volume(headers, path, _read_values if reads_values else _leave_out)
    except (BadInputError, ImportError, MemoryError):
        raise
    # Elements are read as they are asked for; of a damaged header pydicom raises what it will, OSErrors without a number among it.
    except Exception as error:
        if getattr(error, "errno", None) is not None:
            raise
        raise damaged(path, error) from error


def _read_volume(headers: dict[Path, Any], path: Path, read_values: _ReadValues) -> Image:
    source = Source(path, True) if len(headers) > 1 else Source(next(iter(headers)), False)
    for where, header in headers.items():
        check_is_read(header, where)
    frames = [frame for where, header in headers.items() for frame in read_frames(header, where)]
    if len(frames) == 1 and frames[0].position is None:
        return _make_picture(frames, read_values(frames, headers)[0])
    names = [_name_frame(source, frame) for frame in frames]
    check_are_consistent(source, frames, names, headers)
    axes, positions = _find_places(source, frames, names)
    if len(frames) == 1:
        return _make_volume(frames, read_values(frames, headers), float(frames[0].thickness or 1))
    order, distance = order_slices(source, names, positions, axes)
    frames = [frames[n] for n in order]
    return _make_volume(frames, read_values(frames, headers), distance)


def _read_file(path: Path) -> dict[Path, Any]:
    header = read_header(path)
    if header is None:
        raise BadInputError(f"The file {path} is of DICOM, but no image. Name an image's file, or a folder of a series's slices.")
    return {path: header}


def _read_folder(folder: Path) -> dict[Path, Any]:
    """Reads the headers of the one series in a folder."""
    headers: dict[Path, Any] = {}
    for path in sorted(folder.iterdir()):
        # A file that macOS keeps beside another has the suffix of that one.
        if path.name.startswith(".") or path.is_dir():
            continue
        header = read_header(path)
        if header is not None:
            headers[path] = header
        elif path.suffix.lower() in _SUFFIXES and not is_dicom(path):
            raise BadInputError(
                f"The file {path} is cut off, or no DICOM. Copy it again from where it is whole, or move it to another folder."
            )
    if not headers:
        within = " Slices may be in a folder that is in it: name that one." if any(path.is_dir() for path in folder.iterdir()) else ""
        raise BadInputError(
            f"The folder {folder} holds no series of DICOM. Name an image's file, or a folder of a series's slices.{within}"
        )
    series = sorted({str(header.get("SeriesInstanceUID", "")) for header in headers.values()})
    if len(series) > 1:
        raise BadInputError(
            f"The folder {folder} holds {len(series)} series of DICOM: {', '.join(series)}. Give each a folder of its own, and name one."
        )
    return headers


def _name_frame(source: Source, frame: Frame) -> str:
    if frame.count == 1 and source.is_folder:
        return frame.path.name
    return f"frame {frame.number + 1}" + (f" of {frame.path.name}" if source.is_folder else "")


def _find_places(source: Source, frames: Sequence[Frame], names: Sequence[str]) -> tuple[tuple[Decimal, ...], list[Sequence[Decimal]]]:
    """Returns the directions of all frames, and the position of each. Raises BadInputError if a frame has no position."""
    lacking = [name for name, frame in zip(names, frames) if frame.position is None]
    if len(lacking) == len(frames):
        raise BadInputError(
            f"{source} has {len(frames)} {source.parts}, and does not say where each of them is (ImagePositionPatient, "
            "ImageOrientationPatient), as of a film, or of pictures of a screen. Give one of them, or make a volume that says where it is."
        )
    if lacking:
        raise BadInputError(
            f"{source} has {source.parts} with a position, and {lacking[0]} with none (ImagePositionPatient). Move what is not of the "
            "volume to another folder."
        )
    if any(frame.spacing is None for frame in frames):
        raise BadInputError(f"{source} does not say how far its voxels are apart (PixelSpacing). Make a volume that does.")
    axes = frames[0].axes
    assert axes is not None
    return axes, [frame.position for frame in frames if frame.position is not None]


def _make_picture(frames: Sequence[Frame], values: np.ndarray) -> Image:
    """Makes an image of two dimensions from a frame without a position."""
    return Image(values, [float(length) for length in frames[0].spacing or (1, 1)], is_vector=values.ndim > 2)


def _make_volume(frames: Sequence[Frame], values: np.ndarray, distance: float) -> Image:
    """Makes an image of frames in their order. The image's position is the first frame's."""
    first = frames[0]
    assert first.axes is not None and first.position is not None and first.spacing is not None
    spacing = [float(length) for length in first.spacing]
    origin = [float(number) for number in first.position]
    return Image(values, [*spacing, distance], origin, find_directions(first.axes).copy(), is_vector=values.ndim > 3)


def _read_values(frames: Sequence[Frame], headers: dict[Path, Any]) -> np.ndarray:
    """Returns the values that the frames' numbers mean, in the order of the frames. Drops a file's header when its frames are done."""
    places = {(frame.path, frame.number): place for place, frame in enumerate(frames)}
    kind = find_type(frames, headers)
    made = None
    for path in list(headers):
        stored = read_stored(headers.pop(path), path)
        if made is None:
            made = np.empty((len(frames), *stored.shape[1:]), kind)
        for number, numbers in enumerate(stored):
            place = places[path, number]
            fill(made[place], numbers, frames[place])
    assert made is not None
    return made


def _leave_out(frames: Sequence[Frame], headers: dict[Path, Any]) -> np.ndarray:
    """Returns no values, of the type and the shape of those that there are."""
    for path, header in headers.items():
        check_size(header, path)
    path, header = next(iter(headers.items()))
    return no_values(find_type(frames, headers), (len(frames), *find_shape(header, path)[1:]))
