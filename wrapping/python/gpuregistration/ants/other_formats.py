# SPDX-License-Identifier: Apache-2.0
"""Formats of files that ANTs reads or writes and this package does not."""

from __future__ import annotations

from typing import Iterable, Optional

#: Endings of images that are not written.
_NOT_WRITTEN = (
    ".img", ".img.gz", ".hdr", ".nia", ".mgz", ".mgh", ".mnc", ".mnc2", ".gipl", ".gipl.gz", ".vtk", ".png", ".jpg", ".jpeg", ".tif", ".tiff",
    ".bmp", ".mrc",
)  # fmt: skip
#: Endings of images and transforms that are not read.
_NOT_READ = (".mgz", ".mgh", ".mnc", ".mnc2", ".xfm", ".mrc", ".nia")


def name_not_written(path: str) -> Optional[str]:
    """Names the format of an output, for hand_over, if ANTs alone writes it."""
    return _name(path, _NOT_WRITTEN, "writing")


def names_not_read(paths: Iterable[Optional[str]]) -> list[str]:
    """Names the formats of inputs, for hand_over, that ANTs alone reads."""
    named = [_name(path, _NOT_READ, "reading") for path in paths if path is not None]
    return [name for name in named if name is not None]


def _name(path: str, suffixes: tuple[str, ...], what: str) -> Optional[str]:
    found = next((suffix for suffix in suffixes if path.lower().endswith(suffix)), None)
    return None if found is None else f"{what} {found} files ({path})"
