# SPDX-License-Identifier: Apache-2.0
"""Parses names of OME-Zarr images, such as big.zarr#2: a folder, and the number of a resolution level in it."""

from __future__ import annotations

import os
import re
from typing import Optional

from ._engine import BadInputError

SUFFIX = ".zarr"

_LEVEL = re.compile(r"(?P<folder>.+?)/*#(?P<level>[^/#]*)")
# Files of which one lies in the folder of every Zarr, of format 3 and of format 2.
_MARKS = ("zarr.json", ".zgroup", ".zarray", ".zattrs")


def split_name(name: str) -> tuple[str, Optional[int]]:
    """Splits a name such as "big.zarr#2" into the folder and the number of the level; None: no level is named.

    Raises:
        BadInputError: there is no number behind the # after a folder's name.
    """
    found = _LEVEL.fullmatch(name)
    if found is None or os.path.exists(name) or not os.path.isdir(found["folder"]):
        return name, None
    if not (found["level"].isascii() and found["level"].isdigit()):
        raise BadInputError(f'The level "{found["level"]}" of {name} is not possible: give its number, such as {found["folder"]}#0.')
    return found["folder"], int(found["level"])


def is_zarr(name: str) -> bool:
    """Returns whether a name, with or without a level, is that of a Zarr: a folder with its metadata, or one that is called .zarr."""
    folder = split_name(name)[0]
    if not os.path.isdir(folder):
        return False
    return has_zarr_name(folder) or any(os.path.exists(os.path.join(folder, mark)) for mark in _MARKS)


def has_zarr_name(name: str) -> bool:
    """Returns whether a name ends on .zarr."""
    return name.rstrip("/").lower().endswith(SUFFIX)
