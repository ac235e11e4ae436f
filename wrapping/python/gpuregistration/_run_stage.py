# SPDX-License-Identifier: Apache-2.0
"""Runs one stage of a registration."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Callable, Iterator, Optional, Sequence, Union

import numpy as np

from . import _engine
from ._affine import Affine
from ._composite import Composite
from ._devices import borrow_engine
from ._engine import OutOfMemoryError
from ._image import Image, engine_map, engine_size, matrix_of_map, shrunk_grid
from ._inverse import read_errors
from ._progress import Reporter, level_name
from ._sides import Pair
from ._sides_on_devices import AllSides
from ._stage_result import Level, StageResult
from ._syn_options import Halves, SyNOptions
from ._transforms import BSpline, DisplacementField, Transform, linear_matrix
from ._vectors import from_volume
from .stages import INVERTING, FreeForm, Rigid, Stage
from .stages.dense import Dense


@dataclass(frozen=True)
class StageRun:
    """Holds what a stage is run with.

    Attributes:
        settings: the stage's settings, as the engine takes them.
        pair: the pair to register.
        devices: the names of the devices that compute the stage together, or of the only one.
        sides: the images on each of these devices, with the further pairs that the stage compares.
        found: the transform to begin with, which the stages before have found; None: there is none.
        before: the result of the stage before; None: this one is the first.
        options: what is asked of SyN beside its settings.
        reporter: tells the caller of the stage's progress.
    """

    settings: Any
    pair: Pair
    devices: Sequence[str]
    sides: Sequence[AllSides]
    found: Optional[Transform]
    before: Optional[StageResult]
    options: SyNOptions
    reporter: Reporter

    @property
    def dimension(self) -> int:
        return self.pair.dimension

    @property
    def device(self) -> str:
        """The name of the first device, which alone computes what several do not compute together."""
        return self.devices[0]

    def chain(self) -> _engine.Chain:
        """Returns the transform that a stage that deforms begins with, as the engine takes it."""
        return _engine.Chain(self.dimension) if self.found is None else self.found.chain()


def run_stage(stage: Stage, run: StageRun) -> StageResult:
    """Runs one stage of a registration."""
    if isinstance(stage, FreeForm):
        return _run_free_form(stage, run)
    return _run_dense(stage, run) if isinstance(stage, Dense) else _run_linear(stage, run)


def _run_linear(stage: Rigid, run: StageRun) -> StageResult:
    d = run.dimension
    begins = None if run.found is None else engine_map(linear_matrix(run.found, "transform to begin with"))
    fixed, moving, further = run.sides[0]
    with borrow_engine(_engine.GlobalRegistration, run.device) as engine:
        result = engine.register(d, fixed, moving, begins, run.settings, run.reporter.linear(), further)
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
    return Level(level_name(part.name), 1e-3 * part.milliseconds, [part.cost] if evaluations else [], evaluations)


def _run_free_form(stage: FreeForm, run: StageRun) -> StageResult:
    d, begins = run.dimension, run.chain()
    fixed, moving, further = run.sides[0]
    with borrow_engine(_engine.FreeFormRegistration, run.device) as engine:
        result = engine.register(d, fixed, moving, begins, run.settings, run.reporter.free_form(), further)
    to_point = matrix_of_map(result.grid_to_point, d)
    spacing = np.linalg.norm(to_point[:-1, :-1], axis=0)
    points = from_volume(result.points, d)
    deformation: Transform = BSpline(points, spacing, to_point[:-1, -1], to_point[:-1, :-1] / spacing)
    return _make_result(stage, deformation, run.found, result, _find_warnings(result))


@contextmanager
def _lend_dense(devices: Sequence[str]) -> Iterator[Any]:
    """Lends an engine of one device, or of several."""
    if len(devices) > 1:
        engines = _engine.TeamRegistration(devices)
        try:
            yield engines
        finally:
            engines.give_back()
        return
    with borrow_engine(_engine.DiffeomorphicRegistration, devices[0]) as engine:
        yield engine


def _run_dense(stage: Dense, run: StageRun) -> StageResult:
    d, begins = run.dimension, run.chain()
    factors = run.settings.syn.shrink_factors
    grid = shrunk_grid(run.pair.fixed, factors[-1]) if factors else run.pair.fixed
    # The result computes the inverse from these, and not from the run, which would keep the images on the devices.
    found, before, device = run.found, run.before, run.device
    back: Optional[DisplacementField] = None

    def take(field: _engine.DeformationField = _engine.DeformationField.Forward) -> DisplacementField:
        try:
            return _take_field(engine, grid, field)
        except OutOfMemoryError:
            if back is None:
                raise
            # A field is made on the device first: now where the inverse was.
            back.host_array()
            return _take_field(engine, grid, field)

    with _lend_dense(run.devices) as engine:
        asked, report = run.options.arguments(), run.reporter.free_form()
        if len(run.devices) > 1:
            assert not asked, "several devices take no fixed initial transform"
            result = engine.register(d, run.sides, begins, run.settings, report)
        else:
            fixed, moving, further = run.sides[0]
            result = engine.register(d, fixed, moving, begins, run.settings, report, further, **asked)
        # At first, since it needs an array beside what is kept.
        if isinstance(stage, INVERTING):
            back = _keep_or_take(lambda: _keep_inverse(engine, grid), lambda: _take_inverse(engine, grid))
        halves = run.options.take_halves(take)
        deformation = _keep_or_take(lambda: _keep_field(engine, grid), take)

    def compute_inverse() -> Transform:
        assert back is not None
        if found is None:
            return back
        known = before.inverse if before is not None else None
        return Composite([found.inverse(device=device) if known is None else known, back])

    return _make_result(stage, deformation, found, result, [], back, compute_inverse, halves)


def _keep_or_take(keep: Callable[[], DisplacementField], take: Callable[[], DisplacementField]) -> DisplacementField:
    """Returns a field whose vectors keep() leaves on the device, or the first one, and take() brings to the host if there is no room for
    them."""
    try:
        return keep()
    except OutOfMemoryError:
        return take()


def _keep_field(engine: Any, grid: Image) -> DisplacementField:
    return DisplacementField._keep(engine.get_field(engine_size(grid)), grid)


def _keep_inverse(engine: Any, grid: Image) -> DisplacementField:
    on_device, errors = engine.get_inverse(engine_size(grid))
    return DisplacementField._keep(on_device, grid).with_errors(read_errors(errors))


def _take_field(engine: Any, grid: Image, field: _engine.DeformationField) -> DisplacementField:
    return _make_field(engine.take_displacements(engine_size(grid), field), grid)


def _take_inverse(engine: Any, grid: Image) -> DisplacementField:
    vectors, errors = engine.take_inverse(engine_size(grid))
    return _make_field(vectors, grid).with_errors(read_errors(errors))


def _make_field(vectors: Any, grid: Image) -> DisplacementField:
    return DisplacementField(from_volume(np.asarray(vectors), grid.dimension), grid.spacing, grid.origin, grid.direction)


def _make_result(
    stage: Union[FreeForm, Dense],
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
