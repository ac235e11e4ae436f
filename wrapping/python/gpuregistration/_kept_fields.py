# SPDX-License-Identifier: Apache-2.0
"""Keeps displacement fields on the devices that have computed them, until somebody asks for their vectors."""

from __future__ import annotations

import os
import threading
import weakref
from contextlib import suppress
from typing import Iterable, Optional

import numpy as np

from . import _engine


class KeptField:
    """Holds a field on a device. Its vectors are downloaded when they are first asked for, and the device's memory is freed then."""

    def __init__(self, on_device: _engine.FieldOnDevice) -> None:
        self._on_device: Optional[_engine.FieldOnDevice] = on_device
        self._vectors: Optional[np.ndarray] = None
        self._lock = threading.Lock()
        with _lock:
            _kept.add(self)

    @property
    def on_device(self) -> Optional[_engine.FieldOnDevice]:
        """The field on the device; None once it has been downloaded."""
        return self._on_device

    def vectors(self) -> np.ndarray:
        """Returns the displacements, ``[z, y, x, 3]``, in mm, in floats."""
        with self._lock:
            if self._on_device is not None:
                self._vectors = np.asarray(self._on_device.download())
                self._on_device = None
        assert self._vectors is not None
        return self._vectors

    def renew_lock(self) -> None:
        """Replaces the lock, in a child of a fork."""
        self._lock = threading.Lock()


_lock = threading.Lock()
_kept: weakref.WeakSet[KeptField] = weakref.WeakSet()


def download_kept_fields(devices: Iterable[str]) -> None:
    """Downloads the fields that are on devices, and frees their memory there, before other work needs it. devices: their names."""
    asked = set(devices)
    for field in _list_fields():
        on_device = field.on_device
        if on_device is not None and on_device.device in asked:
            field.vectors()


def _list_fields() -> list[KeptField]:
    with _lock:
        return list(_kept)


def _download_before_fork() -> None:
    """Downloads all fields, for a child could not reach their devices. A field that cannot be downloaded says so when it is asked for."""
    for field in _list_fields():
        with suppress(_engine.Error):
            field.vectors()


def _renew_locks_in_child() -> None:
    """Replaces locks that another thread of the parent may have held."""
    global _lock
    _lock = threading.Lock()
    for field in list(_kept):
        field.renew_lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_download_before_fork, after_in_child=_renew_locks_in_child)
