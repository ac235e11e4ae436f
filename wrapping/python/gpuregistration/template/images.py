# SPDX-License-Identifier: Apache-2.0
"""Reads the images of a template's jobs, and keeps them in the worker's memory from round to round."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any, Optional

import numpy as np

from .._checks import are_finite, check_finite
from .._engine import BadInputError
from .._files import read_image
from .._grey import as_grey
from .._image import Image, host_array
from .._sides import ONE_IN_FILE
from .._slices import flattened, is_slice
from .._warnings import collect_input_warnings
from ..cohort.folder import describe_files

# The most bytes that a worker keeps: some 70 heads of 1 mm.
_MOST_BYTES = 2 << 30

_Key = tuple[Any, ...]

_lock = threading.Lock()
_kept: OrderedDict[_Key, Image] = OrderedDict()
#: Files that threads read now: others wait for them instead of reading them, too.
_reading: dict[_Key, threading.Lock] = {}


def read(path: str) -> Image:
    """Reads what read_stored() does, and makes it flat."""
    return flat(read_stored(path))


def flat(image: Image) -> Image:
    """Returns an image of a single slice as one of two dimensions, with its warnings, and any other image as it is."""
    if not is_slice(image):
        return image
    made = flattened(image)
    made.warnings = image.warnings
    return made


def read_stored(path: str) -> Image:
    """Reads a scalar image, as floats, where its file says that it lies. A file is read again only after a change.

    Raises:
        BadInputError: it cannot be read, or has values that are not finite.
        OSError: it has gone.
    """
    file = describe_files({"": path})[""]
    key = tuple(file.values())
    with _lock:
        reading = _reading.setdefault(key, threading.Lock())
    try:
        with reading:
            image = _find(key)
            if image is None:
                image = _read(path)
                _keep(key, image)
            return image
    finally:
        with _lock:
            _reading.pop(key, None)


def _find(key: _Key) -> Optional[Image]:
    with _lock:
        found = _kept.get(key)
        if found is not None:
            _kept.move_to_end(key)
        return found


def _keep(key: _Key, image: Image) -> None:
    with _lock:
        _kept[key] = image
        while sum(host_array(one).nbytes for one in _kept.values()) > _MOST_BYTES and len(_kept) > 1:
            _kept.popitem(last=False)


def _read(path: str) -> Image:
    warnings: list[str] = []
    with collect_input_warnings(warnings):
        image = as_grey(read_image(path), f"file {path}", ONE_IN_FILE)
    values = host_array(image)
    check_finite(f"file {path}", values, is_of_file=True)
    with np.errstate(over="ignore"):
        floats = np.ascontiguousarray(values, dtype=np.float32)
    if not are_finite(floats):
        raise BadInputError(f"The file {path} has values that are too large for floats of 32 bits: divide them by a number.")
    made = image.like(floats)
    made.warnings = warnings
    return made
