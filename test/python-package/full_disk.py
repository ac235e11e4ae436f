# SPDX-License-Identifier: Apache-2.0
"""A disk that is full for this process, for tests: no file of it may become longer than a number of bytes."""

import contextlib
import resource
import threading

_lock = threading.Lock()
#: The sizes at which files end now, and the limit of before. Several threads may have a full disk at once.
_sizes, _before = [], resource.getrlimit(resource.RLIMIT_FSIZE)


@contextlib.contextmanager
def full_disk(size):
    """Has every write behind so many bytes of a file fail, by "File too large" where a full disk says "No space left on device"."""
    with _lock:
        _sizes.append(size)
        _set_limit()
    try:
        yield
    finally:
        with _lock:
            _sizes.remove(size)
            _set_limit()


def _set_limit():
    resource.setrlimit(resource.RLIMIT_FSIZE, (min(_sizes), _before[1]) if _sizes else _before)


def fill_disk_at(monkeypatch, owner, name, size):
    """Has the disk be full while a function or a method runs."""
    work = getattr(owner, name)

    def on_full_disk(*arguments, **named):
        with full_disk(size):
            return work(*arguments, **named)

    monkeypatch.setattr(owner, name, on_full_disk)
