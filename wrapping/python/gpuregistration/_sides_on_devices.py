# SPDX-License-Identifier: Apache-2.0
"""The images of a registration on the devices that compute its stages."""

from __future__ import annotations

from typing import Any, Sequence

from . import _engine
from ._also import Further
from ._sides import Pair

_Sides = tuple[_engine.Side, _engine.Side]
#: All pairs of a stage on one device: the fixed and the moving side of the first one, and the further pairs.
AllSides = tuple[_engine.Side, _engine.Side, Sequence[_engine.PairOfSides]]


class SidesOnDevices:
    """Holds a pair's images on the first ones of several devices, and those of further pairs where they are compared.

    Args:
        pair: the pair, which the first device gets at once.
        further: pairs that some stages compare beside it.
        devices: the devices' names.
    """

    def __init__(self, pair: Pair, further: Sequence[Further], devices: Sequence[str]) -> None:
        self._pair = pair
        self._further = further
        self._devices = devices
        self._sides: list[_Sides] = []
        self._of_further: list[list[_Sides]] = []
        self.load(1, False)

    @property
    def first(self) -> _Sides:
        """The pair's sides on the first device."""
        return self._sides[0]

    def load(self, count: int, compares_further: bool) -> None:
        """Uploads what is missing of what a stage needs on the first `count` devices. Frees the further pairs if it does not compare
        them."""
        self._sides += [self._pair.load(device, keeps_short=True) for device in self._devices[len(self._sides) : count]]
        if not compares_further:
            # The stage's plan has none of them.
            self._of_further = []
            return
        self._of_further += [[one.load(device) for one in self._further] for device in self._devices[len(self._of_further) : count]]

    def on_each(self, stage: Any, count: int) -> list[AllSides]:
        """Returns all pairs on each of the first `count` devices as a stage compares them: no further ones unless load() was told of
        them."""
        return [(*self._sides[device], self._further_for(stage, device)) for device in range(count)]

    def _further_for(self, stage: Any, device: int) -> list[_engine.PairOfSides]:
        return [one.of_sides(stage, its) for one, its in zip(self._further, self._of_further[device])] if self._of_further else []

    def keep(self, count: int) -> None:
        """Frees what other devices than the first `count` hold."""
        del self._sides[count:]
        del self._of_further[count:]
