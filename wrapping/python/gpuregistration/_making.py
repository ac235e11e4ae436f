# SPDX-License-Identifier: Apache-2.0
"""Errors of files that are made in one folder and belong in another one."""

from __future__ import annotations

from pathlib import Path
from typing import Callable, Mapping, Optional, Union

from ._engine import BadInputError, UnsupportedError


def told_by_places(
    error: Optional[BaseException], places: Mapping[Path, Path]
) -> Optional[Union[OSError, BadInputError, UnsupportedError]]:
    """An error whose message names the folders that files belong in, instead of those that they are made in, which nobody knows.

    Args:
        places: by where files are made, where they belong.

    Returns:
        One of the same type; None of an error that names none of these folders, and of other types.
    """
    return told_by(error, lambda text: by_places(text, places))


def by_places(text: str, places: Mapping[Path, Path]) -> str:
    """The same of a text."""
    for made, place in places.items():
        text = text.replace(str(made), str(place))
    return text


def told_by(
    error: Optional[BaseException], tell: Callable[[str], str]
) -> Optional[Union[OSError, BadInputError, UnsupportedError]]:
    """An error in other words, of the same type. None of one whose words stay, and of other types."""
    if isinstance(error, OSError):
        before = error.strerror or str(error)
        before = before if error.filename is None else f"{error.filename}: {before}"
    elif isinstance(error, (BadInputError, UnsupportedError)):
        before = str(error)
    else:
        return None
    text = tell(before)
    if text == before:
        return None
    return OSError(error.errno, text) if isinstance(error, OSError) else type(error)(text)
