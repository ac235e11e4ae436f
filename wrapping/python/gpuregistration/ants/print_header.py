# SPDX-License-Identifier: Apache-2.0
"""PrintHeader, as antsRegistrationSyN.sh calls it: one part of an image's header."""

from __future__ import annotations

from typing import Iterable, NamedTuple, Optional, Sequence

import numpy as np

from .._engine import BadInputError
from .._files import read_image
from .._image import Image
from .._series import SECONDS, Series, is_series, read_series

NAME = "PrintHeader"
#: What its second argument asks for.
PARTS = ("origin", "spacing", "size", "first index", "direction")
_EXPECTED = f"a number from 0 to {len(PARTS) - 1}: {', '.join(f'{number} {part}' for number, part in enumerate(PARTS))}"


class HeaderCall(NamedTuple):
    """A whole command line.

    Attributes:
        part: the number of what is printed; None: all, which the real PrintHeader prints.
    """

    path: str
    part: Optional[int]


def read_call(words: Sequence[str]) -> HeaderCall:
    """Reads PrintHeader's arguments.

    Raises:
        BadInputError: one is wrong; the message says what is expected.
    """
    if len(words) == 1:
        return HeaderCall(words[0], None)
    if len(words) != 2 or words[1] not in map(str, range(len(PARTS))):
        raise BadInputError(f"{' '.join(words[1:])}: expected behind the image {_EXPECTED}")
    return HeaderCall(words[0], int(words[1]))


def describe(call: HeaderCall) -> str:
    """Returns the line that is printed: numbers with an x between two.

    Raises:
        BadInputError: the image cannot be read.
    """
    assert call.part is not None
    image, series = _read(call.path)
    d = image.dimension + (series is not None)
    direction = np.eye(d)
    direction[: image.dimension, : image.dimension] = image.direction
    # In seconds, as ITK reads times.
    start, step = ([], []) if series is None else ([time * SECONDS.get(series.unit, 1.0)] for time in (series.start, series.step))
    numbers: Sequence[Iterable[float]] = (
        [*image.origin, *start],
        [*image.spacing, *step],
        [*image.size, *([] if series is None else [len(series)])],
        [0] * d,
        direction.ravel(),
    )
    # As C++ prints them: six digits.
    return "x".join(f"{number:g}" if isinstance(number, float) else str(number) for number in numbers[call.part])


def _read(path: str) -> tuple[Image, Optional[Series]]:
    """Reads an image, or a series and its first image."""
    series = read_series(path) if is_series(path) else None
    return (read_image(path) if series is None else series[0]), series


def help_lines() -> list[str]:
    """Returns the help, without the line that all programs have."""
    return [f"  {NAME} IMAGE NUMBER", f"  NUMBER is {_EXPECTED}"]
