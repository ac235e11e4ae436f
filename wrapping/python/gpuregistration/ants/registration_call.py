# SPDX-License-Identifier: Apache-2.0
"""Describes a command line of antsRegistration as plain data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Optional, Sequence

from .._checks import MOST_SEED
from .._engine import BadInputError
from .interpolation import Interpolation, read_interpolation
from .other_formats import name_not_written
from .registration_flags import FLAGS, needed
from .registration_stages import Stage, read_stages
from .syntax import Value, last, read_values, truth


@dataclass(frozen=True)
class Initial:
    """A transform that the registration begins with.

    Attributes:
        file: the name of its file; "" if it is computed from two images, "Identity" if points stay where they are.
        is_inverse: True if the file's inverse is taken.
        fixed, moving, feature: names of two images, and what is laid on each other: 0 middles, 1 centres of mass, 2 origins.
    """

    file: str = ""
    is_inverse: bool = False
    fixed: str = ""
    moving: str = ""
    feature: int = 0


@dataclass
class RegistrationCall:
    """A whole command line.

    Attributes:
        dimension: the images' dimension; 0: the first image's.
        initial, initial_fixed: the transforms of the moving and of the fixed image that the registration begins with.
        collapses: True if parts of the result become one: see parts.Kind.joins().
        merges: True if a linear stage continues from the part before it, and takes its place: see parts.takes_place_of().
        state, saved_state: the file of a former registration's state that this one begins with, and the file that its own state is written
            to; None if there is none.
        others: reasons why the real antsRegistration has to do it, each a short noun phrase; empty if this package does it.
    """

    dimension: int
    prefix: str
    warped: Optional[str]
    inverse_warped: Optional[str]
    initial: list[Initial]
    initial_fixed: list[Initial]
    stages: list[Stage]
    quantiles: tuple[float, float] = (0.0, 1.0)
    matches_histograms: bool = False
    interpolation: Interpolation = Interpolation("linear")
    writes_composite: bool = False
    collapses: bool = True
    merges: bool = False
    is_single: bool = False
    is_verbose: bool = False
    seed: int = 1
    state: Optional[str] = None
    saved_state: Optional[str] = None
    others: list[str] = field(default_factory=list)


def read_registration(words: Sequence[str]) -> RegistrationCall:
    """Reads antsRegistration's arguments.

    Raises:
        BadInputError: a flag, a count or a number is wrong; the message names the flag and says what is expected.
    """
    values = read_values(words, FLAGS)
    others: list[str] = []
    dimension = _read_dimension(values, others)
    prefix, warped, inverse_warped = _read_output(values)
    call = RegistrationCall(
        dimension=dimension,
        prefix=prefix,
        warped=warped,
        inverse_warped=inverse_warped,
        # The first one that is given is applied first, as in ANTs: it is composed last.
        initial=[read_initial(value) for value in values["initial-moving-transform"]][::-1],
        initial_fixed=[read_initial(value) for value in values["initial-fixed-transform"]][::-1],
        stages=read_stages(values, dimension, others),
        quantiles=_read_quantiles(last(values["winsorize-image-intensities"])),
        matches_histograms=truth(values, "use-histogram-matching"),
        interpolation=read_interpolation(last(values["interpolation"])),
        writes_composite=truth(values, "write-composite-transform"),
        collapses=truth(values, "collapse-output-transforms", True),
        merges=truth(values, "initialize-transforms-per-stage"),
        is_single=truth(values, "float"),
        is_verbose=truth(values, "verbose"),
        seed=_read_seed(last(values["random-seed"])),
        state=_read_state(last(values["restore-state"])),
        saved_state=_read_saved_state(last(values["save-state"])),
        others=others,
    )
    others += [reason for image in (warped, inverse_warped) if image is not None for reason in [name_not_written(image)] if reason is not None]
    if truth(values, "minc"):
        others.append("--minc")
    _check_ignored(values)
    if call.merges:
        _check_merging(call)
    if len(values["restore-state"]) > 1 or any(value.parameters for value in values["restore-state"]):
        others.append("--restore-state of several files or of an inverse")
    if call.state is not None and (call.initial or call.initial_fixed):
        raise values["restore-state"][-1].wrong("no -r and no -q with it, as of ANTs: the state has the transforms to begin with")
    if call.saved_state is not None and not call.writes_composite:
        raise values["save-state"][-1].wrong("-a 1 with it, as of ANTs")
    return call


def _check_ignored(values: dict[str, list[Value]]) -> None:
    """Checks the values of flags that are ignored."""
    for name in ("print-similarity-measure-interval", "write-interval-volumes"):
        for value in values[name]:
            value.whole(value.first())
    for value in values["use-estimate-learning-rate-once"]:
        value.truth()


def _check_merging(call: RegistrationCall) -> None:
    """Checks what ANTs demands of --initialize-transforms-per-stage 1."""
    if not call.writes_composite or call.collapses:
        raise BadInputError(
            "-i/--initialize-transforms-per-stage 1: expected -a 1 and -z 0 with it, as of ANTs: stages become one in the composite file"
        )
    if [stage.transform for stage in call.stages].count("SyN") > 1:
        call.others.append("--initialize-transforms-per-stage of SyN behind SyN")


def _read_dimension(values: dict[str, list[Value]], others: list[str]) -> int:
    value = last(values["dimensionality"])
    if value is None:
        return 0
    dimension = value.whole(value.first())
    if dimension == 4:
        others.append("images of four dimensions")
    elif dimension not in (2, 3):
        raise value.wrong()
    return dimension


def _read_output(values: dict[str, list[Value]]) -> tuple[str, Optional[str], Optional[str]]:
    value = needed(values, "output")[-1]
    if len(value.parameters) > 3 or (value.parameters and value.name) or not value.first():
        raise value.wrong()
    warped, inverse_warped = value.parameter(1), value.parameter(2)
    if warped and warped == inverse_warped:
        raise value.wrong("another name for INVERSEWARPED than for WARPED")
    return value.first(), warped or None, inverse_warped or None


def read_initial(value: Value) -> Initial:
    """Reads a value of -r or -q. Raises BadInputError if it is none."""
    count = len(value.parameters)
    if count == 0 or (count == 2 and not value.name) or (count == 1 and not value.name):
        if value.first().lower() == "identity":
            return Initial("Identity")
        if not value.first():
            raise value.wrong()
        return Initial(value.first(), count == 2 and value.truth(value.parameters[1]))
    if count != 3 or value.name or not value.parameters[0] or not value.parameters[1]:
        raise value.wrong()
    feature = value.whole(value.parameters[2])
    if feature > 2:
        raise value.wrong()
    return Initial("", False, value.parameters[0], value.parameters[1], feature)


def _read_state(value: Optional[Value]) -> Optional[str]:
    if value is not None and not value.first():
        raise value.wrong()
    return None if value is None else value.first()


def _read_saved_state(value: Optional[Value]) -> Optional[str]:
    if value is not None and (value.parameters or not value.name.lower().endswith(".h5")):
        raise value.wrong()
    return None if value is None else value.name


def _read_quantiles(value: Optional[Value]) -> tuple[float, float]:
    if value is None:
        return 0.0, 1.0
    if len(value.parameters) != 2 or value.name:
        raise value.wrong()
    lower, upper = (value.real(text, 0, 1) for text in value.parameters)
    if not lower < upper:
        raise value.wrong()
    return lower, upper


def _read_seed(value: Optional[Value]) -> int:
    if value is None:
        return 1
    seed = value.whole(value.first())
    if seed > MOST_SEED:
        raise value.wrong()
    return seed
