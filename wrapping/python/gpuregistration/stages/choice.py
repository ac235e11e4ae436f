# SPDX-License-Identifier: Apache-2.0
"""Reads which stages a registration is made of."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any, Iterable, Iterator, Optional, Sequence, Union

from .._checks import MOST_SEED, read_whole
from .._engine import BadInputError, OutOfMemoryError, UnsupportedError
from .dense import Dense, Greedy, SyN, Velocity
from .free_form import FreeForm
from .linear import Affine, Global, Rigid

#: The stages whose result is a deformation and not a matrix.
DEFORMING = (FreeForm, Dense)
#: The stages that also compute the deformation's inverse.
INVERTING = (SyN, Velocity)

Stage = Union[Rigid, Affine, Global, FreeForm, Greedy, SyN, Velocity]
#: A stage, or the name of one.
StageLike = Union[str, Stage]
#: Types of register()'s arguments: one stage or several behind each other, and one metric for all stages or one for each.
StagesLike = Union[StageLike, Iterable[StageLike]]
MetricsLike = Union[None, str, Iterable[Optional[str]]]
#: The classes of the stages by their names.
STAGES = {kind.name: kind for kind in (Rigid, Affine, Global, FreeForm, Greedy, SyN, Velocity)}
_KINDS: tuple[type[Any], ...] = tuple(STAGES.values())


def read_stages(transform: StagesLike, metric: MetricsLike) -> list[Stage]:
    """Reads the stages that register() is asked for.

    Args:
        transform: a name, a stage, or a list of them.
        metric: the metric of the stages that are given by name: one name for all stages, or a list with a name for each stage. None, also
            in the list, stands for the stage's default.

    Raises:
        BadInputError: there is no such stage, a metric is no name, or it is one of a stage that has its own.
    """
    asked = _read_list(transform, (str, *_KINDS), "stage")
    if not asked:
        raise BadInputError(f"There is no stage to register by. Give one of: {', '.join(STAGES)}.")
    metrics = [metric] * len(asked) if metric is None else _read_list(metric, (str,), "metric")
    if len(metrics) == 1:
        metrics = metrics * len(asked)
    if len(metrics) != len(asked):
        raise BadInputError(f"There are {len(metrics)} metrics for {len(asked)} stages: give one, or one for each.")
    return [_read_stage(one, name) for one, name in zip(asked, metrics)]


def _read_list(given: Any, kinds: tuple[type, ...], what: str) -> list[Any]:
    """Returns a list of what is given: one object of one of the kinds, or several. what: the objects' name in the error."""
    if isinstance(given, kinds):
        return [given]
    try:
        return list(given)
    except TypeError:
        raise BadInputError(f"{given!r} is no {what}, and no list of some.") from None


def _read_stage(one: Any, metric: Optional[str]) -> Stage:
    if isinstance(one, _KINDS):
        if metric is not None:
            raise BadInputError(
                f"metric={metric!r} is not possible of a stage that has its own: set {type(one).__name__}"
                f"({one.metric_setting}={metric!r})."
            )
        return one
    kind = STAGES.get(one) if isinstance(one, str) else None
    if kind is None:
        parts = [part.strip() for part in one.split(",")] if isinstance(one, str) else []
        if len(parts) > 1 and all(part in STAGES for part in parts):
            listed = ", ".join(f'"{part}"' for part in parts)
            raise BadInputError(f"There is no stage {one!r}: of several stages, give a list, [{listed}].")
        raise BadInputError(f"There is no stage {one!r}; there are: {', '.join(STAGES)}, and the classes of these.")
    return kind() if metric is None else kind(**{kind.metric_setting: metric})  # type: ignore[arg-type]


def read_settings(stages: Sequence[Stage], edges: Optional[Sequence[float]] = None, seed: int = 1, may_rest: bool = False) -> list[Any]:
    """Returns each stage's settings as the engine takes them.

    Args:
        edges, seed: as of Rigid.settings(). Without edges, settings are checked as far as that is possible without images.
        may_rest: True: a dense stage may have no iterations, and then moves nothing.

    Raises:
        BadInputError: a setting, or the seed, is not possible.
    """
    read_whole("seed", seed, 0, MOST_SEED)
    settings = []
    for stage in stages:
        with named(stage):
            read: Any = stage.settings(edges, seed)
            if isinstance(stage, Dense) and not may_rest and not any(read.iterations):
                raise BadInputError(f"iterations={stage.iterations!r} is not possible; one level at least is to have 1 or more.")
            settings.append(read)
    return settings


@contextmanager
def named(stage: Stage) -> Iterator[None]:
    """Adds the stage's name to the messages of errors that are raised inside."""
    try:
        yield
    except (BadInputError, OutOfMemoryError, UnsupportedError) as error:
        raise type(error)(f"{stage.name}: {error}") from error
