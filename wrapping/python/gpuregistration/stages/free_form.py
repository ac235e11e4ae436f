# SPDX-License-Identifier: Apache-2.0
"""The stage whose result is a free-form deformation."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Optional, Sequence, Union

import numpy as np

from .. import _engine, _similarities
from .._checks import MOST_SEED, engine_name, read_choice, read_number, read_whole
from .._engine import BadInputError
from .values import ValueRange, a_range, read_bins, read_numbers, set_ranges

#: The similarities of FreeForm.
SIMILARITIES = tuple(name for name, one in _similarities.SIMILARITIES.items() if one.is_for_free_form)
FREE_FORM_OPTIMIZERS = ("adam", "conjugate_gradient", "adaptive_stochastic_gradient_descent")
#: An example for the help, in mm: the spacing of control points for a head with voxels of 1 mm.
SPACING = 5.0

MOST_FREE_FORM_LEVELS = 5
_AXES = "xyz"
# A spacing this share of a voxel's edge or larger counts as at least a voxel's edge: the last digits may differ.
_NEARLY = 0.999


@dataclass
class FreeForm:
    """Computes a free-form deformation by cubic B-splines. The results of earlier stages are applied after the deformation.

    Attributes:
        similarity: "normalized_mutual_information", "mattes_mutual_information", "correlation_ratio", "mean_squares", "correlation" or
            "neighborhood_correlation".
        levels: the number of levels of a pyramid, 1 to 5; each level has voxels twice as long as the next. None: 4, or fewer if the
            coarsest level would have too few voxels inside of the masks. Mutual information needs a voxel for every four entries of the
            joint histogram (1024 for 64 by 64 bins), a correlation ratio 16 voxels per bin, and other similarities 256 voxels.
        spacing: the distance between control points at the finest level, in mm, along the fixed image's axes x, y (and z), or one number
            for all axes; at least a voxel's edge. None: five voxels along the axis, or five of the shortest voxel edges where these are
            longer: 5 mm for a head with voxels of 1 mm. For images of more than some 400 voxels along an axis, the spacing grows as if the
            image had about 280 voxels along that axis.
        bins: the number of bins along each axis of the joint histogram: 5 to 4096, of a correlation ratio 2 to 4096.
        radius: the radius of a neighborhood, in voxels.
        bending_weight, linear_weight, jacobian_weight: the weights of the penalties in the cost.
        optimizer: "adam", "conjugate_gradient" or "adaptive_stochastic_gradient_descent".
        iterations: the greatest number of iterations of a level.
        first_step: the length of a level's first step, in voxels of the level.
        samples: the greatest number of voxels that an iteration compares; 0: all.
        seed: the seed of the random numbers that place samples. None: the seed of register().
        convergence_threshold: a level ends when the mean cost of the last iterations falls by no more than this share; 0: never.
        convergence_window: the number of these last iterations.
        fixed_range, moving_range: as in Rigid.
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
        """Returns the settings as the engine takes them. Arguments and errors are those of Rigid.settings()."""
        settings = _engine.FreeFormSettings()
        settings.similarity = engine_name(self.metric)
        settings.optimizer = engine_name(read_choice("optimizer", self.optimizer, FREE_FORM_OPTIMIZERS))
        # With 0 the engine chooses the number of levels.
        settings.levels = 0 if self.levels is None else read_whole("levels", self.levels, 1, MOST_FREE_FORM_LEVELS)
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
        set_ranges(settings, self)
        return settings

    def _find_spacing(self, edges: Optional[Sequence[float]]) -> list[float]:
        """Returns the spacing along x, y and z, in mm; in two dimensions the spacing along y twice."""
        if self.spacing is None:
            # The engine chooses.
            return [0.0, 0.0, 0.0]
        spacing = np.atleast_1d(read_numbers("spacing", self.spacing))
        if edges is None:
            # Before the images are known, the number of spacings stands for the number of dimensions.
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
