# SPDX-License-Identifier: Apache-2.0
"""Images as nibabel has them, of its own and of files of NIfTI, which come to the same."""

from __future__ import annotations

import math
import os
import zlib
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Callable, Optional

import numpy as np

from ._checks import is_singular
from ._engine import BadInputError
from ._image import Image, has_values, no_values
from ._program import hidden
from ._unpack import PACKED, Content
from ._warnings import warn_of_input

# From nibabel's points, right, anterior and superior, to ITK's, left, posterior and superior.
LPS_OF_RAS = np.diag([-1.0, -1.0, 1.0, 1.0])

# mm, by NIfTI's code of units; 0 is not known.
_UNITS = {0: 1.0, 1: 1000.0, 2: 1.0, 3: 0.001}
# Where two parts of a header lead a voxel to may be so many voxels apart: less changes nothing that is seen.
_MOST_APART = 0.1
# A quaternion's first number is not stored. If its square is below the first of these, floats leave an error of the angle of up to the
# second, in radians.
_HALF_TURN, _ROUNDED = 1e-6, 1e-3
# NIfTI's floats leave products of directions off those of an orthonormal matrix by this number at most.
_MOST_SKEW = 1e-4
# Floats can distinguish the steps of whole numbers of 16 bits if at most so many steps stand between 0 and the offset, and if neither the
# step nor its inverse is smaller than the second number.
_MOST_STEPS, _LEAST_SLOPE = 1 << 17, 1e-30
_COLOURS = (("R", "G", "B"), ("R", "G", "B", "A"))


@dataclass
class Stored:
    """An image as it is stored.

    Attributes:
        values: ``[x, y, z, …]``, before they are scaled; or no_values(), in this machine's byte order.
        slope, offset: the factor of the values and the number that is added; None: they are not scaled.
        affine: (4, 4), from indices to points, right, anterior and superior, in the header's units.
        header: nibabel's.
        name: such as "file a.nii".
    """

    values: np.ndarray
    slope: Optional[float]
    offset: float
    affine: np.ndarray
    header: Any
    name: str


def import_nibabel() -> Any:
    """Imports nibabel, which NIfTI and FreeSurfer's files need. Raises an ImportError that says how to install it."""
    try:
        # It would import pydicom, for extensions of headers, which takes twice as long as all the rest.
        with hidden("pydicom"):
            import nibabel
    except ImportError as error:
        raise ImportError("This needs nibabel: pip install gpuregistration[io]") from error
    return nibabel


def stored_of(image: Any, reads_values: bool = True) -> Stored:
    """Reads nibabel's image.

    Args:
        reads_values: False: those of a file are left out.

    Raises:
        BadInputError: its file is missing, or damaged, or of Analyze, which says nothing of where left is.
    """
    nibabel = import_nibabel()
    found = image.get_filename()
    name = f"nibabel image {found}" if found else "nibabel image"
    content = image.dataobj
    slope, offset = None, 0.0
    try:
        if isinstance(content, nibabel.arrayproxy.ArrayProxy):
            values, slope, offset = _take_unscaled(content) if reads_values else _leave_out(content), content.slope, content.inter
        else:
            values = np.asanyarray(content)
    except BadInputError:
        # It names the file, and what is wrong with it.
        raise
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise BadInputError(f"The values of the {name} cannot be read: {error}. Is its file whole?") from error
    is_nifti = isinstance(image.header, nibabel.Nifti1Header)
    # An image without one lies where its header says, as nibabel's file of it does.
    affine = np.asarray(image.header.get_best_affine() if image.affine is None else image.affine, dtype=np.float64)
    if isinstance(image, nibabel.AnalyzeImage) and not is_nifti and np.allclose(affine, image.header.get_best_affine()):
        raise BadInputError(
            f"The {name} is of Analyze 7.5, which does not say where left and right are. Where you know it, hand in "
            "nibabel.Nifti1Image(image.dataobj, affine)."
        )
    return Stored(values, slope, offset, affine, image.header, name)


def _take_unscaled(proxy: Any) -> np.ndarray:
    """Reads the values of a file that nibabel has not read yet, since nibabel does not check the checksum of compressed files."""
    is_of_file = isinstance(proxy.file_like, (str, os.PathLike)) and str(proxy.file_like).lower().endswith(PACKED)
    if is_of_file and getattr(proxy, "_order", "F") == "F":
        content = Content(Path(proxy.file_like))
        content.skip(proxy.offset)
        values = content.take_array(tuple(map(int, proxy.shape)), proxy.dtype)
        content.count_rest()
        return values
    return proxy.get_unscaled()


def _leave_out(proxy: Any) -> np.ndarray:
    """Returns no values of a file that nibabel has not read yet. Raises BadInputError if the file's size says that it is cut off."""
    shape = tuple(map(int, proxy.shape))
    Content(Path(proxy.file_like)).check_size(int(proxy.offset) + math.prod(shape) * proxy.dtype.itemsize)
    return no_values(proxy.dtype.newbyteorder("="), shape)


def image_of(stored: Stored, hint: str) -> Image:
    """Converts to an Image in ITK's points and mm. Warns if the header contradicts itself.

    Args:
        hint: advice for several volumes.

    Raises:
        BadInputError: it has other dimensions, values that are no real numbers, or no place in space.
    """
    values = _read_values(stored)
    shape = values.shape
    is_vector = has_colours(stored)
    if is_vector:
        names = values.dtype.names or ()
        values = _convert(lambda colours: np.stack([colours[name] for name in names], axis=-1), values)
    elif len(shape) == 5 and shape[3] == 1 and shape[4] > 1:
        is_vector, values = True, values[:, :, :, 0]
        # One slice is of two dimensions, as ITK writes those, unless it has displacements in three.
        if shape[2] == 1 and not (shape[4] == 3 and values.dtype.kind == "f"):
            values = values[:, :, 0]
    axes = values.ndim - int(is_vector)
    while axes > 3 and values.shape[axes - 1] == 1:
        axes -= 1
        values = values.reshape(values.shape[:axes] + values.shape[axes + 1 :], order="F")
    if axes not in (2, 3):
        raise BadInputError(f"The {stored.name} has {axes} dimensions, shape {shape}; it is to have 2 or 3. {hint if axes > 3 else ''}".rstrip())
    grid = _find_grid(stored, axes)
    array = np.moveaxis(values.T, 0, -1) if is_vector else values.T
    return Image(np.ascontiguousarray(array) if is_vector and has_values(array) else array, *grid, is_vector)


def _convert(convert: Callable[[np.ndarray], np.ndarray], values: np.ndarray) -> np.ndarray:
    """Converts values, each by itself; of an array without values of its own the one that stands for all."""
    if has_values(values):
        return convert(values)
    one = convert(values[(slice(0, 1),) * values.ndim])
    shape = values.shape + one.shape[values.ndim :]
    return np.broadcast_to(one.flat[0] if (one == one.flat[0]).all() else one, shape)


def find_unit(stored: Stored) -> float:
    """Returns the header's unit of length in mm."""
    header = stored.header
    if "xyzt_units" not in getattr(header, "keys", tuple)():
        return 1.0
    code = int(header["xyzt_units"]) & 7
    if code not in _UNITS:
        warn_of_input(f"The {stored.name} has lengths in a unit that there is not, {code} (xyzt_units): they are taken for mm. Mend the header.")
    return _UNITS.get(code, 1.0)


def has_skew(image: Image) -> bool:
    """Returns whether an image's axes are not at right angles, or not of length 1, so that a qform cannot express them."""
    return bool(np.abs(image.direction.T @ image.direction - np.eye(image.dimension)).max() > _MOST_SKEW)


def has_colours(stored: Stored) -> bool:
    """Returns whether a voxel's value is a colour of red, green and blue."""
    return stored.values.dtype.names in _COLOURS


def _read_values(stored: Stored) -> np.ndarray:
    """Returns the values in this machine's byte order, scaled."""
    values = stored.values
    if has_colours(stored):
        return values
    if values.dtype.kind == "c":
        raise BadInputError(
            f"The {stored.name} has complex values, which cannot be compared. Make an image of their absolute values, or of their real "
            "parts."
        )
    if values.dtype.kind not in "biuf" or values.dtype.itemsize > 8:
        raise BadInputError(
            f"The {stored.name} has values of type {values.dtype}; they are to be whole numbers or floats of 64 bits at most, or colours of "
            "8 bits. Convert them, such as by array.astype(numpy.float64)."
        )
    values = values.astype(values.dtype.newbyteorder("="), copy=False)
    slope, offset = stored.slope, stored.offset
    if slope is None or (slope, offset) == (1.0, 0.0):
        return values
    return _convert(partial(_scale, slope=slope, offset=offset), values)


def _scale(values: np.ndarray, slope: float, offset: float) -> np.ndarray:
    is_short = values.dtype.kind in "iu" and values.dtype.itemsize <= 2
    if is_short and _LEAST_SLOPE < abs(slope) < 1 / _LEAST_SLOPE and abs(offset) <= _MOST_STEPS * abs(slope):
        scaled = values.astype(np.float32)
        scaled *= np.float32(slope)
        scaled += np.float32(offset)
        return scaled
    return values.astype(np.float64) * slope + offset


def _find_grid(stored: Stored, dimension: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns spacing, origin and direction."""
    to_point, unit = LPS_OF_RAS @ stored.affine, find_unit(stored)
    to_point[:3] *= unit
    linear = to_point[:3, :3]
    if dimension == 2:
        if np.abs(linear[2, :2]).max() > 1e-3 * np.abs(linear[:2, :2]).max():
            raise BadInputError(
                f"The {stored.name} is of two dimensions, and does not lie across the patient's third axis: its affine is "
                f"{stored.affine.tolist()}. Make it a volume of one slice: nibabel.Nifti1Image(array[..., numpy.newaxis], affine)."
            )
        linear = linear[:2, :2]
    if not np.isfinite(to_point).all() or is_singular(linear):
        raise BadInputError(
            f"The {stored.name} lies nowhere: its affine has no inverse: {stored.affine.tolist()}. Write it with another one, or set the code "
            "of the form that is wrong, qform_code or sform_code, to 0."
        )
    if hasattr(stored.header, "get_sform"):
        _warn_of_contradictions(stored, unit)
    spacing = np.linalg.norm(linear, axis=0)
    return spacing, to_point[:dimension, 3], linear / spacing


def _warn_of_contradictions(stored: Stored, unit: float) -> None:
    """Warns if qform, sform, pixdim or the scale of a NIfTI header disagree, or are missing.

    Args:
        unit: mm in the header's.
    """
    header, affine, name = stored.header, stored.affine, stored.name
    if float(header["scl_slope"]) == 0.0 and np.isfinite(header["scl_inter"]) and float(header["scl_inter"]) != 0.0:
        warn_of_input(
            f"The {name} has scl_slope 0 and scl_inter {float(header['scl_inter']):g}: its values are as they are stored, as NIfTI's standard "
            "says, and other programs may add that. Set scl_slope to 1, or scl_inter to 0."
        )
    has_sform, has_qform = int(header["sform_code"]) > 0, int(header["qform_code"]) > 0
    if not has_sform and not has_qform:
        warn_of_input(
            f"The {name} does not say where it lies: its qform_code and sform_code are both 0. It is taken to begin at the patient's right, as "
            "nibabel does: left and right may be the other way round. Write it with a qform or an sform."
        )
        return
    # The header of an image whose affine was set in memory says what was there before.
    if not has_sform or not np.allclose(affine, header.get_sform(), atol=1e-5 * np.abs(affine[:3, :3]).max()):
        return
    shape = [max(2, n) for n in (*header.get_data_shape(), 1, 1, 1)[:3]]
    corners = np.array([[x * (shape[0] - 1), y * (shape[1] - 1), z * (shape[2] - 1), 1] for x in (0, 1) for y in (0, 1) for z in (0, 1)])
    dimension = 2 if len(header.get_data_shape()) == 2 else 3
    spacing = np.linalg.norm(affine[:3, :dimension], axis=0)
    if has_qform:
        try:
            other = header.get_qform()
        except ValueError:
            warn_of_input(f"The {name} has a qform that is no rotation; its sform is taken.")
            return
        apart = np.linalg.norm((corners @ (affine - other).T)[:, :3], axis=1).max()
        most = _MOST_APART * spacing.min()
        if 1.0 - sum(float(header[f"quatern_{axis}"]) ** 2 for axis in "bcd") < _HALF_TURN:
            most += _ROUNDED * np.linalg.norm(corners[-1, : len(spacing)] * spacing)
        if not apart <= most:
            warn_of_input(
                f"The {name} says two things of where it lies: its sform and its qform are up to {apart * unit:.4g} mm apart. The sform is taken. "
                "Set both to the same, or the code of the wrong one to 0."
            )
        return
    stated = np.asarray(header["pixdim"][1 : 1 + dimension], dtype=np.float64)
    apart = np.abs(stated - spacing) * (np.array(shape[:dimension]) - 1)
    if not (apart <= _MOST_APART * spacing).all():
        warn_of_input(
            f"The {name} says two things of its voxels: they are {_times(spacing)} by its sform and {_times(stated)} by pixdim. The sform is "
            "taken. Set pixdim to its lengths."
        )


def _times(lengths: np.ndarray) -> str:
    return "×".join(f"{length:.5g}" for length in lengths)
