# SPDX-License-Identifier: Apache-2.0
"""Settings that a command line can set, and stages as the text of its --transform."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, Optional, Sequence

from ._json import plain

if TYPE_CHECKING:
    from .stages import Stage


def writable_settings(kind: Any) -> list[Any]:
    """Returns the fields of a stage's class, or of another one, that a command line can set."""
    # A range of angles, and no value, are not written as one.
    return [field for field in dataclasses.fields(kind) if isinstance(typical_value(field), (int, float, str))]


def typical_value(field: Any) -> Any:
    """Returns a value of the setting's type, of which one number is a typical value: its default, where that is one."""
    return field.metadata.get("typical", field.default)


def write_default(field: Any) -> str:
    """Returns a setting and its default, such as "step=0.1"; the name alone where the default is no value."""
    return field.name if field.default is None else f"{field.name}={_write_value(plain(field.default))}"


def _write_value(value: Any) -> str:
    return str(value) if isinstance(value, (int, float, str)) else "x".join(map(str, value))


def write_stages(stages: Sequence[Stage]) -> Optional[str]:
    """Returns the text of --transform for stages; None if a setting cannot be written there, such as a range of angles."""
    texts = [_write_stage(stage) for stage in stages]
    written = [text for text in texts if text is not None]
    return ",".join(written) if len(written) == len(texts) else None


def _write_stage(stage: Stage) -> Optional[str]:
    written, texts = {field.name for field in writable_settings(type(stage))}, [stage.name]
    for field in dataclasses.fields(stage):
        value = plain(getattr(stage, field.name))
        if value == plain(field.default):
            continue
        if field.name not in written:
            return None
        texts.append(f"{field.name}={_write_value(value)}")
    return ":".join(texts)
