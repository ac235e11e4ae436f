# SPDX-License-Identifier: Apache-2.0
"""Defines what gpureg bench measures: each task by the engine and by SimpleITK."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable

import numpy as np

from .. import stages
from .._affine import Affine
from .._filters import smooth
from .._image import Image
from .._kinds import to_simpleitk
from .._metric import metric
from .._register import register
from .._resample import resample
from .._simpleitk import import_simpleitk
from .._transforms import BSpline

# Both free-form deformations have so many iterations and control cells. For each voxel ITK looks at every control point, so few of them
# keep its time below a minute.
_ITERATIONS = 5
_GRIDS_ALONG = 4
# mm, of the transform that is resampled by.
_GRID_MM = 10.0
_BINS = 64


@dataclass
class Task:
    """One thing to measure.

    Attributes:
        name: for the table.
        by_engine: does it on a device of that name.
        by_itk: does it through SimpleITK.
    """

    name: str
    by_engine: Callable[[str], Any]
    by_itk: Callable[[], Any]


def make_tasks(size: int, threads: int) -> list[Task]:
    """Makes all tasks, with heads of ``size`` voxels along each axis.

    Raises:
        ImportError: there is no SimpleITK.
    """
    sitk = import_simpleitk()
    sitk.ProcessObject.SetGlobalDefaultNumberOfThreads(threads)
    moved = Affine(_turn(6.0), [3.0, -2.0, 1.5])
    fixed, moving = _make_head(size, Affine(np.eye(3))), _make_head(size, moved.inverse())
    return [
        *_registrations(sitk, fixed, moving),
        *_filters(sitk, fixed, moved),
        *_metrics(sitk, fixed, moving),
    ]


def _registrations(sitk: Any, fixed: Image, moving: Image) -> list[Task]:
    f, m = to_simpleitk(fixed), to_simpleitk(moving)
    grid = fixed.size[0] / _GRIDS_ALONG
    free_form = stages.FreeForm(similarity="mean_squares", levels=1, spacing=grid, iterations=_ITERATIONS)

    def linear(name: str, start: Any) -> Task:
        return Task(
            f"{name} registration",
            lambda device: register(fixed, moving, name, device=device),
            lambda: _register_linearly(sitk, f, m, start),
        )

    return [
        linear("rigid", sitk.Euler3DTransform()),
        linear("affine", sitk.AffineTransform(3)),
        Task(
            f"free form, {_ITERATIONS} iterations",
            lambda device: register(fixed, moving, free_form, device=device),
            lambda: _register_free_form(sitk, f, m),
        ),
    ]


def _filters(sitk: Any, image: Image, moved: Affine) -> list[Task]:
    itk_image, itk_moved = to_simpleitk(image), moved.to_simpleitk()
    points = int(np.ceil(image.size[0] / _GRID_MM)) + 3
    rng = np.random.default_rng(1)
    bent = BSpline(rng.normal(0.0, 1.0, (points, points, points, 3)), [_GRID_MM] * 3, image.origin - _GRID_MM)
    itk_bent = bent.to_simpleitk()
    return [
        Task(
            "resample, affine, linear",
            lambda device: resample(image, moved, device=device),
            lambda: sitk.Resample(itk_image, itk_image, itk_moved, sitk.sitkLinear),
        ),
        Task(
            "resample, B-spline, cubic",
            lambda device: resample(image, bent, interpolation="bspline", device=device),
            lambda: sitk.Resample(itk_image, itk_image, itk_bent, sitk.sitkBSpline3),
        ),
        Task(
            "smooth, 2 mm",
            lambda device: smooth(image, 2.0, device=device),
            lambda: sitk.SmoothingRecursiveGaussian(itk_image, 2.0),
        ),
    ]


def _metrics(sitk: Any, fixed: Image, moving: Image) -> list[Task]:
    """Makes the tasks of a metric's value, of images that are on the device, after the first value."""
    f, m = to_simpleitk(fixed), to_simpleitk(moving)
    made: dict[tuple[str, str], Any] = {}

    def value(name: str, device: str) -> float:
        key = (name, device)
        if key not in made:
            made[key] = metric(name, fixed, moving, bins=_BINS, device=device)
        return made[key].value(Affine(np.eye(3)))

    def itk_value(set_metric: Callable[[Any], Any]) -> float:
        method = sitk.ImageRegistrationMethod()
        set_metric(method)
        method.SetInitialTransform(sitk.AffineTransform(3))
        method.SetInterpolator(sitk.sitkLinear)
        return method.MetricEvaluate(f, m)

    return [
        Task(
            "mean squares, a value",
            lambda device: value("mean_squares", device),
            lambda: itk_value(lambda method: method.SetMetricAsMeanSquares()),
        ),
        Task(
            "mutual information, a value",
            lambda device: value("mattes_mutual_information", device),
            lambda: itk_value(lambda method: method.SetMetricAsMattesMutualInformation(_BINS)),
        ),
    ]


def _register_linearly(sitk: Any, fixed: Any, moving: Any, start: Any) -> Any:
    method = sitk.ImageRegistrationMethod()
    method.SetMetricAsMattesMutualInformation(_BINS)
    method.SetInterpolator(sitk.sitkLinear)
    method.SetOptimizerAsRegularStepGradientDescent(1.0, 1e-3, 100)
    method.SetOptimizerScalesFromPhysicalShift()
    method.SetShrinkFactorsPerLevel([4, 2, 1])
    method.SetSmoothingSigmasPerLevel([2.0, 1.0, 0.0])
    centred = sitk.CenteredTransformInitializer(fixed, moving, start, sitk.CenteredTransformInitializerFilter.MOMENTS)
    method.SetInitialTransform(centred, inPlace=False)
    return method.Execute(fixed, moving)


def _register_free_form(sitk: Any, fixed: Any, moving: Any) -> Any:
    method = sitk.ImageRegistrationMethod()
    method.SetMetricAsMeanSquares()
    method.SetInterpolator(sitk.sitkLinear)
    # Scales and steps that ITK would estimate take it minutes of so many parameters.
    method.SetOptimizerAsGradientDescent(1.0, _ITERATIONS, 0.0, 10, method.Never)
    method.SetInitialTransform(sitk.BSplineTransformInitializer(fixed, [_GRIDS_ALONG] * 3), inPlace=False)
    return method.Execute(fixed, moving)


def _make_head(size: int, transform: Affine) -> Image:
    """Makes an image of a body with parts, moved by a transform."""
    grid = Image(np.zeros((size, size, size), np.float32), origin=[-(size - 1) / 2] * 3)
    z, y, x = np.meshgrid(*[np.arange(size) - (size - 1) / 2] * 3, indexing="ij")
    point = transform.transform_points(np.stack([x, y, z], axis=-1)) / size
    value = np.zeros((size, size, size))
    for height, centre, radius, power in (
        (100.0, (0.02, 0.01, 0.03), (0.31, 0.38, 0.29), 2),
        (45.0, (-0.10, -0.15, 0.11), (0.09, 0.11, 0.09), 1),
        (-40.0, (0.15, 0.11, -0.04), (0.11, 0.09, 0.13), 1),
        (30.0, (0.07, -0.20, -0.09), (0.08, 0.08, 0.08), 1),
    ):
        value += height * np.exp(-((((point - np.array(centre)) / np.array(radius)) ** 2).sum(axis=-1) ** power))
    return grid.like(value.astype(np.float32))


def _turn(degrees: float) -> np.ndarray:
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
