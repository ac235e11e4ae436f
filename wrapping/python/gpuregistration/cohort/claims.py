# SPDX-License-Identifier: Apache-2.0
"""Chooses the device of a scheduler's worker: one of its machine that no other worker there has, as long as there is one.

A worker holds a lock on a file that is named after its device. The system releases the lock when the process ends, however it ends. Where
all devices have a worker, each gets a second one, and so on. Dask's resources cannot do that: they are numbers that are told when a worker
is started, each worker's by itself, and workers of two schedulers may share a machine.
"""

from __future__ import annotations

import fcntl
import os
import tempfile
import threading
from dataclasses import dataclass
from itertools import count
from typing import Optional, Sequence

from .._devices import choose_device, find_gpus, find_hardware_id


@dataclass(frozen=True)
class Claim:
    """What a worker has taken.

    Attributes:
        device: its name.
        warning: why it is not the worker's alone, and what to do; "" if it is, or was asked for by name.
    """

    device: str
    warning: str = ""


_claim: Optional[Claim] = None
_lock = threading.Lock()


def claim_device() -> Claim:
    """The device of this process, the same each time: the one that ITK_GPU_DEVICE names, or one of this machine's GPUs, or its host.

    Raises:
        DeviceError: there is no such device.
    """
    global _claim
    with _lock:
        if _claim is None:
            _claim = _take_named() if os.environ.get("ITK_GPU_DEVICE") else _take_one(find_gpus())
        return _claim


def _take_named() -> Claim:
    """Others are to know of it."""
    device = choose_device()
    return Claim(device) if device == "host" else Claim(_take_one([device]).device)


def _take_one(gpus: Sequence[str]) -> Claim:
    if not gpus:
        return Claim(choose_device())
    try:
        for others in count():
            for device in gpus:
                if _holds(f"gpuregistration-{_physical_name(device)}-{others}.lock"):
                    return Claim(device, _describe_sharing(device, others, gpus) if others else "")
    except OSError as error:
        return Claim(gpus[0], f"{gpus[0]} may be another worker's, too, for workers cannot tell each other which one they take: {error}.")
    raise AssertionError("unreachable: counting has no end")


def _holds(name: str) -> bool:
    """Whether this process gets the lock on that file, which it then holds for as long as it lives."""
    path = os.path.join(tempfile.gettempdir(), name)
    try:
        file = _open(path)
    except PermissionError:
        # A file that is there is another user's, who has not let others read it yet. Where none can be, there is nothing to hold.
        if os.path.lexists(path):
            return False
        raise
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(file)
        return False
    return True


def _open(path: str) -> int:
    """A file that all users may read, and so lock; it is made where there is none."""
    reading = os.O_RDONLY | os.O_NOFOLLOW
    try:
        # Of another user, it may be read, and not be opened as if to make it.
        return os.open(path, reading)
    except FileNotFoundError:
        pass
    try:
        file = os.open(path, reading | os.O_CREAT | os.O_EXCL, 0o644)
    except FileExistsError:
        # Another process was faster.
        return os.open(path, reading)
    # What this user's files may be by themselves is not what this one is for.
    os.fchmod(file, 0o644)
    return file


def _physical_name(device: str) -> str:
    """One GPU's is the same in all processes, and another one's another. Its number is neither: a job may see its GPU alone, as 0."""
    kind, _, number = device.partition(":")
    hardware = find_hardware_id(device)
    if hardware:
        return f"{kind}-{hardware}"
    # CUDA counts those that CUDA_VISIBLE_DEVICES lists, from 0.
    visible = [word.strip() for word in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if word.strip()]
    if kind == "cuda" and int(number) < len(visible):
        number = visible[int(number)]
    return f"{kind}-{number.replace(os.sep, '-')}"


def _describe_sharing(device: str, others: int, gpus: Sequence[str]) -> str:
    workers = "another worker" if others == 1 else f"{others} other workers"
    return (
        f"{device} is shared with {workers}, for all devices of this machine have one ({', '.join(gpus)}): start one worker a device, or "
        "have ITK_GPU_DEVICE name each one's."
    )
