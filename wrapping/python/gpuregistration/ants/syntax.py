# SPDX-License-Identifier: Apache-2.0
"""The syntax of ANTs' command lines: flags, each with values such as ``SyN[0.1,3,0]``, and lists such as ``100x70x50``."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import NamedTuple, Optional, Sequence

from .._engine import BadInputError

# ANTs takes other brackets for its own. They are brackets here where they enclose the rest of a word, so that a file's name may have some.
_OTHER_BRACKETS = re.compile(r"^(\w*)[({<](.*)[)}>]$", re.DOTALL)
_FLAG = re.compile(r"^--?[A-Za-z]")
_TRUE, _FALSE = ("1", "true", "yes"), ("0", "false", "no")


class Flag(NamedTuple):
    """A flag of a program.

    Attributes:
        short: its letter, or "".
        long: its name, by which it is known here.
        meaning: the flag's line in the help.
        expected: the value that the flag takes, for errors.
        bare: the value of the flag without one; "" if it needs one.
    """

    short: str
    long: str
    meaning: str
    expected: str
    bare: str = ""

    @property
    def spelled(self) -> str:
        """The flag as a command line has it."""
        return f"-{self.short}/--{self.long}" if self.short else f"--{self.long}"

    def without_value(self, order: int) -> Value:
        """Returns the value of the flag where none stands behind it. Raises BadInputError if it needs one. order: as Value has it."""
        if not self.bare:
            raise BadInputError(f"{self.spelled} has no value: expected {self.expected}")
        return Value(self, self.bare, (), order)


@dataclass(frozen=True)
class Value:
    """A value of a flag: a name, parameters in brackets, or both.

    Attributes:
        flag: the flag that it stands behind.
        name: the text before the brackets; "" if there is none.
        parameters: the texts between the brackets.
        order: the number of the value on the command line.
    """

    flag: Flag
    name: str
    parameters: tuple[str, ...] = ()
    order: int = 0

    def __str__(self) -> str:
        return f"{self.name}[{','.join(self.parameters)}]" if self.parameters else self.name

    @property
    def spelled(self) -> str:
        """The flag and the value as a command line has them."""
        return f"{self.flag.spelled} {self}"

    def wrong(self, expected: Optional[str] = None) -> BadInputError:
        """Returns the error that names the flag and the value, and says what is expected."""
        return BadInputError(f"{self.spelled}: expected {expected or self.flag.expected}")

    def first(self) -> str:
        """Returns the name, or the first parameter if there is no name."""
        return self.name if self.name or not self.parameters else self.parameters[0]

    def parameter(self, number: int, default: str = "") -> str:
        """Returns a parameter, or the default if there are fewer, or if it is empty."""
        return self.parameters[number] if number < len(self.parameters) and self.parameters[number] else default

    def real(self, text: str, least: float = -math.inf, most: float = math.inf, expected: Optional[str] = None) -> float:
        """Reads a number. Raises BadInputError if it is none, or out of bounds. expected: as of wrong()."""
        try:
            number = float(text)
        except ValueError:
            raise self.wrong(expected) from None
        if not math.isfinite(number) or not least <= number <= most:
            raise self.wrong(expected)
        return number

    def whole(self, text: str, least: int = 0, expected: Optional[str] = None) -> int:
        """Reads a whole number. Raises BadInputError if it is none, or too small. expected: as of wrong()."""
        number = self.real(text, least, expected=expected)
        if not number.is_integer():
            raise self.wrong(expected)
        return int(number)

    def truth(self, text: Optional[str] = None, expected: Optional[str] = None) -> bool:
        """Reads 0 or 1, or true or false. Raises BadInputError if it is none of these. expected: as of wrong()."""
        word = (self.first() if text is None else text).lower()
        if word not in _TRUE + _FALSE:
            raise self.wrong(expected)
        return word in _TRUE

    def wholes(self, text: str, least: int = 0) -> list[int]:
        """Reads a list of whole numbers with an x between two."""
        return [self.whole(part, least) for part in text.split("x")]

    def reals(self, text: str, least: float = 0.0) -> list[float]:
        """Reads a list of numbers with an x between two."""
        return [self.real(part, least) for part in text.split("x")]


def read_values(words: Sequence[str], flags: Sequence[Flag]) -> dict[str, list[Value]]:
    """Reads a command line, without the program's name.

    Returns:
        The values by the long name of their flag, in their order.

    Raises:
        BadInputError: there is no such flag, a flag has no value or an empty one, or a bracket is missing.
    """
    known = {f"-{flag.short}": flag for flag in flags if flag.short} | {f"--{flag.long}": flag for flag in flags}
    found: dict[str, list[Value]] = {flag.long: [] for flag in flags}
    flag: Optional[Flag] = None
    is_bare, order = False, 0
    for word in _joined(words):
        is_flag = _FLAG.match(word) is not None
        if flag is not None and is_bare and is_flag:
            found[flag.long].append(flag.without_value(order))
            order += 1
        if is_flag:
            if word not in known:
                raise BadInputError(f"{word}: there is no such flag; expected one of {' '.join(one.spelled for one in flags)}")
            flag, is_bare = known[word], True
        elif not word and not is_bare:
            # A shell makes such a word of "$MORE" where that is empty.
            continue
        elif flag is None:
            raise BadInputError(f"{word}: expected a flag before it, such as {flags[0].spelled}")
        else:
            found[flag.long].append(_read_value(flag, word, order))
            is_bare = False
            order += 1
    if flag is not None and is_bare:
        found[flag.long].append(flag.without_value(order))
    return found


def _joined(words: Sequence[str]) -> list[str]:
    """Returns the words, of which those between two brackets have become one."""
    joined: list[str] = []
    opened = ""
    for word in words:
        other = _OTHER_BRACKETS.match(word) if not opened else None
        if other is not None:
            word = f"{other.group(1)}[{other.group(2)}]"
        opened += word
        if opened.count("[") > opened.count("]"):
            continue
        joined.append(opened.strip())
        opened = ""
    if opened:
        raise BadInputError(f"{opened}: expected a closing bracket ]")
    return joined


def _read_value(flag: Flag, word: str, order: int) -> Value:
    if not word:
        raise BadInputError(f"{flag.spelled} has an empty value: expected {flag.expected}")
    if "[" not in word and "]" not in word:
        return Value(flag, _unquoted(word), (), order)
    name, opening, rest = word.partition("[")
    if not opening or not rest.endswith("]") or "[" in rest or "]" in rest[:-1]:
        raise BadInputError(f"{flag.spelled} {word}: expected one pair of brackets, at the end: {flag.expected}")
    return Value(flag, name.strip(), tuple(_unquoted(part) for part in rest[:-1].split(",")), order)


def _unquoted(text: str) -> str:
    """Returns a text without blanks and quotes around it."""
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text


def last(values: Sequence[Value]) -> Optional[Value]:
    """Returns the last value of a flag, which is the one that counts of several; None if there is none."""
    return values[-1] if values else None


def truth(values: dict[str, list[Value]], name: str, default: bool = False) -> bool:
    """Returns the last value of a flag that is 0 or 1."""
    value = last(values[name])
    return default if value is None else value.truth()
