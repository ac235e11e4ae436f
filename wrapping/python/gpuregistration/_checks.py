# SPDX-License-Identifier: Apache-2.0
"""Checks arguments by name: an error names the argument, and says what it is and what it must be."""

from __future__ import annotations

import math
import operator
import re
from typing import Any, Optional, Sequence

import numpy as np

from ._engine import BadInputError
from ._slabs import in_parts

#: The largest numbers of the engine's types.
MOST_INT = 2**31 - 1
MOST_SEED = 2**64 - 1


def is_singular(matrix: np.ndarray) -> bool:
    """Returns whether a square matrix has no inverse. Rounding may leave such a matrix a small determinant that is not 0."""
    return not abs(np.linalg.det(matrix)) > 1e-12 * np.linalg.norm(matrix) ** len(matrix)


def are_finite(array: np.ndarray) -> bool:
    """Returns whether all values of an array are neither infinite nor not a number."""
    return all(in_parts(lambda part: bool(np.isfinite(part).all()), array))


def check_finite(name: str, array: np.ndarray, is_of_file: bool = False) -> None:
    """Raises BadInputError if an image's array, of which something is to be computed, has values that are infinite or not a number.

    Args:
        name: such as "moving image".
        is_of_file: True if it was read from a file.
    """
    if array.dtype.kind != "f" or are_finite(array):
        return
    finite = np.isfinite(array)
    bad = array.size - int(np.count_nonzero(finite))
    first = tuple(int(n) for n in np.unravel_index(finite.argmin(), array.shape))
    where, how = (f"voxel {first[::-1]}", "in the file") if is_of_file else (first, "such as by numpy.nan_to_num")
    raise BadInputError(f"The {name} has {say_not_finite(bad)}, the first one at {where}. Replace them, {how}.")


def say_not_finite(count: int) -> str:
    """Returns a number of values in words."""
    return f"{count} value{' that is' if count == 1 else 's that are'} infinite or not a number"


def read_whole(name: str, value: Any, least: int = 0, most: int = MOST_INT) -> int:
    """Returns a whole number of any type as an int: 3, numpy.int64(3) and 3.0.

    Raises:
        BadInputError: it is none, or out of bounds.
    """
    number = _as_whole(value)
    if number is None or not least <= number <= most:
        raise BadInputError(f"{name}={value!r} is not possible; it is to be a whole number from {least} to {most}.")
    return number


def _as_whole(value: Any) -> Optional[int]:
    try:
        return operator.index(value)
    except TypeError:
        pass
    number = _as_number(value)
    return int(number) if number is not None and number.is_integer() else None


def read_number(name: str, value: Any, least: float = -math.inf, most: float = math.inf, above: Optional[float] = None) -> float:
    """Returns a finite number as a float.

    Args:
        least, most: its bounds.
        above: the number that it must exceed.

    Raises:
        BadInputError: it is none, or out of bounds.
    """
    number = _as_number(value)
    if number is None or not math.isfinite(number) or not least <= number <= most or (above is not None and number <= above):
        bounds = [f"above {above:g}"] if above is not None else []
        bounds += [f"from {least:g} on"] if math.isfinite(least) else []
        bounds += [f"up to {most:g}"] if math.isfinite(most) else []
        raise BadInputError(f"{name}={value!r} is not possible; it is to be a finite number {' and '.join(bounds)}".rstrip() + ".")
    return number


def check_progress(progress: Any) -> None:
    """Raises BadInputError unless it can be called, or is None."""
    if progress is not None and not callable(progress):
        raise BadInputError(f"progress={progress!r} is not possible; it is to be callable, such as a function of one argument, or None.")


def read_numbers(what: str, value: Any) -> np.ndarray:
    """Returns a copy of numbers of any shape as doubles.

    Args:
        what: they are, such as "The image's spacing".

    Raises:
        BadInputError: they are none.
    """
    try:
        # NumPy reads None, too, as what is not a number.
        if value is not None:
            return np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        pass
    raise BadInputError(f"{what} is {value!r}, and is to be made of numbers.")


def _as_number(value: Any) -> Optional[float]:
    # float() reads words, too.
    if isinstance(value, (str, bytes)):
        return None
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def engine_name(name: str) -> str:
    """Returns the engine's name for a name such as "correlation_ratio". The engine's own names stay as they are."""
    return "".join(word[:1].upper() + word[1:] for word in name.replace("-", "_").split("_"))


def python_name(name: str) -> str:
    """Returns a name as Python has it, such as "correlation_ratio", of the engine's."""
    return re.sub("(?<!^)(?=[A-Z])", "_", name).lower()


def read_choice(what: str, value: Any, names: Sequence[str]) -> str:
    """Returns one of the given names. The engine's name, such as "CorrelationRatio", stands for the same choice.

    Args:
        what: is chosen, such as a metric.

    Raises:
        BadInputError: there is none of that name; the message lists those that there are.
    """
    wanted = engine_name(value) if isinstance(value, str) else None
    for name in names:
        if engine_name(name) == wanted:
            return name
    raise BadInputError(f"There is no {what} {value!r}; there are: {', '.join(names)}.")
