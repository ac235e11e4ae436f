# SPDX-License-Identifier: Apache-2.0
"""Reads which stages a registration is made of."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any, Iterable, Iterator, Optional, Sequence, Union

from .._checks import MOST_SEED, read_whole
from .._engine import BadInputError, OutOfMemoryError, UnsupportedError
from .dense import Greedy, SyN, Velocity
from .free_form import FreeForm
from .linear import Affine, Global, Rigid

#: The stages whose result is a deformation, which no matrix holds.
DEFORMING = (FreeForm, Greedy, SyN)
#: Those that find its inverse as well.
INVERTING = (SyN, Velocity)

Stage = Union[Rigid, Affine, Global, FreeForm, Greedy, SyN, Velocity]
#: One of them, or the name of one.
StageLike = Union[str, Stage]
#: Types of register()'s arguments: one stage or several behind each other, and one metric for all stages or one for each.
StagesLike = Union[StageLike, Iterable[StageLike]]
MetricsLike = Union[None, str, Iterable[Optional[str]]]
#: The classes of the stages by their names.
STAGES = {kind.name: kind for kind in (Rigid, Affine, Global, FreeForm, Greedy, SyN, Velocity)}


def read_stages(transform: StagesLike, metric: MetricsLike) -> list[Stage]:
    """Reads the stages that register() is asked for.

    Args:
        transform: a name, a stage, or a list of them.
        metric: of the stages that are given by name: a name for all, or a list with one for each stage, in which None is what the
            stage has by itself. None: all have their own.

    Raises:
        BadInputError: there is no such stage, a metric is no name, or it is one of a stage that has its own.
    """
    asked = _read_list(transform, (str, Rigid, FreeForm, Greedy, SyN), "stage")
    if not asked:
        raise BadInputError(f"There is no stage to register by. Give one of: {', '.join(STAGES)}.")
    metrics = [metric] * len(asked) if metric is None else _read_list(metric, (str,), "metric")
    if len(metrics) == 1:
        metrics = metrics * len(asked)
    if len(metrics) != len(asked):
        raise BadInputError(f"There are {len(metrics)} metrics for {len(asked)} stages: give one, or one for each.")
    return [_read_stage(one, name) for one, name in zip(asked, metrics)]


def _read_list(given: Any, kinds: tuple[type, ...], what: str) -> list[Any]:
    """One of some kinds, or several."""
    if isinstance(given, kinds):
        return [given]
    try:
        return list(given)
    except TypeError:
        raise BadInputError(f"{given!r} is no {what}, and no list of some.") from None


def _read_stage(one: Any, metric: Optional[str]) -> Stage:
    if isinstance(one, (Rigid, FreeForm, Greedy, SyN)):
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


def read_settings(stages: Sequence[Stage], edges: Optional[Sequence[float]] = None, seed: int = 1) -> list[Any]:
    """Each stage's settings as the engine takes them.

    Args:
        edges, seed: as of Rigid.settings().

    Raises:
        BadInputError: a setting that is not possible, or a seed; as far as that is known without images where there are no edges.
    """
    read_whole("seed", seed, 0, MOST_SEED)
    settings = []
    for stage in stages:
        with named(stage):
            settings.append(stage.settings(edges, seed))
    return settings


@contextmanager
def named(stage: Stage) -> Iterator[None]:
    """Errors inside say which stage they are of."""
    try:
        yield
    except (BadInputError, OutOfMemoryError, UnsupportedError) as error:
        raise type(error)(f"{stage.name}: {error}") from error
