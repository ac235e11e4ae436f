# SPDX-License-Identifier: Apache-2.0
"""Defines the exit codes of subcommands, and the errors that end them."""

from __future__ import annotations

DONE = 0
FAILED = 1
WRONG_USE = 2
#: As shells have it: 128 and the number of the signal.
INTERRUPTED = 130
TERMINATED = 143


class CommandError(Exception):
    """Ends the command with one line that says what, where and what to do."""

    code = FAILED


class WrongUse(CommandError):
    """The command line asks for what there is not: an option, a name, a kind of file."""

    code = WRONG_USE


class Terminated(BaseException):
    """The signal SIGTERM came: what is half done is put away on the way out, as after Ctrl-C."""


def one_line(error: BaseException) -> str:
    """Returns an exception's message without line breaks."""
    text = str(error)
    if isinstance(error, OSError) and error.strerror:
        # Without its number.
        text = error.strerror if error.filename is None else f"{error.filename}: {error.strerror}"
    text = " ".join(text.split())
    return text or type(error).__name__
