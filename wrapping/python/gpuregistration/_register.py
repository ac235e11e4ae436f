# SPDX-License-Identifier: Apache-2.0
"""Registration."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Callable, Optional

import numpy as np

from . import _engine
from ._devices import borrow_engine
from ._image import engine_map, matrix_of_map
from ._resample import resample_array
from ._sides import Pair, read_pair
from ._transforms import Affine, BSpline, Composite, DisplacementField, Transform, as_transform, linear_matrix
from .stages import FreeForm, Rigid, Stage, read_stages


@dataclass(frozen=True)
class Progress:
    """Where a registration is.

    Attributes:
        stage: which of register's stages, from 0 on.
        name: its name: "rigid", "affine", "global" or "ffd".
        level: what it is at: such as "4 mm"; of "ffd" the level's number, of which 0 is the finest.
        iteration: of that level, of "ffd" alone; None otherwise.
        share: of all that is to do, 0 to 1.
        stage_share: of that stage, 0 to 1.
    """

    stage: int
    name: str
    level: str
    iteration: Optional[int]
    share: float
    stage_share: float
    _find_cost: Callable[[], float] = field(repr=False, compare=False)

    def find_cost(self) -> Optional[float]:
        """The last cost that is known: of the linear stages the least at the level before, of "ffd" that before the last iteration,
        for which the device is waited for: ask now and then. None at the begin.

        Raises:
            BadInputError: of "ffd", after the progress function has returned.
        """
        cost = self._find_cost()
        return cost if math.isfinite(cost) else None


@dataclass(frozen=True)
class Level:
    """What a part of a stage came to.

    Attributes:
        name: such as "4 mm"; of "ffd" the level's number, of which 0 is the finest.
        seconds: how long it took.
        costs: of "ffd", before each iteration; of the others the least that was found.
        evaluations: how many values and derivatives were computed; None where that is not counted.
    """

    name: str
    seconds: float
    costs: list[float]
    evaluations: Optional[int] = None


@dataclass(frozen=True)
class StageResult:
    """What a stage came to.

    Attributes:
        name: "rigid", "affine", "global" or "ffd".
        transform: what was found so far, from the fixed image's points to the moving one's.
        cost: the last one.
        seconds: how long it took.
        levels: its parts, in their order.
        overlap: the share of the fixed image that lies in the moving one; None of "ffd".
        smallest_determinant: of "ffd", of the deformation's Jacobian over the control points: below 0 it has folded. None of others.
    """

    name: str
    transform: Transform
    cost: float
    seconds: float
    levels: list[Level] = field(repr=False)
    overlap: Optional[float] = None
    smallest_determinant: Optional[float] = None

    def numbers(self) -> dict[str, Any]:
        """All but the transform, as plain data."""
        return {
            "name": self.name,
            "cost": self.cost,
            "seconds": self.seconds,
            "overlap": self.overlap,
            "smallest_determinant": self.smallest_determinant,
            "levels": [
                {"name": level.name, "seconds": level.seconds, "costs": level.costs, "evaluations": level.evaluations}
                for level in self.levels
            ],
        }


class Result:
    """What a registration came to.

    Attributes:
        transform: from the fixed image's points to the moving one's.
        cost: of the last stage.
        stages: what each stage came to.
        device: the name of the device that computed.
        seconds: how long it took, of images that are in memory.
    """

    def __init__(
        self, pair: Pair, stages: list[StageResult], initial: Optional[Transform], device: str, seconds: float
    ) -> None:
        self._pair = pair
        self._initial = initial
        self.stages = stages
        self.transform = stages[-1].transform
        self.cost = stages[-1].cost
        self.device = device
        self.seconds = seconds

    @cached_property
    def warped(self) -> Any:
        """The moving image on the fixed one's grid, interpolated linearly, 0 outside: of the kind and the type of the moving image.
        Computed when it is asked for first: an array on a GPU is read then."""
        return self._pair.wrap(self._pair.fixed.like(self._warped_array))

    @cached_property
    def _warped_array(self) -> Any:
        fixed, moving = self._pair.fixed, self._pair.moving
        return resample_array(moving, self.transform, fixed, "linear", 0.0, 1, False, self.device, None)

    @cached_property
    def displacement_field(self) -> DisplacementField:
        """The displacement of each of the fixed image's voxels, in mm, in doubles: where the fixed image is on a GPU an array there, of its
        library. Computed when it is asked for first."""
        return self.transform.to_displacement_field(self._pair.fixed, self.device)

    def write_report(self, path: Any, command: str = "") -> None:
        """Writes one HTML file that shows the images before and after, the deformation and how costs fell. "Before" is what the initial
        transform leads to.

        Args:
            path: the file's name.
            command: the command line that repeats the registration, for who reads the report.

        Raises:
            OSError: the file cannot be written; it is there when all of it is.
        """
        from ._report_data import report_data
        from .report import write_report

        write_report(path, report_data(self, command))

    def __repr__(self) -> str:
        names = ", ".join(stage.name for stage in self.stages)
        return f"Result(stages=[{names}], cost={self.cost:.6g}, device={self.device!r}, seconds={self.seconds:.3f})"


def register(
    fixed: Any,
    moving: Any,
    transform: Any = "rigid",
    metric: Optional[str] = None,
    fixed_mask: Any = None,
    moving_mask: Any = None,
    initial: Any = None,
    device: Any = None,
    seed: int = 1,
    progress: Optional[Callable[[Progress], Any]] = None,
    spacing: Any = None,
    origin: Any = None,
    direction: Any = None,
) -> Result:
    """Registers two images of two or three dimensions.

    Args:
        fixed, moving: Image, NumPy array, SimpleITK's, ITK's or nibabel's image, or an array by DLPack or CUDA's array interface, such
            as CuPy's or PyTorch's: see Image for those on a GPU.
        transform: "rigid", "affine", "global" (affine, from any start) or "ffd" (free-form deformation); a stage of
            gpuregistration.stages with settings of its own; or a list of these, each of which begins with what was found before.
        metric: what the stages that are given by name compare images by, such as "correlation_ratio" or "mean_squares": see
            stages.Rigid and stages.FreeForm, which do not have all in common. None: what each has by itself.
        fixed_mask, moving_mask: images of any kind of the same shapes: what is not 0 is looked at.
        initial: a transform of this package, of SimpleITK or of ITK, from the fixed image's points to the moving one's: where the
            first stage begins. A linear stage wants a linear one, and leaves out of it what it has no degrees of freedom for; "ffd"
            takes any, also a BSpline, a DisplacementField or a Composite, and leaves it as it is behind its own deformation. None:
            linear stages lay the centres of mass on each other, "ffd" begins with the identity.
        device: a name such as "cuda:0", "opencl:0" or "host", or one of devices(). None: that of an array on a GPU, or else the default
            one, which is the first GPU, or else the host.
        seed: of random numbers, where a stage uses some. Two runs of one seed on one device give the same bits.
        progress: called with a Progress for each round; may raise to end the work.
        spacing, origin, direction: of bare arrays, as Image has them.

    Returns:
        A Result.

    Raises:
        BadInputError: images, masks, settings or names that are not possible, or arrays on another GPU than is to compute; also a
            ValueError.
        DeviceError: there is no such device, or it fails; DeviceLostError for good.
        OutOfMemoryError: also a MemoryError.
        UnsupportedError: an initial transform that a stage cannot begin with.
        KeyboardInterrupt: Ctrl-C ends it.
    """
    begin = time.perf_counter()
    geometry = {
        name: value for name, value in (("spacing", spacing), ("origin", origin), ("direction", direction)) if value is not None
    }
    stages = read_stages(transform, metric)
    pair = read_pair(fixed, moving, fixed_mask, moving_mask, geometry)
    return register_pair(pair, stages, initial, device, seed, progress, begin)


def register_pair(
    pair: Pair,
    stages: list[Stage],
    initial: Any,
    device: Any,
    seed: int,
    progress: Optional[Callable[[Progress], Any]] = None,
    begin: Optional[float] = None,
) -> Result:
    """register() of what has been read and checked.

    Args:
        begin: of time.perf_counter(), from when on seconds are counted; None: from now on.
    """
    begin = time.perf_counter() if begin is None else begin
    name = pair.choose_device(device)
    begin_with = as_transform(initial, pair.dimension, "initial transform") if initial is not None else None
    found = begin_with
    sides = pair.load(name)
    results: list[StageResult] = []
    for number, stage in enumerate(stages):
        run = _run_free_form if isinstance(stage, FreeForm) else _run_linear
        results.append(run(stage, pair, sides, found, name, seed, _Reporter(progress, number, len(stages), stage.name)))
        found = results[-1].transform
    return Result(pair, results, begin_with, name, time.perf_counter() - begin)


class _Reporter:
    """Tells a caller where one of several stages is."""

    def __init__(self, progress: Optional[Callable[[Progress], Any]], stage: int, stages: int, name: str) -> None:
        self._progress = progress
        self._stage = stage
        self._stages = stages
        self._name = name

    def linear(self) -> Optional[Callable[[str, float, float], None]]:
        return None if self._progress is None else lambda level, share, cost: self._tell(level, None, share, lambda: cost)

    def free_form(self) -> Optional[Callable[[int, int, float, Callable[[], float]], None]]:
        if self._progress is None:
            return None
        return lambda level, iteration, share, find_cost: self._tell(str(level), iteration, share, find_cost)

    def _tell(self, level: str, iteration: Optional[int], share: float, find_cost: Callable[[], float]) -> None:
        assert self._progress is not None
        whole = (self._stage + share) / self._stages
        self._progress(Progress(self._stage, self._name, level, iteration, whole, share, find_cost))


def _run_linear(
    stage: Rigid, pair: Pair, sides: Any, found: Optional[Transform], device: str, seed: int, reporter: _Reporter
) -> StageResult:
    d = pair.dimension
    begins = None if found is None else engine_map(linear_matrix(found, f"transform that the stage {stage.name!r} begins with"))
    with borrow_engine("GlobalRegistration", device) as engine:
        result = engine.register(d, sides[0], sides[1], begins, stage.settings(), reporter.linear())
    return StageResult(
        stage.name,
        Affine.from_matrix(matrix_of_map(result.point_map, d), result.centre[:d]),
        result.cost,
        1e-3 * result.milliseconds,
        [
            Level(part.name, 1e-3 * part.milliseconds, [part.cost], part.values + part.derivatives)
            for part in result.stages
        ],
        overlap=result.overlap,
    )


def _run_free_form(
    stage: FreeForm, pair: Pair, sides: Any, found: Optional[Transform], device: str, seed: int, reporter: _Reporter
) -> StageResult:
    d = pair.dimension
    begins = _engine.Chain(d) if found is None else found.chain()
    with borrow_engine("FreeFormRegistration", device) as engine:
        result = engine.register(d, sides[0], sides[1], begins, stage.settings(d, seed), reporter.free_form())
    to_point = matrix_of_map(result.grid_to_point, d)
    spacing = np.linalg.norm(to_point[:-1, :-1], axis=0)
    points = result.points if d == 3 else np.ascontiguousarray(result.points[0, ..., :2])
    deformation: Transform = BSpline(points, spacing, to_point[:-1, -1], to_point[:-1, :-1] / spacing)
    levels = [
        Level(str(len(result.levels) - 1 - n), 1e-3 * part.milliseconds, part.costs) for n, part in enumerate(result.levels)
    ]
    return StageResult(
        stage.name,
        deformation if found is None else Composite([deformation, found]),
        levels[-1].costs[-1] if levels[-1].costs else float("nan"),
        1e-3 * result.milliseconds,
        levels,
        smallest_determinant=result.smallest_determinant,
    )
