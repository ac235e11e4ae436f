# SPDX-License-Identifier: Apache-2.0
"""Plans what a registration holds on a device, before anything is sent there: plan_registration()."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Optional, Sequence, Union

from . import _engine
from ._also import COMPARE_SEVERAL, Further, ImagePair, compares_several, read_also
from ._devices import DeviceLike, borrow_engine
from ._gpu_arrays import GpuArray
from ._image import Image, engine_map, stays_short
from ._kinds import ImageLike
from ._sides import Mask, Pair, read_geometry, read_pair
from .stages import DEFORMING, FreeForm, Greedy, MetricsLike, Stage, StagesLike, SyN, Velocity, named, read_settings, read_stages

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

# A vector of a deformation that a stage begins with, on the device; and one of the field behind it, which "greedy" makes.
_BYTES_OF_VECTOR, _BYTES_OF_MOVED = 16, 12


@dataclass(frozen=True)
class PlannedLevel:
    """A level of a stage.

    Attributes:
        size: the numbers of voxels of its grid along x, y (and z).
        bytes: the most that are held at once while it runs, those of the images included.
    """

    size: tuple[int, ...]
    bytes: int


@dataclass(frozen=True)
class PlannedStage:
    """A stage of a registration.

    Attributes:
        name: the stage's name.
        levels: in the order in which they run; of a linear stage in that in which their images are made.
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
    """Lists the memory that a registration holds on a device.

    Attributes:
        device: the device's name.
        images: bytes of the images and masks, which are held from the beginning to the end.
        stages: the plan of each stage, in the order in which they run.
        room: bytes of the device's memory that this process can still use, within its limit.
    """

    def __init__(self, device: str, images: int, stages: list[PlannedStage], room: int, engine_plans: Sequence[_engine.MemoryPlan]) -> None:
        self.device = device
        self.images = images
        self.stages = stages
        self.room = room
        self._engine_plans = engine_plans

    @property
    def bytes(self) -> int:
        """The most bytes that are held at once in any stage."""
        return max(stage.bytes for stage in self.stages)

    @property
    def fits(self) -> bool:
        """True if the device has enough memory for it."""
        return self.bytes <= self.room

    def check(self) -> None:
        """Raises OutOfMemoryError, which says how much is missing and what would fit, if the device has too little memory."""
        for stage, plan in zip(self.stages, self._engine_plans):
            if stage.bytes > self.room:
                # The engine's plan does not include the arrays that the stage begins with.
                _engine.check_fits(plan, self.device, self.room - (stage.bytes - plan.bytes))

    def __str__(self) -> str:
        """Returns a table of stages and levels: their grids, their bytes, and their bytes per voxel of the grid."""
        rows = [("stage", "level", "grid", "GiB", "bytes a voxel")]
        for stage in self.stages:
            for number, level in enumerate(stage.levels):
                voxels = math.prod(level.size)
                rows.append((stage.name, str(number), " x ".join(map(str, level.size)), _gibibytes(level.bytes), f"{level.bytes / voxels:.1f}"))
            rows.append((stage.name, "most", "", _gibibytes(stage.bytes), ""))
        widths = [max(len(row[n]) for row in rows) for n in range(5)]
        lines = ["  ".join(text.ljust(width) if n < 3 else text.rjust(width) for n, (text, width) in enumerate(zip(row, widths))) for row in rows]
        verdict = "fits" if self.fits else f"does not fit: {_gibibytes(self.bytes - self.room)} GiB are missing"
        lines.append(f"images {_gibibytes(self.images)} GiB, most {_gibibytes(self.bytes)} GiB; room on {self.device} {_gibibytes(self.room)} GiB: {verdict}")
        for stage in self.stages if not self.fits else []:
            lines += [f"{stage.name}: {what} would hold {_gibibytes(size)} GiB" for what, size in stage.changes.items()]
        return "\n".join(line.rstrip() for line in lines)

    def __repr__(self) -> str:
        names = ", ".join(stage.name for stage in self.stages)
        return f"Plan(stages=[{names}], bytes={self.bytes}, room={self.room}, device={self.device!r})"


def plan_registration(
    fixed: ImageLike,
    moving: ImageLike,
    transform: StagesLike = "rigid",
    metric: MetricsLike = None,
    fixed_mask: Optional[ImageLike] = None,
    moving_mask: Optional[ImageLike] = None,
    device: Optional[DeviceLike] = None,
    spacing: Optional[ArrayLike] = None,
    origin: Optional[ArrayLike] = None,
    direction: Optional[ArrayLike] = None,
    also: Union[None, ImagePair, Sequence[ImagePair]] = None,
) -> Plan:
    """Plans what register() would hold on a device, level by level, without sending anything there. register() makes the same plan, and
    raises what Plan.check() raises. An image that has outliers, of which a stage makes a copy, is counted as one without.

    Args:
        fixed, moving, transform, metric, fixed_mask, moving_mask, device, spacing, origin, direction, also: as of register().

    Returns:
        A Plan.

    Raises:
        BadInputError: as register() does.
        DeviceError: there is no such device.
    """
    geometry = read_geometry(spacing, origin, direction)
    stages = read_stages(transform, metric)
    pair = read_pair(fixed, moving, fixed_mask, moving_mask, geometry)
    further = read_also(also, pair, stages, geometry, device)
    return plan_pair(pair, stages, read_settings(stages, pair.fixed.spacing.tolist(), 1), pair.choose_device(device), further)


def plan_pair(
    pair: Pair, stages: Sequence[Stage], settings: Sequence[Any], device: str, further: Sequence[Further] = ()
) -> Plan:
    """Plans the registration of a pair that has been read.

    Args:
        settings: each stage's settings, as the engine takes them.
        further: pairs that are compared beside this one, by the stages that compare several.
    """
    sides = _plan_sides(pair, device)
    planned, plans = [], []
    begins = 0  # vectors of the deformation that a stage begins with
    for stage, its in zip(stages, settings):
        with named(stage):
            compared = further if compares_several(stage, stages) else ()
            plan = _plan_stage(stage, its, pair, sides, device, compared)
        extra = _count_start(stage, begins, int(pair.fixed.content.size))
        levels = [PlannedLevel(tuple(level.size[: pair.dimension]), level.bytes + extra) for level in plan.levels]
        changes = {change.what: change.bytes + extra for change in plan.changes}
        planned.append(PlannedStage(stage.name, levels, plan.bytes + extra, {one.name: one.bytes for one in plan.arrays}, changes))
        plans.append(plan)
        if isinstance(stage, DEFORMING) and not isinstance(stage, FreeForm):
            begins += int(pair.fixed.content.size)
    images = plans[0].images
    return Plan(device, images, planned, _engine.get_available_memory(device), plans)


def _count_start(stage: Stage, vectors: int, voxels: int) -> int:
    """Returns the bytes of what a stage begins with.

    Args:
        vectors: the number of vectors in the deformations that the stages before have found.
        voxels: the number of voxels of the fixed image.
    """
    if vectors == 0 or not isinstance(stage, DEFORMING):
        return 0
    moves = isinstance(stage, Greedy) and not isinstance(stage, Velocity)
    return _BYTES_OF_VECTOR * vectors + (_BYTES_OF_MOVED * voxels if moves else 0)


def _plan_sides(pair: Pair, device: str) -> tuple[_engine.PlannedSide, _engine.PlannedSide]:
    return (_plan_side(pair.fixed, pair.fixed_mask, device), _plan_side(pair.moving, pair.moving_mask, device))


def _plan_side(image: Image, mask: Optional[Mask], device: str) -> _engine.PlannedSide:
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
    return _engine.PlannedSide(device, kind, tuple(content.shape), mask is not None, engine_map(image.index_to_point), is_held, holds_mask)


def _plan_stage(
    stage: Stage, settings: Any, pair: Pair, sides: tuple[_engine.PlannedSide, _engine.PlannedSide], device: str, further: Sequence[Further]
) -> _engine.MemoryPlan:
    d = pair.dimension
    if isinstance(stage, FreeForm):
        with borrow_engine(_engine.FreeFormRegistration, device) as engine:
            return engine.plan(d, *sides, _engine.Chain(d), settings)
    pairs = []
    for one in further:
        similarity, weight, fixed_range, moving_range = one.settings(stage)
        pairs.append(_engine.PlannedPair(*_plan_sides(one.pair, device), similarity, weight, fixed_range, moving_range))
    kind: Any = _engine.DiffeomorphicRegistration if isinstance(stage, COMPARE_SEVERAL) else _engine.GlobalRegistration
    with borrow_engine(kind, device) as engine:
        return engine.plan(d, *sides, settings, pairs)


def _gibibytes(size: int) -> str:
    return f"{size / 2**30:.2f}" if size >= 2**27 else f"{size / 2**30:.4f}"
