# SPDX-License-Identifier: Apache-2.0
"""Runs what a command line of antsRegistration asks for."""

from __future__ import annotations

import re
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Callable, Iterator, Optional, Sequence

import numpy as np

from .. import stages
from .._affine import Affine
from .._composite import parts_of
from .._devices import DeviceLike, choose_device
from .._engine import BadInputError, OutOfMemoryError, UnsupportedError
from .._image import Image, shrunk_grid
from .._register import register_pair
from .._sides import Pair
from .._stage_result import StageResult
from .._start import start_device
from .._syn_options import Halves, SyNOptions
from .._transforms import DisplacementField, Transform
from ..command.times import Times
from ..stages import Stage as AnyStage
from .call_images import CallImages, Read, See
from .diagnostics import Log, describe_stage
from .initial import Beginnings, begin, list_kinds
from .levels import (
    compute_factors,
    list_weights,
    make_first_stages,
    make_flat_spline,
    make_free_form_stage,
    make_further,
    make_linear_stage,
    make_syn_stage,
)
from .limits import check_sizes
from .other_formats import check_dimension
from .parts import LINEAR_FORM, Part, compose, compose_inverses, grid_of, group, linear_part, matrix_of_parts, merge, takes_place_of
from .registration_call import RegistrationCall
from .registration_stages import DEFORMING, Stage
from .seen import FixedSide, Seen, see_on_grid, see_through

# Degrees of freedom: that a matrix turns by, but for rounding.
_ROUNDING = 1e-6
# Errors of the engine begin with the name of a stage of this package.
_ENGINES_NAME = re.compile(rf"^({'|'.join(one.name for one in (stages.SyN, stages.FreeForm, stages.Rigid, stages.Affine))}): ")
# These functions make the stages that deform; the others are linear.
_MAKERS: dict[str, Callable[[Stage, Image], AnyStage]] = {"SyN": make_syn_stage, "BSpline": make_free_form_stage}


@dataclass
class Registered:
    """The result of a registration.

    Attributes:
        parts: its transforms.
        initial, initial_fixed: the parts to the moving image, and those of the fixed image, that were computed from images before the first
            stage.
        fixed, moving: the images of the first metric, with their own values.
        device: the name of the device that computed.
        warnings: sentences on what may have gone wrong.
        halves: those of the last stage, where a state is saved and that stage is SyN; else None.
    """

    parts: list[Part]
    initial: list[Part]
    initial_fixed: list[Part]
    fixed: Image
    moving: Image
    device: str
    warnings: list[str]
    halves: Optional[Halves] = None

    @property
    def transform(self) -> Transform:
        """The map from the fixed image's points to the moving image's."""
        return compose(self.parts)

    @property
    def inverse(self) -> Optional[Transform]:
        """The map from the moving image's points to the fixed image's; None if a part has no inverse."""
        return compose_inverses(self.parts)


def register(
    call: RegistrationCall, begins: Beginnings, read: Read, log: Log, device: Optional[DeviceLike] = None, times: Optional[Times] = None
) -> Registered:
    """Registers.

    Args:
        call: the command line.
        begins: the transforms that the registration begins with.
        read: reads an image by its name.
        log: takes the lines of --verbose.
        times: counts the parts' seconds.

    Raises:
        BadInputError: a file or an image is not possible.
        Elsewhere: an image has too few voxels for what is asked.
    """
    began = time.perf_counter()
    times = Times() if times is None else times

    def start() -> str:
        with times.part("start device"):
            name = choose_device(device)
            start_device(name, make_first_stages(call.stages))
        return name

    with times.part("read, prepare and start"), ThreadPoolExecutor(1) as pool:
        starting = pool.submit(start)
        images = CallImages(call, read, times)
        for path in (call.warped, call.inverse_warped):
            check_dimension(path, images.dimension)
        parts, of_fixed = (begin(some, images.dimension, images.read) for some in (begins.moving, begins.fixed))
        check_sizes(call.stages, images)
        if call.collapses:
            _check_grids(call, begins, images)
        initial, initial_fixed = ([part for part in some if part.name == "Initial"] for some in (parts, of_fixed))
        name = starting.result()
    work = _Work(call, images, name, FixedSide(compose(of_fixed), name) if of_fixed else None)
    warnings: list[str] = []
    halves: Optional[Halves] = None
    for number, stage in enumerate(call.stages):
        log(f"Stage {number}")
        log(f"  iterations = {'x'.join(map(str, stage.iterations))}")
        log(f"  convergence threshold = {stage.threshold:g}")
        log(f"  convergence window size = {stage.window}")
        log(f"  number of levels = {len(stage.iterations)}")
        log(f"*** Running {stage.transform} registration ***")
        before = time.perf_counter() - began
        label = f"stage {number} {stage.transform}"
        with times.part(label), _named(stage):
            part, result = _run(stage, parts, work)
            if call.merges and parts and takes_place_of(stage.transform, parts[-1].kind):
                part = merge(parts.pop(), part)
        parts.append(part)
        halves = None if result is None else result._halves
        if result is not None:
            times.seconds[f"{label}, registering"] = result.seconds
            warnings += [text for text in result.warnings if text not in warnings]
            for line in describe_stage(number, result, stage.window, before):
                log(line)
    log(f"Total elapsed time: {time.perf_counter() - began:.4e}")
    first = call.stages[0].metric
    return Registered(parts, initial, initial_fixed, images.read(first.fixed), images.read(first.moving), name, warnings, halves)


@contextmanager
def _named(stage: Stage) -> Iterator[None]:
    """Adds the stage to the messages of errors that are raised inside, in place of the engine's name of it."""
    try:
        yield
    except (BadInputError, UnsupportedError, OutOfMemoryError) as error:
        raise type(error)(f"{stage.given['transform']} in stage {stage.number}: {_ENGINES_NAME.sub('', str(error))}") from error


def _check_grids(call: RegistrationCall, begins: Beginnings, images: CallImages) -> None:
    """Checks that displacements of which one field is to be made have the same grid, before any of them is found."""
    grids: list[Optional[Image]] = []
    for one in begins.moving:
        own: list[Optional[Transform]] = [None] if one.parts is None else [part.transform for part in one.parts]
        grids += [grid_of(transform) if isinstance(transform, DisplacementField) else None for transform in own]
    for stage in call.stages:
        fixed = images.read(stage.metric.fixed)
        grids.append(shrunk_grid(fixed, compute_factors(fixed, stage.shrink_factors[-1])) if stage.transform == "SyN" else None)
    for numbers in group(list_kinds(call, begins)):
        together = [grid for grid in (grids[number] for number in numbers) if grid is not None]
        if any(not grid.has_grid_of(together[0]) for grid in together[1:]):
            raise BadInputError(
                "-z/--collapse-output-transforms 1: displacements of stages or files behind each other are on different grids, and cannot become one "
                "field; expected -z 0, or the same last shrink factor and the same grid for all of them"
            )


@dataclass(frozen=True)
class _Work:
    """Holds what all stages of a call share: its images, the name of the device, and the fixed image's own transform, or None."""

    call: RegistrationCall
    images: CallImages
    device: str
    fixed_side: Optional[FixedSide]


def _run(stage: Stage, parts: list[Part], work: _Work) -> tuple[Part, Optional[StageResult]]:
    """Runs a stage. Returns what it adds to the parts before it, and its result; None if it has no iterations."""
    d = work.images.dimension
    if stage.transform == "BSpline" and not any(stage.iterations):
        return Part(stage.transform, make_flat_spline(stage, work.images.read(stage.metric.fixed)), None), None
    if stage.transform in DEFORMING:
        result = _deform(stage, _join(parts, d), work)
        own = parts_of(result.transform)[0]
        return Part(stage.transform, own, result.own_inverse), result
    if not any(stage.iterations):
        return linear_part(stage.transform, Affine(np.eye(d))), None
    # The stage's map is applied before all parts. It is one with the linear ones that are next to it; the moving images are seen through
    # others.
    deformed = max((n for n, part in enumerate(parts, 1) if part.kind.form != LINEAR_FORM), default=0)
    before = matrix_of_parts(parts[deformed:], d)
    see_fixed = None if work.fixed_side is None else work.fixed_side.see
    if _can_begin_with(stage.degrees, before[:-1, :-1]):
        pairs = work.images.pairs(stage, see_fixed, _through(parts[:deformed], work.device))
        result = _register(stage, pairs, Affine.from_matrix(before), work)
        matrix = np.linalg.inv(before) @ _affine(result).matrix_of()
        return linear_part(stage.transform, Affine.from_matrix(matrix, _affine(result).center)), result
    # The stage has fewer degrees of freedom than what it begins with: the moving images are seen through that, too.
    result = _register(stage, work.images.pairs(stage, see_fixed, _through(parts, work.device)), Affine(np.eye(d)), work)
    return linear_part(stage.transform, _affine(result)), result


def _through(parts: Sequence[Part], device: str) -> Optional[See]:
    """Returns what sees moving images through parts; None if there are none."""
    return partial(see_through, transform=compose(parts), device=device) if parts else None


def _join(parts: Sequence[Part], dimension: int) -> Transform:
    """Returns all parts as one transform, linear ones as one matrix."""
    if all(part.kind.form == LINEAR_FORM for part in parts):
        return Affine.from_matrix(matrix_of_parts(parts, dimension))
    return compose(parts)


def _deform(stage: Stage, before: Transform, work: _Work) -> StageResult:
    """Runs a stage that deforms. before: the map to begin with."""
    side = work.fixed_side
    if stage.transform == "SyN":
        keeps_halves = work.call.saved_state is not None and stage is work.call.stages[-1]
        options = SyNOptions(None if side is None else side.transform, keeps_halves, may_rest=True)
        return _register(stage, work.images.pairs(stage), before, work, options)
    return _register(stage, work.images.pairs(stage, _see_on_first_grid(stage, work)), before, work)


def _see_on_first_grid(stage: Stage, work: _Work) -> Optional[See]:
    """Returns what sees the fixed images of a stage BSpline, on whose grid the deformation is: that of the first metric, also where it has no
    weight. None: as they are."""
    side = work.fixed_side
    grid = work.images.read(stage.metric.fixed)
    if work.images.read(stage.compared[0].fixed).has_grid_of(grid):
        return None if side is None else side.see_on_own_grid
    transform = Affine(np.eye(grid.dimension)) if side is None else side.transform
    return partial(see_on_grid, transform=transform, grid=grid, device=work.device)


def _register(stage: Stage, pairs: Sequence[Pair], before: Transform, work: _Work, options: SyNOptions = SyNOptions()) -> StageResult:
    """Registers the images of the metrics that a stage compares.

    Args:
        pairs: the images of each of them.
        before: the map to begin with.
        options: what else is asked of a stage SyN.
    """
    make = _MAKERS.get(stage.transform, make_linear_stage)
    weighed = zip(stage.compared, list_weights(stage.compared), pairs)
    further = [make_further(*one, number) for number, one in enumerate(weighed, 1)][1:]
    asked = make(stage, _see_grid(stage, pairs[0], work))
    return register_pair(pairs[0], [asked], before, work.device, work.call.seed, further=further, syn_options=options).stages[-1]


def _see_grid(stage: Stage, first: Pair, work: _Work) -> Image:
    """Returns an image on the grid of the first metric's fixed image, as the stage sees it. first: the first pair that the stage compares."""
    if stage.compared[0] is stage.metric:
        return first.fixed
    fixed = work.images.read(stage.metric.fixed)
    if work.fixed_side is None or stage.transform in DEFORMING:
        return fixed
    return work.fixed_side.see(Seen(fixed, None)).image


def _affine(result: StageResult) -> Affine:
    assert isinstance(result.transform, Affine)
    return result.transform


def _can_begin_with(degrees: str, matrix: np.ndarray) -> bool:
    """Tells whether a linear stage can keep what it begins with, of that matrix. degrees: the transform that has its degrees of freedom."""
    if degrees == "Translation":
        return bool(np.abs(matrix - np.eye(len(matrix))).max() < _ROUNDING)
    square = matrix.T @ matrix
    scale = float(np.trace(square)) / len(square)
    is_similarity = np.abs(square - scale * np.eye(len(square))).max() < _ROUNDING * scale and np.linalg.det(matrix) > 0
    return degrees == "Affine" or (is_similarity and (degrees == "Similarity" or abs(scale - 1) < _ROUNDING))
