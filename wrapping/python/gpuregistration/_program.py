# SPDX-License-Identifier: Apache-2.0
"""Changes settings of the whole process, which only this package's own programs may do."""

from __future__ import annotations

import sys
import threading
from contextlib import contextmanager
from typing import Any, Iterator

#: True if this process is a program of the package. Programs set it before they import anything else.
is_program = False


@contextmanager
def hidden(name: str) -> Iterator[None]:
    """Makes imports of a package fail on this thread until the `with` block ends. Does nothing if the package is imported already, or if
    this process is not one of this package's own programs."""
    if not is_program or name in sys.modules:
        yield
        return
    finder = _Hiding(name)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


class _Hiding:
    """Finds no package of a name, for the thread that has made this."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._thread = threading.get_ident()

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if name == self._name and threading.get_ident() == self._thread:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
