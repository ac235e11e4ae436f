# SPDX-License-Identifier: Apache-2.0
"""A device's first work."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Optional, Sequence

from . import _engine
from ._paths import readable

if TYPE_CHECKING:
    from .stages import Stage


def start_device_early(arguments: Sequence[str]) -> None:
    """Starts the device that a command line names, in a thread, while Python imports NumPy and files are read. An error in the
    command line is not reported here, but where it is read.

    Args:
        arguments: such as ``["register", "a.nii", "b.nii", "--device", "cuda:0"]``.
    """
    threading.Thread(target=_start_driver, args=(_find_name(arguments),), daemon=True).start()


def _find_name(arguments: Sequence[str]) -> Optional[str]:
    """Returns the device's name, of several that of the first one, or None for the best one."""
    for argument, following in zip(arguments, [*arguments[1:], ""]):
        if argument == "--device":
            return following.partition(",")[0]
        if argument.startswith("--device="):
            return argument.partition("=")[2].partition(",")[0]
    return os.environ.get("ITK_GPU_DEVICE") or None


def _start_driver(name: Optional[str]) -> None:
    with suppress(_engine.Error):
        _engine.start_device(readable(name) if name else _engine.best_device().name)


def start_device(device: str, stages: Optional[Sequence[Stage]] = None) -> None:
    """Runs small registrations on a device, so that the next call does not wait for the device's start. Does nothing for the host. Where
    the device has too little memory even for these, the next call says so, by its own numbers.

    Args:
        stages: the stages to run on small images; None: a linear stage and free-form deformation.
    """
    if device == "host" or (stages is not None and not stages):
        return
    import numpy as np

    from ._image import Image
    from ._register import register
    from .stages import FreeForm, Rigid

    z, y, x = np.ogrid[-1:1:16j, -1:1:16j, -1:1:16j]
    ball = Image(np.exp(-4 * (x * x + 1.5 * y * y + 2 * z * z)).astype(np.float32))
    with suppress(_engine.OutOfMemoryError):
        register(ball, ball, [Rigid(), FreeForm(levels=1, iterations=1)] if stages is None else list(stages), device=device)
