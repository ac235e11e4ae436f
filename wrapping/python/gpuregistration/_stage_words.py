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
    """Returns a value of the setting's type: its default, or a typical value."""
    return field.metadata.get("typical", field.default)


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
        texts.append(f"{field.name}={value if isinstance(value, (int, float, str)) else 'x'.join(map(str, value))}")
    return ":".join(texts)
