# SPDX-License-Identifier: Apache-2.0
"""Registers two images: register(), its progress and its result."""

from __future__ import annotations

import math
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Callable, Iterator, Mapping, NamedTuple, Optional, Sequence, Union

import numpy as np

from . import _engine
from ._also import Further, ImagePair, compares_several, read_also
from ._checks import check_progress
from ._composite import Composite, parts_of
from ._devices import borrow_engine
from ._engine import OutOfMemoryError
from ._gpu_arrays import GpuArray
from ._image import Image, engine_map, engine_size, matrix_of_map, shrunk_grid
from ._inverse import InverseErrors, read_errors
from ._kept_fields import download_kept_fields
from ._kinds import ImageLike
from ._paths import PathLike, name_of
from ._plan import plan_pair
from ._resample import read_default, resample_array, warp_loaded
from ._several_devices import DevicesLike, choose_devices, devices_of, list_asked
from ._sides import Pair, read_geometry, read_pair
from ._stage_result import Level, StageResult, all_warnings
from ._syn_options import Halves, SyNOptions
from ._transform_like import as_transform
from ._transforms import Affine, BSpline, DisplacementField, Transform, TransformLike, linear_matrix
from ._vectors import from_volume
from .stages import (
    INVERTING,
    FreeForm,
    Greedy,
    MetricsLike,
    Rigid,
    Stage,
    StagesLike,
    SyN,
    Velocity,
    named,
    read_settings,
    read_stages,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@dataclass(frozen=True)
class Progress:
    """Describes how far a registration is.

    Attributes:
        stage: the number of the current stage, from 0 on.
        name: the stage's name: "rigid", "affine", "global", "ffd", "greedy", "syn" or "velocity".
        level: the part of the stage, such as "4 mm"; for stages that deform the level's number, where 0 is the coarsest.
        iteration: the iteration of that level for stages that deform; None otherwise.
        share: the part of the whole work that is done, 0 to 1.
        stage_share: the part of the stage that is done, 0 to 1.
        levels: the number of levels for stages that deform; None otherwise.
    """

    stage: int
    name: str
    level: str
    iteration: Optional[int]
    share: float
    stage_share: float
    levels: Optional[int]
    _find_cost: Callable[[], float] = field(repr=False, compare=False)

    def find_cost(self) -> Optional[float]:
        """Returns the last known cost: in a linear stage the least cost of the level before, in a stage that deforms the cost before the last
        iteration. There the call waits for the device, so make it rarely. None at the beginning.

        Raises:
            BadInputError: the progress function of a stage that deforms has returned.
        """
        cost = self._find_cost()
        return cost if math.isfinite(cost) else None


class Result:
    """Result of a registration.

    Attributes:
        transform: maps the fixed image's points to the moving image's, in mm. The displacements of "greedy", "syn" and "velocity" stay on the
            device until their `array` is asked for, another registration begins, or release_memory() is called.
        cost: the last stage's cost.
        stages: the result of each stage.
        device: the name of the device that computed; of several, the first one.
        devices: the names of all devices that computed.
        seconds: the time from images in memory to the transform.
        default: the value outside of the moving image.
    """

    def __init__(
        self,
        pair: Pair,
        stages: list[StageResult],
        initial: Optional[Transform],
        devices: list[str],
        seconds: float,
        loaded: Optional[_engine.DeviceArray],
        default: float,
    ) -> None:
        self._pair = pair
        self._loaded = loaded
        self._initial = initial
        self.stages = stages
        self.transform = stages[-1].transform
        self.cost = stages[-1].cost
        self.device = devices[0]
        self.devices = devices
        self.seconds = seconds
        self.default = default

    @cached_property
    def warped(self) -> Any:
        """The moving image on the fixed image's grid, interpolated linearly, with the default outside. It has the kind and the type of the
        moving image, and is grey if that stores grey as colours. The first access computes it, and reads an array on a GPU then."""
        return self._pair.wrap_warped(self._warped_array)

    @cached_property
    def _warped_array(self) -> Any:
        fixed, moving = self._pair.fixed, self._pair.moving
        if self._loaded is not None:
            return warp_loaded(self._loaded, moving, self.transform, fixed, self.device, self.default)
        return resample_array(moving, self.transform, fixed, "linear", self.device, self.default)

    @cached_property
    def displacement_field(self) -> DisplacementField:
        """The displacement of each voxel of the fixed image, in mm, in doubles. If the fixed image is on a GPU, it is an array there, of the
        same library. The first access computes it."""
        return self.transform.to_displacement_field(self._pair.fixed, self.device)

    @cached_property
    def inverse(self) -> Transform:
        """The inverse of the transform: it maps the moving image's points to the fixed image's, in mm. Behind "syn" and "velocity" it is
        the one that the stage has found together with the transform; otherwise the first access computes it: see Transform.inverse()."""
        last = self.stages[-1]
        if last.inverse is not None:
            return last.inverse
        if not isinstance(self.transform, Composite):
            return self.transform.inverse(self._pair.fixed, self.device)
        # The last stage's deformation has the fixed image's grid; what it began with may have another one.
        first, *others = self.transform.transforms
        known = self.stages[-2].inverse if len(self.stages) > 1 else None
        behind = [part.inverse(device=self.device) for part in reversed(others)] if known is None else [known]
        return Composite([*behind, first.inverse(self._pair.fixed, self.device)])

    @property
    def inverse_errors(self) -> list[InverseErrors]:
        """The errors of the inverse of each deformation in the transform, in the inverse's order; empty if the transform is linear."""
        parts = parts_of(self.inverse)
        return [part.inverse_errors for part in parts if isinstance(part, DisplacementField) and part.inverse_errors is not None]

    @property
    def warnings(self) -> list[str]:
        """Sentences that warn of what may have gone wrong in any stage, each once."""
        return all_warnings(self.stages)

    def _release_device_memory(self) -> None:
        """Frees the device's copy of the moving image. Results that need it later upload it again."""
        self._loaded = None

    def write_report(self, path: PathLike, command: str = "", files: Optional[Mapping[str, str]] = None) -> None:
        """Writes one HTML file that shows the images before and after, the deformation and how costs fell. "Before" is the moving image
        after the initial transform.

        Args:
            path: the file's name.
            command: the command line that repeats the registration; the report shows it.
            files: names of the images' files, which the report shows, by argument of register(), such as "fixed".

        Raises:
            OSError: the file cannot be written. A file that is not whole is never left.
        """
        from ._report_data import report_data
        from .report import write_report

        data = report_data(self._pair, self._warped_array, self.stages, self._initial, self.device, command, files, self.default, self.devices)
        write_report(name_of(path), data)

    def __repr__(self) -> str:
        names = ", ".join(stage.name for stage in self.stages)
        warned = f", warnings={self.warnings}" if self.warnings else ""
        where = f"device={self.device!r}" if len(self.devices) == 1 else f"devices={self.devices}"
        return f"Result(stages=[{names}], cost={self.cost:.6g}, {where}, seconds={self.seconds:.3f}{warned})"


def register(
    fixed: ImageLike,
    moving: ImageLike,
    transform: StagesLike = "rigid",
    metric: MetricsLike = None,
    fixed_mask: Optional[ImageLike] = None,
    moving_mask: Optional[ImageLike] = None,
    initial: Optional[TransformLike] = None,
    device: Optional[DevicesLike] = None,
    seed: int = 1,
    progress: Optional[Callable[[Progress], Any]] = None,
    spacing: Optional[ArrayLike] = None,
    origin: Optional[ArrayLike] = None,
    direction: Optional[ArrayLike] = None,
    default: float = 0.0,
    also: Union[None, ImagePair, Sequence[ImagePair]] = None,
) -> Result:
    """Registers two images of two or three dimensions. Images of three dimensions with one slice are registered in two dimensions: the
    transform has two, and the warped image has the fixed image's shape.

    Args:
        fixed, moving: Image, NumPy array, SimpleITK's, ITK's, nibabel's or ANTsPy's image, or an array by DLPack or CUDA's array interface, such
            as CuPy's or PyTorch's: see Image for those on a GPU. Grey images that are stored as colours are taken for grey.
        transform: "rigid", "affine", "global" (affine, from any start), "ffd" (free-form deformation), "greedy", "syn" or
            "velocity" (a displacement for each voxel); a stage of gpuregistration.stages with settings of its
            own; or a list of these, each of which begins with what was found before.
        metric: the metric of the stages that are given by name, such as "correlation_ratio" or "mean_squares": a name for all,
            or a list with one for each stage, in which None leaves a stage its own. See stages.Rigid and stages.FreeForm, which do not
            have all in common. A stage of gpuregistration.stages has its own: its cost, or similarity.
        fixed_mask, moving_mask: images of any kind, of the shapes of the images, with voxels less than half a voxel elsewhere: voxels where they
            are not 0 are compared.
        initial: a transform of this package, of SimpleITK or of ITK, from the fixed image's points to the moving one's: where the
            first stage begins. A linear stage needs a linear one, and ignores the parts for which it has no degrees of freedom; stages that
            deform take any, also a BSpline, a DisplacementField or a Composite, and leave it as it is behind their own deformation. None:
            linear stages lay the centres of mass on each other, the others begin with the identity.
        device: a name such as "cuda:0", "opencl:0" or "host", or one of devices(). None: the GPU that an image's array is on, or
            else the first GPU, or else the host. A list of several devices, such as ["cuda:0", "cuda:1"]: the first one runs every stage, all of
            them together "greedy", in slabs of a volume, which takes less memory of each, and the first two "syn", of which each moves one image. The
            deformation is that of one device. Images are on the host then, and "greedy" has its default similarity and smoothing; there is no
            `also`.
        seed: seeds the random numbers of stages that use some. Two runs with one seed on one device give the same bits.
        progress: called with a Progress after each iteration or batch; may raise to end the work.
        spacing, origin, direction: the places of bare arrays, as Image has them. Where one image is a bare array, and the other one says where its
            voxels are, the array's spacing is needed.
        default: the value of the warped image outside of the moving image; the moving image's type must hold it.
        also: an ImagePair, or a list of them: further images that "ffd", "greedy", "syn" and "velocity" compare at the same time, and linear
            stages where no stage deforms. Other stages compare fixed and moving alone.

    Returns:
        A Result.

    Raises:
        BadInputError: images, masks, settings or names that are not possible, or arrays on another GPU than is to compute; several
            devices for what they do not register together; also a ValueError.
        DeviceError: there is no such device, or it fails; DeviceLostError for good.
        OutOfMemoryError: also a MemoryError; before anything is uploaded, if the device has less memory than plan_registration() says.
        UnsupportedError: an initial transform that a stage cannot begin with, or settings, or images of two dimensions, with which several
            devices do not compute "greedy".
        KeyboardInterrupt: Ctrl-C ends it.
    """
    begin = time.perf_counter()
    check_progress(progress)
    geometry = read_geometry(spacing, origin, direction)
    stages = read_stages(transform, metric)
    pair = read_pair(fixed, moving, fixed_mask, moving_mask, geometry)
    further = read_also(also, pair, stages, geometry, list_asked(device)[0])
    result = register_pair(pair, stages, initial, device, seed, progress, begin, default, further)
    result._release_device_memory()
    return result


def register_pair(
    pair: Pair,
    stages: list[Stage],
    initial: Optional[TransformLike],
    device: Optional[DevicesLike],
    seed: int,
    progress: Optional[Callable[[Progress], Any]] = None,
    begin: Optional[float] = None,
    default: float = 0.0,
    further: Sequence[Further] = (),
    syn_options: Optional[SyNOptions] = None,
) -> Result:
    """Registers a pair that has been read and checked, as register() does. If the moving image has floats, which the device stores
    unchanged, the result keeps them there.

    Args:
        begin: the time.perf_counter() from which seconds are counted; None: now.
        further: pairs that are compared beside this one, by the stages that compare several.
        syn_options: what is asked of stages by SyN, beside their settings.
    """
    begin = time.perf_counter() if begin is None else begin
    # Settings of all stages are checked before the first one runs, which may take long.
    outside = read_default(default, pair.moving.content.dtype)
    settings = read_settings(stages, pair.fixed.spacing.tolist(), seed)
    devices = choose_devices(device, pair, stages, bool(further))
    name, *others = devices
    begin_with = as_transform(initial, pair.dimension, "initial transform") if initial is not None else None
    found = begin_with
    plan_pair(pair, stages, settings, devices, further, begin_with, syn_options).check()
    sides = pair.load(name, keeps_short=True)
    results: list[StageResult] = []
    sides_of_further: list[tuple[_engine.Side, _engine.Side]] = []
    sides_on_others: list[tuple[_engine.Side, _engine.Side]] = []
    for number, stage in enumerate(stages):
        # The plan has no room for what an earlier stage has left on the device.
        download_kept_fields()
        with named(stage):
            reporter = _Reporter(progress, number, len(stages), stage.name)
            given = settings[number], pair, sides, found, name, reporter
            several: dict[str, Any] = {}
            if compares_several(stage, stages):
                sides_of_further = sides_of_further or [one.load(name) for one in further]
                several["further"] = [one.of_sides(stage, its) for one, its in zip(further, sides_of_further)]
            else:
                # The plan has none of them for this stage.
                sides_of_further = []
            if isinstance(stage, (Greedy, SyN)):
                several["before"] = results[-1] if results else None
            if isinstance(stage, SyN):
                several["options"] = syn_options
            computing = devices_of(stage, devices)
            if len(computing) > 1:
                sides_on_others += [pair.load(other, keeps_short=True) for other in others[len(sides_on_others) : len(computing) - 1]]
                several["team"] = _Team(computing, [sides, *sides_on_others[: len(computing) - 1]])
            came_to = _RUNS.get(type(stage), _run_linear)(stage, *given, **several)
        del sides_on_others[max((len(devices_of(one, devices)) for one in stages[number + 1 :]), default=1) - 1 :]
        results.append(came_to)
        found = results[-1].transform
    loaded = sides[1].image if pair.moving.content.dtype.kind == "f" and not isinstance(pair.moving.content, GpuArray) else None
    return Result(pair, results, begin_with, devices, time.perf_counter() - begin, loaded, outside)


class _Reporter:
    """Calls the caller's progress function for one of several stages."""

    def __init__(self, progress: Optional[Callable[[Progress], Any]], stage: int, stages: int, name: str) -> None:
        self._progress = progress
        self._stage = stage
        self._stages = stages
        self._name = name

    def linear(self) -> Optional[Callable[[str, float, float], None]]:
        if self._progress is None:
            return None
        return lambda level, share, cost: self._tell(_level_name(level), None, None, share, lambda: cost)

    def free_form(self) -> Optional[Callable[[int, int, int, float, Callable[[], float]], None]]:
        if self._progress is None:
            return None
        return lambda level, levels, iteration, share, find_cost: self._tell(str(level), levels, iteration, share, find_cost)

    def _tell(
        self, level: str, levels: Optional[int], iteration: Optional[int], share: float, find_cost: Callable[[], float]
    ) -> None:
        assert self._progress is not None
        whole = (self._stage + share) / self._stages
        self._progress(Progress(self._stage, self._name, level, iteration, whole, share, levels, find_cost))


def _level_name(name: str) -> str:
    """Returns the name that users see for the engine's name of a linear stage's part."""
    return "pyramid" if name == "levels" else name


def _run_linear(
    stage: Rigid,
    settings: Any,
    pair: Pair,
    sides: Any,
    found: Optional[Transform],
    device: str,
    reporter: _Reporter,
    further: Sequence[_engine.PairOfSides] = (),
) -> StageResult:
    d = pair.dimension
    begins = None if found is None else engine_map(linear_matrix(found, "transform to begin with"))
    with borrow_engine(_engine.GlobalRegistration, device) as engine:
        result = engine.register(d, sides[0], sides[1], begins, settings, reporter.linear(), list(further))
    return StageResult(
        stage.name,
        stage.metric,
        Affine.from_matrix(matrix_of_map(result.point_map, d), result.centre[:d]),
        result.cost,
        1e-3 * result.milliseconds,
        [_read_level(part) for part in result.stages],
        overlap=result.overlap,
        warnings=list(result.warnings),
    )


def _read_level(part: _engine.GlobalStageResult) -> Level:
    evaluations = part.values + part.derivatives
    # Without evaluations the engine reports no valid cost.
    return Level(_level_name(part.name), 1e-3 * part.milliseconds, [part.cost] if evaluations else [], evaluations)


def _run_free_form(
    stage: FreeForm,
    settings: Any,
    pair: Pair,
    sides: Any,
    found: Optional[Transform],
    device: str,
    reporter: _Reporter,
    further: Sequence[_engine.PairOfSides] = (),
) -> StageResult:
    d = pair.dimension
    begins = _engine.Chain(d) if found is None else found.chain()
    with borrow_engine(_engine.FreeFormRegistration, device) as engine:
        result = engine.register(d, sides[0], sides[1], begins, settings, reporter.free_form(), list(further))
    to_point = matrix_of_map(result.grid_to_point, d)
    spacing = np.linalg.norm(to_point[:-1, :-1], axis=0)
    points = from_volume(result.points, d)
    deformation: Transform = BSpline(points, spacing, to_point[:-1, -1], to_point[:-1, :-1] / spacing)
    return _make_result(stage, deformation, found, result, _find_warnings(result))


class _Team(NamedTuple):
    """Holds the devices that compute a stage together, and the images on each."""

    devices: Sequence[str]
    sides: Sequence[tuple[_engine.Side, _engine.Side]]


@contextmanager
def _lend_dense(device: str, team: Optional[_Team]) -> Iterator[Any]:
    """Lends an engine of one device, or, if there is a team, one of several."""
    if team is not None:
        yield _engine.TeamRegistration(team.devices)
        return
    with borrow_engine(_engine.DiffeomorphicRegistration, device) as engine:
        yield engine


def _run_dense(
    stage: Union[Greedy, SyN],
    settings: Any,
    pair: Pair,
    sides: Any,
    found: Optional[Transform],
    device: str,
    reporter: _Reporter,
    further: Sequence[_engine.PairOfSides] = (),
    before: Optional[StageResult] = None,
    options: Optional[SyNOptions] = None,
    team: Optional[_Team] = None,
) -> StageResult:
    d = pair.dimension
    grid = shrunk_grid(pair.fixed, settings.syn.shrink_factors[-1]) if settings.syn.shrink_factors else pair.fixed
    begins = _engine.Chain(d) if found is None else found.chain()

    def make_field(vectors: Any) -> DisplacementField:
        return DisplacementField(from_volume(np.asarray(vectors), d), grid.spacing, grid.origin, grid.direction)

    back: Optional[DisplacementField] = None
    halves: Optional[Halves] = None
    with _lend_dense(device, team) as engine:
        if team is None:
            asked = {} if options is None else options.arguments()
            result = engine.register(d, sides[0], sides[1], begins, settings, reporter.free_form(), list(further), **asked)
        else:
            assert options is None or not options.arguments(), "several devices take no fixed initial transform"
            result = engine.register(d, team.sides, begins, settings, reporter.free_form())
        if isinstance(stage, INVERTING):
            vectors, errors = engine.take_inverse(engine_size(grid))
            back = make_field(vectors).with_errors(read_errors(errors))
        if options is not None:
            halves = options.take_halves(lambda one: make_field(engine.take_displacements(engine_size(grid), one)))
        # At last, since it takes over an array that these need.
        deformation = make_field(engine.take_displacements(engine_size(grid))) if team is not None else _keep_field(engine, grid, make_field)

    def compute_inverse() -> Transform:
        assert back is not None
        if found is None:
            return back
        known = before.inverse if before is not None else None
        return Composite([found.inverse(device=device) if known is None else known, back])

    return _make_result(stage, deformation, found, result, [], back, compute_inverse, halves)


def _keep_field(engine: Any, grid: Image, make_field: Callable[[Any], DisplacementField]) -> DisplacementField:
    """Returns the deformation of an engine's last registration, whose vectors stay on the device if it has room for them."""
    try:
        return DisplacementField._keep(engine.get_field(engine_size(grid)), grid)
    except OutOfMemoryError:
        return make_field(engine.take_displacements(engine_size(grid)))


def _make_result(
    stage: Union[FreeForm, Greedy, SyN],
    deformation: Transform,
    found: Optional[Transform],
    result: Any,
    warnings: list[str],
    own_inverse: Optional[DisplacementField] = None,
    compute_inverse: Optional[Callable[[], Transform]] = None,
    halves: Optional[Halves] = None,
) -> StageResult:
    """Returns the result of a stage that deforms.

    Args:
        found: the transform behind the deformation; None: there is none.
        result: the engine's result.
        warnings: further ones, beside the engine's.
        own_inverse: the deformation's own inverse; None: it is not known.
        compute_inverse: returns the inverse of the deformation and what is behind it, where own_inverse is known.
        halves: those of SyN that are kept; None: there are none.
    """
    levels = [Level(str(n), 1e-3 * part.milliseconds, part.costs, voxels=part.voxels) for n, part in enumerate(result.levels)]
    # The last level may have no iterations.
    costs = [cost for level in levels for cost in level.costs]
    return StageResult(
        stage.name,
        stage.metric,
        deformation if found is None else Composite([deformation, found]),
        costs[-1] if costs else float("nan"),
        1e-3 * result.milliseconds,
        levels,
        smallest_determinant=result.smallest_determinant,
        warnings=[*result.warnings, *warnings],
        own_inverse=own_inverse,
        _compute_inverse=None if own_inverse is None else compute_inverse,
        _halves=halves,
    )


#: Functions that run a stage, by its class; the other stages are linear.
_RUNS: dict[type, Callable[..., StageResult]] = {FreeForm: _run_free_form, Greedy: _run_dense, SyN: _run_dense, Velocity: _run_dense}


def _find_warnings(result: _engine.FreeFormResult) -> list[str]:
    found = []
    levels = result.levels
    thin = [number for number, level in enumerate(levels) if level.voxels < result.least_voxels]
    if thin:
        fewer = f"levels={max(1, len(levels) - len(thin))} or leave that out, or " if len(levels) > 1 else ""
        found.append(
            f"level {thin[0]} of ffd looks at {levels[thin[0]].voxels} voxels, fewer than {result.least_voxels}, so that what is found may be "
            f"noise; set {fewer}fewer bins, or another similarity"
        )
    if result.smallest_determinant <= 0:
        found.append(
            f"ffd has folded: its Jacobian's determinant falls to {result.smallest_determinant:.3g}; a larger bending_weight, or "
            "jacobian_weight, keeps it from that"
        )
    return found
