# SPDX-License-Identifier: Apache-2.0
"""Reads images of other libraries, and makes images of the same kinds.

To read an image imports no library: the image's own library has been imported by whoever made it.
"""

from __future__ import annotations

import os
import sys
from functools import partial
from typing import Any, Callable, Optional, Protocol, TypeVar, Union

import numpy as np

from ._engine import BadInputError
from ._gpu_arrays import AnyArray, hand_over
from ._image import Image, host_array
from ._paths import readable


class ImageOfITK(Protocol):
    """An image of SimpleITK, or of ITK."""

    def GetSpacing(self) -> Any: ...

    def GetOrigin(self) -> Any: ...

    def GetDirection(self) -> Any: ...


class ImageOfNibabel(Protocol):
    """An image of nibabel."""

    @property
    def affine(self) -> Any: ...

    @property
    def dataobj(self) -> Any: ...


class ImageOfANTsPy(Protocol):
    """An image of ANTsPy."""

    def numpy(self) -> Any: ...

    @property
    def spacing(self) -> Any: ...

    @property
    def origin(self) -> Any: ...

    @property
    def direction(self) -> Any: ...


#: Everything that may be handed in as an image.
ImageLike = Union[Image, AnyArray, ImageOfITK, ImageOfNibabel, ImageOfANTsPy]
#: The kind of an image that is handed in: the result is of the same kind.
Kind = TypeVar("Kind", bound=ImageLike)

Wrap = Callable[[Image], Any]

# Keys under which ITK's reader stores the codes of NIfTI's two forms, and the code of a form that is missing.
_FORMS, _UNKNOWN_FORM = ("qform_code", "sform_code"), "0"


def read_image(image: Any, which: str, **geometry: Any) -> tuple[Image, Wrap]:
    """Reads an image of any kind. Returns it, and a function that makes an image of the same kind.

    Args:
        image: an Image, a NumPy array, an image of SimpleITK, ITK or nibabel, or an array by DLPack or CUDA's array interface.
        which: names the image in errors: "fixed", ….
        geometry: spacing, origin and direction of a bare array.

    Raises:
        BadInputError: it is no image of these kinds, or its shape, type or geometry is not possible.
    """
    for reader in (_read_own, _read_simpleitk, _read_nibabel, _read_itk, _read_antspy):
        found = reader(image)
        if found is not None:
            return found
    if isinstance(image, (str, bytes, os.PathLike)):
        raise BadInputError(f"The {which} image is a file's name, {readable(os.fsdecode(image))}: gpuregistration.read_image reads it.")
    if not is_bare_array(image):
        raise BadInputError(
            f"The {which} image is of type {type(image).__module__}.{type(image).__qualname__}, which is not known. Hand in a "
            "NumPy array, one of CuPy or PyTorch, a gpuregistration.Image, or an image of SimpleITK, ITK, nibabel or ANTsPy."
        )
    read = Image(image, **geometry)
    if isinstance(image, np.ndarray) or read.array is image:
        return read, _array_of
    return read, partial(_hand_array_over, image)


def _itself(made: Image) -> Image:
    return made


def _array_of(made: Image) -> Any:
    return made.array


def _hand_array_over(image: Any, made: Image) -> Any:
    return hand_over(made.array, image)


def is_image_with_grid(image: Any) -> bool:
    """Returns whether it is an image that has a grid, as arrays have not."""
    return isinstance(image, Image) or _is_simpleitk(image) or _is_nibabel(image) or _is_itk(image) or _is_antspy(image)


def is_bare_array(image: Any) -> bool:
    """Returns whether it is an array, of NumPy or another library."""
    return isinstance(image, np.ndarray) or (_is_of_a_library(image) and not is_image_with_grid(image))


def _is_of_a_library(image: Any) -> bool:
    """Returns whether it is an array that DLPack or CUDA's array interface reads."""
    return hasattr(image, "__dlpack_device__") or hasattr(image, "__cuda_array_interface__")


def _read_own(image: Any) -> Optional[tuple[Image, Wrap]]:
    return (image, _itself) if isinstance(image, Image) else None


def _is_simpleitk(image: Any) -> bool:
    sitk = sys.modules.get("SimpleITK")
    return sitk is not None and isinstance(image, sitk.Image)


def _read_simpleitk(image: Any) -> Optional[tuple[Image, Wrap]]:
    if not _is_simpleitk(image):
        return None
    sitk = sys.modules["SimpleITK"]
    if image.GetPixelID() in (sitk.sitkLabelUInt8, sitk.sitkLabelUInt16, sitk.sitkLabelUInt32, sitk.sitkLabelUInt64):
        raise BadInputError("A SimpleITK image is a label map, which has no array. SimpleITK.LabelMapToLabel makes an image of it.")
    # The array is a view: `owner` keeps the image alive.
    array = sitk.GetArrayViewFromImage(image)
    is_vector = image.GetNumberOfComponentsPerPixel() > 1
    made = Image(array, image.GetSpacing(), image.GetOrigin(), image.GetDirection(), is_vector)
    made.is_placed = is_placed(image)
    made.owner = image  # type: ignore[attr-defined]
    return made, to_simpleitk


def is_placed(image: Any) -> bool:
    """Returns whether SimpleITK's image, or its reader of one, has metadata that do not deny that its grid is that of a file."""
    return not all(image.HasMetaDataKey(key) and image.GetMetaData(key) == _UNKNOWN_FORM for key in _FORMS)


def common_values(image: Image) -> np.ndarray:
    """Returns an image's array in a type that other libraries have: whole numbers for bool, and floats for halves."""
    array = np.ascontiguousarray(host_array(image))
    wider = {"bool": np.uint8, "float16": np.float32}.get(array.dtype.name)
    return array.astype(wider if wider is not None else array.dtype.newbyteorder("="), copy=False)


def to_simpleitk(image: Image) -> Any:
    """Converts an image to SimpleITK's. Raises ImportError if there is no SimpleITK."""
    import SimpleITK as sitk

    made = sitk.GetImageFromArray(common_values(image), isVector=image.is_vector)
    made.SetSpacing(image.spacing.tolist())
    made.SetOrigin(image.origin.tolist())
    made.SetDirection(image.direction.ravel().tolist())
    return made


def _is_nibabel(image: Any) -> bool:
    # Another thread may be about to import it.
    kind = getattr(getattr(sys.modules.get("nibabel"), "spatialimages", None), "SpatialImage", None)
    return kind is not None and isinstance(image, kind)


def _read_nibabel(image: Any) -> Optional[tuple[Image, Wrap]]:
    if not _is_nibabel(image):
        return None
    from ._nibabel import has_colours, image_of, stored_of

    stored = stored_of(image)
    read = image_of(stored, "image.slicer[..., 0] takes one volume out.")
    return read, partial(to_nibabel, has_colours=has_colours(stored))


def ras_affine(image: Image) -> np.ndarray:
    """Returns the matrix, (4, 4), that maps an index to nibabel's point. An image of two dimensions gets a third axis of 1 mm."""
    from ._nibabel import LPS_OF_RAS

    to_point, d = np.eye(4), image.dimension
    to_point[:d, :d] = image.index_to_point[:-1, :-1]
    to_point[:d, 3] = image.index_to_point[:-1, -1]
    return LPS_OF_RAS @ to_point


def to_nibabel(image: Image, has_colours: bool = False) -> Any:
    """Converts an image to nibabel's NIfTI image. Its components become vectors, along the fifth axis, or colours."""
    import nibabel

    from ._nibabel import has_skew

    array = common_values(image)
    if has_colours and array.dtype == np.uint8:
        names = "RGBA"[: image.components]
        values = np.ascontiguousarray(array).view([(name, np.uint8) for name in names])[..., 0].T
    elif image.components > 1:
        values = np.moveaxis(array, -1, 0).T
        values = values.reshape(*image.size, *[1] * (4 - image.dimension), image.components)
    else:
        values = array.reshape(image.shape).T
    affine = ras_affine(image)
    made = nibabel.Nifti1Image(values, affine, dtype=values.dtype)
    made.header.set_xyzt_units("mm", "sec")
    if not has_skew(image):
        made.set_qform(affine, code="aligned")
    if values.ndim == 5:
        made.header.set_intent("vector")
    return made


def _is_itk(image: Any) -> bool:
    # ITK makes the classes of its images when they are asked for, and they have no common base class.
    return type(image).__module__.split(".")[0] == "itk" and hasattr(image, "GetBufferedRegion")


def _read_itk(image: Any) -> Optional[tuple[Image, Wrap]]:
    if not _is_itk(image):
        return None
    itk = sys.modules["itk"]
    array = itk.array_view_from_image(image)
    direction = itk.array_from_matrix(image.GetDirection())
    index = np.array(list(image.GetBufferedRegion().GetIndex()), dtype=np.float64)
    spacing = np.array(list(image.GetSpacing()))
    origin = np.array(list(image.GetOrigin())) + direction @ (spacing * index)
    # A view, as in _read_simpleitk().
    made = Image(array, spacing, origin, direction, image.GetNumberOfComponentsPerPixel() > 1)
    known = dict(image)
    made.is_placed = not all(known.get(key) == _UNKNOWN_FORM for key in _FORMS)
    made.owner = image  # type: ignore[attr-defined]
    return made, to_itk


def to_itk(image: Image) -> Any:
    """Converts an image to ITK's. Raises ImportError if there is no ITK for Python."""
    import itk

    made = itk.image_from_array(common_values(image), is_vector=image.is_vector)
    made.SetSpacing(image.spacing.tolist())
    made.SetOrigin(image.origin.tolist())
    made.SetDirection(itk.matrix_from_array(np.ascontiguousarray(image.direction)))
    return made


def _is_antspy(image: Any) -> bool:
    # PyTorch's tensors have numpy(), too, and no spacing.
    return callable(getattr(image, "numpy", None)) and all(hasattr(image, name) for name in ("spacing", "origin", "direction"))


def _read_antspy(image: Any) -> Optional[tuple[Image, Wrap]]:
    """Reads an image of ANTsPy, whose array is [x, y, z]."""
    if not _is_antspy(image):
        return None
    has_components = bool(getattr(image, "has_components", False))
    values = np.asarray(image.numpy())
    axes = values.ndim - 1
    array = values.transpose(*range(axes)[::-1], axes) if has_components else values.T
    made = Image(np.ascontiguousarray(array), image.spacing, image.origin, np.asarray(image.direction), has_components)
    return made, partial(_to_antspy, image)


def _to_antspy(like: Any, image: Image) -> Any:
    """Converts an image to ANTsPy's, by the library that another one is of."""
    library = sys.modules[type(like).__module__.partition(".")[0]]
    array = common_values(image)
    # It has no whole numbers but these.
    array = array.astype({"uint8": np.uint8, "uint32": np.uint32, "float64": np.float64}.get(array.dtype.name, np.float32), copy=False)
    axes = range(image.dimension)[::-1]
    values = array.transpose(*axes, image.dimension) if image.is_vector else array.T
    return library.from_numpy(
        np.ascontiguousarray(values), image.origin.tolist(), image.spacing.tolist(), image.direction, has_components=image.is_vector
    )
