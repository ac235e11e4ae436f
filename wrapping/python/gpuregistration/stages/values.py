# SPDX-License-Identifier: Apache-2.0
"""Reads the values of stages' settings."""

from __future__ import annotations

from dataclasses import field
from typing import Any, Optional, Sequence, Union

import numpy as np

from .. import _similarities
from .._checks import read_whole
from .._engine import BadInputError

#: All values of an image, as they are.
ALL_VALUES = "all"

ValueRange = Union[None, str, Sequence[float]]


def a_range() -> Any:
    """Makes a setting that a command line has as two numbers, or as a word."""
    return field(default=None, metadata={"typical": ALL_VALUES, "numbers": 2})


def as_list(numbers: Any) -> list[Any]:
    """Returns a list of numbers, of one number, or of None, which is an empty list."""
    if numbers is None:
        return []
    return list(numbers) if isinstance(numbers, (list, tuple, np.ndarray)) else [numbers]


def read_bins(metric: str, bins: Any) -> int:
    """Returns a similarity's number of bins. Raises BadInputError if it may not have so many."""
    similarity = _similarities.SIMILARITIES[metric]
    return read_whole("bins", bins, similarity.least_bins, similarity.most_bins) if similarity.has_bins else read_whole("bins", bins)


def set_ranges(settings: Any, stage: Any) -> None:
    """Writes a stage's ranges of values into its settings as the engine takes them."""
    settings.fixed_range = read_range("fixed_range", stage.fixed_range)
    settings.moving_range = read_range("moving_range", stage.moving_range)


def read_range(name: str, value: ValueRange) -> Optional[list[float]]:
    """Converts a range of an image's values to the engine's. Raises BadInputError if it is none."""
    if value is None:
        return None
    if isinstance(value, str) and value == ALL_VALUES:
        return [-np.inf, np.inf]
    ends = None if isinstance(value, str) else read_numbers(name, value)
    if ends is None or ends.shape != (2,) or not np.isfinite(ends).all() or not ends[0] < ends[1]:
        raise BadInputError(f'{name}={value!r} is not possible; it is to be two numbers, from the smaller to the larger one, or "all".')
    return ends.tolist()


def read_numbers(name: str, value: Any) -> np.ndarray:
    """Returns numbers as an array. name: of the setting. Raises BadInputError if they are none."""
    try:
        return np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise BadInputError(f"{name}={value!r} is not possible; it is to be of numbers.") from None
