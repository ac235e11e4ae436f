# SPDX-License-Identifier: Apache-2.0
"""The stages that a registration is made of, and their settings, which have the engine's names and units."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar, Iterable, Iterator, Optional, Sequence, Union

import numpy as np

from . import _engine, _similarities
from ._checks import MOST_SEED, engine_name, read_choice, read_number, read_whole
from ._engine import BadInputError, OutOfMemoryError, UnsupportedError

#: What linear stages compare images by, and how they go down.
COSTS = tuple(name for name, one in _similarities.SIMILARITIES.items() if one.is_for_global)
LINEAR_OPTIMIZERS = ("quasi_newton", "lines")
#: The similarities of FreeForm, Greedy and Velocity.
SIMILARITIES = tuple(name for name, one in _similarities.SIMILARITIES.items() if one.is_for_free_form)
FREE_FORM_OPTIMIZERS = ("adam", "conjugate_gradient", "adaptive_stochastic_gradient_descent")
#: mm, of a head of 1 mm, whose lengths follow from its voxels: between control points, and a voxel's edge at the finest level.
SPACING = 5.0
FINEST_EDGE = 1.0

#: The iterations of Greedy and Velocity at each level, the coarsest first; and the similarities and iterations of SyN.
GREEDY_ITERATIONS = (100, 100, 100, 50)
SYN_SIMILARITIES = ("neighborhood_correlation", "mean_squares", "mattes_mutual_information")
SYN_ITERATIONS = (100, 70, 50, 20)

_DEGREES_OF_FREEDOM = (6, 7, 9, 12)
MOST_DENSE_LEVELS = 6
_MOST_LEVELS = 5
_AXES = "xyz"
#: Of an image's values all, as they are.
ALL_VALUES = "all"
# A spacing that is a voxel's edge but for its last digits is one.
_NEARLY = 0.999

ValueRange = Union[None, str, Sequence[float]]


def a_range() -> Any:
    """A setting, which a command line has as two numbers, or as a word."""
    return field(default=None, metadata={"typical": ALL_VALUES, "numbers": 2})


@dataclass
class Rigid:
    """A rotation and a translation, from where it begins on: from the initial transform, or with the images' centres of mass laid
    on each other.

    Attributes:
        cost: "correlation_ratio", "mattes_mutual_information", "normalized_mutual_information", "correlation", "mean_squares" or
            "mean_absolute_differences".
        finest_edge: mm, a voxel's edge at the finest level; 2, 4 and 8 times as much at the others. None: that of the images' shortest
            voxels, or, of images of more than some 400 voxels along an axis, of so many that about 280 are left.
        bins: of the histogram; 0: 256 of a correlation ratio, else 64.
        optimizer: "quasi_newton" or "lines".
        least_overlap: the share of the smaller image that has to overlap.
        fixed_range, moving_range: (from, to) of an image's values: what lies beyond is registered as if it were the nearer end. None: all
            values but for outliers, of which there is a warning. "all": all of them.
    """

    cost: str = "correlation_ratio"
    # What is typical tells the help and the command line of what type it is.
    finest_edge: Optional[float] = field(default=None, metadata={"typical": FINEST_EDGE})
    bins: int = 0
    optimizer: str = "quasi_newton"
    least_overlap: float = 0.25
    fixed_range: ValueRange = a_range()
    moving_range: ValueRange = a_range()

    name: ClassVar[str] = "rigid"
    #: The setting that names what images are compared by.
    metric_setting: ClassVar[str] = "cost"

    @property
    def metric(self) -> str:
        """What images are compared by. Raises BadInputError if there is no such cost."""
        return read_choice("cost", self.cost, COSTS)

    def settings(self, edges: Optional[Sequence[float]] = None, seed: int = 1) -> _engine.GlobalSettings:
        """The same as the engine takes them.

        Args:
            edges: mm, of the fixed image's voxels along x, y (and z); None: not known yet.
            seed: of random numbers, where a stage has none of its own.

        Raises:
            BadInputError: a setting that is not possible.
        """
        settings = _engine.GlobalSettings()
        settings.cost = engine_name(self.metric)
        # 0 stands for what follows from the images.
        settings.finest_edge = 0.0 if self.finest_edge is None else read_number("finest_edge", self.finest_edge, above=0)
        settings.bins = read_whole("bins", self.bins) and read_bins(self.metric, self.bins)
        settings.optimizer = engine_name(read_choice("optimizer", self.optimizer, LINEAR_OPTIMIZERS))
        settings.least_overlap = read_number("least_overlap", self.least_overlap, 0, 1)
        _set_ranges(settings, self)
        settings.degrees_of_freedom = self._degrees()
        settings.angles = self._angles()
        return settings

    def _degrees(self) -> int:
        return 6

    def _angles(self) -> list[list[float]]:
        return [[0.0, 0.0]] * 3


@dataclass
class Affine(Rigid):
    """A linear map, from where it begins on, as Rigid.

    Attributes:
        degrees_of_freedom: 12: any map; 9: without skews; 7: a rotation, a translation and one scale; 6: without scales. Of two
            dimensions, too, where fewer are left of them.
    """

    degrees_of_freedom: int = 12

    name: ClassVar[str] = "affine"

    def _degrees(self) -> int:
        degrees = read_whole("degrees_of_freedom", self.degrees_of_freedom)
        if degrees not in _DEGREES_OF_FREEDOM:
            raise BadInputError(f"degrees_of_freedom={degrees} is not possible; it is to be 6, 7, 9 or 12, of two dimensions, too.")
        return degrees


@dataclass
class Global(Affine):
    """A linear map, searched for among all rotations: from any start.

    Attributes:
        angles: radians, from and to, about x, y and z, around where the search begins; one pair serves all axes. About an axis
            with 0 twice nothing is searched.
    """

    angles: Union[Sequence[float], Sequence[Sequence[float]]] = (-np.pi, np.pi)

    name: ClassVar[str] = "global"

    def _angles(self) -> list[list[float]]:
        angles = _read_numbers("angles", self.angles)
        if angles.shape == (2,):
            angles = np.tile(angles, (3, 1))
        if angles.shape != (3, 2):
            raise BadInputError(f"The angles {self.angles} are not possible: give one pair (from, to), or three.")
        # Of a full circle that somebody made of degrees, the last digit may be another.
        ranges = angles[:, 1] - angles[:, 0]
        if not np.isfinite(angles).all() or (ranges < 0).any() or (ranges > 2 * np.pi + 1e-9).any():
            raise BadInputError(f"The angles {self.angles} are not possible: each is to lead up, by 2 pi at most.")
        return angles.tolist()


@dataclass
class FreeForm:
    """A free-form deformation by cubic B-splines, behind which what was found before is applied.

    Attributes:
        similarity: "normalized_mutual_information", "correlation_ratio", "mean_squares", "correlation" or
            "neighborhood_correlation".
        levels: of a pyramid whose voxels are twice as long from level to level; 1 to 5. None: 4, or as many as leave the coarsest one
            enough voxels inside of masks: of mutual information one for four cells of the joint histogram, 1024 of 64 by 64 bins, of a
            correlation ratio 16 a bin, of others 256.
        spacing: mm, between control points at the finest level, along the fixed image's axes x, y (and z), or one for all; a voxel's
            edge at least. None: five voxels along that axis, or five of the shortest where these are longer: 5 mm of a head of 1 mm; of
            images of more than some 400 voxels along an axis as many more as leave about 280 of them.
        bins: of the joint histogram.
        radius: of a neighborhood, voxels.
        bending_weight, linear_weight, jacobian_weight: of the penalties in the cost.
        optimizer: "adam", "conjugate_gradient" or "adaptive_stochastic_gradient_descent".
        iterations: of a level, at most.
        first_step: of a level, in its voxels.
        samples: voxels that an iteration looks at, at most; 0: all.
        seed: of the random numbers that samples are placed by. None: register's.
        convergence_threshold: a level ends when the mean cost of the last iterations falls by no more than this share; 0: never.
        convergence_window: how many iterations that are.
        fixed_range, moving_range: as of Rigid.
    """

    similarity: str = "normalized_mutual_information"
    levels: Optional[int] = field(default=None, metadata={"typical": 4})
    spacing: Union[None, float, Sequence[float]] = field(default=None, metadata={"typical": SPACING, "numbers": 3})
    bins: int = 64
    radius: int = 4
    bending_weight: float = 0.01
    linear_weight: float = 0.0
    jacobian_weight: float = 0.0
    optimizer: str = "adam"
    iterations: int = 100
    first_step: float = 0.5
    samples: int = 0
    seed: Optional[int] = field(default=None, metadata={"typical": 1})
    convergence_threshold: float = 0.0
    convergence_window: int = 10
    fixed_range: ValueRange = a_range()
    moving_range: ValueRange = a_range()

    name: ClassVar[str] = "ffd"
    metric_setting: ClassVar[str] = "similarity"

    @property
    def metric(self) -> str:
        """The name of the similarity that compares the images. Raises BadInputError if there is no such similarity."""
        return read_choice("similarity", self.similarity, SIMILARITIES)

    def settings(self, edges: Optional[Sequence[float]] = None, seed: int = 1) -> _engine.FreeFormSettings:
        """The same as the engine takes them. Arguments and errors: as of Rigid.settings()."""
        settings = _engine.FreeFormSettings()
        settings.similarity = engine_name(self.metric)
        settings.optimizer = engine_name(read_choice("optimizer", self.optimizer, FREE_FORM_OPTIMIZERS))
        # 0 stands for what the engine finds of use.
        settings.levels = 0 if self.levels is None else read_whole("levels", self.levels, 1, _MOST_LEVELS)
        settings.spacing = self._find_spacing(edges)
        settings.bins = read_bins(self.metric, self.bins)
        settings.radius = read_whole("radius", self.radius, 1)
        for name in ("bending_weight", "linear_weight", "jacobian_weight"):
            setattr(settings, name, read_number(name, getattr(self, name), 0))
        self._check_weights()
        settings.iterations = read_whole("iterations", self.iterations, 1)
        settings.first_step = read_number("first_step", self.first_step, above=0)
        settings.samples = self._read_samples()
        settings.seed = read_whole("seed", seed if self.seed is None else self.seed, 0, MOST_SEED)
        settings.convergence_threshold = read_number("convergence_threshold", self.convergence_threshold, 0)
        settings.convergence_window = read_whole("convergence_window", self.convergence_window, 1)
        _set_ranges(settings, self)
        return settings

    def _find_spacing(self, edges: Optional[Sequence[float]]) -> list[float]:
        """mm along x, y and z; the last one twice in two dimensions."""
        if self.spacing is None:
            # The engine knows.
            return [0.0, 0.0, 0.0]
        spacing = np.atleast_1d(_read_numbers("spacing", self.spacing))
        if edges is None:
            # Spacings along each axis are as many as the images have dimensions.
            edges = (0.0,) * (3 if spacing.shape == (1,) else spacing.size)
        if len(edges) not in (2, 3) or spacing.shape not in ((1,), (len(edges),)):
            raise BadInputError(f"spacing={self.spacing} is not possible: give one number, or {len(edges)}, of mm.")
        along: list[float] = np.broadcast_to(spacing, (len(edges),)).tolist()
        self._check_spacing(along, edges)
        return along + along[-1:] * (3 - len(along))

    def _check_spacing(self, along: Sequence[float], edges: Sequence[float]) -> None:
        for axis, one, edge in zip(_AXES, along, edges):
            if not (np.isfinite(one) and one > 0 and one >= _NEARLY * edge):
                least = f"a voxel's edge along {axis} at least: spacing={edge:.6g}" if edge > 0 else "above 0, such as spacing=5"
                raise BadInputError(f"spacing={self.spacing} is not possible; it is to be {least}.")

    def _check_weights(self) -> None:
        total = self.bending_weight + self.linear_weight + self.jacobian_weight
        if not total < 1:
            raise BadInputError(
                f"bending_weight, linear_weight and jacobian_weight come to {total:g} together; they are to be less than 1."
            )

    def _read_samples(self) -> int:
        samples = read_whole("samples", self.samples)
        if samples and _similarities.SIMILARITIES[self.metric].has_neighborhoods:
            raise BadInputError(f"samples={samples} is not possible: a {self.metric.replace('_', ' ')} takes all voxels; set samples=0.")
        if samples and engine_name(self.optimizer) == "ConjugateGradient":
            raise BadInputError(f"samples={samples} is not possible of a conjugate gradient: set samples=0, or another optimizer.")
        return samples


@dataclass
class Greedy:
    """A displacement for each voxel, found greedily, behind which what was found before is applied. Each iteration smooths the gradient of the
    similarity, scales it to a step, composes the deformation with it, and smooths the deformation (Avants 2008; Yushkevich 2016).

    Attributes:
        similarity: "neighborhood_correlation", "normalized_mutual_information", "correlation_ratio", "mean_squares" or "correlation".
        iterations: of each level, the coarsest first; or one number, for a single level. Voxels are twice as long from level to level, and
            the last level has the fixed image's.
        radius: of a neighborhood, voxels of a level.
        bins: number of bins, of a similarity that has bins.
        update_sigma, field_sigma: standard deviations of the Gaussians that smooth each update, and the whole deformation after it, voxels of
            a level; 0: none. Without enough smoothing the deformation folds.
        step: length of the longest vector of an update, voxels of a level.
        fixed_range, moving_range: as of Rigid.
    """

    similarity: str = "neighborhood_correlation"
    iterations: Union[int, Sequence[int]] = field(default=GREEDY_ITERATIONS, metadata={"typical": 100, "numbers": MOST_DENSE_LEVELS})
    radius: int = 2
    bins: int = 32
    update_sigma: float = 1.732
    field_sigma: float = 0.6
    step: float = 1.0
    fixed_range: ValueRange = a_range()
    moving_range: ValueRange = a_range()

    name: ClassVar[str] = "greedy"
    metric_setting: ClassVar[str] = "similarity"

    @property
    def metric(self) -> str:
        """The name of the similarity that compares the images. Raises BadInputError if there is no such similarity."""
        return read_choice("similarity", self.similarity, SIMILARITIES)

    def settings(self, edges: Optional[Sequence[float]] = None, seed: int = 1) -> _engine.DiffeomorphicSettings:
        """Returns the settings as the engine takes them. Arguments and errors are those of Rigid.settings()."""
        settings = _engine.DiffeomorphicSettings()
        _set_similarity(settings, self)
        settings.iterations = _read_iterations(self.iterations)
        settings.update_sigma = read_number("update_sigma", self.update_sigma, 0)
        settings.field_sigma = read_number("field_sigma", self.field_sigma, 0)
        settings.step = read_number("step", self.step, above=0)
        _set_ranges(settings, self)
        return settings


@dataclass
class Velocity(Greedy):
    """A displacement for each voxel, and its inverse, which a stationary velocity leads to, behind which what was found before is applied. The
    deformation is exp(v), of a velocity v for each voxel, and its inverse is exp(-v), both by scaling and squaring. Both images move to the
    middle, along exp(v/2) and exp(-v/2); each iteration smooths the difference of the similarity's gradients by both, scales it to a step,
    adds it to v, and smooths v. So exchanged images have the inverse deformation (Arsigny 2006; Vercauteren 2008; Avants 2008).

    Attributes:
        similarity: "neighborhood_correlation", "normalized_mutual_information", "correlation_ratio", "mean_squares" or "correlation".
        iterations, radius, bins, fixed_range, moving_range: as of Greedy.
        update_sigma, field_sigma: standard deviations of the Gaussians that smooth each update, and the velocity after it, voxels of a level;
            0: none. Without enough smoothing the deformation folds.
        step: length of the longest vector of an update of v at most, voxels of a level.
    """

    update_sigma: float = 1.414
    field_sigma: float = 0.4

    name: ClassVar[str] = "velocity"

    def settings(self, edges: Optional[Sequence[float]] = None, seed: int = 1) -> _engine.DiffeomorphicSettings:
        """Returns the settings as the engine takes them. Arguments and errors are those of Rigid.settings()."""
        settings = super().settings(edges, seed)
        settings.scheme = _engine.DiffeomorphicScheme.Velocity
        return settings


@dataclass
class SyN:
    """A displacement for each voxel, and its inverse, found as ITK's and ANTs' SyN find them, behind which what was found before is applied. Both
    images move to the middle; each iteration smooths the derivative of the similarity, scales it to a step, composes the way to the middle
    with it, and inverts that (Avants 2008).

    Attributes:
        similarity: "neighborhood_correlation", "mean_squares" or "mattes_mutual_information".
        iterations: of each level, the coarsest first, at most; or one number, for a single level. Voxels are twice as long from level to
            level, and the last level has the fixed image's. Images are smoothed by as many of their voxels as there are finer levels.
        bins: of the joint histogram.
        radius: of a neighborhood, voxels of a level.
        update_variance, field_variance: of the Gaussians that smooth each update, and the way to the middle after it, squared voxels of a
            level; 0: none.
        step: length of the longest vector of an update, voxels of a level.
        average: both images move by the mean of both updates.
        convergence_threshold, convergence_window: a level ends when the change of its last costs, so many of them, is less than this; a
            window of 0: never.
        shrink_factors: voxels along each axis that a voxel of a level stands for: one number a level, or, in Python, one for each axis. None:
            as iterations says. The result has the last level's voxels.
        smoothing_sigmas: standard deviations by which a level's images are smoothed, in their voxels, one a level. None: as iterations says.
        sigmas_in_mm: 1: these are in mm.
        weights: factors of an update's components along x, y (and z): 0 where nothing is to move.
        fixed_range, moving_range: as of Rigid.
    """

    similarity: str = "neighborhood_correlation"
    iterations: Union[int, Sequence[int]] = field(default=SYN_ITERATIONS, metadata={"typical": 100, "numbers": MOST_DENSE_LEVELS})
    bins: int = 32
    radius: int = 4
    update_variance: float = 3.0
    field_variance: float = 0.0
    step: float = 0.1
    average: int = 0
    convergence_threshold: float = 1e-6
    convergence_window: int = 10
    shrink_factors: Optional[Sequence[Any]] = field(default=None, metadata={"typical": 2, "numbers": MOST_DENSE_LEVELS})
    smoothing_sigmas: Optional[Sequence[float]] = field(default=None, metadata={"typical": 1.0, "numbers": MOST_DENSE_LEVELS})
    sigmas_in_mm: int = 0
    weights: Optional[Sequence[float]] = field(default=None, metadata={"typical": 1.0, "numbers": 3})
    fixed_range: ValueRange = a_range()
    moving_range: ValueRange = a_range()

    name: ClassVar[str] = "syn"
    metric_setting: ClassVar[str] = "similarity"

    @property
    def metric(self) -> str:
        """The name of the similarity that compares the images. Raises BadInputError if there is no such similarity."""
        return read_choice("similarity", self.similarity, SYN_SIMILARITIES)

    def settings(self, edges: Optional[Sequence[float]] = None, seed: int = 1) -> _engine.DiffeomorphicSettings:
        """Returns the settings as the engine takes them. Arguments and errors are those of Rigid.settings()."""
        settings = _engine.DiffeomorphicSettings()
        settings.scheme = _engine.DiffeomorphicScheme.SyN
        _set_similarity(settings, self)
        settings.iterations = _read_iterations(self.iterations)
        settings.update_sigma = read_number("update_variance", self.update_variance, 0) ** 0.5
        settings.field_sigma = read_number("field_variance", self.field_variance, 0) ** 0.5
        settings.step = read_number("step", self.step, above=0)
        syn = settings.syn
        syn.averages_gradients = bool(read_whole("average", self.average, 0, 1))
        syn.convergence_threshold = read_number("convergence_threshold", self.convergence_threshold, 0, 1)
        syn.convergence_window = read_whole("convergence_window", self.convergence_window, 0)
        syn.shrink_factors = [_read_factors(level) for level in _as_list(self.shrink_factors)]
        syn.smoothing_sigmas = [read_number("smoothing_sigmas", sigma, 0) for sigma in _as_list(self.smoothing_sigmas)]
        syn.sigmas_are_in_millimetres = bool(read_whole("sigmas_in_mm", self.sigmas_in_mm, 0, 1))
        weights = [read_number("weights", weight, 0) for weight in _as_list(self.weights)]
        if len(weights) > 3:
            raise BadInputError(f"weights={self.weights} is not possible: give one number for each axis.")
        syn.weights = weights + [1.0] * (3 - len(weights))
        _set_ranges(settings, self)
        return settings


#: The stages whose result is a deformation, which no matrix holds.
DEFORMING = (FreeForm, Greedy, SyN)
#: Those that find its inverse as well.
INVERTING = (SyN, Velocity)


def _set_similarity(settings: Any, stage: Union[Greedy, SyN]) -> None:
    bins, radius = read_bins(stage.metric, stage.bins), read_whole("radius", stage.radius, 1)
    settings.similarity = _engine.SimilaritySettings.make(engine_name(stage.metric), bins, radius)


def _as_list(numbers: Any) -> list[Any]:
    """Returns a list of numbers, of one number, or of None, which is an empty list."""
    if numbers is None:
        return []
    return list(numbers) if isinstance(numbers, (list, tuple, np.ndarray)) else [numbers]


def _read_factors(level: Any) -> list[int]:
    """Reads a level's shrink factors: one for all axes, or one for each of them."""
    factors = [read_whole("shrink_factors", factor, 1) for factor in _as_list(level)]
    if not 1 <= len(factors) <= 3:
        raise BadInputError(f"shrink_factors of a level are {level}; they are to be one whole number, or one for each axis.")
    return factors * 3 if len(factors) == 1 else factors + [1] * (3 - len(factors))


def _read_iterations(iterations: Any) -> list[int]:
    """Reads the iterations of a dense stage's levels."""
    numbers = _as_list(iterations)
    if not 1 <= len(numbers) <= MOST_DENSE_LEVELS:
        raise BadInputError(f"iterations={iterations} is not possible: give 1 to {MOST_DENSE_LEVELS} whole numbers, one for each level.")
    return [read_whole("iterations", number) for number in numbers]


def read_bins(metric: str, bins: Any) -> int:
    """Returns a similarity's number of bins. Raises BadInputError if it may not have so many."""
    similarity = _similarities.SIMILARITIES[metric]
    return read_whole("bins", bins, similarity.least_bins, similarity.most_bins) if similarity.has_bins else read_whole("bins", bins)


def _set_ranges(settings: Any, stage: Stage) -> None:
    settings.fixed_range = read_range("fixed_range", stage.fixed_range)
    settings.moving_range = read_range("moving_range", stage.moving_range)


def read_range(name: str, value: ValueRange) -> Optional[list[float]]:
    """A range of an image's values as the engine takes it. Raises BadInputError if it is none."""
    if value is None:
        return None
    if isinstance(value, str) and value == ALL_VALUES:
        return [-np.inf, np.inf]
    ends = None if isinstance(value, str) else _read_numbers(name, value)
    if ends is None or ends.shape != (2,) or not np.isfinite(ends).all() or not ends[0] < ends[1]:
        raise BadInputError(f'{name}={value!r} is not possible; it is to be two numbers, from the smaller to the larger one, or "all".')
    return ends.tolist()


def _read_numbers(name: str, value: Any) -> np.ndarray:
    try:
        return np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise BadInputError(f"{name}={value!r} is not possible; it is to be of numbers.") from None


Stage = Union[Rigid, Affine, Global, FreeForm, Greedy, SyN, Velocity]
#: One of them, or the name of one.
StageLike = Union[str, Stage]
#: What register is asked for: one, or several behind each other, and a metric for all or for each.
StagesLike = Union[StageLike, Iterable[StageLike]]
MetricsLike = Union[None, str, Iterable[Optional[str]]]
#: The classes of the stages by their names.
STAGES = {kind.name: kind for kind in (Rigid, Affine, Global, FreeForm, Greedy, SyN, Velocity)}


def read_stages(transform: StagesLike, metric: MetricsLike) -> list[Stage]:
    """What register is asked for.

    Args:
        transform: a name, a stage, or a list of them.
        metric: of the stages that are given by name: a name for all, or a list with one for each stage, in which None is what the
            stage has by itself. None: all have their own.

    Raises:
        BadInputError: there is no such stage, a metric is no name, or it is one of a stage that has its own.
    """
    asked = _read_list(transform, (str, Rigid, FreeForm, Greedy, SyN), "stage")
    if not asked:
        raise BadInputError(f"There is no stage to register by. Give one of: {', '.join(STAGES)}.")
    metrics = [metric] * len(asked) if metric is None else _read_list(metric, (str,), "metric")
    if len(metrics) == 1:
        metrics = metrics * len(asked)
    if len(metrics) != len(asked):
        raise BadInputError(f"There are {len(metrics)} metrics for {len(asked)} stages: give one, or one for each.")
    return [_read_stage(one, name) for one, name in zip(asked, metrics)]


def _read_list(given: Any, kinds: tuple[type, ...], what: str) -> list[Any]:
    """One of some kinds, or several."""
    if isinstance(given, kinds):
        return [given]
    try:
        return list(given)
    except TypeError:
        raise BadInputError(f"{given!r} is no {what}, and no list of some.") from None


def _read_stage(one: Any, metric: Optional[str]) -> Stage:
    if isinstance(one, (Rigid, FreeForm, Greedy, SyN)):
        if metric is not None:
            raise BadInputError(
                f"metric={metric!r} is not possible of a stage that has its own: set {type(one).__name__}"
                f"({one.metric_setting}={metric!r})."
            )
        return one
    kind = STAGES.get(one) if isinstance(one, str) else None
    if kind is None:
        parts = [part.strip() for part in one.split(",")] if isinstance(one, str) else []
        if len(parts) > 1 and all(part in STAGES for part in parts):
            listed = ", ".join(f'"{part}"' for part in parts)
            raise BadInputError(f"There is no stage {one!r}: of several stages, give a list, [{listed}].")
        raise BadInputError(f"There is no stage {one!r}; there are: {', '.join(STAGES)}, and the classes of these.")
    return kind() if metric is None else kind(**{kind.metric_setting: metric})  # type: ignore[arg-type]


def read_settings(stages: Sequence[Stage], edges: Optional[Sequence[float]] = None, seed: int = 1) -> list[Any]:
    """Each stage's settings as the engine takes them.

    Args:
        edges, seed: as of Rigid.settings().

    Raises:
        BadInputError: a setting that is not possible, or a seed; as far as that is known without images where there are no edges.
    """
    read_whole("seed", seed, 0, MOST_SEED)
    settings = []
    for stage in stages:
        with named(stage):
            settings.append(stage.settings(edges, seed))
    return settings


@contextmanager
def named(stage: Stage) -> Iterator[None]:
    """Errors inside say which stage they are of."""
    try:
        yield
    except (BadInputError, OutOfMemoryError, UnsupportedError) as error:
        raise type(error)(f"{stage.name}: {error}") from error
