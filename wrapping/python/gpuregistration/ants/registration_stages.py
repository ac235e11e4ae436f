# SPDX-License-Identifier: Apache-2.0
"""Describes the stages of a command line of antsRegistration as plain data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Optional, Sequence

from .._engine import BadInputError
from ..stages import MOST_DENSE_LEVELS, MOST_FREE_FORM_LEVELS
from .registration_flags import METRICS_THAT_RUN, TRANSFORMS_THAT_RUN, needed
from .syntax import Value, truth

LINEAR = {"translation": "Translation", "rigid": "Rigid", "similarity": "Similarity", "affine": "Affine"}
_OTHER_TRANSFORMS = (
    "compositeaffine",
    "gaussiandisplacementfield",
    "bsplinedisplacementfield",
    "timevaryingvelocityfield",
    "timevaryingbsplinevelocityfield",
    "bsplinesyn",
    "exponential",
    "bsplineexponential",
    "ffd",
    "gdf",
    "dmffd",
    "tvf",
    "tvdmffd",
    "exp",
    "compaff",
)
#: This package's similarities by ANTs' names. ANTs' MI is Mattes', too.
SIMILARITIES = {
    "cc": "neighborhood_correlation",
    "mi": "mattes_mutual_information",
    "mattes": "mattes_mutual_information",
    "meansquares": "mean_squares",
    "msq": "mean_squares",
    "ssd": "mean_squares",
    "gc": "correlation",
    "demons": "demons",
}
#: Metrics of ANTs that this package has not, in small letters.
OTHER_METRICS = ("mi2", "icp", "pse", "jhct", "igdm", "global correlation")
_SAMPLINGS = ("none", "regular", "random", "")
#: Stages of these transforms deform; all others are linear.
DEFORMING = ("SyN", "BSpline")
# A restriction leaves these transforms of a linear stage, by its transform and the factors of ITK's parameters in two and in three
# dimensions: turns and shifts of rigid maps, the size behind them or, in two dimensions, before them, and a matrix and shifts of affine
# maps.
_RESTRICTED: dict[tuple[str, tuple[float, ...]], str] = {
    ("Rigid", (0, 1, 1)): "Translation",
    ("Rigid", (0, 0, 0, 1, 1, 1)): "Translation",
    ("Similarity", (0, 1, 1, 1)): "Rigid",
    ("Similarity", (1, 1, 1, 1, 1, 1, 0)): "Rigid",
    ("Similarity", (0, 0, 1, 1)): "Translation",
    ("Similarity", (0, 0, 0, 1, 1, 1, 0)): "Translation",
    ("Affine", (0, 0, 0, 0, 1, 1)): "Translation",
    ("Affine", (*(0,) * 9, 1, 1, 1)): "Translation",
}
_NO_MASK = ("null", "na", "")
_DEFAULTS = {"cc": 4, "mi": 32, "mattes": 32}


@dataclass(frozen=True)
class Metric:
    """A metric of a stage: its similarity, the names of its images, its bins or its radius (0 if it has neither), and its weight among
    several; and its flag and value, for errors."""

    name: str
    similarity: str
    fixed: str
    moving: str
    size: int
    weight: float = 1.0
    given: str = field(default="", compare=False)


@dataclass
class Stage:
    """A stage. Lists have one number for each level, the coarsest first.

    Attributes:
        transform: "Translation", "Rigid", "Similarity", "Affine", "SyN" or "BSpline".
        step, update_variance, total_variance: the numbers in the transform's brackets.
        metrics: the first metric, and those behind it with a weight, in their order.
        masks: names of the fixed and the moving image's masks; None if there is none.
        weights: factors of the components of a deformation.
        mesh: for BSpline, the cells along each axis at the coarsest level, or one number, the length of such a cell in mm.
        restricted: for a linear stage, the transform with fewer degrees of freedom that a restriction leaves of it; "" if all are free.
        is_single: True to take neighborhoods of SyN for flat, and to count cells of BSpline, as ANTs does with --float 1.
        number: the stage's, from 0 on.
        given: flags with their values, for errors, by the flags' long names.
    """

    transform: str
    step: float
    update_variance: float
    total_variance: float
    metrics: list[Metric]
    iterations: list[int]
    threshold: float
    window: int
    shrink_factors: list[int]
    sigmas: list[float]
    sigmas_in_mm: bool
    masks: tuple[Optional[str], Optional[str]] = (None, None)
    weights: Optional[list[float]] = None
    mesh: Sequence[int] = ()
    restricted: str = ""
    is_single: bool = False
    number: int = 0
    given: dict[str, str] = field(default_factory=dict, compare=False)

    @property
    def degrees(self) -> str:
        """Names the transform whose degrees of freedom a linear stage has."""
        return self.restricted or self.transform

    @property
    def levels_with_iterations(self) -> range:
        """The numbers of the levels from the first one that has iterations to the last one."""
        numbers = [number for number, iterations in enumerate(self.iterations) if iterations > 0]
        return range(numbers[0], numbers[-1] + 1) if numbers else range(0)

    @property
    def metric(self) -> Metric:
        """The first metric, on whose fixed image's grid the stage works, and whose images are warped."""
        return self.metrics[0]

    @property
    def compared(self) -> list[Metric]:
        """The metrics by which images are compared: those with a weight, or one alone. SyN also has the first one without a weight, by whose value
        a level ends."""
        return self.metrics if self.transform == "SyN" else [metric for metric in self.metrics if metric.weight > 0] or self.metrics


def read_stages(values: dict[str, list[Value]], dimension: int, others: list[str]) -> list[Stage]:
    """Reads the stages of a command line.

    Args:
        values: the values of all flags.
        dimension: that of the images; 0: not known yet.
        others: gets what is handed over.

    Raises:
        BadInputError: a value is wrong, or there are not as many for each flag as stages.
    """
    transforms = needed(values, "transform")
    count = len(transforms)
    metrics = _metrics_of_stages(needed(values, "metric"))
    if len(metrics) != count:
        raise BadInputError(
            f"-m/--metric: there are metrics of {len(metrics)} stages for {count} transforms (-t); expected one behind the other for each stage"
        )
    each = {}
    for name in ("convergence", "shrink-factors", "smoothing-sigmas"):
        found = needed(values, name)
        if len(found) != count:
            raise BadInputError(f"{found[0].flag.spelled}: it is given {len(found)} times for {count} transforms (-t); expected once for each")
        each[name] = found
    masks = _read_masks(values["masks"], count)
    weights = _read_weights(values["restrict-deformation"], count, dimension)
    stages = []
    for number, transform in enumerate(transforms):
        stage = _read_stage(
            transform, metrics[number], each["convergence"][number], each["shrink-factors"][number], each["smoothing-sigmas"][number], others
        )
        stage.masks, stage.weights, stage.is_single, stage.number = masks[number], weights[number], truth(values, "float"), number
        if stage.weights is not None:
            stage.given["restrict-deformation"] = values["restrict-deformation"][number].spelled
        if stage.weights is not None and stage.transform != "SyN":
            stage.restricted = _RESTRICTED.get((stage.transform, tuple(stage.weights)), "")
            stage.weights = None
            if not stage.restricted:
                others.append(f"--restrict-deformation {values['restrict-deformation'][number]} of {transform.name}")
        stages.append(stage)
    if any(stage.transform == "SyN" and len(stage.iterations) > MOST_DENSE_LEVELS for stage in stages):
        others.append(f"more than {MOST_DENSE_LEVELS} levels of SyN")
    return stages


def _metrics_of_stages(values: list[Value]) -> list[list[Value]]:
    """Returns the metrics of each stage: those that follow each other on the command line are of one."""
    stages = [[values[0]]]
    for before, value in zip(values, values[1:]):
        if value.order == before.order + 1:
            stages[-1].append(value)
        else:
            stages.append([value])
    return stages


def _read_stage(
    transform: Value, metrics: list[Value], convergence: Value, factors: Value, sigmas: Value, others: list[str]
) -> Stage:
    iterations, threshold, window = _read_convergence(convergence)
    read_sigmas, in_mm = _read_sigmas(sigmas, len(iterations))
    read_factors = factors.wholes(factors.first(), 1)
    for value, count in ((factors, len(read_factors)), (sigmas, len(read_sigmas))):
        if count != len(iterations):
            raise value.wrong(f"{len(iterations)} numbers, as many as --convergence {convergence} has levels")
    name, numbers = _read_transform(transform, others)
    read_metrics = [_read_metric(value, name, others) for value in metrics]
    # A metric alone counts whatever its weight is, and the first one's images are warped.
    if len(read_metrics) > 1:
        if not any(metric.weight > 0 for metric in read_metrics):
            raise metrics[0].wrong("a weight above 0 of one of the stage's metrics")
        read_metrics = [metric for number, metric in enumerate(read_metrics) if number == 0 or metric.weight > 0]
    step, update_variance, total_variance = numbers
    stage = Stage(
        transform=name,
        step=step,
        update_variance=update_variance,
        total_variance=total_variance,
        metrics=read_metrics,
        iterations=iterations,
        threshold=threshold,
        window=window,
        shrink_factors=read_factors,
        sigmas=read_sigmas,
        sigmas_in_mm=in_mm,
    )
    stage.given = {value.flag.long: value.spelled for value in (transform, convergence, factors, sigmas)}
    if name == "BSpline":
        stage.mesh = transform.wholes(transform.parameter(1), 1)
        others += _reasons_against(stage)
    return stage


def _reasons_against(stage: Stage) -> list[str]:
    """Returns why free-form deformation does not do a stage BSpline."""
    reasons = []
    if len(stage.levels_with_iterations) > MOST_FREE_FORM_LEVELS:
        reasons.append(f"more than {MOST_FREE_FORM_LEVELS} levels of BSpline")
    if not all(stage.iterations[number] for number in stage.levels_with_iterations):
        reasons.append("a level of 0 iterations between other levels of BSpline")
    return reasons


def _read_transform(value: Value, others: list[str]) -> tuple[str, tuple[float, float, float]]:
    name = value.name.lower()
    if name in _OTHER_TRANSFORMS:
        others.append(f"the transform {value.name}")
        return value.name, (1.0, 0.0, 0.0)
    names = {**LINEAR, **{one.lower(): one for one in DEFORMING}}
    if name not in names:
        raise value.wrong(f"{TRANSFORMS_THAT_RUN}; or another one of antsRegistration's")
    least, most = {"syn": (1, 3), "bspline": (2, 2)}.get(name, (1, 1))
    if not least <= len(value.parameters) <= most:
        raise value.wrong()
    step = value.real(value.parameter(0), 0)
    if step == 0:
        raise value.wrong("a step above 0")
    if name == "bspline":
        return "BSpline", (step, 0.0, 0.0)
    return names[name], (step, value.real(value.parameter(1, "3"), 0), value.real(value.parameter(2, "0"), 0))


def _read_metric(value: Value, transform: str, others: list[str]) -> Metric:
    name = value.name.lower()
    if name in OTHER_METRICS:
        others.append(f"the metric {value.name}")
        return Metric(value.name, "", "", "", 0)
    if name not in SIMILARITIES:
        raise value.wrong(f"{METRICS_THAT_RUN}; or another one of antsRegistration's")
    if not 2 <= len(value.parameters) <= 7 or not value.parameters[0] or not value.parameters[1]:
        raise value.wrong()
    weight = value.real(value.parameter(2, "1"), 0, expected="a number of 0 or more as the weight, behind the images")
    size = _read_size(value, name)
    if value.parameter(4).lower() not in _SAMPLINGS:
        raise value.wrong("None, Regular or Random as the sampling")
    value.real(value.parameter(5, "1"), 0, 1, "a number from 0 to 1 as the share of samples, behind the sampling")
    if value.truth(value.parameter(6, "0"), "0 or 1 as useGradientFilter, behind the share of samples"):
        others.append(f"useGradientFilter 1 of {value.spelled}")
    if name == "demons" and transform in (*LINEAR.values(), "BSpline"):
        # ANTs says that its transform must be a displacement field.
        raise value.wrong(f"another metric in a stage {transform}: Demons are of SyN alone, in ANTs, too")
    return Metric(value.name, SIMILARITIES[name], value.parameters[0], value.parameters[1], size, weight, value.spelled)


def _read_size(value: Value, name: str) -> int:
    """Returns a metric's radius or number of bins. Of a metric that has neither, the place holds anything, such as ANTs' NA, and 0 is returned."""
    if name not in _DEFAULTS:
        return 0
    expected = "a radius of 1 or more, behind the weight" if name == "cc" else "5 bins or more, behind the weight"
    return value.whole(value.parameter(3, str(_DEFAULTS[name])), least_size(name), expected)


def least_size(metric: str) -> int:
    """Returns the least radius or number of bins of a metric by its name in small letters; 0 if it has neither."""
    return {"cc": 1, "mi": 5, "mattes": 5}.get(metric, 0)


def _read_convergence(value: Value) -> tuple[list[int], float, int]:
    if len(value.parameters) > 3 or (value.parameters and value.name):
        raise value.wrong()
    window = value.whole(value.parameter(2, "10"), 0)
    if window < 2:
        raise value.wrong("a window of 2 or more")
    return value.wholes(value.first()), value.real(value.parameter(1, "1e-6")), window


def _read_sigmas(value: Value, levels: int) -> tuple[list[float], bool]:
    text = value.first()
    in_mm = text.endswith("mm")
    text = text[: -len("mm")] if in_mm else text[: -len("vox")] if text.endswith("vox") else text
    sigmas = value.reals(text)
    return sigmas * levels if len(sigmas) == 1 else sigmas, in_mm


def _read_masks(values: list[Value], stages: int) -> list[tuple[Optional[str], Optional[str]]]:
    if len(values) not in (0, 1, stages):
        raise BadInputError(f"-x/--masks: it is given {len(values)} times for {stages} transforms (-t); expected once for all, or once for each")
    read = []
    for value in values:
        names = value.parameters or (value.name,)
        if len(names) > 2 or (value.parameters and value.name):
            raise value.wrong()
        fixed, moving = (None if name.lower() in _NO_MASK else name for name in (*names, "")[:2])
        read.append((fixed, moving))
    if not read:
        return [(None, None)] * stages
    return read * stages if len(read) == 1 else read


def _read_weights(values: list[Value], stages: int, dimension: int) -> list[Optional[list[float]]]:
    if len(values) > stages:
        raise BadInputError(f"-g/--restrict-deformation: it is given {len(values)} times for {stages} transforms (-t); expected once for each")
    read: list[Optional[list[float]]] = []
    for value in values:
        weights = value.reals(value.first())
        read.append(None if all(weight == 1 for weight in weights) else weights)
        if read[-1] is not None and len(weights) < dimension:
            raise value.wrong()
    return read + [None] * (stages - len(read))
