# SPDX-License-Identifier: Apache-2.0
"""Reads and writes files of images and transforms: chooses a reader and a writer for each.

A format's module is imported where such a file is met, so that the package starts without any of them.
"""

from __future__ import annotations

import os
import re
import shlex
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, Iterator, Optional

import numpy as np

from ._affine import Affine
from ._engine import BadInputError, UnsupportedError
from ._image import Image, without_values
from ._kinds import ImageLike
from ._kinds import read_image as read_any_image
from ._kinds import to_simpleitk as image_to_simpleitk
from ._large_files import read_large, write_large
from ._parts import IMAGES
from ._paths import PathLike, name_of, readable, to_read
from ._paths import suffix_of as _suffix_of
from ._simpleitk import import_simpleitk
from ._simpleitk_header import READERS, Header, find_header
from ._simpleitk_read import read_simpleitk
from ._transform_like import as_transform
from ._transforms import DisplacementField, Transform, TransformLike, linear_matrix
from ._warnings import remember_input_warnings
from ._whole_files import check_holds, last_line, with_lower_suffix, write_whole
from ._written import check_fits, check_holds_place, has_no_writer, holds_places, no_format
from ._zarr_names import is_zarr, split_name

# SimpleITK tries its readers in turn, HDF5's early. The HDF5 library is not thread-safe, so this lock lets one thread use it at a time. A
# file whose suffix is in READERS needs no lock.
_hdf5 = threading.Lock()

# A hint for a file of several volumes.
_ONE_VOLUME = "Give one volume of it; in Python read_series reads all."

#: Names of FreeSurfer's images end with one of these.
MGH_SUFFIXES = (".mgz", ".mgh")

_HDF5_SUFFIXES = (".h5", ".hdf5", ".hdf")

# Files whose values are as they are in memory.
_BARE_SUFFIXES = (".hdr", ".img", ".gipl")

# A transform in a file of text.
_TEXT_TRANSFORM = re.compile(rb"^Transform:\s*(\w+)", re.MULTILINE)

# ITK's own files of transforms. A file with another suffix is an image: a field of displacements.
_TRANSFORM_SUFFIXES = (".tfm", ".txt", ".h5", ".hdf5", ".hdf")
_TEXT_SUFFIXES = (".tfm", ".txt")


def read_image(path: PathLike, channel: Optional[int] = None) -> Image:
    """Reads an image file: NIfTI, MetaImage, NRRD, …, DICOM, a folder with the slices of a DICOM series, or a resolution level of an
    OME-Zarr; docs/formats.md has a table. Values that are infinite or not a number are read as they are. Where a header says two different
    things there is an InputWarning, which the image has in its `warnings`, too.

    Args:
        path: the file's name. An OME-Zarr is named by its folder, with "#2" behind it for level 2; without that its finest level of at most
            2^28 values is read.
        channel: the number of the channel, or other component, that is read, from 0 on. None: all of them.

    Raises:
        BadInputError: there is no such file, level or channel, it is not one image, or it is damaged.
        ImportError: there is no nibabel, which reads NIfTI and FreeSurfer's files, no pydicom, which reads DICOM, no zarr, or no SimpleITK,
            which reads the rest.
    """
    return _read_any(path, channel, True)


def read_image_grid(path: PathLike, channel: Optional[int] = None) -> Image:
    """Reads what read_image() does of an image but its values, which take no memory then (no_values()): where its voxels are, their type,
    and the header's warnings. The values of some formats are read all the same, and dropped.

    Raises:
        BadInputError: as read_image() does, as far as a header, or a file's size, shows what is wrong.
        ImportError: as read_image() does.
    """
    return _read_any(path, channel, False)


def _read_any(path: PathLike, channel: Optional[int], reads_values: bool) -> Image:
    from ._grey import component_of

    warnings: list[str] = []
    with remember_input_warnings(warnings):
        level = split_name(name_of(path))
        with to_read(level[0]) as name:
            if is_zarr(name):
                from .ome_zarr.read import read_zarr

                image = read_zarr(name if level[1] is None else f"{name}#{level[1]}", channel, reads_values)
            else:
                image = _read_image(name, reads_values)
                image = image if channel is None else component_of(image, channel, f"file {name}")
    image.warnings = warnings
    return image


def _read_image(name: str, reads_values: bool = True) -> Image:
    from ._dicom_header import is_dicom

    _refuse_minc(name)
    if Path(name).is_dir() or is_dicom(Path(name)):
        from ._dicom import read_dicom

        return read_dicom(Path(name), reads_values)
    if is_nifti_file(name):
        from ._nibabel import image_of
        from ._nifti import read_nifti, read_nifti_grid

        hint = f"Give one volume of it, as nib-roi -t 0:1 {shlex.quote(name)} volume.nii.gz makes of the first one; in Python read_series reads all."
        return image_of((read_nifti if reads_values else read_nifti_grid)(Path(name)), hint)
    if name.lower().endswith(MGH_SUFFIXES):
        from ._mgh import read_mgh

        return read_mgh(name, reads_values)
    return _read_simpleitk_image(name) if reads_values else _read_simpleitk_grid(name)


def write_image(path: PathLike, image: ImageLike) -> None:
    """Writes an image of any kind, in the format that the file's name ends on. There is no file unless all of it is written.

    Raises:
        BadInputError: it is no image, or cannot be written there, or the format does not hold how many dimensions it has, or where it lies,
            as pictures, .vtk, .gipl and .tif do not.
        ImportError: there is no nibabel, which NIfTI and FreeSurfer's files need, or no SimpleITK.
        OSError: the disk is full, or fails.
    """
    name = name_of(path)
    _refuse_minc(readable(name))
    read = read_any_image(image, "written")[0]
    if _suffix_of(name) == ".nii":
        from ._nifti_write import write_nifti

        write_whole(name, lambda there: write_nifti(there, read))
        return
    if name.lower().endswith(MGH_SUFFIXES):
        from ._mgh import write_mgh

        write_whole(name, lambda there: write_mgh(there, read, name))
        return
    import_simpleitk()
    _check_direction(name, read)
    check_fits(name, read)
    write_whole(name, lambda there: _write_simpleitk_image(read, there, name))


def _check_direction(name: str, image: Image) -> None:
    """Raises BadInputError if SimpleITK's writer of NIfTI would put an image elsewhere: it turns skew axes into others at right angles."""
    from ._nibabel import has_skew
    from ._nifti import NIFTI_SUFFIXES

    if _suffix_of(name) in NIFTI_SUFFIXES and has_skew(image):
        raise BadInputError(
            f"The image's axes are not at right angles, or not of length 1: its direction is {image.direction.tolist()}. The file "
            f"{readable(name)} cannot store such axes: write a .nii or a .mha."
        )


def read_transform(path: PathLike, fixed: Optional[ImageLike] = None, moving: Optional[ImageLike] = None) -> Transform:
    """Reads a transform from a file.

    Args:
        path: ITK's .tfm, .txt, .h5; ANTs' .mat; an image of displacements, such as ANTs' warp .nii.gz, or NiftyReg's and SPM's
            deformations, which are converted; or FSL's .mat.
        fixed, moving: the two images of FSL's matrix, which FLIRT calls reference and input.

    Raises:
        BadInputError: there is no such file, it is none of these, or the images are missing.
        UnsupportedError: it holds what is not made of linear maps, cubic B-splines and displacement fields.
        ImportError: there is no SimpleITK.
    """
    warnings: list[str] = []
    with remember_input_warnings(warnings), to_read(path) as name:
        _refuse_minc(name)
        transform = _read_transform(name, fixed, moving)
    transform.warnings = warnings
    return transform


def _read_transform(name: str, fixed: Optional[ImageLike], moving: Optional[ImageLike]) -> Transform:
    if Path(name).is_dir():
        raise BadInputError(f"{name} is a folder, and no transform's file. Name a file.")
    if _is_mat(name):
        from ._flirt import from_flirt_matrix, parse_flirt_matrix
        from ._mat_transform import read_mat_transform

        matrix = parse_flirt_matrix(name)
        if matrix is not None:
            grids = _read_grids(name, fixed, moving)
            return Affine.from_matrix(from_flirt_matrix(matrix, *grids))
        affine = read_mat_transform(name)
        return _read_with_simpleitk(name) if affine is None else affine
    if name.lower().endswith(_TRANSFORM_SUFFIXES):
        return _read_with_simpleitk(name)
    from ._fields import field_of_image, field_of_nifti

    if is_nifti_file(name):
        from ._nifti import read_nifti

        return field_of_nifti(read_nifti(Path(name)), name)
    if _suffix_of(name) in (".nrrd", ".nhdr"):
        from ._nrrd import find_nrrd_unit

        if find_nrrd_unit(name, 3) != 1.0:
            raise BadInputError(
                f"The file {name} is a field, and its header's lengths are not in mm (space units, units): programs do not agree on what its "
                "vectors are in. Write it in mm."
            )
    return field_of_image(_read_simpleitk_image(name), name)


def write_transform(
    path: PathLike,
    transform: TransformLike,
    fixed: Optional[ImageLike] = None,
    moving: Optional[ImageLike] = None,
    format: Optional[str] = None,
) -> None:
    """Writes a transform, in the format that the file's name ends on. There is no file unless all of it is written.

    Args:
        path: .tfm, .txt or .h5 of any transform; .mat of a linear one; an image's name, such as warp.nii.gz, of a DisplacementField,
            or of any transform with a fixed image, whose displacements it then is.
        transform: a transform of this package, of SimpleITK or of ITK.
        fixed, moving: the images. FSL's .mat wants both.
        format: the format of a .mat file: "ants", ITK's own, which is the default, or "fsl".

    Raises:
        BadInputError: the format cannot hold the transform, or the file cannot be written.
        UnsupportedError: a transform that is not linear, for a .mat.
        ImportError: there is no SimpleITK.
        OSError: the disk is full, or fails.
    """
    name = name_of(path)
    _refuse_minc(readable(name))
    whole = as_transform(transform)
    if format not in (None, "ants", "fsl") or (format is not None and not _is_mat(name)):
        raise BadInputError(f'The format "{format}" is not possible for {readable(name)}; of .mat there are: ants, fsl.')
    if format == "fsl":
        from ._flirt import to_flirt_matrix, write_flirt_matrix

        matrix = to_flirt_matrix(linear_matrix(whole, "transform"), *_read_grids(name, fixed, moving))
        write_whole(name, lambda there: write_flirt_matrix(there, matrix))
        return
    if _is_mat(name):
        from ._mat_transform import write_mat_transform

        affine = whole if isinstance(whole, Affine) else Affine.from_matrix(linear_matrix(whole, "transform"))
        write_whole(name, lambda there: write_mat_transform(there, affine))
        return
    if name.lower().endswith(_TRANSFORM_SUFFIXES):
        write_simpleitk_transform(name, whole.to_simpleitk())
        return
    if not isinstance(whole, DisplacementField):
        if fixed is None:
            if not name.lower().endswith(IMAGES):
                raise BadInputError(
                    f"The name {readable(name)} is none of a transform: let it end on one of .tfm .txt .h5 .mat, or, with a fixed image, of its "
                    f"displacements, {' '.join(IMAGES)}."
                )
            kind = type(whole).__name__
            article = "An" if kind[0] in "AEIOU" else "A"
            raise BadInputError(f"{article} {kind} can be written as displacements, {readable(name)}, only with a fixed image: give one.")
        whole = whole.to_displacement_field(fixed)
    vectors = whole.host_array()
    if vectors.dtype != np.float32:
        with np.errstate(over="ignore"):
            vectors = vectors.astype(np.float32)
        if not np.isfinite(vectors).all():
            raise BadInputError(
                f"The field has displacements too large for floats of 32 bits, which the image {readable(name)} would store. Write a .h5."
            )
    write_image(name, Image(vectors, whole.spacing, whole.origin, whole.direction, is_vector=True))


def _is_mat(name: str) -> bool:
    return name.lower().endswith(".mat")


def is_flirt_matrix(path: PathLike) -> bool:
    """Returns whether a file is a matrix of FSL's FLIRT, which has a meaning only with its two images."""
    from ._flirt import parse_flirt_matrix

    name = name_of(path)
    return _is_mat(name) and Path(name).is_file() and parse_flirt_matrix(name) is not None


def _read_grids(name: str, fixed: Optional[ImageLike], moving: Optional[ImageLike]) -> tuple[Image, Image]:
    if fixed is None or moving is None:
        raise BadInputError(f"FSL's matrix {readable(name)} has a meaning only with its two images: give both, fixed and moving.")
    return read_any_image(fixed, "fixed")[0], read_any_image(moving, "moving")[0]


def _read_with_simpleitk(name: str) -> Transform:
    sitk = import_simpleitk()
    try:
        with _hdf5, _by_lower_suffix(name) as there:
            read = sitk.ReadTransform(there)
    except RuntimeError as error:
        raise BadInputError(f"The file {name} is no transform that can be read: {last_line(error)}") from error
    except KeyError as error:
        raise UnsupportedError(
            f"The file {name} holds a transform of a class that SimpleITK's ReadTransform does not know. Write it as an "
            "AffineTransform, or as a field."
        ) from error
    if name.lower().endswith(_TEXT_SUFFIXES):
        _check_is_one_transform(name)
    made = read_simpleitk(read)
    assert made is not None
    return made


def _check_is_one_transform(name: str) -> None:
    """Raises BadInputError for a text file of several transforms that are no composite: SimpleITK reads the first one of them alone."""
    kinds = _TEXT_TRANSFORM.findall(Path(name).read_bytes())
    if len(kinds) > 1 and not kinds[0].startswith(b"CompositeTransform"):
        raise BadInputError(
            f"The file {name} holds {len(kinds)} transforms, and no composite of them, which would say how they follow each other. Give "
            "each a file of its own, or write a CompositeTransform."
        )


def is_nifti_file(name: str) -> bool:
    """Returns whether a file is read as NIfTI: by its name, or by how it begins."""
    if not Path(name).is_file() or _suffix_of(name) in READERS:
        return False
    from ._nifti import is_nifti

    return is_nifti(Path(name))


def read_by_simpleitk(name: str) -> Any:
    """Reads an image of any dimension that is not NIfTI, and returns SimpleITK's image.

    Raises:
        BadInputError: it cannot be read, or is not whole.
    """
    try:
        return _read_image_file(name)
    except RuntimeError as error:
        raise BadInputError(
            f"The file {name} is no image that can be read: give NIfTI, MetaImage, NRRD or a folder of DICOM. {last_line(error)}"
        ) from error


def _read_simpleitk_image(name: str) -> Image:
    large = read_large(name)
    if large is not None:
        return large
    read = read_by_simpleitk(name)
    _check_dimension(name, read.GetDimension())
    image, _ = read_any_image(read, f"file {name}'s")
    # A copy, which needs the other library's image no longer.
    image.array = image.array.copy()
    del image.owner  # type: ignore[attr-defined]
    return image


def _read_simpleitk_grid(name: str) -> Image:
    found = read_other_header(name)
    if found is None:
        return without_values(_read_simpleitk_image(name))
    header, unit = found
    dimension = len(header.size)
    _check_dimension(name, dimension)
    return header.image(dimension, unit)


def read_other_header(name: str) -> Optional[tuple[Header, float]]:
    """Reads the header of a file that SimpleITK reads, as find_header() does."""
    with nullcontext() if _suffix_of(name) in READERS else _hdf5:
        return find_header(name)


def _check_dimension(name: str, dimension: int) -> None:
    if dimension not in (2, 3):
        raise BadInputError(f"The file {name} has {dimension} dimensions; it is to have 2 or 3. {_ONE_VOLUME}")


def _refuse_minc(name: str) -> None:
    from ._other_formats import refuse_minc

    refuse_minc(name)


@contextmanager
def _by_lower_suffix(name: str) -> Iterator[str]:
    """Yields a file's name with its suffix in small letters, by a link if need be: ITK knows transforms' files by these alone."""
    if with_lower_suffix(name) == name:
        yield name
        return
    with tempfile.TemporaryDirectory(prefix="gpureg-") as folder:
        there = os.path.join(folder, os.path.basename(with_lower_suffix(name)))
        os.symlink(os.path.abspath(name), there)
        yield there


def _read_image_file(name: str) -> Any:
    """Reads a file by SimpleITK, and checks meanwhile that the file is whole."""
    from ._other_formats import check_other_is_whole, refuse_grey_with_opacity, refuse_packed, warn_of_format

    refuse_packed(name)
    sitk = import_simpleitk()
    reader = READERS.get(_suffix_of(name))
    if reader is not None:
        with ThreadPoolExecutor(1) as pool:
            reading = pool.submit(sitk.ReadImage, name, imageIO=reader)
            if reader == "MetaImageIO":
                from ._metaimage import check_metaimage_is_whole

                check_metaimage_is_whole(name)
                return reading.result()
            from ._nrrd import check_nrrd_is_whole, find_nrrd_unit

            check_nrrd_is_whole(name)
            image = reading.result()
        return _in_mm(image, find_nrrd_unit(name, image.GetDimension()))
    if name.lower().endswith(".gz"):
        from ._unpack import Content

        # Check the file first: a reader's error on a damaged file names only the symptom.
        Content(Path(name)).count_rest()
    with _hdf5:
        reader = sitk.ImageFileReader.GetImageIOFromFileName(name)
        warn_of_format(name, reader)
        if reader == "PNGImageIO":
            refuse_grey_with_opacity(name)
        image = sitk.ReadImage(name)
    check_other_is_whole(name, image)
    return image


def _in_mm(image: Any, unit: float) -> Any:
    """Returns SimpleITK's image with its lengths in mm, which were in a unit of `unit` mm. Lengths along time, a fourth axis, stay."""
    if unit != 1.0:
        for axes, put in ((image.GetSpacing(), image.SetSpacing), (image.GetOrigin(), image.SetOrigin)):
            put([unit * length for length in axes[:3]] + list(axes[3:]))
    return image


def write_simpleitk_transform(path: PathLike, transform: Any) -> None:
    """Writes a transform of SimpleITK as it is, of its own type. There is no file unless all of it is written. Errors are those of
    write_transform()."""
    write_whole(name_of(path), lambda there: _write_simpleitk_transform(transform, there))


def _write_simpleitk_transform(transform: Any, name: str) -> None:
    with _hdf5:
        import_simpleitk().WriteTransform(transform, name)


def _write_simpleitk_image(read: Image, there: str, name: str) -> None:
    """Writes an image at a place, and checks what the file holds. name: that which it is to have."""
    if write_large(there, read):
        return
    image, sitk = image_to_simpleitk(read), import_simpleitk()
    try:
        with _hdf5 if Path(there).suffix.lower() in _HDF5_SUFFIXES else nullcontext():
            sitk.WriteImage(image, there)
    except RuntimeError as error:
        if has_no_writer(error):
            raise no_format(name) from error
        raise
    if there.lower().endswith(_BARE_SUFFIXES):
        check_holds(Path(there), image)
    if not holds_places(there):
        with _hdf5:
            check_holds_place(there, name, read, sitk)
