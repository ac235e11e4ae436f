# SPDX-License-Identifier: Apache-2.0
"""A disk that is full for this process, for tests: no file of it may become longer than a number of bytes."""

import contextlib
import resource


@contextlib.contextmanager
def full_disk(size):
    """Has every write behind so many bytes of a file fail, by "File too large" where a full disk says "No space left on device"."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def fill_disk_at(monkeypatch, owner, name, size):
    """Has the disk be full while a function or a method runs."""
    work = getattr(owner, name)

    def on_full_disk(*arguments, **named):
        with full_disk(size):
            return work(*arguments, **named)

    monkeypatch.setattr(owner, name, on_full_disk)
