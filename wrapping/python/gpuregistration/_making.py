# SPDX-License-Identifier: Apache-2.0
"""Files that are made under another name than their own, and errors of files that are made in one folder and belong in another one."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Callable, Mapping, Optional, Union

from ._engine import BadInputError, UnsupportedError

#: How the name of a file of text begins and ends while it is written.
WRITING, PART = ".writing-", ".part"
# There is no room on the disk, in the user's share of it, or for so large a file.
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def reworded_by_places(
    error: Optional[BaseException], places: Mapping[Path, Path]
) -> Optional[Union[OSError, BadInputError, UnsupportedError]]:
    """Returns an error of the same type whose message names the final folders of files instead of the temporary ones.

    Args:
        error: an OSError, BadInputError or UnsupportedError.
        places: maps the temporary folder in which files are made to their final folder.

    Returns:
        The new error; None if the message names no temporary folder, or if the error has another type.
    """
    return reworded(error, lambda text: by_places(text, places))


def by_places(text: str, places: Mapping[Path, Path]) -> str:
    """Returns a text with the final folders of files instead of the temporary ones. places: as in reworded_by_places()."""
    for made, place in places.items():
        text = text.replace(str(made), str(place))
    return text


def reworded(
    error: Optional[BaseException], reword: Callable[[str], str]
) -> Optional[Union[OSError, BadInputError, UnsupportedError]]:
    """Returns an error of the same type whose message is reword(message); None if that changes nothing, or for other types of errors."""
    if isinstance(error, OSError):
        before = error.strerror or str(error)
        before = before if error.filename is None else f"{error.filename}: {before}"
    elif isinstance(error, (BadInputError, UnsupportedError)):
        before = str(error)
    else:
        return None
    text = reword(before)
    if text == before:
        return None
    return OSError(error.errno, text) if isinstance(error, OSError) else type(error)(text)


def naming(error: BaseException, place: Path) -> Optional[OSError]:
    """Returns an OSError that says which place cannot be written, of one of a full disk that names no file, as Python raises it where it
    writes to a file that is open; None of any other error."""
    if not isinstance(error, OSError) or error.filename is not None or error.errno not in FULL:
        return None
    return OSError(error.errno, f"{place} cannot be written: {error.strerror or error}")
