# SPDX-License-Identifier: Apache-2.0
"""Reads a command line, and says in one line what is wrong with it."""

from __future__ import annotations

import argparse
import sys
from typing import Any, NoReturn, Optional, Sequence

from .errors import WRONG_USE
from .output import print_lines


class Parser(argparse.ArgumentParser):
    """Refuses an option that is given two values, unless it is made to be repeated ("append", "extend"): the last one alone would count."""

    def __init__(self, *positional: Any, **named: Any) -> None:
        super().__init__(*positional, **named)
        # Subparsers and groups of options have the same actions.
        for name in (None, "store"):
            self.register("action", name, Once)
        #: The values of the options that have been read, by the names under which they are kept.
        self.given: dict[str, Any] = {}
        self._words: Sequence[str] = ()

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Reads the words; a subcommand's parser is called here, too, and is the one whose help lists the subcommand's options."""
        self._words = list(sys.argv[1:] if args is None else args)
        self.given = {}
        read, unknown = super().parse_known_args(self._words, namespace)
        if unknown:
            # Words that follow an option that there is not may be right.
            options = [word for word in unknown if word.startswith("-") and word != "--"]
            self.error(f"unrecognized arguments: {' '.join(options or unknown)}")
        return read, unknown

    def error(self, message: str) -> NoReturn:
        self.exit(WRONG_USE, f"gpureg: {message}{self._hint(message)}; see {self.prog} --help\n")

    def _hint(self, message: str) -> str:
        """Returns advice if an option of any number of words has taken those that an error misses."""
        if "arguments are required" not in message:
            return ""
        greedy = {name for action in self._actions if action.nargs in ("?", "*", "+") for name in action.option_strings}
        taking = next((word for word in self._words if word in greedy), None)
        names = [action.metavar for action in self._actions if not action.option_strings and isinstance(action.metavar, str)]
        return f"; name {' and '.join(names)} before {taking}" if taking is not None and names else ""

    def _print_message(self, message: str, file: Any = None) -> None:
        """Prints help and versions as all other output is printed."""
        if file is sys.stdout:
            print_lines(message.rstrip("\n"))
        else:
            super()._print_message(message, file)


class Once(argparse.Action):
    """Keeps an argument's value; an error if it is an option that has one already."""

    def __call__(self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option_string: Optional[str] = None) -> None:
        if option_string is not None:
            assert isinstance(parser, Parser)
            if self.dest in parser.given:
                parser.error(f"give {self.option_strings[-1]} once{self._describe(parser.given[self.dest], values)}")
            parser.given[self.dest] = values
        setattr(namespace, self.dest, values)

    def _describe(self, first: Any, second: Any) -> str:
        """Describes the values of an option that was given twice, or how it has both."""
        if isinstance(first, list):
            return f", with all files behind it: {self.option_strings[-1]} {' '.join(map(str, [*first, *second]))}"
        # --report may have no value.
        return f": it has {first} and {second}" if first != second and "" not in (first, second) else ""


class OnceWithCommas(Once):
    """Has several values in one word, with commas between them."""

    def _describe(self, first: Any, second: Any) -> str:
        return f": {first},{second}"
