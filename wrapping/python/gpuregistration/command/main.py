# SPDX-License-Identifier: Apache-2.0
"""The command: finds the subcommand, and turns what it raises into a line and an exit code."""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from contextlib import contextmanager, suppress
from typing import Any, Iterator, NoReturn, Optional, Sequence

from .. import __version__, _program, _start
from .._warnings import InputWarning
from . import ants_commands, apply, bench, cohort, compare, devices, register, template
from .errors import DONE, FAILED, INTERRUPTED, TERMINATED, CommandError, Terminated, one_line
from .output import print_notes
from .parser import Parser
from .signals import end_at_sigterm

#: Every subcommand, in the order of the help.
SUBCOMMANDS = (register, cohort, template, apply, compare, devices, bench, ants_commands)

#: The names of those that take --device, which is started early.
_COMPUTING = (register.NAME, apply.NAME)

_EPILOG = """\
exit codes: 0 done; 1 failed: a file, an image, a device, a plan that does not fit; 2 wrong use: an option or a name that there is not;
            130 interrupted (Ctrl-C), 143 terminated. Whatever does not end with 0 leaves no new file, but for cohort and template,
            of which what is done stays.

environment: ITK_GPU_DEVICE names the device that computes unless --device does; GPUREG_THREADS says how many threads the host uses.
"""


def make_parser() -> argparse.ArgumentParser:
    """Makes the parser of the whole command."""
    parser = Parser(
        prog="gpureg",
        description="Registers images on GPUs, or on the host's threads.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"gpureg {__version__}")
    subparsers = parser.add_subparsers(dest="subcommand", metavar="COMMAND", required=True)
    for module in SUBCOMMANDS:
        module.add_parser(subparsers)
    for subparser in subparsers.choices.values():
        subparser.allow_abbrev = False
        subparser.add_argument("--debug", action="store_true", help="show where an error comes from")
    return parser


def main(argv: Optional[Sequence[str]] = None) -> int:
    """Runs the command.

    Args:
        argv: the words behind the command's name; None: this process's.

    Returns:
        The exit code.
    """
    given = sys.argv[1:] if argv is None else argv
    if given and given[0] in _COMPUTING:
        _start.start_device_early(given)
    try:
        arguments = make_parser().parse_args(given)
    except SystemExit as end:
        return int(end.code or DONE)
    except (CommandError, BrokenPipeError) as error:
        return _explain(error)
    arguments.command_line = ["gpureg", *given]
    run = {module.NAME: module.run for module in SUBCOMMANDS}[arguments.subcommand]
    restore_signal = end_at_sigterm()
    try:
        with _collected_warnings(arguments):
            return run(arguments)
    except BaseException as error:
        if arguments.debug and not isinstance(error, (KeyboardInterrupt, Terminated)):
            raise
        return _explain(error)
    finally:
        restore_signal()


@contextmanager
def _collected_warnings(arguments: argparse.Namespace) -> Iterator[None]:
    """Collects the warnings of reading, which come from several threads, in the arguments' warnings, and prints them at the end."""
    arguments.warnings = []
    with warnings.catch_warnings():
        warnings.simplefilter("always", InputWarning)
        show = warnings.showwarning

        def keep(message: Any, category: type[Warning], *more: Any, **named: Any) -> None:
            if not issubclass(category, InputWarning):
                show(message, category, *more, **named)
            elif str(message) not in arguments.warnings:
                arguments.warnings.append(str(message))

        warnings.showwarning = keep
        try:
            yield
        finally:
            if not getattr(arguments, "quiet", False):
                print_notes(*(f"gpureg: {warning}" for warning in arguments.warnings))


def run_process() -> NoReturn:
    """Runs the command as a process, and ends the process."""
    _program.is_program = True
    if sys.stderr is None:
        # It is closed: what libraries print there is not to end up in the next file that is opened.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        sys.stderr = open(2, "w", closefd=False)
    code = main()
    # Python has none of what is closed.
    if sys.stdout is not None:
        try:
            sys.stdout.flush()
        except OSError:
            code = code or FAILED
    with suppress(OSError):
        sys.stderr.flush()
    # At once: HDF5 crashes at a process's end after a file that could not be written, and drivers take their time there.
    os._exit(code)


def _explain(error: BaseException) -> int:
    """Prints an error in one line, and returns the exit code."""
    if isinstance(error, KeyboardInterrupt):
        print_notes("gpureg: interrupted")
        return INTERRUPTED
    if isinstance(error, Terminated):
        print_notes("gpureg: terminated")
        return TERMINATED
    if isinstance(error, BrokenPipeError):
        # Who read the output has gone; Python is to say nothing about that at its end, either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    if isinstance(error, SystemExit):
        raise error
    print_notes(f"gpureg: {_message(error)}")
    return error.code if isinstance(error, CommandError) else FAILED


def _message(error: BaseException) -> str:
    from .._engine import Error

    if isinstance(error, (CommandError, Error, ImportError, OSError)):
        return one_line(error)
    if isinstance(error, MemoryError):
        return "there is not enough memory for this; smaller images need less, or another --device"
    return f"this should not have happened: {type(error).__name__}: {one_line(error)}; --debug shows where"
