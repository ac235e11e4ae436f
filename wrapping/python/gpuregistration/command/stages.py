# SPDX-License-Identifier: Apache-2.0
"""Stages and their settings, as a command line has them: affine,ffd:levels=3:spacing=8."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, Optional, Sequence

from .errors import WrongUse, one_line

if TYPE_CHECKING:
    from ..stages import Stage


def read_stages(transform: str, metric: Optional[str]) -> list[Stage]:
    """What --transform and --metric ask for.

    Args:
        transform: names with commas between them, each with settings behind it: ``name:setting=value:setting=value``.
        metric: one name for all, or one of each stage with commas between them.

    Raises:
        WrongUse: there is no such stage, setting or metric.
    """
    asked = transform.split(",")
    metrics = metric.split(",") if metric is not None else []
    if len(metrics) not in (0, 1, len(asked)):
        raise WrongUse(f"--metric names {len(metrics)} metrics for {len(asked)} stages: give one, or one of each")
    metrics = metrics * len(asked) if len(metrics) == 1 else metrics
    return [_read_stage(text, metrics[n] if metrics else None) for n, text in enumerate(asked)]


def describe_stages() -> str:
    """The stages and their settings, for the help."""
    from ..stages import STAGES

    return "\n".join(
        f"  {name:7} {' '.join(f'{field.name}={getattr(kind, field.name)}' for field in _settings(kind))}"
        for name, kind in STAGES.items()
    )


def _settings(kind: Any) -> list[Any]:
    # A range of angles, and no value, are not written as one.
    return [field for field in dataclasses.fields(kind) if isinstance(field.default, (int, float, str))]


def _read_stage(text: str, metric: Optional[str]) -> Stage:
    from .._engine import BadInputError
    from ..stages import STAGES
    from ..stages import read_stages as read

    name, *settings = text.split(":")
    if name not in STAGES:
        raise WrongUse(f'--transform {text}: there is no stage "{name}"; there are: {", ".join(STAGES)}')
    stage = read([name], metric)[0]
    fields = {field.name: field for field in _settings(type(stage))}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals or key not in fields:
            raise WrongUse(f'--transform {text}: {name} has no setting "{setting}"; there are: {", ".join(fields)}')
        setattr(stage, key, _read_value(text, setting, fields[key].default, value))
    try:
        # Names are looked at here, before any file is.
        stage.settings(3) if name == "ffd" else stage.settings()
    except BadInputError as error:
        raise WrongUse(f"{name}: {one_line(error)}") from error
    return stage


def _read_value(text: str, setting: str, default: Any, value: str) -> Any:
    if isinstance(default, str):
        return value
    try:
        # Of some there may be one along each axis: 8x8x4.
        numbers = [type(default)(part) for part in value.split("x")]
    except ValueError:
        raise WrongUse(f"--transform {text}: {setting} is no {'whole ' if isinstance(default, int) else ''}number") from None
    if len(numbers) > 1 and not setting.startswith("spacing="):
        raise WrongUse(f"--transform {text}: {setting} is to be one number")
    return numbers[0] if len(numbers) == 1 else numbers


def write_stages(stages: Sequence[Stage]) -> Optional[str]:
    """The other way round: what --transform has for these. None where a setting cannot be written, such as a range of angles."""
    return None if any(_write_stage(stage) is None for stage in stages) else ",".join(str(_write_stage(stage)) for stage in stages)


def _write_stage(stage: Stage) -> Optional[str]:
    written, texts = {field.name for field in _settings(type(stage))}, [stage.name]
    for field in dataclasses.fields(stage):
        value = getattr(stage, field.name)
        if value == field.default:
            continue
        if field.name not in written:
            return None
        texts.append(f"{field.name}={value if isinstance(value, (int, float, str)) else 'x'.join(map(str, value))}")
    return ":".join(texts)
