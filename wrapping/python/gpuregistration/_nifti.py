# SPDX-License-Identifier: Apache-2.0
"""Files of NIfTI, whose headers nibabel reads: .nii, and .hdr with .img beside it, compressed or not."""

from __future__ import annotations

import math
import struct
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable

import numpy as np

from ._engine import BadInputError
from ._image import no_values
from ._nibabel import Stored, import_nibabel
from ._parts import find_beside
from ._unpack import Content, warn_of_name
from ._warnings import warn_of_input

#: Names of its files end with one of these, or with .gz behind it.
NIFTI_SUFFIXES = (".nii", ".hdr", ".img")

# How many bytes a header says that it has, with where its magic word is.
_MAGIC_BY_LENGTH = {348: 344, 540: 4}
_FOLLOWING, _APART = (b"n+1", b"n+2"), (b"ni1", b"ni2")


def is_nifti(path: Path) -> bool:
    """Returns whether a file is to be read as NIfTI: by its name, or, if the name has no known suffix, by its first bytes."""
    inside = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    if inside.suffix.lower() in NIFTI_SUFFIXES:
        return True
    begin = Content(path).take(max(_MAGIC_BY_LENGTH))
    lengths = [struct.unpack(f"{order}i", begin[:4])[0] for order in "<>"] if len(begin) > 4 else []
    return any(begin[_MAGIC_BY_LENGTH[n] :].startswith(_FOLLOWING) for n in lengths if n in _MAGIC_BY_LENGTH)


@dataclass
class Opened:
    """A file whose header has been read.

    Attributes:
        path: the header's file.
        header: nibabel's.
        content: the file that has the values, of which none have been read yet.
        begin: where in it they begin, bytes.
    """

    path: Path
    header: Any
    content: Content
    begin: int

    @property
    def shape(self) -> tuple[int, ...]:
        """Voxels along each axis, x first, times and components."""
        return tuple(int(n) for n in self.header.get_data_shape())

    @property
    def has_vectors(self) -> bool:
        """Says whether there are several components of one volume."""
        return len(self.shape) == 5 and self.shape[3] == 1 and self.shape[4] > 1

    def warn_of_left_bytes(self, left: int) -> None:
        """Warns of bytes that are left behind the values."""
        if left:
            some = f"{left} byte{'' if left == 1 else 's'}"
            warn_of_input(f"The file {self.content.path} has {some} behind the last value that its header describes: they are left out.")

    def store(self, values: np.ndarray) -> Stored:
        """Reads some of the values, and what the header says about them. Raises BadInputError if that is impossible."""
        nibabel = import_nibabel()
        try:
            slope, inter = self.header.get_slope_inter()
            affine = self.header.get_best_affine()
        except (nibabel.spatialimages.HeaderDataError, ValueError) as error:
            raise BadInputError(f"{_impossible(self.path)}: {error}. Mend it, or write the file again.") from error
        return Stored(values, slope, inter or 0.0, np.asarray(affine, np.float64), self.header, f"file {self.path}")


def read_nifti(path: Path) -> Stored:
    """Reads a file's header and values.

    Raises:
        BadInputError: it is no NIfTI, cut off or damaged, or its header is impossible.
        ImportError: there is no nibabel.
    """
    # A quarter of a second that Python needs, while the file is unpacked, which needs no Python.
    threading.Thread(target=_import_quietly, daemon=True).start()
    opened = open_nifti(path, Content.unpack_ahead)
    content = opened.content
    _skip_to_values(opened, path)
    take = content.take_vectors if opened.has_vectors else content.take_array
    values = take(opened.shape, opened.header.get_data_dtype())
    opened.warn_of_left_bytes(content.count_rest())
    return opened.store(values)


def read_nifti_grid(path: Path) -> Stored:
    """Reads a file's header, and no values. Raises what read_nifti() does, as far as the header or the file's size shows it."""
    opened = open_nifti(path)
    _skip_to_values(opened, path)
    kind = opened.header.get_data_dtype()
    opened.warn_of_left_bytes(opened.content.check_size(opened.begin + math.prod(opened.shape) * kind.itemsize))
    return opened.store(no_values(kind.newbyteorder("="), opened.shape))


def _skip_to_values(opened: Opened, path: Path) -> None:
    opened.content.skip(opened.begin - opened.content.taken)
    if opened.content.taken < opened.begin:
        raise _behind_end(path, opened.begin)


def _import_quietly() -> None:
    """Imports nibabel. Without it whoever needs it next says so."""
    with suppress(ImportError):
        import_nibabel()


def open_nifti(path: Path, prepare: Callable[[Content], None] = lambda content: None) -> Opened:
    """Reads a file's header, and finds where its values are. Raises what read_nifti() does of them.

    Args:
        prepare: is called with the content of each file before any of it is taken.
    """
    header_path = find_beside(path, "hdr") or path
    content = Content(header_path)
    prepare(content)
    length, block = _read_header(content)
    magic = bytes(block[_MAGIC_BY_LENGTH[length] :][:3])
    if magic not in _FOLLOWING + _APART:
        raise BadInputError(
            f"The file {header_path} is of Analyze 7.5, or its header is damaged: it has no word that says NIfTI. Analyze does not say where "
            "left and right are. Where you know it, write it as NIfTI: nibabel.save(nibabel.Nifti1Image(nibabel.load(NAME).dataobj, affine), "
            '"new.nii.gz").'
        )
    warn_of_name(header_path, content.is_packed)
    is_pair = magic in _APART
    header = _make_header(block, length, is_pair, header_path)
    if is_pair:
        content.count_rest()
        values_path = find_beside(path, "img")
        if values_path is None:
            raise BadInputError(f"The file {header_path} is a header, and there is no .img or .img.gz beside it with its values.")
        content = Content(values_path)
        prepare(content)
        warn_of_name(values_path, content.is_packed)
    begin = header.get_data_offset()
    if begin < content.taken:
        raise BadInputError(f"{_impossible(header_path)}: its values begin inside of it, at {begin}. Write the file again.")
    if not content.is_packed and begin > content.path.stat().st_size:
        raise _behind_end(header_path, begin)
    return Opened(header_path, header, content, begin)


def _read_header(content: Content) -> tuple[int, bytes]:
    """Returns the number of bytes that the header states, and the header."""
    block = content.take(4)
    for order in "<>":
        length = struct.unpack(f"{order}i", block)[0] if len(block) == 4 else 0
        if length in _MAGIC_BY_LENGTH:
            block += content.take(length - 4)
            if len(block) == length:
                return length, block
            raise BadInputError(f"The file {content.path} is cut off in its header. Copy it again from where it is whole.")
    raise BadInputError(
        f"The file {content.path} is no image that can be read: it does not begin as NIfTI does, which its name says. Give NIfTI, MetaImage, "
        "NRRD or a folder of DICOM, each by a name that says what it is."
    )


def _make_header(block: bytes, length: int, is_pair: bool, path: Path) -> Any:
    nibabel = import_nibabel()
    kinds = {
        348: (nibabel.nifti1.Nifti1Header, nibabel.nifti1.Nifti1PairHeader),
        540: (nibabel.nifti2.Nifti2Header, nibabel.nifti2.Nifti2PairHeader),
    }
    try:
        header = kinds[length][is_pair](block, check=False)
        stated = header["pixdim"].copy()
        # nibabel mends what it can in the header; its log becomes warnings.
        header.check_fix(logger=_Log(path), error_level=40)
        header.get_data_dtype()
        header.get_data_offset()
    except (nibabel.spatialimages.HeaderDataError, KeyError, ValueError) as error:
        raise BadInputError(f"{_impossible(path)}: {error}. Mend it, or write the file again.") from error
    shape = header.get_data_shape()
    if not shape or min(shape) < 1:
        raise BadInputError(f"{_impossible(path)}: it has dim {header['dim'].tolist()}. Write the file again.")
    wrong = stated[1 : 1 + min(3, len(shape))]
    if int(header["sform_code"]) > 0:
        # Where the sform wins, a voxel of 0 mm is what the header says of it, not the 1 mm that nibabel puts there.
        header["pixdim"][1 : 1 + len(wrong)][wrong == 0] = 0
    elif not (wrong > 0).all():
        warn_of_input(
            f"The file {path} has voxels of {wrong.tolist()} (pixdim), which are to be greater than 0: they are taken for "
            f"{header['pixdim'][1 : 1 + len(wrong)].tolist()}. Mend the header."
        )
    return header


def _impossible(path: Path) -> str:
    return f"The header of the file {path} is impossible"


def _behind_end(path: Path, begin: int) -> BadInputError:
    return BadInputError(
        f"{_impossible(path)}, or the file is cut off: its values begin at byte {begin} (vox_offset), behind the file's end. Copy it again "
        "from where it is whole, or mend vox_offset."
    )


class _Log:
    """Receives what nibabel corrects in a header, and warns where the header contradicts itself, or says nothing."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def log(self, level: int, message: str) -> None:
        if message.startswith(("bitpix", "qform_code", "sform_code")):
            warn_of_input(f"The header of the file {self._path} is wrong, and is read as if it were mended: {message}.")
