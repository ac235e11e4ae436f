# SPDX-License-Identifier: Apache-2.0
"""Runs what a command line of antsRegistration asks for."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Callable, Optional, Sequence

import numpy as np

from .._composite import Composite
from .._devices import DeviceLike, choose_device
from .._engine import UnsupportedError
from .._image import Image
from .._register import register_pair
from .._sides import Pair
from .._stage_result import StageResult
from .._start import start_device
from .._transforms import Affine, Transform, linear_matrix
from ..command.times import Times
from ..stages import Stage as AnyStage
from .call_images import CallImages, Read
from .diagnostics import Log, describe_stage
from .initial import make_initial
from .levels import make_first_stages, make_free_form_stage, make_further, make_linear_stage, make_syn_stage
from .registration_call import LINEAR, Initial, RegistrationCall, Stage

# Degrees of freedom: that a matrix turns by, but for rounding.
_ROUNDING = 1e-6
# What makes stages that deform; others are linear.
_MAKERS: dict[str, Callable[[Stage, Image], AnyStage]] = {"SyN": make_syn_stage, "BSpline": make_free_form_stage}


class OtherTransform(UnsupportedError):
    """What begins the registration is none that this package goes on from. The real antsRegistration does."""


@dataclass
class Part:
    """A transform of the result, in the order of stages: the last one is applied first to a point of the fixed image.

    Attributes:
        name: "Rigid", …, "SyN", "BSpline", "GenericAffine" for some linear ones as one, "Initial" for one computed from images, "File" for one
            of a file.
        inverse: None of a B-spline, which has none.
    """

    name: str
    transform: Transform
    inverse: Optional[Transform]

    @property
    def is_linear(self) -> bool:
        return self.transform.matrix_of() is not None


@dataclass
class Registered:
    """The result of a registration.

    Attributes:
        parts: its transforms.
        fixed, moving: the images of the first metric, with their own values.
        device: the name of the device that computed.
        warnings: sentences on what may have gone wrong.
    """

    parts: list[Part]
    fixed: Image
    moving: Image
    device: str
    warnings: list[str]

    @property
    def transform(self) -> Transform:
        """The map from the fixed image's points to the moving image's."""
        return Composite([part.transform for part in reversed(self.parts)])

    @property
    def inverse(self) -> Optional[Transform]:
        """The map from the moving image's points to the fixed image's; None if there is none."""
        return compose_inverses(self.parts)


def register(
    call: RegistrationCall, read: Read, log: Log, device: Optional[DeviceLike] = None, times: Optional[Times] = None
) -> Registered:
    """Registers.

    Args:
        call: what is asked for.
        read: reads an image by its name.
        log: takes the lines of --verbose.
        times: counts the parts' seconds.

    Raises:
        BadInputError: a file or an image is not possible.
        OtherTransform: a transform to begin with that deforms.
    """
    begin = time.perf_counter()
    times = Times() if times is None else times

    def start() -> str:
        with times.part("start device"):
            name = choose_device(device)
            start_device(name, make_first_stages(call.stages))
        return name

    with times.part("read, prepare and start"), ThreadPoolExecutor(1) as pool:
        starting = pool.submit(start)
        images = CallImages(call, read, times)
        parts = [_begin_with(initial, images.dimension, images.read) for initial in call.initial]
        name = starting.result()
    warnings: list[str] = []
    for number, stage in enumerate(call.stages):
        log(f"Stage {number}")
        log(f"  iterations = {'x'.join(map(str, stage.iterations))}")
        log(f"  convergence threshold = {stage.threshold:g}")
        log(f"  convergence window size = {stage.window}")
        log(f"  number of levels = {len(stage.iterations)}")
        log(f"*** Running {stage.transform} registration ***")
        before = time.perf_counter() - begin
        told = f"stage {number} {stage.transform}"
        with times.part(told):
            part, result = _run(stage, images, parts, call, name)
        parts.append(part)
        if result is not None:
            times.seconds[f"{told}, registering"] = result.seconds
            warnings += [text for text in result.warnings if text not in warnings]
            for line in describe_stage(number, result, stage.window, before):
                log(line)
    log(f"Total elapsed time: {time.perf_counter() - begin:.4e}")
    first = call.stages[0].metric
    return Registered(parts, images.read(first.fixed), images.read(first.moving), name, warnings)


def compose_inverses(parts: list[Part]) -> Optional[Transform]:
    """Returns the inverse of all parts as one; None if one of them has none."""
    inverses = [part.inverse for part in parts if part.inverse is not None]
    return Composite(inverses) if len(inverses) == len(parts) else None


def collapse(parts: list[Part]) -> list[Part]:
    """Makes one of each row of linear transforms."""
    made: list[Part] = []
    for part in parts:
        if part.is_linear and made and made[-1].is_linear:
            matrix = linear_matrix(made[-1].transform, "transform") @ linear_matrix(part.transform, "transform")
            center = made[-1].transform.center if isinstance(made[-1].transform, Affine) else None
            made[-1] = _linear("GenericAffine", Affine.from_matrix(matrix, center))
        else:
            made.append(replace(part, name="GenericAffine") if part.is_linear else part)
    return made


def _linear(name: str, transform: Affine) -> Part:
    return Part(name, transform, transform.inverse())


def _begin_with(initial: Initial, dimension: int, read: Read) -> Part:
    transform = make_initial(initial, dimension, read)
    matrix = transform.matrix_of()
    if matrix is None:
        raise OtherTransform(f"the deformation {initial.file} to begin with")
    if not isinstance(transform, Affine):
        transform = Affine.from_matrix(matrix)
    return _linear("File" if initial.file else "Initial", transform)


def _matrix_of(parts: list[Part], dimension: int) -> np.ndarray:
    """Returns the matrix of linear parts together."""
    whole = np.eye(dimension + 1)
    for part in parts:
        whole = whole @ linear_matrix(part.transform, "transform")
    return whole


def _run(
    stage: Stage, images: CallImages, parts: list[Part], call: RegistrationCall, device: str
) -> tuple[Part, Optional[StageResult]]:
    """Runs a stage. Returns what it adds to the parts before it, and its result; None if it has no iterations."""
    d = images.dimension
    before = _matrix_of(parts, d)
    if not any(stage.iterations) and stage.transform in LINEAR.values():
        return _linear(stage.transform, Affine(np.eye(d))), None
    if stage.transform in LINEAR.values():
        if _can_begin_with(stage.transform, before[:-1, :-1]):
            result = _register(stage, images.pairs(stage), before, call, device)
            own = np.linalg.inv(before) @ _affine(result).matrix_of()
            return _linear(stage.transform, Affine.from_matrix(own, _affine(result).center)), result
        # The stage has fewer degrees of freedom than what it begins with: the moving images' grids take that in.
        result = _register(stage, images.moved_pairs(stage, np.linalg.inv(before)), np.eye(d + 1), call, device)
        return _linear(stage.transform, _affine(result)), result
    result = _register(stage, images.pairs(stage), before, call, device)
    whole, back = result.transform, result.inverse
    assert isinstance(whole, Composite)
    if stage.transform == "BSpline":
        return Part("BSpline", whole.transforms[0], None), result
    assert isinstance(back, Composite)
    return Part("SyN", whole.transforms[0], back.transforms[-1]), result


def _register(stage: Stage, pairs: Sequence[Pair], before: np.ndarray, call: RegistrationCall, device: str) -> StageResult:
    """Registers the images of a stage's metrics.

    Args:
        pairs: of each metric.
        before: the homogeneous matrix of the map to begin with.
    """
    make = _MAKERS.get(stage.transform, make_linear_stage)
    further = [make_further(metric, stage.metric, pair, n) for n, (metric, pair) in enumerate(zip(stage.metrics, pairs), 1) if n > 1]
    made = make(stage, pairs[0].fixed)
    return register_pair(pairs[0], [made], Affine.from_matrix(before), device, call.seed, further=further).stages[-1]


def _affine(result: StageResult) -> Affine:
    assert isinstance(result.transform, Affine)
    return result.transform


def _can_begin_with(transform: str, matrix: np.ndarray) -> bool:
    """Tells whether a linear stage can keep what it begins with, of that matrix."""
    square = matrix.T @ matrix
    scale = float(np.trace(square)) / len(square)
    is_similarity = np.abs(square - scale * np.eye(len(square))).max() < _ROUNDING * scale and np.linalg.det(matrix) > 0
    if transform == "Translation":
        return bool(np.abs(matrix - np.eye(len(matrix))).max() < _ROUNDING)
    return transform == "Affine" or (is_similarity and (transform == "Similarity" or abs(scale - 1) < _ROUNDING))

