# SPDX-License-Identifier: Apache-2.0
"""Keeps displacement fields on the devices that have computed them, until somebody asks for their vectors."""

from __future__ import annotations

import os
import threading
import weakref
from typing import Optional

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


_lock = threading.Lock()
_kept: weakref.WeakSet[KeptField] = weakref.WeakSet()


def download_kept_fields(device: Optional[str] = None) -> None:
    """Downloads the fields that are on a device, and frees their memory there: before other work needs it, and before a fork, behind which
    the child would not reach the device. device: its name; None: all devices."""
    with _lock:
        fields = list(_kept)
    for field in fields:
        on_device = field.on_device
        if on_device is not None and device in (None, on_device.device):
            field.vectors()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=download_kept_fields)
