# SPDX-License-Identifier: Apache-2.0
"""Plans what a registration holds on a device, before anything is sent there: plan_registration()."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Optional, Sequence, Union

from . import _engine
from ._also import Further, ImagePair, compares_several, read_also
from ._devices import borrow_engine
from ._gpu_arrays import GpuArray
from ._image import Image, engine_map, stays_short
from ._kept_fields import download_kept_fields
from ._kinds import ImageLike
from ._several_devices import DevicesLike, choose_devices, devices_of_each, list_asked
from ._sides import Mask, Pair, read_geometry, read_pair
from ._syn_options import SyNOptions
from ._transform_like import as_transform
from ._transforms import Transform, TransformLike
from .stages import DEFORMING, FreeForm, Greedy, MetricsLike, Stage, StagesLike, named, read_settings, read_stages
from .stages.dense import Dense

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

# A vector of a deformation that a stage begins with, on the device; and one of the field behind it, which "greedy" makes.
_BYTES_OF_VECTOR, _BYTES_OF_MOVED = 16, 12
# Copies of images without outliers, and what is made of them, take less than that many times what is held without them, whatever the
# device.
_MOST_WITH_COPIES = 8


@dataclass(frozen=True)
class PlannedLevel:
    """A level of a stage.

    Attributes:
        size: the numbers of voxels of its grid along x, y (and z); where several devices cut a level, of the planes that the device holds.
        bytes: the most that are held at once while it runs, those of the images included.
    """

    size: tuple[int, ...]
    bytes: int


@dataclass(frozen=True)
class PlannedStage:
    """A stage of a registration.

    Attributes:
        name: the stage's name.
        levels: the coarsest first, which is level 0.
        bytes: the most that are held at once; of a linear stage without the sums of the poses that it evaluates at once: at most 128 MiB
            a level on a GPU, of four levels, and little on the host.
        arrays: the bytes that are held then, by name, the largest first.
        changes: bytes that would be held, by what would be changed, in the order in which that is to be tried.
    """

    name: str
    levels: list[PlannedLevel]
    bytes: int
    arrays: dict[str, int]
    changes: dict[str, int]


class Plan:
    """Lists the memory that a registration holds on a device, or, of several devices, on the first one.

    Attributes:
        device: the device's name.
        images: bytes of the images and masks, which are held from the beginning to the end.
        stages: the plan of each stage that the device computes, in the order in which they run.
        room: bytes of the device's memory that this process can still use, within its limit.
        others: the plans of further devices that compute a stage, in their order. They hold images from the first of their stages to the
            last.
    """

    def __init__(
        self,
        device: str,
        images: int,
        stages: list[PlannedStage],
        room: int,
        together: Sequence[_Held],
        others: Sequence[Plan] = (),
    ) -> None:
        self.device = device
        self.images = images
        self.stages = stages
        self.room = room
        self.others = list(others)
        # This lists what is held on the device during each stage: more than the stage holds, if the device is named again.
        self._together = together

    @property
    def bytes(self) -> int:
        """The most bytes that are held on the device at once in any stage."""
        return max(stage.bytes for stage in self.stages)

    @property
    def fits(self) -> bool:
        """True if the device has enough memory for it, and each of the others has."""
        return self._missing <= 0 and all(other.fits for other in self.others)

    @property
    def _missing(self) -> int:
        """The bytes that are missing on the device; 0 or less if it has enough memory."""
        return max(held.bytes for held in self._together) - self.room

    def check(self) -> None:
        """Raises OutOfMemoryError, which says how much is missing and what would fit, if a device has too little memory."""
        for held in self._together:
            where = self.device if held.parts == 1 else f"{self.device}, which has {held.parts} parts"
            _engine.check_fits(held.bytes, list(held.changes.items()), where, self.room)
        for other in self.others:
            other.check()

    def __str__(self) -> str:
        """Returns a table of stages and levels, for each device: their grids, their bytes, and their bytes per voxel of the grid."""
        if not self.others:
            return self._table()
        return "\n\n".join(f"{plan.device}:\n{plan._table()}" for plan in (self, *self.others))

    def _table(self) -> str:
        rows = [("stage", "level", "grid", "GiB", "bytes a voxel")]
        for stage in self.stages:
            for number, level in enumerate(stage.levels):
                voxels = math.prod(level.size)
                rows.append((stage.name, str(number), " x ".join(map(str, level.size)), _gibibytes(level.bytes), f"{level.bytes / voxels:.1f}"))
            rows.append((stage.name, "most", "", _gibibytes(stage.bytes), ""))
        widths = [max(len(row[n]) for row in rows) for n in range(5)]
        lines = ["  ".join(text.ljust(width) if n < 3 else text.rjust(width) for n, (text, width) in enumerate(zip(row, widths))) for row in rows]
        verdict = "fits" if self._missing <= 0 else f"does not fit: {_gibibytes(self._missing)} GiB are missing"
        lines.append(f"images {_gibibytes(self.images)} GiB, most {_gibibytes(self.bytes)} GiB; room on {self.device} {_gibibytes(self.room)} GiB: {verdict}")
        for stage, held in zip(self.stages, self._together) if self._missing > 0 else []:
            parts = "" if held.parts == 1 else f" by all {held.parts} parts on {self.device}"
            lines += [f"{stage.name}: {what} would hold {_gibibytes(size)} GiB{parts}" for what, size in held.changes.items()]
        return "\n".join(line.rstrip() for line in lines)

    def __repr__(self) -> str:
        names = ", ".join(stage.name for stage in self.stages)
        others = f", others={self.others}" if self.others else ""
        return f"Plan(stages=[{names}], bytes={self.bytes}, room={self.room}, device={self.device!r}{others})"


def plan_registration(
    fixed: ImageLike,
    moving: ImageLike,
    transform: StagesLike = "rigid",
    metric: MetricsLike = None,
    fixed_mask: Optional[ImageLike] = None,
    moving_mask: Optional[ImageLike] = None,
    device: Optional[DevicesLike] = None,
    spacing: Optional[ArrayLike] = None,
    origin: Optional[ArrayLike] = None,
    direction: Optional[ArrayLike] = None,
    also: Union[None, ImagePair, Sequence[ImagePair]] = None,
    initial: Optional[TransformLike] = None,
) -> Plan:
    """Plans what register() would hold on a device, level by level, without sending anything there. register() makes the same plan, and
    raises what Plan.check() raises.

    A stage registers an image that has outliers by a copy without them, of 4 bytes a voxel, or 8 for doubles. The plan counts it, except
    for an array on a GPU, whose values it does not read, or an image without values: a stage then raises the same error when it has looked
    at the values, before it copies them.

    Args:
        fixed, moving, transform, metric, fixed_mask, moving_mask, device, spacing, origin, direction, also, initial: as of register().
            Images that there are not yet may be arrays of one value, numpy.broadcast_to(numpy.uint8(0), shape), of which the shape and the
            type alone count.

    Returns:
        A Plan.

    Raises:
        BadInputError: as register() does.
        DeviceError: there is no such device.
        UnsupportedError: as register() does, of several devices.
    """
    geometry = read_geometry(spacing, origin, direction)
    stages = read_stages(transform, metric)
    pair = read_pair(fixed, moving, fixed_mask, moving_mask, geometry, needs_values=False)
    further = read_also(also, pair, stages, geometry, list_asked(device)[0], needs_values=False)
    devices = choose_devices(device, [pair, *(one.pair for one in further)], stages)
    begins = None if initial is None else as_transform(initial, pair.dimension, "initial transform")
    return plan_pair(pair, stages, read_settings(stages, pair.fixed.spacing.tolist(), 1), devices, further, begins)


def plan_pair(
    pair: Pair,
    stages: Sequence[Stage],
    settings: Sequence[Any],
    devices: Sequence[str],
    further: Sequence[Further] = (),
    initial: Optional[Transform] = None,
    syn_options: SyNOptions = SyNOptions(),
) -> Plan:
    """Plans the registration of a pair that has been read.

    Args:
        settings: each stage's settings, as the engine takes them.
        devices: those that register together, the first one first.
        further: pairs that are compared beside this one, by the stages that compare several.
        initial, syn_options: as of register_pair().
    """
    # They leave the device before the registration begins.
    download_kept_fields(devices)
    start = _Start(pair.dimension, initial, syn_options)
    all_devices = [_OnDevice(device) for device in devices]
    begins = 0  # vectors of the deformation that a stage begins with
    computing = devices_of_each(stages, devices, pair.dimension, further)
    for number, (stage, its) in enumerate(zip(stages, settings)):
        with named(stage):
            compared = further if compares_several(stage, stages) else ()
            plans = _plan_stage(stage, its, pair, computing[number], compared, start)
        for one, plan in zip(all_devices, plans):
            extra = _count_start(stage, begins, 0 if start.deforms else math.prod(plan.levels[-1].size))
            levels = [PlannedLevel(tuple(level.size[: pair.dimension]), level.bytes + extra) for level in plan.levels]
            if not isinstance(stage, DEFORMING):
                # The engine has them in the order in which their images are made, each of the finer one's.
                levels.reverse()
            changes = {change.what: change.bytes + extra for change in plan.changes}
            arrays = {array.name: array.bytes for array in plan.arrays}
            one.images = plan.images if not one.stages else one.images
            one.stages[number] = PlannedStage(stage.name, levels, plan.bytes + extra, arrays, changes)
        if isinstance(stage, Dense):
            begins += int(pair.fixed.content.size)
    on_devices = [one for one in all_devices if one.stages]  # the last ones may have no stage
    others = [one.make_plan(on_devices) for one in on_devices[1:]]
    return on_devices[0].make_plan(on_devices, others)


def check_pair(
    pair: Pair,
    stages: Sequence[Stage],
    settings: Sequence[Any],
    devices: Sequence[str],
    further: Sequence[Further],
    initial: Optional[Transform],
    syn_options: SyNOptions,
) -> None:
    """Raises what Plan.check() does of the plan that plan_pair() makes. To look for outliers takes as long as a part of a small
    registration: where there is much more memory than is needed, their copies are not counted."""
    without_outliers = [replace(one, pair=_without_extents(one.pair)) for one in further]
    plan = plan_pair(_without_extents(pair), stages, settings, devices, without_outliers, initial, syn_options)
    if any(_MOST_WITH_COPIES * one.bytes > one.room for one in (plan, *plan.others)):
        plan = plan_pair(pair, stages, settings, devices, further, initial, syn_options)
    plan.check()


def _without_extents(pair: Pair) -> Pair:
    return replace(pair, extents=(None, None))


class _Start:
    """Holds the transforms that stages which deform begin with, as the engine takes them."""

    def __init__(self, dimension: int, initial: Optional[Transform], syn_options: SyNOptions) -> None:
        # A linear one takes no memory.
        self.deforms = initial is not None and initial.matrix_of() is None
        self.chain = initial.chain() if initial is not None and self.deforms else _engine.Chain(dimension)
        self._options = syn_options

    def arguments_of(self, stage: Stage) -> dict[str, Any]:
        """Returns what a stage's plan takes beside the chain, by its names."""
        return self._options.of(stage).arguments()


@dataclass(frozen=True)
class _Held:
    """Adds up what parts of a registration hold on one device during a stage.

    Attributes:
        bytes: what they hold.
        changes: what they would hold, by the changes that each of them may have.
        parts: how many they are.
    """

    bytes: int
    changes: dict[str, int]
    parts: int = 1

    def __add__(self, other: _Held) -> _Held:
        changes = {what: size + other.changes[what] for what, size in self.changes.items() if what in other.changes}
        return _Held(self.bytes + other.bytes, changes, self.parts + other.parts)


class _OnDevice:
    """Holds what one of several devices computes: its stages by their numbers, and the bytes of its images."""

    def __init__(self, device: str) -> None:
        self.device = device
        self.stages: dict[int, PlannedStage] = {}
        self.images = 0

    def make_plan(self, on_devices: Sequence[_OnDevice], others: Sequence[Plan] = ()) -> Plan:
        """Returns the plan of what this device holds. A device that is named several times has several parts, whose bytes are added up.

        Args:
            on_devices: this one and the others, that is all parts of the registration.
            others: the plans of the others, which the plan of the first device lists.
        """
        again = [one for one in on_devices if one is not self and one.device == self.device]
        together = []
        for number, stage in self.stages.items():
            held = _Held(stage.bytes, stage.changes)
            for one in again:
                held = one._add_to(held, number)
            together.append(held)
        room = _engine.get_available_memory(self.device)
        return Plan(self.device, self.images, list(self.stages.values()), room, together, others)

    def _add_to(self, held: _Held, number: int) -> _Held:
        """Returns what is held together with this part during a stage, which this part may not compute."""
        if number in self.stages:
            return held + _Held(self.stages[number].bytes, self.stages[number].changes)
        # No change is regarded for images that only wait for their next stage.
        images = self.images if min(self.stages) < number < max(self.stages) else 0
        return held + _Held(images, dict.fromkeys(held.changes, images)) if images > 0 else held


def _count_start(stage: Stage, vectors: int, voxels: int) -> int:
    """Returns the bytes of what a stage begins with.

    Args:
        vectors: the number of vectors in the deformations that the stages before have found.
        voxels: the number of voxels of the last level's grid; 0 if the field on that grid is counted already.
    """
    if vectors == 0 or not isinstance(stage, DEFORMING):
        return 0
    return _BYTES_OF_VECTOR * vectors + (_BYTES_OF_MOVED * voxels if isinstance(stage, Greedy) else 0)


def _plan_sides(pair: Pair, device: str) -> tuple[_engine.PlannedSide, _engine.PlannedSide]:
    fixed, moving = pair.ranges
    return (_plan_side(pair.fixed, pair.fixed_mask, device, fixed), _plan_side(pair.moving, pair.moving_mask, device, moving))


def _plan_side(image: Image, mask: Optional[Mask], device: str, outliers: Optional[list[float]]) -> _engine.PlannedSide:
    content = image.content
    is_uploaded = device != "host"
    if isinstance(content, GpuArray):
        # Floats and doubles are read where they are; other numbers are converted to floats there.
        is_real = content.dtype.kind == "f"
        kind, is_held = content.dtype.name if is_real else "float32", not is_real
    else:
        is_double = content.dtype.kind == "f" and content.dtype.itemsize == 8
        kind = content.dtype.name if stays_short(content) else "float64" if is_double else "float32"
        is_held = is_uploaded
    holds_mask = mask is not None and (is_uploaded or isinstance(mask, GpuArray))
    grid = engine_map(image.index_to_point)
    return _engine.PlannedSide(device, kind, tuple(content.shape), mask is not None, grid, is_held, holds_mask, outliers)


def _plan_stage(
    stage: Stage, settings: Any, pair: Pair, devices: Sequence[str], further: Sequence[Further], start: _Start
) -> list[_engine.MemoryPlan]:
    """Returns the engine's plan of a stage for each device that computes it."""
    d = pair.dimension
    if len(devices) > 1:
        engines = _engine.TeamRegistration(devices)
        try:
            sides_of_devices = [(*_plan_sides(pair, device), _plan_further(stage, further, device)) for device in devices]
            return engines.plan(d, sides_of_devices, start.chain, settings)
        finally:
            engines.give_back()
    (device,) = devices
    sides, pairs = _plan_sides(pair, device), _plan_further(stage, further, device)
    if not isinstance(stage, DEFORMING):
        with borrow_engine(_engine.GlobalRegistration, device) as engine:
            return [engine.plan(d, *sides, settings, pairs)]
    kind: Any = _engine.FreeFormRegistration if isinstance(stage, FreeForm) else _engine.DiffeomorphicRegistration
    with borrow_engine(kind, device) as engine:
        return [engine.plan(d, *sides, start.chain, settings, pairs, **start.arguments_of(stage))]


def _plan_further(stage: Any, further: Sequence[Further], device: str) -> list[_engine.PlannedPair]:
    """Describes further pairs on a device as a stage compares them."""
    pairs = []
    for one in further:
        similarity, weight, fixed_range, moving_range = one.settings(stage)
        fixed_range, moving_range = (found if given is None else given for found, given in zip(one.pair.ranges, (fixed_range, moving_range)))
        pairs.append(_engine.PlannedPair(*_plan_sides(one.pair, device), similarity, weight, fixed_range, moving_range))
    return pairs


def _gibibytes(size: int) -> str:
    return f"{size / 2**30:.2f}" if size >= 2**27 else f"{size / 2**30:.4f}"
