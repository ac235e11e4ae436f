# SPDX-License-Identifier: Apache-2.0
"""Opens the arrays of a Zarr by the package zarr, reads parts of them and writes parts. Whatever that package raises names the folder
here."""

from __future__ import annotations

import os
from typing import Any, Sequence

import numpy as np

from .._engine import BadInputError
from .._zarr_names import SUFFIX

#: Chunks that one call reads or writes at the same time.
CONCURRENCY = 4


def import_zarr() -> Any:
    """Imports the package zarr, of version 3. Raises ImportError, which says what to install."""
    try:
        import zarr
    except ImportError as error:
        raise ImportError(f"OME-Zarr needs the package zarr, of version 3: pip install 'gpuregistration[zarr]' ({error})") from error
    if int(zarr.__version__.partition(".")[0]) < 3:
        raise ImportError(f"OME-Zarr needs the package zarr of version 3, and this is {zarr.__version__}: pip install 'zarr>=3'")
    zarr.config.set({"async.concurrency": CONCURRENCY})
    return zarr


def open_group(folder: str) -> Any:
    """Opens a group to read.

    Raises:
        BadInputError: the folder is none.
        ImportError: there is no zarr.
    """
    zarr = import_zarr()
    try:
        return zarr.open_group(folder, mode="r")
    except (zarr.errors.ContainsArrayError, zarr.errors.GroupNotFoundError) as error:
        if isinstance(error, zarr.errors.GroupNotFoundError) and not os.path.exists(os.path.join(folder, ".zarray")):
            raise BadInputError(f"The folder {folder} is no Zarr: it has neither a zarr.json nor a .zgroup.") from error
        raise BadInputError(
            f"{folder} is an array of a Zarr, which does not say where its voxels are. Name the folder of the image above it, with the "
            f"number of the level behind it, such as image{SUFFIX}#0."
        ) from error
    except Exception as error:
        raise _error_of(folder, error) from error


def open_array_of(folder: str, group: Any, path: str) -> Any:
    """Opens an array of a group. Raises BadInputError if there is none at that path, or it cannot be opened."""
    zarr = import_zarr()
    try:
        array = group[path]
    except KeyError as error:
        raise BadInputError(f"The Zarr {folder} names an array {path}, which is not there.") from error
    except Exception as error:
        raise _error_of(f"{folder}, array {path},", error) from error
    if not isinstance(array, zarr.Array):
        raise BadInputError(f"The Zarr {folder} names an array {path}, which is a group.")
    return array


def open_array(folder: str, path: str, mode: str = "r") -> Any:
    """Opens an array of a Zarr by the name of its group and its own path, to read, or with the mode "r+" to write."""
    zarr = import_zarr()
    try:
        return zarr.open_array(os.path.join(folder, path), mode=mode)
    except MemoryError:
        raise
    except Exception as error:
        raise _error_of(f"{folder}, array {path},", error) from error


def read_part(array: Any, folder: str, first: Sequence[int], end: Sequence[int]) -> np.ndarray:
    """Reads the part of an array between two indices.

    Raises:
        BadInputError: a chunk cannot be read or unpacked.
    """
    try:
        return np.asarray(array[tuple(slice(a, b) for a, b in zip(first, end))])
    except MemoryError:
        raise
    except Exception as error:
        where = ", ".join(f"{a} to {b - 1}" for a, b in zip(first, end))
        raise _error_of(f"{folder}, voxels {where},", error) from error


def write_file(folder: str, path: str, first: Sequence[int], end: Sequence[int], values: np.ndarray) -> None:
    """Writes all that one file of an array holds: a shard, or a chunk of an array without shards.

    Args:
        folder, path: the place of the array.
        first, end: the indices of its first value, and those behind the last one.

    Raises:
        OSError: the disk is full, or fails.
    """
    array = open_array(folder, path, "r+")
    place = tuple(slice(a, b) for a, b in zip(first, end))
    whole = values.reshape([b - a for a, b in zip(first, end)])
    try:
        array[place] = whole
    except (OSError, MemoryError):
        raise
    except Exception:
        # Zarr reads what is there before it writes, though all of it is replaced, and a writer that was killed may have left a part of it.
        key = array.metadata.encode_chunk_key(tuple(a // along for a, along in zip(first, array.shards or array.chunks)))
        file = os.path.join(folder, path, key)
        if not os.path.exists(file):
            raise
        os.remove(file)
        array[place] = whole


def _error_of(what: str, error: Exception) -> BadInputError:
    text = " ".join(str(error).split()) or type(error).__name__
    if "odec" in type(error).__name__ or "codec" in text.lower():
        text += " (what packs its chunks is not installed, or damaged: pip install numcodecs)"
    return BadInputError(f"The Zarr {what} cannot be read: {text}")
