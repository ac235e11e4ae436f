# SPDX-License-Identifier: Apache-2.0
"""Reads and writes series of volumes over time, each in one file: a volume at a time, where the format allows it."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, Optional

import numpy as np

from ._engine import BadInputError
from ._files import is_nifti_file, read_by_simpleitk, read_image, read_image_grid, read_other_header
from ._image import Image, no_values, without_values
from ._kinds import common_values
from ._kinds import read_image as read_any_image
from ._paths import PathLike, name_of, readable, suffix_of, to_read, names_as_shown
from ._simpleitk import import_simpleitk
from ._simpleitk_header import READERS
from ._warnings import collect_input_warnings, remember_input_warnings, warn_of_input
from ._whole_files import write_whole
from ._zarr_names import is_zarr

if TYPE_CHECKING:
    from ._nifti import Opened
    from ._unpack import Content

# Bits of xyzt_units that state the unit of time.
_UNITS_OF_TIME = 0o70
#: Seconds of the units that are times.
SECONDS = {"sec": 1.0, "msec": 1e-3, "usec": 1e-6}


@dataclass(frozen=True)
class Times:
    """When the volumes of a series are.

    Attributes:
        count: the number of volumes.
        step, start, unit: as of Series.
    """

    count: int
    step: float
    start: float
    unit: str


class Series(Sequence):
    """Holds volumes on one grid, one after the other in time. ``series[n]`` reads volume n, an Image; a loop reads them in turn.

    Attributes:
        step: time from one volume to the next, in `unit`.
        start: time of the first volume, in `unit`.
        unit: "sec", "msec", "usec", "hz", "ppm", "rads", or "unknown".
    """

    def __init__(self, count: int, read: Callable[[int], Image], step: float, start: float, unit: str) -> None:
        self._count = count
        self._read = read
        self.step = step
        self.start = start
        self.unit = unit
        self._warnings: list[str] = []

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, number: Any) -> Any:
        if isinstance(number, slice):
            return [self[one] for one in range(*number.indices(self._count))]
        if not -self._count <= number < self._count:
            raise IndexError(f"The series has {self._count} volumes, and no number {number}.")
        volume = self._read(number % self._count)
        volume.warnings = [*self._warnings, *(text for text in volume.warnings if text not in self._warnings)]
        return volume


def is_series(path: PathLike) -> bool:
    """Returns whether a file holds several volumes. A file that cannot be read holds none: reading it raises the error."""
    name = name_of(path)
    if not os.path.isfile(name):
        return False
    try:
        with collect_input_warnings([]), to_read(name) as there:
            return _count_volumes(there) > 1
    # Libraries raise errors of many types for a file that is not of their format.
    except Exception:
        return False


def read_series(path: PathLike) -> Series:
    """Reads the volumes of a file of four dimensions: NIfTI, MetaImage or NRRD. NIfTI's volumes are read when they are asked for, after the
    whole file has been checked once.

    Raises:
        BadInputError: there is no such file, it is damaged, or it holds no series.
        ImportError: there is no SimpleITK, or no nibabel.
    """
    name = name_of(path)
    warnings: list[str] = []
    with remember_input_warnings(warnings), to_read(name) as there:
        if is_nifti_file(there):
            # Volumes are read later, too, so the series needs the name that stays.
            series = _read_nifti(name)
        elif not is_series(there):
            raise _no_series(name)
        else:
            series = _read_other(there, readable(name))
    series._warnings = warnings
    return series


def read_one_or_more(path: PathLike) -> Series:
    """Reads the volumes of a file, as read_series() does, or an image as a series of one volume, whose step is 1 s where the file states
    none.

    Raises:
        BadInputError: there is no such file, or it is damaged.
        ImportError: there is no SimpleITK, or no nibabel.
    """
    if is_series(path):
        return read_series(path)
    name = name_of(path)
    if os.path.isfile(name) and suffix_of(name) in READERS:
        with to_read(name) as there:
            if _size_of_other(there)[3:] == (1,):
                return _read_other(there, readable(name))
    image = read_image(path)
    series = Series(1, lambda number: image, 1.0, 0.0, "sec")
    with to_read(name) as there:
        # A name may be of a folder, of DICOM.
        if os.path.isfile(there) and is_nifti_file(there):
            from ._nifti import open_nifti

            with collect_input_warnings([]):
                opened = open_nifti(Path(there))
            if len(opened.shape) > 3:
                series.step, series.start, series.unit = _times_of_nifti(opened.header)
    return series


def read_grid(path: PathLike) -> Image:
    """Reads where the voxels of an image are, or those of a series's volumes, and their type, without values, as read_image_grid() does.

    Raises:
        BadInputError: as read_image_grid() does.
        ImportError: there is no nibabel, no pydicom, no zarr, or no SimpleITK.
    """
    name = name_of(path)
    if is_zarr(name):
        from .ome_zarr.read import read_zarr_grid

        return read_zarr_grid(name)
    return read_times(path)[0]


def read_times(path: PathLike) -> tuple[Image, Optional[Times]]:
    """Reads the grid of a file as read_grid() does, and when the volumes of a series are; None: it is no series."""
    if not is_series(path):
        return read_image_grid(path), None
    warnings: list[str] = []
    with remember_input_warnings(warnings), to_read(path) as there:
        grid, times = _read_nifti_grid(there) if is_nifti_file(there) else _read_other_grid(there)
    grid.warnings = warnings
    return grid, times


def write_series(path: PathLike, volumes: Iterable[Image], like: Series) -> None:
    """Writes volumes as one file: .nii, .nii.gz, .mha, .mhd, .nrrd or .nhdr. There is no file unless all of it is written.

    Args:
        volumes: as many as `like` has, on one grid and of one type; a generator may compute each when it is written.
        like: the series whose times are written. NIfTI stores their unit; other formats get seconds, if the unit is known.

    Raises:
        BadInputError: volumes differ in grid or type, their number is not that of `like`, or the name is of another format.
        ImportError: there is no nibabel, which NIfTI needs, or no SimpleITK.
        OSError: the disk is full, or fails.
    """
    name = name_of(path)
    suffix = suffix_of(name)
    if suffix == ".nii":
        write_whole(name, lambda there: _write_nifti(there, _checked(volumes, like, name), like))
    elif suffix in READERS:
        write_whole(name, lambda there: _write_other(there, _checked(volumes, like, name), like))
    else:
        raise BadInputError(f"The file {readable(name)} cannot hold a series: let its name end on .nii, .nii.gz, .mha, .mhd, .nrrd or .nhdr.")


def _no_series(name: str) -> BadInputError:
    return BadInputError(f"The file {name} holds no series of volumes. read_image reads an image.")


def _count_volumes(name: str) -> int:
    if is_nifti_file(name):
        from ._nifti import open_nifti

        return _count_of_nifti(open_nifti(Path(name)))
    if suffix_of(name) not in READERS:
        return 1
    size = _size_of_other(name)
    return size[3] if len(size) == 4 else 1


def _size_of_other(name: str) -> tuple[int, ...]:
    """Returns the voxels along each axis, and volumes, of a file that SimpleITK reads; an empty tuple if it cannot."""
    reader = import_simpleitk().ImageFileReader()
    reader.SetImageIO(READERS[suffix_of(name)])
    reader.SetFileName(name)
    # The reader of the values says what is wrong.
    try:
        reader.ReadImageInformation()
    except RuntimeError:
        return ()
    return tuple(int(n) for n in reader.GetSize())


def _count_of_nifti(opened: Opened) -> int:
    sides = opened.shape
    return sides[3] if len(sides) > 3 and max((1, *sides[5:])) == 1 else 1


def _read_nifti(name: str) -> Series:
    from ._nibabel import image_of
    from ._nifti import open_nifti

    opened = open_nifti(Path(name))
    count = _count_of_nifti(opened)
    if count < 2:
        raise _no_series(name)
    header, content, shape = opened.header, opened.content, opened.shape
    kind, components = header.get_data_dtype(), shape[4] if len(shape) > 4 else 1
    volume_bytes = int(np.prod(shape[:3], dtype=np.int64)) * kind.itemsize
    opened.warn_of_left_bytes(content.count_behind(opened.begin + volume_bytes * count * components))
    # All volumes of one component stand together.
    runs = [_Runs(content.path, opened.begin + volume_bytes * count * n) for n in range(components)]
    lock, warned = threading.Lock(), []

    def read(number: int) -> Image:
        warnings: list[str] = []
        with lock, names_as_shown():
            with collect_input_warnings(warnings):
                parts = [image_of(opened.store(run.take(volume_bytes * number, shape[:3], kind)), "") for run in runs]
            # Each defect of a header is said once.
            for warning in warnings:
                if warning not in warned:
                    warned.append(warning)
                    warn_of_input(warning)
        volume = parts[0] if components == 1 else parts[0].like(np.stack([part.array for part in parts], axis=-1))
        volume.warnings = [readable(text) for text in warnings]
        return volume

    return Series(count, read, *_times_of_nifti(header))


def _read_nifti_grid(name: str) -> tuple[Image, Times]:
    from ._nibabel import image_of
    from ._nifti import read_nifti_grid

    stored = read_nifti_grid(Path(name))
    kind, shape = stored.values.dtype, stored.values.shape
    volume = image_of(replace(stored, values=no_values(kind, shape[:3])), "")
    grid = volume if len(shape) < 5 or shape[4] == 1 else volume.like(no_values(volume.content.dtype, (*volume.shape, shape[4])))
    return grid, Times(shape[3], *_times_of_nifti(stored.header))


def _read_other_grid(name: str) -> tuple[Image, Times]:
    found = read_other_header(name)
    if found is None:
        series = _read_other(name, name)
        return without_values(series[0]), Times(len(series), series.step, series.start, series.unit)
    header, unit = found
    # The reader of values turns an axis round whose step is below 0.
    with _naming(name):
        return header.image(3, unit), Times(header.size[3], abs(header.spacing[3]), header.origin[3], "sec")


def _times_of_nifti(header: Any) -> tuple[float, float, str]:
    """Returns the step from one volume to the next, the time of the first one, and their unit."""
    from ._nibabel import import_nibabel

    code, units = int(header["xyzt_units"]) & _UNITS_OF_TIME, import_nibabel().nifti1.unit_codes
    return float(header["pixdim"][4]), float(header["toffset"]), units.label[code] if code in units else "unknown"


class _Runs:
    """Reads arrays of a file that may be compressed. It unpacks the file once if each array lies behind the one before."""

    def __init__(self, path: Path, begin: int) -> None:
        self._path = path
        self._begin = begin
        self._content: Optional[Content] = None

    def take(self, place: int, shape: tuple[int, ...], kind: np.dtype) -> np.ndarray:
        """Reads the array that begins `place` bytes behind the first one."""
        # If reading fails, nobody knows how far it came: the next call begins again.
        content, self._content = self._content, None
        if content is None or content.taken > self._begin + place:
            from ._unpack import Content

            content = Content(self._path)
        content.skip(self._begin + place - content.taken)
        values = content.take_array(shape, kind)
        self._content = content
        return values


def _read_other(name: str, shown: str) -> Series:
    """Reads all volumes at once: the readers of these formats unpack the whole file anyway. shown: the file's name in errors of a
    volume."""
    whole = read_by_simpleitk(name)

    def read(number: int) -> Image:
        with _naming(shown):
            volume, _ = read_any_image(whole[:, :, :, number], "series'")
        volume.array = volume.array.copy()
        return volume

    return Series(int(whole.GetSize()[3]), read, float(whole.GetSpacing()[3]), float(whole.GetOrigin()[3]), "sec")


@contextmanager
def _naming(name: str) -> Iterator[None]:
    """Names a file in errors of an image that is made of it."""
    try:
        yield
    except BadInputError as error:
        raise BadInputError(f"The file {name} holds volumes that cannot be read: {error}") from error


def _checked(volumes: Iterable[Image], like: Series, name: str) -> Iterator[Image]:
    """Yields the volumes with three dimensions each. Raises BadInputError if they differ, or if their number is not that of `like`."""
    first: Optional[Image] = None
    count = 0
    for volume in volumes:
        volume = read_any_image(volume, "series'")[0]
        if first is None:
            first = volume
            if suffix_of(name) == ".nii":
                from ._nifti_write import check_fits_nifti

                check_fits_nifti(volume, len(like))
        if volume.content.shape != first.content.shape or volume.content.dtype != first.content.dtype or not volume.has_grid_of(first):
            raise BadInputError(f"The series has volumes that differ: {volume!r} is not like {first!r}. Give volumes of one grid and one type.")
        count += 1
        if count > len(like):
            break
        yield _as_3d(volume)
    if count != len(like):
        more = "more" if count > len(like) else "fewer"
        raise BadInputError(f"There are {more} volumes than the {len(like)} of the series whose times they are to have. Give as many.")


def _as_3d(image: Image) -> Image:
    """Returns an image of two dimensions as one of three dimensions with one slice."""
    if image.dimension == 3:
        return image
    direction = np.eye(3)
    direction[:2, :2] = image.direction
    return Image(image.array[np.newaxis], [*image.spacing, 1.0], [*image.origin, 0.0], direction, image.is_vector)


def _write_nifti(path: str, volumes: Iterator[Image], like: Series) -> None:
    """Writes the values into a mapped file first, of which the system holds as much in memory as it has room for."""
    plain = Path(path).with_name("values")
    values: Optional[np.memmap] = None
    try:
        for number, volume in enumerate(volumes):
            array = common_values(volume)
            if values is None:
                header = _header_of_series(volume, array.dtype, like)
                shape = (volume.components, len(like), *volume.shape)
                with open(plain, "wb") as file:
                    file.write(header)
                    # Writing to a mapped file on a full disk would end the process.
                    os.posix_fallocate(file.fileno(), 0, len(header) + int(np.prod(shape, dtype=np.int64)) * array.dtype.itemsize)
                values = np.memmap(plain, array.dtype, "r+", len(header), shape)
            # NIfTI stores all volumes of one component, then those of the next one.
            values[:, number] = np.moveaxis(array, -1, 0) if volume.is_vector else array
        if path.endswith(".gz"):
            from ._gzip import write_compressed

            whole = np.memmap(plain, np.uint8, "r")
            with open(path, "wb") as file:
                write_compressed(file, whole, owner=whole)
        else:
            os.replace(plain, path)
    finally:
        plain.unlink(missing_ok=True)


def _header_of_series(volume: Image, dtype: np.dtype, like: Series) -> bytes:
    from ._nifti_write import header_bytes, make_header

    header = make_header(volume, dtype, len(like))
    header["pixdim"][4], header["toffset"] = like.step, like.start
    header.set_xyzt_units("mm", like.unit)
    return header_bytes(header)


def _write_other(path: str, volumes: Iterator[Image], like: Series) -> None:
    sitk = import_simpleitk()
    all_of_them = list(volumes)
    first = all_of_them[0]
    seconds = SECONDS.get(like.unit, 1.0)
    whole = sitk.GetImageFromArray(np.stack([common_values(volume) for volume in all_of_them]), isVector=first.is_vector)
    # A step of 0 is unknown.
    whole.SetSpacing([*first.spacing.tolist(), like.step * seconds or 1.0])
    whole.SetOrigin([*first.origin.tolist(), like.start * seconds])
    direction = np.eye(4)
    direction[:3, :3] = first.direction
    whole.SetDirection(direction.ravel().tolist())
    sitk.WriteImage(whole, path)
