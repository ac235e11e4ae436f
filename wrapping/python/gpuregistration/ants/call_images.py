# SPDX-License-Identifier: Apache-2.0
"""The images of a command line of antsRegistration: read at once, with the values that are registered, and kept on the device."""

from __future__ import annotations

import os
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Callable, Optional

import numpy as np

from .. import _engine
from .._checks import check_finite
from .._engine import BadInputError
from .._grey import as_grey
from .._image import Image, host_array
from .._resample import resample
from .._sides import Pair, read_pair
from ..command.times import Times
from .intensities import match_histogram, window
from .registration_call import RegistrationCall
from .registration_stages import Metric, Stage
from .seen import Seen

Read = Callable[[str], Image]
#: Returns an image and its mask as they are seen through a transform.
See = Callable[[Seen], Seen]
# Holds the names of a pair's images and of their masks, and how the fixed image is seen.
_Key = tuple[str, str, tuple[Optional[str], Optional[str]], Optional[See]]

_HINT = "Give a file of one of them."


def names_of_images(call: RegistrationCall) -> list[str]:
    """Returns the names of all images of a call, each once."""
    names = _names_of_metrics(call)
    names += [name for stage in call.stages for name in stage.masks if name is not None]
    names += [name for initial in (*call.initial, *call.initial_fixed) for name in (initial.fixed, initial.moving)]
    return [name for name in dict.fromkeys(names) if name]


def _names_of_metrics(call: RegistrationCall) -> list[str]:
    return [name for stage in call.stages for metric in stage.metrics for name in (metric.fixed, metric.moving)]


def read_image_named(images: dict[str, Image]) -> Read:
    """Returns a function that reads an image: one of a dictionary, or else a file."""
    from .._files import read_image

    def read(name: str) -> Image:
        return images[name] if name in images else read_image(name)

    return read


@dataclass
class _KeptPair(Pair):
    """A pair whose images stay on the device from one stage to the next."""

    _sides: dict[str, tuple[_engine.Side, _engine.Side]] = field(default_factory=dict)

    def load(self, device: str, keeps_short: bool = False) -> tuple[_engine.Side, _engine.Side]:
        if device not in self._sides:
            self._sides[device] = super().load(device, keeps_short)
        return self._sides[device]


class CallImages:
    """Reads all images of a call, in threads.

    Args:
        read: reads an image by its name.
        times: counts the parts' seconds.

    Raises:
        BadInputError: an image cannot be read, has several components, values that are not finite, or other dimensions.
    """

    def __init__(self, call: RegistrationCall, read: Read, times: Times) -> None:
        self._call = call
        self._times = times
        self._matched: dict[tuple[str, str], Image] = {}
        self._kept: dict[_Key, Pair] = {}
        names = names_of_images(call)
        registered = set(_names_of_metrics(call))
        with ThreadPoolExecutor(4) as pool:
            reading = {name: pool.submit(self._read_grey, name, read) for name in names}
            # An error in an image's values is raised where a stage needs them.
            self._windowed = {name: pool.submit(self._window, name, reading[name]) for name in names if name in registered}
        self._found = {name: one.result() for name, one in reading.items()}
        self.dimension = self._found[call.stages[0].metric.fixed].dimension
        for name, image in self._found.items():
            if image.dimension != self.dimension:
                raise BadInputError(f"{name}: it has {image.dimension} dimensions; expected {self.dimension}, as {call.stages[0].metric.fixed} has")

    def read(self, name: str) -> Image:
        """Returns an image with its own values."""
        return self._found[name]

    def _read_grey(self, name: str, read: Read) -> Image:
        with self._times.part(f"read {os.path.basename(name)}"):
            image = read(name)
            if image.dimension != (self._call.dimension or image.dimension):
                raise BadInputError(f"{name}: it has {image.dimension} dimensions; expected {self._call.dimension}, as --dimensionality says")
            grey = as_grey(image, f"file {name}", _HINT)
            check_finite(f"file {name}", host_array(grey), True)
            return grey

    def _window(self, name: str, reading: Future[Image]) -> Image:
        # A pool begins its work in order, so that what is read has been begun.
        image = reading.result()
        with self._times.part(f"prepare {os.path.basename(name)}"):
            return window(image, self._call.quantiles, name)

    def prepared(self, metric: Metric) -> tuple[Image, Image]:
        """Returns a metric's images, with the values that are registered."""
        names = metric.fixed, metric.moving
        fixed, moving = (self._windowed[name].result() for name in names)
        if not self._call.matches_histograms:
            return fixed, moving
        if names not in self._matched:
            with self._times.part("match histograms"):
                self._matched[names] = match_histogram(moving, fixed)
        return fixed, self._matched[names]

    def pairs(self, stage: Stage, see_fixed: Optional[See] = None, see_moving: Optional[See] = None) -> list[Pair]:
        """Returns the prepared images of each of a stage's metrics, with the stage's masks. They stay on the device for the next stage,
        unless the moving images are seen through a transform.

        Args:
            see_fixed, see_moving: return an image and its mask seen through a transform; None: as they are. All stages that see the fixed
                images in one way give the same function.
        """
        made: dict[_Key, Pair] = {}
        keeps = see_moving is None
        keys: list[_Key] = [(metric.fixed, metric.moving, stage.masks, see_fixed) for metric in stage.metrics]
        for metric, key in zip(stage.metrics, keys):
            if key not in made:
                kept = self._kept.get(key) if keeps else None
                made[key] = self._read_pair(stage, metric, see_fixed, see_moving) if kept is None else kept
        # Kept ones that this stage does not compare would take the device's memory, too.
        self._kept = made if keeps else {}
        return [made[key] for key in keys]

    def _read_pair(self, stage: Stage, metric: Metric, see_fixed: Optional[See], see_moving: Optional[See]) -> Pair:
        sides = []
        for image, mask, see in zip(self.prepared(metric), stage.masks, (see_fixed, see_moving)):
            seen = Seen(image, None if mask is None else self._mask(mask, image))
            sides.append(seen if see is None else see(seen))
        fixed, moving = sides
        return _KeptPair(**vars(read_pair(fixed.image, moving.image, fixed.mask, moving.mask, {})))

    def _mask(self, name: str, image: Image) -> Image:
        mask = self.read(name)
        inside = mask.like((mask.array != 0).astype(np.uint8))
        return inside if inside.has_grid_of(image) else resample(inside, None, image, "nearest")
