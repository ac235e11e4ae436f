# SPDX-License-Identifier: Apache-2.0
"""Images of several files: a header's, and the values' beside it."""

from __future__ import annotations

import re
from pathlib import Path


def metaimage_key(name: bytes, value: bytes) -> "re.Pattern[bytes]":
    """The pattern of a line of a MetaImage's header, as freely as its reader takes it: values in any case, names in their own. The value
    ends its line."""
    return re.compile(rb"^[ \t]*" + name + rb"[ \t]*[=:][ \t]*(?i:" + value + rb")[ \t\r]*$", re.MULTILINE)


# The last line of a MetaImage's header: a file's name, LIST, or LOCAL if the values follow.
METAIMAGE_VALUES = metaimage_key(b"ElementDataFile", rb"(.+?)")
# What a header says of where the values are.
_NAMES = {
    ".mhd": METAIMAGE_VALUES,
    ".nhdr": re.compile(rb"^data ?file:\s*(.+?)\s*$", re.MULTILINE),
}
_HEADER_BYTES = 1 << 16
# What is written beside a file, by its suffix.
_WRITTEN = {".mhd": (".raw", ".zraw"), ".nhdr": (".raw", ".raw.gz"), ".hdr": (".img",), ".img": (".hdr",)}


def parts_that_are_written(path: str) -> list[Path]:
    """A file, and those beside it that its format may put the values in."""
    whole = Path(path)
    return [whole, *(whole.with_suffix(suffix) for suffix in _WRITTEN.get(whole.suffix.lower(), ()))]


def parts_that_are_read(path: str) -> list[Path]:
    """A file, and those that it says its values are in, as far as they are there."""
    whole = Path(path)
    suffix = whole.suffix.lower()
    if suffix not in _NAMES:
        return [whole, *(part for part in parts_that_are_written(path)[1:] if part.is_file())]
    try:
        with open(whole, "rb") as file:
            header = file.read(_HEADER_BYTES)
    except OSError:
        return [whole]
    found = _NAMES[suffix].search(header)
    if found is None or found.group(1).upper() == b"LOCAL":
        return [whole]
    names = [found.group(1)]
    if names[0].startswith(b"LIST"):
        names = [line.strip() for line in header[found.end() :].splitlines() if line.strip()]
    parts = [whole]
    for name in names:
        text = name.decode("utf-8", "replace")
        if "%" in text:
            # A name for each slice, such as "slice%03d.raw 1 60 1".
            pattern = Path(re.sub(r"%\d*d", "*", text.split()[0]))
            parts += sorted(one for one in (whole.parent / pattern.parent).glob(pattern.name) if one.is_file())
        elif (whole.parent / text).is_file():
            parts.append(whole.parent / text)
    return parts
