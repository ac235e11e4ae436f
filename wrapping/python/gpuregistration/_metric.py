# SPDX-License-Identifier: Apache-2.0
"""Evaluates metrics without a registration."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Optional, Union

import numpy as np

from . import _engine
from ._affine import Affine
from ._checks import engine_name, read_choice, read_numbers, read_whole
from ._devices import DeviceLike
from ._engine import BadInputError
from ._kinds import ImageLike
from ._sides import read_pair
from ._similarities import SIMILARITIES
from .stages import ValueRange, read_range

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

#: Names that metric() takes.
METRICS = tuple(name for name in SIMILARITIES if name != "demons")
#: Describes their values.
MEANING = (
    "For all metrics less is better: mutual informations and squared correlations are negative, the correlation ratio is 1 - eta, and "
    "mean squares and mean absolute differences are of values scaled to 0 to 1."
)


#: Voxels from the middle of a neighborhood correlation's neighborhoods to each side.
RADIUS = 4


class Metric:
    """Evaluates a metric of two images for an affine map from the fixed image's points to the moving image's. metric() makes it."""

    def __init__(self, measure: _engine.Measure, dimension: int, center: np.ndarray) -> None:
        self._measure = measure
        self._lock = threading.Lock()
        self.dimension = dimension
        self._center = center

    @property
    def warnings(self) -> list[str]:
        """Sentences that warn of outliers among the images' values."""
        return list(self._measure.warnings)

    @property
    def center(self) -> np.ndarray:
        """The point that the matrix turns about, ``(d,)``, in mm: parameters are those of an Affine with this center. To set it to
        anything but d finite numbers raises BadInputError."""
        return self._center.copy()

    @center.setter
    def center(self, center: ArrayLike) -> None:
        self._center = _read_center(center, self.dimension)

    @property
    def number_of_parameters(self) -> int:
        """``d * d + d``: the matrix row by row, then the translation in mm, in ITK's order."""
        return self.dimension * (self.dimension + 1)

    def value(self, parameters: Union[ArrayLike, Affine]) -> float:
        """Computes the metric: the less, the better the images agree. It is NaN if no voxels overlap, or if their values do not vary.

        Args:
            parameters: ``(d * d + d,)``; or an Affine with any center.

        Raises:
            BadInputError: parameters are of another number, or not finite.
        """
        return float(self.values([self._read(parameters)])[0])

    def values(self, batch: ArrayLike) -> np.ndarray:
        """Computes the metric for many maps together, which is faster than one by one.

        Args:
            batch: ``(n, d * d + d)``, the parameters of n maps.

        Returns:
            ``(n,)``, the value for each map.

        Raises:
            BadInputError: parameters are of another number, or not finite.
            KeyboardInterrupt: Ctrl-C ends it; on a GPU after the batch.
        """
        return self._find(batch)[:, 0]

    def counts(self, batch: ArrayLike) -> np.ndarray:
        """Counts the voxels of the fixed image that each value of values(batch) is computed from: ``(n,)``. Raises what values() raises."""
        return self._find(batch)[:, 1].astype(np.int64)

    def derivative(self, parameters: Union[ArrayLike, Affine]) -> np.ndarray:
        """Computes the value's derivative with respect to each parameter: ``(d * d + d,)``, per unit of the matrix about the center, and
        per mm of translation. It is 0 if nothing overlaps. A neighborhood correlation computes the moving image's gradient by central
        differences.

        Args:
            parameters: as for value().

        Raises:
            BadInputError: parameters are of another number, or not finite.
            Error: a joint histogram of nearest bins has no derivative.
        """
        return self.value_and_derivative(parameters)[1]

    def value_and_derivative(self, parameters: Union[ArrayLike, Affine]) -> tuple[float, np.ndarray]:
        """Computes the value and its derivative in one evaluation. Raises what derivative() raises."""
        read = self._read(parameters)
        numbers = self._maps(read[np.newaxis])[0]
        d = self.dimension
        center = np.zeros(3)
        center[:d] = self._center
        with self._lock:
            value, slope = self._measure.compute_derivative(
                _engine.make_map(numbers[:9].tolist(), numbers[9:].tolist()), center.tolist()
            )
        matrix = slope[:9].reshape(3, 3)[:d, :d]
        return value, np.concatenate([matrix.ravel(), slope[9 : 9 + d]])

    def _read(self, parameters: Union[ArrayLike, Affine]) -> np.ndarray:
        if isinstance(parameters, Affine):
            if parameters.dimension != self.dimension:
                raise BadInputError(
                    f"The map has {parameters.dimension} dimensions, and the images have {self.dimension}: give an Affine of as many."
                )
            return Affine.from_matrix(parameters.matrix_of(), self._center).parameters
        read = read_numbers("A map's parameters, or a gpuregistration.Affine,", parameters)
        if read.ndim != 1:
            raise BadInputError(
                f"Parameters of shape {read.shape} are not possible: give {self.number_of_parameters} in a row, or a gpuregistration.Affine, "
                "such as Affine.from_matrix() makes of a homogeneous matrix."
            )
        return read

    def _find(self, batch: ArrayLike) -> np.ndarray:
        maps = self._maps(read_numbers("The parameters", batch))
        with self._lock:
            return self._measure.compute_values(maps)

    def _maps(self, batch: np.ndarray) -> np.ndarray:
        d = self.dimension
        if batch.ndim != 2 or batch.shape[1] != self.number_of_parameters or not np.isfinite(batch).all():
            raise BadInputError(
                f"Parameters of shape {batch.shape} are not possible: an affine map of {d} dimensions has "
                f"{self.number_of_parameters} finite numbers, the matrix by rows, then the translation."
            )
        matrices = np.tile(np.eye(3), (len(batch), 1, 1))
        matrices[:, :d, :d] = batch[:, : d * d].reshape(-1, d, d)
        offsets = np.zeros((len(batch), 3))
        offsets[:, :d] = batch[:, d * d :] + self._center - matrices[:, :d, :d] @ self._center
        return np.ascontiguousarray(np.concatenate([matrices.reshape(-1, 9), offsets], axis=1))


def metric(
    name: str,
    fixed: ImageLike,
    moving: ImageLike,
    fixed_mask: Optional[ImageLike] = None,
    moving_mask: Optional[ImageLike] = None,
    bins: int = 0,
    radius: int = RADIUS,
    center: Optional[ArrayLike] = None,
    device: Optional[DeviceLike] = None,
    fixed_range: ValueRange = None,
    moving_range: ValueRange = None,
) -> Metric:
    """Makes a metric of two images. Their values are uploaded now: later changes of the arrays do not count.

    Args:
        name: "correlation_ratio" (1 - η), "mattes_mutual_information" and "normalized_mutual_information" (their negatives),
            "correlation" (-r²), "mean_squares" and "mean_absolute_differences" (of values from 0 to 1),
            "joint_histogram_mutual_information" (its negative, in bits, of a histogram that a Gaussian of variance 1.5 bins smooths; ITK's
            metric of that name takes each image's marginal for the other's, up to ITK 5.4), "partial_volume_mutual_information" (its
            negative; Maes 1997), "neighborhood_correlation" (the negative of the mean r² of each voxel's neighborhood; Avants 2008).
        fixed, moving, fixed_mask, moving_mask: as register() takes them.
        bins: number of bins of the histogram; 0: 256 for a correlation ratio, else 64.
        radius: voxels along each axis, from the middle of a neighborhood to its side.
        center: the point that the parameters' matrix turns about, ``(d,)``, in mm; 0 by default.
        device: a device's name; None: the device of an array on a GPU, or else the default one.
        fixed_range, moving_range: as stages.Rigid has them; Metric.warnings names outliers.

    Raises:
        BadInputError: there is no such metric, images are not possible, or arrays are on another GPU than the one that is to compute.
        DeviceError: there is no such device.
    """
    pair = read_pair(fixed, moving, fixed_mask, moving_mask, {})
    device_name = pair.choose_device(device)
    about = np.zeros(pair.dimension) if center is None else _read_center(center, pair.dimension)
    sides, ranges = pair.load(device_name), (fixed_range, moving_range)
    return Metric(make_measure(device_name, pair.dimension, sides, name, bins, radius, ranges), pair.dimension, about)


def _read_center(center: ArrayLike, dimension: int) -> np.ndarray:
    about = read_numbers("The center", center)
    if about.shape != (dimension,) or not np.isfinite(about).all():
        raise BadInputError(f"The center {about.tolist()} does not fit to images of {dimension} dimensions: give as many finite numbers.")
    return about


def make_measure(
    device: str,
    dimension: int,
    sides: tuple[Any, Any],
    name: str,
    bins: int = 0,
    radius: int = RADIUS,
    ranges: tuple[ValueRange, ValueRange] = (None, None),
) -> _engine.Measure:
    """Makes the engine's part of a Metric. Bins, radius and ranges, of the fixed and the moving image, are as metric() takes them."""
    known = read_choice("metric", name, METRICS)
    count = read_whole("bins", bins) or SIMILARITIES[known].usual_bins
    read = [read_range(name, value) for name, value in zip(("fixed_range", "moving_range"), ranges)]
    return _engine.Measure(device, dimension, sides[0], sides[1], engine_name(known), count, read_whole("radius", radius), read)
