# SPDX-License-Identifier: Apache-2.0
"""Stages and their settings, as a command line has them: affine,ffd:levels=3:spacing=8."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional, Sequence

from .._stage_words import typical_value, writable_settings, write_default
from .errors import WrongUse, one_line

if TYPE_CHECKING:
    from ..stages import Stage

#: The end of the help on stages.
_WITHOUT_DEFAULT = """\
            Values are the defaults. Without a value finest_edge, levels, spacing, shrink_factors and smoothing_sigmas follow from the
            images and the levels; fixed_range and moving_range, such as 0x100 or all, are all values but outliers; weights are 1, and seed
            is --seed."""


def read_stages(transform: str, metric: Optional[str]) -> list[Stage]:
    """Reads the stages that --transform and --metric ask for.

    Args:
        transform: names with commas between them, each with settings behind it: ``name:setting=value:setting=value``.
        metric: one name for all, or one of each stage with commas between them.

    Raises:
        WrongUse: there is no such stage, setting or metric, or a setting is not possible.
    """
    asked = transform.split(",")
    if not all(asked):
        raise WrongUse(f"--transform '{transform}' lacks a stage's name, such as rigid: stages stand between commas")
    metrics = metric.split(",") if metric is not None else []
    if len(metrics) not in (0, 1, len(asked)):
        raise WrongUse(f"--metric names {len(metrics)} metrics for {len(asked)} stages: give one, or one for each stage, with commas")
    serves_all = len(metrics) == 1 < len(asked)
    metrics = metrics * len(asked) if serves_all else metrics
    stages = [_read_stage(text, metrics[n] if metrics else None) for n, text in enumerate(asked)]
    check(stages, hint="; --metric takes one for each stage, with commas" if serves_all else "")
    return stages


def check(stages: Sequence[Stage], edges: Optional[Sequence[float]] = None, hint: str = "") -> None:
    """Raises WrongUse if a stage's settings are not possible.

    Args:
        edges: mm, of the fixed image's voxels along x, y (and z); None: not known yet, so that all else is looked at.
        hint: the advice for a metric that a stage does not have.
    """
    from .._engine import BadInputError
    from ..stages import read_settings

    try:
        for stage in stages:
            read_settings([stage], edges)
    except BadInputError as error:
        raise WrongUse(one_line(error).rstrip(".") + (hint if _has_no_metric(stage) else "")) from error


def _has_no_metric(stage: Stage) -> bool:
    from .._engine import BadInputError

    try:
        return not stage.metric
    except BadInputError:
        return True


def describe_stages() -> str:
    """Describes the stages and the defaults of their settings for the help."""
    from ..stages import STAGES

    lines = [f"  {name:8} {' '.join(map(write_default, writable_settings(kind)))}" for name, kind in STAGES.items()]
    return "\n".join([*lines, _WITHOUT_DEFAULT])


def _read_stage(text: str, metric: Optional[str]) -> Stage:
    from ..stages import STAGES
    from ..stages import read_stages as read

    name, *settings = text.split(":")
    if name not in STAGES:
        raise WrongUse(f'--transform {text}: there is no stage "{name}"; there are: {", ".join(STAGES)}')
    stage = read([name], metric)[0]
    fields = {field.name: field for field in writable_settings(type(stage))}
    refuse_repeated(f"--transform {text}", settings)
    for setting in settings:
        key, equals, value = setting.partition("=")
        if key not in fields:
            raise WrongUse(f'--transform {text}: {name} has no setting "{key}"; there are: {", ".join(fields)}')
        if not equals:
            raise WrongUse(f"--transform {text}: {key} has no value: give {key}=VALUE")
        setattr(stage, key, read_value(f"--transform {text}", setting, fields[key], value))
    return stage


def refuse_repeated(where: str, settings: Sequence[str]) -> None:
    """Raises WrongUse if a setting, such as levels=3, is given twice: the last value alone would count. where: as of read_value()."""
    keys = [setting.partition("=")[0] for setting in settings]
    twice = next((key for key in keys if keys.count(key) > 1), None)
    if twice is not None:
        raise WrongUse(f"{where}: {twice} is given twice: leave one out")


def read_value(where: str, setting: str, field: Any, value: str) -> Any:
    """Returns a setting's value, of the type that its field has.

    Args:
        where: the option that the setting stands in, for errors.
        setting: the whole setting, for errors.

    Raises:
        WrongUse: the value is of another type.
    """
    typical, most = typical_value(field), field.metadata.get("numbers", 1)
    if isinstance(typical, str) and (most == 1 or value == typical):
        return value
    kind = float if isinstance(typical, str) else type(typical)
    try:
        # Some settings take several numbers: 8x8x4.
        numbers = [kind(part) for part in value.split("x")]
    except ValueError:
        raise WrongUse(f"{where}: {setting} is no {'whole ' if kind is int else ''}number") from None
    if len(numbers) > most:
        raise WrongUse(f"{where}: {setting} has {len(numbers)} numbers; it is to have {'one' if most == 1 else f'{most} at most'}")
    return numbers[0] if len(numbers) == 1 else tuple(numbers)
