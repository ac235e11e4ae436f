# SPDX-License-Identifier: Apache-2.0
"""The similarities of two images, as the engine describes them."""

from __future__ import annotations

from . import _engine
from ._checks import python_name

#: The engine's descriptions of all similarities, by their names in Python.
SIMILARITIES = {python_name(one.name): one for one in _engine.similarities()}
