# SPDX-License-Identifier: Apache-2.0
"""Writing of NIfTI, which is compressed by many threads."""

from __future__ import annotations

from functools import partial
from typing import Any, Callable, Iterator, Optional

import numpy as np

from ._chunks import is_large, write_chunks, write_components
from ._engine import BadInputError
from ._gzip import write_compressed
from ._gzip_index import choose_block
from ._image import Image
from ._kinds import common_values, ras_affine
from ._nibabel import has_skew, import_nibabel

_MOST_VOXELS = 32767
# Where scanners' points are; and that no extension follows.
_SCANNER, _NO_EXTENSION = 1, bytes(4)


def write_nifti(path: str, image: Image, intent: str = "vector") -> None:
    """Writes an image with a qform and an sform that agree. Skew axes, which a qform cannot express, are written as an sform alone.
    Components are written along the fifth axis.

    Args:
        path: the name of a .nii or .nii.gz file.
        intent: nibabel's name of what components are.

    Raises:
        BadInputError: the image has more voxels along an axis than NIfTI can store.
        OSError: the disk is full, or fails.
    """
    check_fits_nifti(image)
    values = common_values(image)
    header = header_bytes(make_header(image, values.dtype, intent=intent))
    with open(path, "wb") as file:
        if path.endswith(".gz"):
            write_compressed(file, header, *(_component_blocks(values) if image.is_vector else [values]), owner=image)
            return
        file.write(header)
        file.flush()
        if not is_large(values.nbytes):
            file.write((np.ascontiguousarray(np.moveaxis(values, -1, 0)) if image.is_vector else values).data.cast("B"))
        elif image.is_vector:
            write_components(file.fileno(), len(header), values.reshape(-1, image.components))
        else:
            write_chunks(file.fileno(), len(header), values.data.cast("B"))


def _component_blocks(values: np.ndarray) -> Iterator[Callable[[], np.ndarray]]:
    """Yields functions that return one component's values of some voxels, one component behind the other."""
    flat = values.reshape(-1, values.shape[-1])
    step = max(1, choose_block(values.nbytes) // values.itemsize)
    for component in range(flat.shape[1]):
        for begin in range(0, len(flat), step):
            yield partial(np.ascontiguousarray, flat[begin : begin + step, component])


def check_fits_nifti(image: Image, volumes: int = 1) -> None:
    """Raises BadInputError if NIfTI cannot hold so many voxels along an axis, or volumes."""
    if max(image.components, volumes, *image.size) > _MOST_VOXELS:
        series = f"{volumes} volumes, " if volumes > 1 else ""
        raise BadInputError(
            f"The image has {series}{max(image.size)} voxels along an axis and {image.components} components, and NIfTI has room for "
            f"{_MOST_VOXELS}. Write a .mha."
        )


def make_header(image: Image, dtype: np.dtype, volumes: Optional[int] = None, intent: str = "vector") -> Any:
    """Makes nibabel's header of an image, or of a series of volumes like it. volumes: how many the series has; None: it is no series."""
    header = import_nibabel().Nifti1Header(endianness="<")
    header.set_data_dtype(dtype)
    affine = ras_affine(image)
    if image.components > 1:
        header.set_data_shape((*image.size, *[1] * (3 - image.dimension), volumes or 1, image.components))
        header.set_intent(intent)
    elif volumes is not None:
        header.set_data_shape((*image.size, *[1] * (3 - image.dimension), volumes))
    else:
        header.set_data_shape(image.size)
    header.set_xyzt_units("mm", "sec")
    header.set_slope_inter(1.0, 0.0)
    header["vox_offset"] = 352
    header["pixdim"][1 : 1 + image.dimension] = np.linalg.norm(affine[:3, : image.dimension], axis=0)
    header.set_sform(affine, _SCANNER)
    if not has_skew(image):
        header.set_qform(affine, _SCANNER)
    return header


def header_bytes(header: Any) -> bytes:
    """Returns a header's bytes, which stand before the values."""
    return header.binaryblock + _NO_EXTENSION
