# SPDX-License-Identifier: Apache-2.0
"""Stages whose result is a displacement for each voxel."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Optional, Sequence, Union

from .. import _engine, _similarities
from .._checks import MOST_INT, engine_name, read_choice, read_number, read_whole
from .._engine import BadInputError
from .values import ValueRange, a_range, as_list, read_bins, set_ranges

#: The similarities of Greedy and Velocity, and those of SyN.
FIELD_SIMILARITIES = tuple(name for name, one in _similarities.SIMILARITIES.items() if one.is_for_fields)
#: The iterations of Greedy and Velocity, and those of SyN, at each level, the coarsest first.
GREEDY_ITERATIONS = (100, 100, 100, 50)
SYN_ITERATIONS = (100, 70, 50, 20)

MOST_DENSE_LEVELS = 6
#: The largest numbers that the engine takes: iterations of a level, and costs in a convergence window; voxels of a neighborhood's radius, a
#: Gaussian's sigma and a step; factors of components; and sigmas of a level's images, in voxels or mm.
MOST_ITERATIONS, MOST_RADIUS, LARGEST_SIGMA, LONGEST_STEP, MOST_WEIGHT, LARGEST_IMAGE_SIGMA = 1_000_000, 32, 20, 5, 1e6, 1000
#: The rules for the length of Greedy's steps.
FIELD_OPTIMIZERS = ("longest_vector", "adam")
#: The algorithms of Greedy's and Velocity's Gaussians.
FIELD_SMOOTHINGS = ("discrete", "recursive")


def _iterations(default: tuple[int, ...]) -> Any:
    """Makes the setting of a dense stage's iterations, which a command line has as one number for each level."""
    return field(default=default, metadata={"typical": 100, "numbers": MOST_DENSE_LEVELS})


def _weights() -> Any:
    """Makes the setting of a dense stage's weights, which a command line has as one number for each axis."""
    return field(default=None, metadata={"typical": 1.0, "numbers": 3})


class Dense:
    """Is the base of the stages that compute a displacement for each voxel, and declares the settings that all of them have. Each of them
    is a dataclass and states these settings again, since they stand in an order of its own, between others.

    Attributes:
        similarity, iterations, radius, bins, step, convergence_threshold, convergence_window, weights, fixed_range, moving_range: as in
            Greedy.
    """

    similarity: str
    iterations: Union[int, Sequence[int]]
    radius: int
    bins: int
    step: float
    convergence_threshold: float
    convergence_window: int
    weights: Optional[Sequence[float]]
    fixed_range: ValueRange
    moving_range: ValueRange

    name: ClassVar[str]
    metric_setting: ClassVar[str] = "similarity"

    @property
    def metric(self) -> str:
        """The name of the similarity that compares the images. Raises BadInputError if there is no such similarity."""
        return read_choice("similarity", self.similarity, FIELD_SIMILARITIES)

    def settings(self, edges: Optional[Sequence[float]] = None, seed: int = 1) -> _engine.DiffeomorphicSettings:
        """Returns the settings that all dense stages have, as the engine takes them. Arguments and errors are those of Rigid.settings()."""
        settings = _engine.DiffeomorphicSettings()
        bins, radius = read_bins(self.metric, self.bins), read_radius(self.metric, self.radius)
        settings.similarity = _engine.SimilaritySettings.make(engine_name(self.metric), bins, radius)
        settings.iterations = _read_iterations(self.iterations)
        settings.step = read_number("step", self.step, most=LONGEST_STEP, above=0)
        settings.convergence_threshold = read_number("convergence_threshold", self.convergence_threshold, -1, 1)
        settings.convergence_window = read_whole("convergence_window", self.convergence_window, 0, MOST_ITERATIONS)
        if settings.convergence_window == 1:
            raise BadInputError(f"convergence_window=1 is not possible; it is to be a whole number from 2 to {MOST_ITERATIONS}, or 0 for none.")
        settings.weights = _read_weights(self.weights, edges)
        set_ranges(settings, self)
        return settings


@dataclass
class Greedy(Dense):
    """Computes a displacement for each voxel by greedy diffeomorphic registration (Avants 2008; Yushkevich 2016).

    Each iteration smooths the gradient of the similarity, scales it to a step, composes the deformation with the step, and smooths the
    deformation. The results of earlier stages are applied after the deformation.

    Attributes:
        similarity: "neighborhood_correlation", "normalized_mutual_information", "mattes_mutual_information", "correlation_ratio",
            "mean_squares", "correlation" or "demons" (mean squares, with the forces of Thirion 1998 along the moving image's gradient).
        iterations: the number of iterations at each level, the coarsest first, 0 to 1,000,000 each and not all 0; or one number for a
            single level. The last level has the fixed image's voxels; each level before it has voxels twice as long as the next.
        radius: the radius of a neighborhood, in voxels of a level, 1 to 32.
        bins: the number of bins of a similarity with a histogram: 5 to 4096, of a correlation ratio 2 to 4096.
        update_sigma, field_sigma: the standard deviations of the Gaussians that smooth each update, and the whole deformation after each
            update, in voxels of a level, up to 20; 0: no smoothing. With too little smoothing the deformation folds.
        smoothing: "discrete": convolution with a discrete Gaussian; "recursive": recursions along lines, whose time does not depend on
            sigma, but which approximate no Gaussian below a sigma of half a voxel.
        step: the length of the longest vector of an update, in voxels of a level, up to 5.
        optimizer: "longest_vector": all updates have the length `step`; "adam": each component's step depends on its earlier gradients, and
            no step is longer than `step` (Kingma & Ba 2015). Velocity and SyN do not have Adam.
        noise: the standard deviation of the images' noise, of values scaled from 0 to 1, 0.001 to 1: by "neighborhood_correlation"
            structure below it counts little. It has no effect on other similarities. Velocity does not have it.
        convergence_threshold, convergence_window: a level ends when the change of its last `convergence_window` costs, 2 to 1,000,000, is
            less than the threshold, from -1 to 1; with a window of 0 it does all its iterations.
        weights: factors of an update's components along the physical axes x, y (and z), up to 1e6: 0 along an axis that nothing is to move
            along; with "adam" 0 or 1. None: 1 for all axes.
        fixed_range, moving_range: as in Rigid.
    """

    similarity: str = "neighborhood_correlation"
    iterations: Union[int, Sequence[int]] = _iterations(GREEDY_ITERATIONS)
    radius: int = 2
    bins: int = 32
    update_sigma: float = 1.732
    field_sigma: float = 0.6
    smoothing: str = "discrete"
    step: float = 1.0
    optimizer: str = "longest_vector"
    noise: float = 0.01
    convergence_threshold: float = 1e-6
    convergence_window: int = 0
    weights: Optional[Sequence[float]] = _weights()
    fixed_range: ValueRange = a_range()
    moving_range: ValueRange = a_range()

    name: ClassVar[str] = "greedy"

    def settings(self, edges: Optional[Sequence[float]] = None, seed: int = 1) -> _engine.DiffeomorphicSettings:
        """Returns the settings as the engine takes them. Arguments and errors are those of Rigid.settings()."""
        settings = super().settings(edges, seed)
        _set_gaussians(settings, self)
        settings.noise = read_number("noise", self.noise, 0.001, 1)
        optimizer = read_choice("optimizer", self.optimizer, FIELD_OPTIMIZERS)
        if optimizer == "adam" and not all(weight in (0, 1) for weight in settings.weights):
            raise BadInputError(f"weights={self.weights} is not possible with optimizer='adam', whose steps do not depend on factors: give 0 or 1.")
        settings.optimizer = getattr(_engine.DiffeomorphicOptimizer, engine_name(optimizer))
        return settings


@dataclass
class Velocity(Dense):
    """Computes a deformation and its inverse from a stationary velocity (Arsigny 2006; Vercauteren 2008; Avants 2008).

    The velocity v has a vector for each voxel. The deformation is exp(v), and its inverse is exp(-v); both are computed by scaling and
    squaring. The images meet in the middle, along exp(v/2) and exp(-v/2). Each iteration smooths the difference of the similarity's
    gradients by both images, scales it to a step, adds it to v, and smooths v. If the images are exchanged, the result is the inverse
    deformation. The results of earlier stages are applied after the deformation.

    Attributes:
        similarity: as in Greedy; "demons" take the gradient of each image in turn.
        iterations, radius, bins, smoothing, convergence_threshold, convergence_window, weights, fixed_range, moving_range: as in Greedy.
        update_sigma, field_sigma: the standard deviations of the Gaussians that smooth each update, and the velocity after each update, in
            voxels of a level, up to 20; 0: no smoothing. The defaults are smaller than Greedy's, since the exponential of v smooths the
            deformation further. With too little smoothing the deformation folds.
        step: the greatest length of an update of v, in voxels of a level, up to 5.
    """

    similarity: str = "neighborhood_correlation"
    iterations: Union[int, Sequence[int]] = _iterations(GREEDY_ITERATIONS)
    radius: int = 2
    bins: int = 32
    update_sigma: float = 1.414
    field_sigma: float = 0.4
    smoothing: str = "discrete"
    step: float = 1.0
    # These two say that a velocity does not have what greedy has, and keep the places of the settings behind them.
    optimizer: str = Greedy.optimizer
    noise: float = Greedy.noise
    convergence_threshold: float = 1e-6
    convergence_window: int = 0
    weights: Optional[Sequence[float]] = _weights()
    fixed_range: ValueRange = a_range()
    moving_range: ValueRange = a_range()

    name: ClassVar[str] = "velocity"

    def settings(self, edges: Optional[Sequence[float]] = None, seed: int = 1) -> _engine.DiffeomorphicSettings:
        """Returns the settings as the engine takes them. Arguments and errors are those of Rigid.settings()."""
        if self.noise != Greedy.noise:
            raise BadInputError(f"noise={self.noise} is not possible: a velocity does not have it, greedy has.")
        if read_choice("optimizer", self.optimizer, FIELD_OPTIMIZERS) == "adam":
            raise BadInputError(f"optimizer={self.optimizer!r} is not possible: a velocity does not have it, greedy has.")
        settings = super().settings(edges, seed)
        _set_gaussians(settings, self)
        settings.scheme = _engine.DiffeomorphicScheme.Velocity
        return settings


@dataclass
class SyN(Dense):
    """Computes a deformation and its inverse by symmetric normalization, as ITK's and ANTs' SyN compute them (Avants 2008).

    Both images move to the middle. Each iteration smooths the derivative of the similarity, scales it to a step, composes the displacements
    to the middle with the step, and inverts the composition. The results of earlier stages are applied after the deformation.

    Attributes:
        similarity: as in Greedy; the bins of those with a histogram follow the ranges of the images in the middle, at each iteration.
            "demons" take the gradient of each image in turn.
        iterations: the greatest number of iterations at each level, the coarsest first, 0 to 1,000,000 each and not all 0; or one number
            for a single level. The last level has the fixed image's voxels; each level before it has voxels twice as long as the next. A
            level's images are smoothed with a standard deviation of as many of their voxels as there are finer levels.
        bins, radius: as in Greedy.
        update_variance, field_variance: the variances of the Gaussians that smooth each update, and the displacements to the middle after
            each update, in squared voxels of a level, up to 400; 0: no smoothing.
        step: the length of the longest vector of an update, in voxels of a level, up to 5.
        average: 1: both images move by the mean of both updates; 0: each image moves by its own update.
        convergence_threshold, convergence_window, weights: as in Greedy.
        shrink_factors: the number of the fixed image's voxels along each axis per voxel of a level: one number for each level, or, in
            Python, one for each level and axis. None: as described under iterations. The result has the last level's voxels.
        smoothing_sigmas: the standard deviations by which each level's images are smoothed, in their voxels, one for each level, up to
            1000. None: as described under iterations.
        sigmas_in_mm: 1: smoothing_sigmas are in mm; 0: in voxels.
        flat: the neighborhoods that do not count, since rounding alone tells their voxels apart: "scaled": those whose squared differences
            from the mean add up to 1e-9 at most in either image, of values scaled to magnitudes of up to 1; "float" and "double": as
            itk::ANTSNeighborhoodCorrelationImageToImageMetricv4 takes them that computes with that type, 1.2e-7 and 2.2e-16 of the values
            as they are. It has no effect on other similarities.
        fixed_range, moving_range: as in Rigid.
    """

    similarity: str = "neighborhood_correlation"
    iterations: Union[int, Sequence[int]] = _iterations(SYN_ITERATIONS)
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
    flat: str = "scaled"
    weights: Optional[Sequence[float]] = _weights()
    fixed_range: ValueRange = a_range()
    moving_range: ValueRange = a_range()

    name: ClassVar[str] = "syn"

    def settings(self, edges: Optional[Sequence[float]] = None, seed: int = 1) -> _engine.DiffeomorphicSettings:
        """Returns the settings as the engine takes them. Arguments and errors are those of Rigid.settings()."""
        settings = super().settings(edges, seed)
        settings.scheme = _engine.DiffeomorphicScheme.SyN
        settings.update_sigma = read_number("update_variance", self.update_variance, 0, LARGEST_SIGMA**2) ** 0.5
        settings.field_sigma = read_number("field_variance", self.field_variance, 0, LARGEST_SIGMA**2) ** 0.5
        syn = settings.syn
        syn.averages_gradients = bool(read_whole("average", self.average, 0, 1))
        syn.shrink_factors = [_read_factors(level, edges) for level in as_list(self.shrink_factors)]
        syn.smoothing_sigmas = [read_number("smoothing_sigmas", sigma, 0, LARGEST_IMAGE_SIGMA) for sigma in as_list(self.smoothing_sigmas)]
        for name, numbers in (("shrink_factors", syn.shrink_factors), ("smoothing_sigmas", syn.smoothing_sigmas)):
            if len(numbers) not in (0, len(settings.iterations)):
                raise BadInputError(f"{name} has {len(numbers)} entries for {len(settings.iterations)} levels, by iterations: give one for each level, or none.")
        syn.sigmas_are_in_millimetres = bool(read_whole("sigmas_in_mm", self.sigmas_in_mm, 0, 1))
        flat = read_choice("flat", self.flat, ("scaled", "float", "double"))
        if flat != "scaled":
            settings.flat = _engine.FlatNeighborhoods.of_itk(flat == "float")
        return settings


def _set_gaussians(settings: _engine.DiffeomorphicSettings, stage: Union[Greedy, Velocity]) -> None:
    """Writes the Gaussians of a stage into its settings as the engine takes them."""
    settings.update_sigma = read_number("update_sigma", stage.update_sigma, 0, LARGEST_SIGMA)
    settings.field_sigma = read_number("field_sigma", stage.field_sigma, 0, LARGEST_SIGMA)
    smoothing = engine_name(read_choice("smoothing", stage.smoothing, FIELD_SMOOTHINGS))
    settings.smoothing = getattr(_engine.DiffeomorphicSmoothing, smoothing)


def read_radius(metric: str, radius: Any) -> int:
    """Returns the radius of a dense stage's similarity. Raises BadInputError if its neighborhoods may not be so large."""
    return read_whole("radius", radius, 1, MOST_RADIUS if _similarities.SIMILARITIES[metric].has_neighborhoods else MOST_INT)


def _possible_counts(edges: Optional[Sequence[float]]) -> tuple[int, ...]:
    """Returns the possible numbers of axes. edges: one for each axis; None: not known yet."""
    return (2, 3) if edges is None else (len(edges),)


def _read_weights(weights: Optional[Sequence[float]], edges: Optional[Sequence[float]]) -> list[float]:
    """Returns the weights of an update's components along three axes. edges: as of Rigid.settings()."""
    if weights is None:
        return [1.0] * 3
    read = [read_number("weights", weight, 0, MOST_WEIGHT) for weight in as_list(weights)]
    if len(read) not in _possible_counts(edges):
        raise BadInputError(f"weights={weights} is not possible: give one number for each axis of the images.")
    if not any(read):
        raise BadInputError(f"weights={weights} is not possible: then nothing moves; one of them is to be above 0.")
    return read + [1.0] * (3 - len(read))


def _read_factors(level: Any, edges: Optional[Sequence[float]]) -> list[int]:
    """Returns a level's shrink factors along three axes. level: one factor, or one for each axis. edges: as of Rigid.settings()."""
    factors = [read_whole("shrink_factors", factor, 1) for factor in as_list(level)]
    if len(factors) == 1:
        return factors * 3
    if len(factors) not in _possible_counts(edges):
        raise BadInputError(f"shrink_factors of a level are {level}; they are to be one whole number, or one for each axis of the images.")
    return factors + [1] * (3 - len(factors))


def _read_iterations(iterations: Any) -> list[int]:
    """Reads the iterations of a dense stage's levels."""
    numbers = as_list(iterations)
    if not 1 <= len(numbers) <= MOST_DENSE_LEVELS:
        raise BadInputError(f"iterations={iterations} is not possible: give 1 to {MOST_DENSE_LEVELS} whole numbers, one for each level.")
    return [read_whole("iterations", number, 0, MOST_ITERATIONS) for number in numbers]
