# SPDX-License-Identifier: Apache-2.0
"""Runs what a command line of antsRegistration asks for."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Callable, Optional

import numpy as np

from .._checks import check_finite
from .._devices import DeviceLike, choose_device
from .._engine import BadInputError, UnsupportedError
from .._grey import as_grey
from .._image import Image, host_array
from .._register import register_pair
from .._resample import resample
from .._sides import Pair, read_pair
from .._stage_result import StageResult
from .._transforms import Affine, Composite, Transform, linear_matrix
from .diagnostics import Log, describe_stage
from .initial import make_initial
from .intensities import match_histogram, window
from .interpolation import resample_by
from .levels import make_free_form_stage, make_further, make_linear_stage, make_syn_stage
from .registration_call import LINEAR, Initial, Metric, RegistrationCall, Stage
from .translation import find_translation

Read = Callable[[str], Image]

_HINT = "Give a file of one of them."
# Degrees of freedom: that a matrix turns by, but for rounding.
_ROUNDING = 1e-6


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


def register(call: RegistrationCall, read: Read, log: Log, device: Optional[DeviceLike] = None) -> Registered:
    """Registers.

    Args:
        call: what is asked for.
        read: reads an image by its name.
        log: takes the lines of --verbose.

    Raises:
        BadInputError: a file or an image is not possible.
        OtherTransform: a transform to begin with that deforms.
    """
    begin = time.perf_counter()
    images = _Images(call, read)
    parts = [_begin_with(initial, images.dimension, images.read) for initial in call.initial]
    name = choose_device(device)
    warnings: list[str] = []
    for number, stage in enumerate(call.stages):
        log(f"Stage {number}")
        log(f"  iterations = {'x'.join(map(str, stage.iterations))}")
        log(f"  convergence threshold = {stage.threshold:g}")
        log(f"  convergence window size = {stage.window}")
        log(f"  number of levels = {len(stage.iterations)}")
        log(f"*** Running {stage.transform} registration ***")
        before = time.perf_counter() - begin
        part, result = _run(stage, images, parts, call, name)
        parts.append(part)
        if result is not None:
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
    stage: Stage, images: "_Images", parts: list[Part], call: RegistrationCall, device: str
) -> tuple[Part, Optional[StageResult]]:
    """Runs a stage. Returns what it adds to the parts before it, and its result; None if it has no iterations."""
    d = images.dimension
    before = _matrix_of(parts, d)
    if not any(stage.iterations) and stage.transform in LINEAR.values():
        return _linear(stage.transform, Affine(np.eye(d))), None
    fixed, moving = images.prepared(stage.metric)
    if stage.transform in LINEAR.values() and not _can_begin_with(stage.transform, before[:-1, :-1]):
        # The stage has fewer degrees of freedom than what it begins with: the moving image's grid takes that in.
        result = _register_linear(stage, images, fixed, _moved(moving, np.linalg.inv(before)), np.eye(d + 1), call, device)
        return _linear(stage.transform, _affine(result)), result
    if stage.transform in LINEAR.values():
        result = _register_linear(stage, images, fixed, moving, before, call, device)
        return _linear(stage.transform, Affine.from_matrix(np.linalg.inv(before) @ _affine(result).matrix_of(), _affine(result).center)), result
    if stage.transform == "BSpline":
        found = register_pair(images.pair(stage, stage.metric), [make_free_form_stage(stage, fixed)], Affine.from_matrix(before), device, call.seed)
        result = found.stages[-1]
        assert isinstance(result.transform, Composite)
        return Part("BSpline", result.transform.transforms[0], None), result
    pairs = [images.pair(stage, metric) for metric in stage.metrics]
    further = [make_further(metric, stage.metric, pair, n) for n, (metric, pair) in enumerate(zip(stage.metrics, pairs), 1) if n > 1]
    found = register_pair(pairs[0], [make_syn_stage(stage, fixed)], Affine.from_matrix(before), device, call.seed, further=further)
    result = found.stages[-1]
    whole, back = result.transform, result.inverse
    assert isinstance(whole, Composite) and isinstance(back, Composite)
    return Part("SyN", whole.transforms[0], back.transforms[-1]), result


def _register_linear(
    stage: Stage, images: "_Images", fixed: Image, moving: Image, before: np.ndarray, call: RegistrationCall, device: str
) -> StageResult:
    masks = images.masks(stage, stage.metric, fixed, moving)
    if stage.transform == "Translation":
        return find_translation(stage, fixed, moving, masks, before, device)
    pair = read_pair(fixed, moving, *masks, {})
    return register_pair(pair, [make_linear_stage(stage, fixed)], Affine.from_matrix(before), device, call.seed).stages[-1]


def _affine(result: StageResult) -> Affine:
    assert isinstance(result.transform, Affine)
    return result.transform


def _can_begin_with(transform: str, matrix: np.ndarray) -> bool:
    """Tells whether a linear stage can keep what it begins with, of that matrix."""
    square = matrix.T @ matrix
    scale = float(np.trace(square)) / len(square)
    is_similarity = np.abs(square - scale * np.eye(len(square))).max() < _ROUNDING * scale and np.linalg.det(matrix) > 0
    return transform in ("Affine", "Translation") or (is_similarity and (transform == "Similarity" or abs(scale - 1) < _ROUNDING))


def _moved(image: Image, matrix: np.ndarray) -> Image:
    """Returns an image whose points have been moved by a matrix."""
    whole = matrix @ image.index_to_point
    spacing = np.linalg.norm(whole[:-1, :-1], axis=0)
    return Image(image.array, spacing, whole[:-1, -1], whole[:-1, :-1] / spacing)


def names_of_images(call: RegistrationCall) -> list[str]:
    """Returns the names of all images of a call, each once."""
    names = [name for stage in call.stages for metric in stage.metrics for name in (metric.fixed, metric.moving)]
    names += [name for stage in call.stages for name in stage.masks if name is not None]
    names += [name for initial in call.initial for name in (initial.fixed, initial.moving)]
    return [name for name in dict.fromkeys(names) if name]


class _Images:
    """Reads all images at once, and prepares their values once for each pair."""

    def __init__(self, call: RegistrationCall, read: Read) -> None:
        self._call = call
        self._pairs: dict[tuple[str, str], tuple[Image, Image]] = {}
        with ThreadPoolExecutor(4) as pool:
            reading = {name: pool.submit(self._read_grey, name, read) for name in names_of_images(call)}
        self._found = {name: one.result() for name, one in reading.items()}
        self.dimension = self._found[call.stages[0].metric.fixed].dimension
        for name, image in self._found.items():
            if image.dimension != self.dimension:
                raise BadInputError(f"{name}: it has {image.dimension} dimensions; expected {self.dimension}, as {call.stages[0].metric.fixed} has")

    def read(self, name: str) -> Image:
        return self._found[name]

    def _read_grey(self, name: str, read: Read) -> Image:
        image = read(name)
        if image.dimension != (self._call.dimension or image.dimension):
            raise BadInputError(f"{name}: it has {image.dimension} dimensions; expected {self._call.dimension}, as --dimensionality says")
        grey = as_grey(image, f"file {name}", _HINT)
        check_finite(f"file {name}", host_array(grey), True)
        return grey

    def prepared(self, metric: Metric) -> tuple[Image, Image]:
        """Returns a metric's images, with the values that are registered."""
        names = metric.fixed, metric.moving
        if names not in self._pairs:
            fixed = window(self.read(names[0]), self._call.quantiles, names[0])
            moving = window(self.read(names[1]), self._call.quantiles, names[1])
            self._pairs[names] = fixed, match_histogram(moving, fixed) if self._call.matches_histograms else moving
        return self._pairs[names]

    def pair(self, stage: Stage, metric: Metric) -> Pair:
        """Returns the prepared images of one of a stage's metrics, with the stage's masks."""
        fixed, moving = self.prepared(metric)
        return read_pair(fixed, moving, *self.masks(stage, metric, fixed, moving), {})

    def masks(self, stage: Stage, metric: Metric, fixed: Image, moving: Image) -> tuple[Optional[Image], Optional[Image]]:
        """Returns a stage's masks, on the grids of a metric's images."""
        fixed_mask, moving_mask = stage.masks
        # The moving image may have been moved, and its mask goes with it.
        own = self.read(metric.moving)
        mask = self._mask(moving_mask, own)
        return self._mask(fixed_mask, fixed), None if mask is None else moving.like(mask.array)

    def _mask(self, name: Optional[str], image: Image) -> Optional[Image]:
        if name is None:
            return None
        mask = self.read(name)
        inside = mask.like((mask.array != 0).astype(np.uint8))
        return inside if inside.has_grid_of(image) else resample(inside, None, image, "nearest")


def read_image_named(images: dict[str, Image]) -> Read:
    """Returns a function that reads an image: one of a dictionary, or else a file."""
    from .._files import read_image

    def read(name: str) -> Image:
        return images[name] if name in images else read_image(name)

    return read
