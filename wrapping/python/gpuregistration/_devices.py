# SPDX-License-Identifier: Apache-2.0
"""The devices that compute, and the engines that are kept for them."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Callable, Iterator, Optional, Protocol, TypeVar, Union

from . import _engine
from ._checks import read_whole
from ._engine import DeviceError
from ._kept_fields import download_kept_fields
from ._paths import readable


@dataclass(frozen=True)
class Device:
    """One device.

    Attributes:
        name: such as "cuda:0", "opencl:0" or "host".
        kind: "cuda", "opencl" or "host".
        description: the model, and what runs it.
        memory: bytes; of the host, what is physically there.
    """

    name: str
    kind: str
    description: str
    memory: int


#: One of devices(), or its name.
DeviceLike = Union[str, Device]


def devices() -> list[Device]:
    """Returns the devices of this machine, the best first; the host is always among them."""
    return [_read(found) for found in _engine.devices()]


def find_gpus() -> list[str]:
    """Returns the names of the GPUs. All are of the best device's kind, since a GPU may be found both by CUDA and by OpenCL."""
    found: list[Device] = []
    for device in devices():
        if device.kind == "host":
            break
        found.append(device)
    return [device.name for device in found if device.kind == found[0].kind]


def find_hardware_id(name: str) -> str:
    """Returns an identifier of a device that is the same in all processes of this machine; "" if it is not known.

    Raises:
        BadInputError: there is no such device.
    """
    return str(_engine.hardware_id(name))


def describe_device(name: str) -> Device:
    """Returns the device of a name. Drivers of other kinds of devices are not looked for. Raises DeviceError if there is none."""
    return _read(_find(name))


def _read(found: _engine.DeviceDescription) -> Device:
    return Device(found.name, found.name.split(":")[0], found.description, found.memory)


def _find(name: str) -> _engine.DeviceDescription:
    name = readable(name)
    found = _engine.find_device(name)
    if found is None:
        raise DeviceError(f'There is no device "{name}"; there are: {list_devices()}')
    return found


def list_devices() -> str:
    """Returns, for the end of an error's sentence, the names of this machine's devices, and the problems of drivers without devices."""
    names = ", ".join(device.name for device in _engine.devices())
    return f"{names}." + "".join(f" {text}." for text in _engine.device_complaints())


def choose_device(name: Optional[DeviceLike] = None) -> str:
    """Returns the name of the requested device, or of the default one: what the environment variable ITK_GPU_DEVICE names,
    or the best.

    Raises:
        DeviceError: there is no such device.
    """
    # A variable that is empty is as if it were not set.
    wanted = (os.environ.get("ITK_GPU_DEVICE") or None) if name is None else name.name if isinstance(name, Device) else name
    if wanted is None:
        return str(_engine.best_device().name)
    _find(str(wanted))
    return str(wanted)


def set_threads(count: int = 0) -> None:
    """Sets the number of threads that the host uses from now on. 0: what the environment variable GPUREG_THREADS says, or as many as there
    are.

    Raises:
        BadInputError: it is no whole number, or negative.
    """
    _engine.set_thread_count(read_whole("count", count))


def release_memory(device: Optional[DeviceLike] = None) -> None:
    """Gives back the memory that is kept for the next call on a device, or on all of them. Displacements that a registration has left there
    are downloaded.

    Raises:
        DeviceError: there is no such device.
    """
    for name in _read_names(device):
        download_kept_fields([name])
        _engine.release_idle_memory(name)


def set_idle_memory_limit(size: int, device: Optional[DeviceLike] = None) -> None:
    """Bounds the memory that is kept for the next call on a device, or on each of them. Where it is short, it is given back anyway.

    Args:
        size: bytes, of a device and of the host for it; 0 keeps nothing. Unless it is set: a quarter of a GPU's memory, a sixteenth of
            the host's.
        device: its name; None: all that there are.

    Raises:
        BadInputError: the size is no whole number, or negative.
        DeviceError: there is no such device.
    """
    limit = read_whole("size", size, most=sys.maxsize)
    for name in _read_names(device):
        _engine.set_idle_memory_limit(name, limit)


def _read_names(device: Optional[DeviceLike]) -> list[str]:
    return [choose_device(device)] if device is not None else [found.name for found in _engine.devices()]


class _Loan(Protocol):
    def give_back(self) -> None: ...


_Engine = TypeVar("_Engine", bound=_Loan)


@contextmanager
def borrow_engine(kind: Callable[[str], _Engine], device: str) -> Iterator[_Engine]:
    """Lends an engine of a class, such as _engine.Resampler, for one call. Afterwards it waits for the next call, with its arrays, until
    a device's memory is short. One whose work raises is not used again."""
    engine = kind(device)
    yield engine
    engine.give_back()
