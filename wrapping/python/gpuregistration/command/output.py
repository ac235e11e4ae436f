# SPDX-License-Identifier: Apache-2.0
"""Prints what subcommands write on standard output and on standard error."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import sys
from typing import Any, Sequence, TextIO

from .._json import plain
from .._paths import readable
from .errors import CommandError, one_line


def print_lines(*lines: str) -> None:
    """Writes lines to standard output, and flushes it, so that an error is known before files are put in their places.

    Raises:
        CommandError: standard output cannot be written.
        BrokenPipeError: who read it has gone.
    """
    try:
        if sys.stdout is None:
            # Python has none where it is closed.
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        sys.stdout.write(_fit("".join(f"{line}\n" for line in lines), sys.stdout))
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise CommandError(f"standard output cannot be written: {one_line(error)}") from error


def print_notes(*lines: str) -> None:
    """Writes lines to standard error."""
    write_note(sys.stderr, "".join(f"{line}\n" for line in lines))


def write_note(stream: TextIO, text: str) -> None:
    """Writes a text that is no result to a stream. An error of the stream is ignored."""
    try:
        stream.write(_fit(text, stream))
        stream.flush()
    except OSError:
        # The rest of the stream's buffer must not fail later, either.
        with contextlib.suppress(OSError), open(os.devnull, "wb") as nothing:
            os.dup2(nothing.fileno(), stream.fileno())


def _fit(text: str, stream: TextIO) -> str:
    """Returns a text with escapes for what the stream's encoding does not have."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return readable(text).encode(encoding, "backslashreplace").decode(encoding)


def print_json(content: dict[str, Any]) -> None:
    """Writes one JSON object on one line. A number that is not finite becomes null: JSON has none. A byte of a
    file's name that is not in UTF-8 is an escaped lone surrogate, of which os.fsencode() makes the byte again."""
    print_lines(json.dumps(plain(content), allow_nan=False))


def print_table(names: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Writes a table with columns as wide as they need to be; the first and the last one are aligned to the left."""
    table = [list(names), *[list(row) for row in rows]]
    widths = [max(len(row[n]) for row in table) for n in range(len(names))]
    lines = []
    for row in table:
        cells = [text.ljust(width) if n in (0, len(names) - 1) else text.rjust(width) for n, (text, width) in enumerate(zip(row, widths))]
        lines.append("  ".join(cells).rstrip())
    print_lines(*lines)
