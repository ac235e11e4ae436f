# SPDX-License-Identifier: Apache-2.0
"""Several devices that register images together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Optional, Union

from . import _engine
from ._also import Further, count_compared
from ._devices import Device, DeviceLike, choose_device
from ._engine import BadInputError
from ._gpu_arrays import GpuArray
from ._sides import Pair
from .stages import Greedy, Stage, SyN

#: One device, or several that register together.
DevicesLike = Union[DeviceLike, Sequence[DeviceLike]]


def list_asked(device: Optional[DevicesLike]) -> list[Optional[DeviceLike]]:
    """Returns the devices that a caller asks for as a list, in which None stands for the default one.

    Raises:
        BadInputError: a list is empty, or has something else than devices.
    """
    if isinstance(device, (str, Device)) or not isinstance(device, Sequence):
        return [device]
    if not device:
        raise BadInputError("device is an empty list: name a device, or several, or leave it out.")
    for one in device:
        if not isinstance(one, (str, Device)):
            raise BadInputError(f'device has {one!r} among several; they are to be names, such as "cuda:0", or of gpuregistration.devices().')
    return list(device)


def choose_devices(device: Optional[DevicesLike], pairs: Sequence[Pair], stages: Sequence[Stage]) -> list[str]:
    """Returns the names of the devices that register a pair, the first of which runs every stage.

    Args:
        device: the device, or the devices, that the caller asked for.
        pairs: the pair, and further ones that are compared beside it.

    Raises:
        BadInputError: the devices are not possible, or several do not register this.
        DeviceError: there is no such device.
    """
    first, *others = list_asked(device)
    if not others:
        return [pairs[0].choose_device(first)]
    check_is_for_several(stages)
    for number, pair in enumerate(pairs, 1):
        contents = {"fixed image": pair.fixed.content, "moving image": pair.moving.content, "fixed mask": pair.fixed_mask, "moving mask": pair.moving_mask}
        for which, content in contents.items():
            if isinstance(content, GpuArray):
                raise BadInputError(
                    f"The {which}{f' of pair {number}' if number > 1 else ''} is on {content.device}, and several devices take images from the host "
                    f"alone. Name {content.device} alone, or hand in a copy on the host: tensor.cpu() of PyTorch, cupy.asnumpy(array) of CuPy."
                )
    return [choose_device(one) for one in (first, *others)]


def check_is_for_several(stages: Sequence[Stage]) -> None:
    """Raises BadInputError if several devices do not register by any of these stages."""
    if not any(isinstance(stage, (Greedy, SyN)) for stage in stages):
        raise BadInputError(
            f'Several devices register together in stages "{Greedy.name}" and "{SyN.name}", and there is none among '
            f'{", ".join(stage.name for stage in stages)}. Name one device, or add such a stage.'
        )


def devices_of(stage: Stage, devices: Sequence[str], dimension: int, further: int) -> Sequence[str]:
    """Returns those of several devices that compute a stage: all of them "greedy", as many of them "syn" as register it together, and the
    first one any other.

    Args:
        further: the number of pairs that the stage compares beside the first one, without those whose weight is 0.
    """
    if isinstance(stage, SyN):
        return devices[: _engine.TeamRegistration.count_usable(stage.settings(), dimension, further, len(devices))]
    return devices if isinstance(stage, Greedy) else devices[:1]


def devices_of_each(stages: Sequence[Stage], devices: Sequence[str], dimension: int, further: Sequence[Further]) -> list[Sequence[str]]:
    """Returns, for each of a registration's stages, those of several devices that compute it. further: pairs that are compared beside the
    first one, by the stages that compare several."""
    return [devices_of(stage, devices, dimension, count_compared(stage, stages, further)) for stage in stages]
