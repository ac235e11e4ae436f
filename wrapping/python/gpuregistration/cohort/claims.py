# SPDX-License-Identifier: Apache-2.0
"""Chooses the device of a scheduler's worker: a GPU of its machine that no other worker there has, as long as there is one.

A worker claims a GPU by a name in the system's list of local sockets, where each name can be taken once. The system frees the name when the
process ends, however it ends. Dask cannot do that: its resources are numbers that are stated when a worker is started, its locks expire
some time after their holder has died, and both end at one scheduler, while the workers of several schedulers may share a machine.
"""

from __future__ import annotations

import errno
import os
import socket
from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from typing import Sequence

from .._devices import choose_device, find_gpus, find_hardware_id

#: Begins the names that workers take. A leading zero byte makes a name that is no file's.
PREFIX = "\0gpuregistration-"
_held: list[socket.socket] = []


@dataclass(frozen=True)
class Claim:
    """The device that a worker has taken.

    Attributes:
        device: its name.
        warning: why other workers may use it, too, and what to do; "" if none does, or if ITK_GPU_DEVICE names it.
    """

    device: str
    warning: str = ""


@lru_cache(maxsize=None)
def claim_device() -> Claim:
    """Claims this process's device: the one that ITK_GPU_DEVICE names, or one of this machine's GPUs, or the host.

    Every call of a process returns the same claim. Threads take turns to call it the first time.

    Raises:
        DeviceError: there is no such device.
    """
    if not os.environ.get("ITK_GPU_DEVICE"):
        return _claim_one(find_gpus())
    # Other workers see that a named GPU is taken, too.
    device = choose_device()
    return Claim(device) if device == "host" else Claim(_claim_one([device]).device)


def _claim_one(gpus: Sequence[str]) -> Claim:
    if not gpus:
        return Claim(choose_device())
    try:
        for others in count():
            for device in gpus:
                if _hold(f"{_physical_name(device)}-{others}"):
                    return Claim(device, _describe_sharing(device, others, gpus) if others else "")
    except OSError as error:
        return Claim(gpus[0], f"Another worker may use {gpus[0]}, too, because workers cannot see what others have taken: {error}.")
    raise AssertionError("unreachable: counting has no end")


def _hold(name: str) -> bool:
    """Takes a name until this process ends. Returns False if another process, or this one, has it."""
    holder = socket.socket(socket.AF_UNIX)
    try:
        holder.bind(PREFIX + name)
    except OSError as error:
        holder.close()
        if error.errno == errno.EADDRINUSE:
            return False
        raise
    _held.append(holder)
    return True


def _physical_name(device: str) -> str:
    """Returns a name that is the GPU's in every process. The device's number is not: a job may see its GPU alone, as cuda:0."""
    kind, _, number = device.partition(":")
    # CUDA counts the devices that CUDA_VISIBLE_DEVICES lists, from 0.
    visible = [word.strip() for word in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if word.strip()]
    if kind == "cuda" and int(number) < len(visible):
        number = visible[int(number)]
    return f"{kind}-{find_hardware_id(device) or number}"


def _describe_sharing(device: str, others: int, gpus: Sequence[str]) -> str:
    workers = "another worker" if others == 1 else f"{others} other workers"
    return (
        f"{device} is shared with {workers}, for all devices of this machine have one ({', '.join(gpus)}): start one worker a device, or "
        "have ITK_GPU_DEVICE name each one's."
    )
