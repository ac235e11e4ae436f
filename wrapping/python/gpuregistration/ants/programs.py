# SPDX-License-Identifier: Apache-2.0
"""The programs antsRegistration, antsApplyTransforms and PrintHeader: one line for an error, and an exit code."""

from __future__ import annotations

import os
import warnings
from typing import Callable, Sequence

from .. import __version__
from .._engine import Error
from .._warnings import InputWarning
from ..command.errors import DONE, FAILED, INTERRUPTED, TERMINATED, CommandError, Terminated, one_line
from ..command.native import native_messages_off
from ..command.output import print_lines, print_notes
from ..command.signals import end_at_sigterm
from . import apply_flags, hand_over, print_header, registration_flags
from .hand_over import Elsewhere

#: The version of ANTs whose flags these are. Programs ask for it.
ANTS_VERSION = "2.5.4"
# Variables of ITK that set the number of threads. If both are set, the first one counts.
_THREADS = ("GPUREG_THREADS", "ITK_GLOBAL_DEFAULT_NUMBER_OF_THREADS", "NSLOTS")
# Has antsRegistration print how long its parts take.
_TIMES = "GPUREG_TIMES"
_WITHOUT_INVERSE = "a B-spline, and a deformation that is read from a file, have no inverse, for ANTs neither"
_ELSEWHERE = (
    "What gpuregistration does not support (docs/ants.md) goes to the next program of that name in PATH;",
    "a wrong argument is an error.",
)
_FLAGS = {"antsRegistration": registration_flags.FLAGS, "antsApplyTransforms": apply_flags.FLAGS}


def main(program: str, words: Sequence[str]) -> int:
    """Runs a program. Returns its exit code."""
    before = end_at_sigterm()
    try:
        if "--version" in words:
            print_lines(f"ANTs Version: {ANTS_VERSION}", f"gpuregistration {__version__}, which takes {program}'s arguments")
            return DONE
        if not words or {"-h", "--help"} & set(words):
            print_lines(*_help(program))
            return DONE if words else FAILED
        return _run(program, words)
    except KeyboardInterrupt:
        print_notes(f"{program}: interrupted")
        return INTERRUPTED
    except Terminated:
        print_notes(f"{program}: terminated")
        return TERMINATED
    except Elsewhere as reason:
        return _hand_over(program, words, str(reason))
    except (CommandError, Error, ImportError, OSError) as error:
        print_notes(f"{program}: {one_line(error)}")
        return FAILED
    except MemoryError:
        print_notes(f"{program}: there is not enough memory for this; smaller images need less, or another ITK_GPU_DEVICE")
        return FAILED
    except Exception as error:
        print_notes(f"{program}: this should not have happened: {type(error).__name__}: {one_line(error)}")
        return FAILED
    finally:
        before()


def _run(program: str, words: Sequence[str]) -> int:
    _set_threads()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", InputWarning)
        code = {"antsRegistration": _register, "antsApplyTransforms": _apply, print_header.NAME: _print_header}[program](words)
    print_notes(*dict.fromkeys(f"{program}: {one_line(warning.message)}" for warning in caught if isinstance(warning.message, Warning)))
    return code


def _leave(reasons: Sequence[str]) -> None:
    """Raises Elsewhere if there are reasons for it."""
    if reasons:
        raise Elsewhere(" and ".join(dict.fromkeys(reasons)))


def _register(words: Sequence[str]) -> int:
    from ..command.inputs import check_stays
    from ..command.outputs import Outputs
    from ..command.times import Times
    from .call_images import names_of_images, read_image_named
    from .initial import read_beginnings
    from .limits import list_reasons
    from .other_formats import names_not_read
    from .output_files import name_outputs, write_outputs
    from .runner import register
    from .registration_call import read_registration

    times = Times()
    call = read_registration(words)
    files = [initial.file for initial in (*call.initial, *call.initial_fixed) if initial.file != "Identity"]
    files += [] if call.state is None else [call.state]
    call.others += names_not_read([*names_of_images(call), *files])
    _leave(list_reasons(call))
    with times.part("read transforms"), native_messages_off():
        begins = read_beginnings(call)
    names = name_outputs(call, begins)
    check_stays(names.all, [*names_of_images(call), *files])
    log = _log(call.is_verbose)
    log(f"Using {'single' if call.is_single else 'double'} precision for images.")
    with Outputs(names.all) as places:
        with native_messages_off():
            result = register(call, begins, read_image_named({}), log, times=times)
            write_outputs(call, result, names, places, times)
        places.commit()
    if call.inverse_warped is not None and call.inverse_warped not in names.images:
        result.warnings.append(f"{call.inverse_warped} is not written: {_WITHOUT_INVERSE}")
    print_notes(*(f"antsRegistration: {text}" for text in result.warnings))
    if os.environ.get(_TIMES):
        times.print()
    return DONE


def _apply(words: Sequence[str]) -> int:
    from .apply import apply
    from .apply_call import read_apply
    from .other_formats import names_not_read

    call = read_apply(words)
    call.others += names_not_read([call.input, call.reference, *(file for file, _ in call.transforms)])
    _leave(call.others)
    with native_messages_off():
        apply(call, _log(call.is_verbose))
    return DONE


def _print_header(words: Sequence[str]) -> int:
    call = print_header.read_call(words)
    if call.part is None:
        raise Elsewhere("printing a whole header")
    with native_messages_off():
        line = print_header.describe(call)
    print_lines(line)
    return DONE


def _log(is_verbose: bool) -> Callable[[str], None]:
    return print_lines if is_verbose else lambda line: None


def _hand_over(program: str, words: Sequence[str], reason: str) -> int:
    real = None if hand_over.was_handed_over(program) else hand_over.find_real(program)
    if real is None:
        print_notes(
            f"{program}: gpuregistration does not do {reason}, and there is no other {program} in PATH that does; install ANTs, or do without that"
        )
        return FAILED
    print_notes(f"{program}: gpuregistration does not do {reason}; {real} does it")
    try:
        hand_over.become(real, program, words)
    except OSError as error:
        print_notes(f"{program}: {real} does not run: {one_line(error)}")
        return FAILED


def _set_threads() -> None:
    """Gives the host as many threads as ANTs' programs would have."""
    from .._devices import set_threads

    for name in _THREADS[1:]:
        text = os.environ.get(name, "")
        if text.isdigit() and int(text) > 0 and _THREADS[0] not in os.environ:
            set_threads(int(text))
            return


def _help(program: str) -> list[str]:
    if program == print_header.NAME:
        return [f"{program} of gpuregistration {__version__}: prints a part of an image's header, as ANTs' {program}.", "", *print_header.help_lines()]
    lines = [f"{program} of gpuregistration {__version__}: takes the arguments of ANTs' {program}, and computes on a GPU or on the host.", ""]
    lines += [f"  {flag.spelled:42} {flag.meaning}: {flag.expected}" for flag in _FLAGS[program]]
    return [*lines, "", "ITK_GPU_DEVICE=host chooses the device.", *_ELSEWHERE]
