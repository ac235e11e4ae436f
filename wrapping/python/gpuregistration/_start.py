# SPDX-License-Identifier: Apache-2.0
"""A device's first work."""

from __future__ import annotations

import numpy as np

from ._image import Image
from ._register import register
from .stages import FreeForm, Rigid


def start_device(device: str) -> None:
    """Has a device do a little of what registrations do, so that the next call does not wait for its start. Of the host nothing is to
    be done."""
    if device == "host":
        return
    z, y, x = np.ogrid[-1:1:16j, -1:1:16j, -1:1:16j]
    ball = Image(np.exp(-4 * (x * x + 1.5 * y * y + 2 * z * z)).astype(np.float32))
    register(ball, ball, [Rigid(), FreeForm(levels=1, iterations=1)], device=device)
