# SPDX-License-Identifier: Apache-2.0
"""Reads the pairs of images that stages compare beside the two of register()."""

from __future__ import annotations

import math
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Iterator, Mapping, Optional, Sequence, Union

from . import _engine
from ._checks import engine_name, read_choice, read_number, read_whole
from ._devices import DeviceLike
from ._engine import BadInputError, UnsupportedError
from ._kinds import ImageLike, is_bare_array
from ._sides import Pair, read_pair
from ._slices import check_is_same_slice
from .stages import (
    COSTS,
    DEFORMING,
    FIELD_SIMILARITIES,
    SIMILARITIES,
    FreeForm,
    Rigid,
    Stage,
    ValueRange,
    a_range,
    read_bins,
    read_radius,
    read_range,
)
from .stages.dense import MOST_WEIGHT, Dense

if TYPE_CHECKING:
    from typing_extensions import TypeGuard

_Comparing = Union[FreeForm, Dense, Rigid]

# The similarities by which kinds of stages compare further pairs; the others have those of fields.
_NAMES = ((Rigid, COSTS), (FreeForm, SIMILARITIES))


def compares_several(stage: Stage, stages: Sequence[Stage]) -> TypeGuard[_Comparing]:
    """Returns whether a stage among others compares several pairs: one that deforms does, and a linear one where no stage deforms."""
    return isinstance(stage, DEFORMING) or not any(isinstance(one, DEFORMING) for one in stages)


def count_compared(stage: Stage, stages: Sequence[Stage], further: Sequence[Further]) -> int:
    """Returns how many further pairs a stage among others compares, without those whose weight is 0."""
    return sum(one.asked.weight != 0 for one in further) if compares_several(stage, stages) else 0


@dataclass
class ImagePair:
    """Two images that are compared beside the two of register(), along the same transform: T2-weighted ones beside T1-weighted ones,
    channels of label maps, or the same images once more by another metric. They lie in the spaces of register()'s images, whose initial
    transform and results of earlier stages they share.

    Attributes:
        fixed: image of any kind that register() takes. For "greedy" it has the voxels of register()'s fixed image: resample it first; for
            other stages it may have others.
        moving: the moving image, on any grid.
        metric: name of a similarity that the stage has; None: the stage's own.
        weight: this pair's share of each update, or of the cost of a linear stage or of "ffd", relative to the 1 of register()'s images; 0
            leaves the pair out. The cost of such a stage is then the mean by the weights in nats a voxel (Roche 2000): minus mutual
            information; half the logarithm of 1 - r^2, of the correlation ratio, or of mean squares relative to those of unrelated images;
            the logarithm of such absolute differences.
        fixed_mask, moving_mask: images of the shapes of fixed and moving; what is not 0 is looked at. None: all voxels.
        bins: number of bins, of a similarity that has bins. None: the stage's.
        radius: the radius of a neighborhood, in voxels of a level, of dense stages up to 32. None: the stage's radius.
        fixed_range, moving_range: as of stages.Rigid.
    """

    fixed: ImageLike
    moving: ImageLike
    metric: Optional[str] = field(default=None, metadata={"typical": "mean_squares"})
    weight: float = 1.0
    fixed_mask: Optional[ImageLike] = None
    moving_mask: Optional[ImageLike] = None
    bins: Optional[int] = field(default=None, metadata={"typical": 32})
    radius: Optional[int] = field(default=None, metadata={"typical": 2})
    fixed_range: ValueRange = a_range()
    moving_range: ValueRange = a_range()


@dataclass
class Further:
    """A further pair whose images have been read.

    Attributes:
        asked: the caller's list of images.
        pair: the images.
        number: the pair's number; register()'s own images are pair 1.
    """

    asked: ImagePair
    pair: Pair
    number: int

    def load(self, device: str) -> tuple[_engine.Side, _engine.Side]:
        """Uploads the images and masks to a device, and returns the fixed side and the moving side."""
        with _named(self.number):
            return self.pair.load(device, keeps_short=True)

    def of_sides(self, stage: _Comparing, sides: tuple[_engine.Side, _engine.Side]) -> _engine.PairOfSides:
        """Returns what load() has returned, with the settings by which a stage compares it.

        Raises:
            BadInputError: a setting that is not possible.
        """
        with _named(self.number):
            similarity, weight, fixed_range, moving_range = self.settings(stage)
            return _engine.PairOfSides(*sides, similarity, weight, fixed_range, moving_range)

    def settings(self, stage: _Comparing) -> tuple[_engine.SimilaritySettings, float, Any, Any]:
        """Returns the similarity, the weight and the ranges of values as the engine takes them.

        Raises:
            BadInputError: a setting that is not possible.
        """
        asked = self.asked
        is_linear = isinstance(stage, Rigid)
        names = next((names for kind, names in _NAMES if isinstance(stage, kind)), FIELD_SIMILARITIES)
        metric = stage.metric if asked.metric is None else read_choice("metric", asked.metric, names)
        bins = stage.bins if asked.bins is None else asked.bins
        # 0 stands for a linear stage's usual number.
        bins = 0 if is_linear and bins == 0 else read_bins(metric, bins)
        radius = stage.radius if asked.radius is None else asked.radius
        radius = read_radius(metric, radius) if isinstance(stage, Dense) else read_whole("radius", radius, 1)
        return (
            _engine.SimilaritySettings.make(engine_name(metric), bins, radius),
            read_number("weight", asked.weight, 0, MOST_WEIGHT if isinstance(stage, Dense) else math.inf),
            read_range("fixed_range", asked.fixed_range),
            read_range("moving_range", asked.moving_range),
        )


def read_also(
    also: Union[None, ImagePair, Sequence[ImagePair]],
    first: Pair,
    stages: Sequence[Stage],
    geometry: Mapping[str, Any],
    device: Optional[DeviceLike] = None,
    files: Sequence[Mapping[str, str]] = (),
    needs_values: bool = True,
) -> list[Further]:
    """Reads further pairs of images, and checks them and their settings.

    Args:
        also: the images that register() got.
        first: the images that register() was given.
        stages: the stages to run.
        geometry: spacing, origin and direction of bare arrays, as far as they are given.
        device: the device that register() got.
        files: for each pair the files of its images and masks, as read_pair() takes them; empty: they are in memory.
        needs_values: as of read_pair().

    Raises:
        BadInputError: something is no image or does not fit, or a setting is not possible; the message names the pair.
    """
    pairs = _list_pairs(also)
    if not pairs:
        return []
    serving = [stage for stage in stages if compares_several(stage, stages)]
    return [
        _read_one(one, number, first, serving, geometry, device, files[number - 2] if files else None, needs_values)
        for number, one in enumerate(pairs, 2)
    ]


def _list_pairs(also: Union[None, ImagePair, Sequence[ImagePair]]) -> list[ImagePair]:
    if also is None:
        return []
    if isinstance(also, ImagePair):
        return [also]
    try:
        return list(also)
    except TypeError:
        raise BadInputError(f"also is {also!r}; it is to be a gpuregistration.ImagePair(fixed, moving), or a list of some.") from None


def _read_one(
    asked: ImagePair,
    number: int,
    first: Pair,
    stages: Sequence[Any],
    geometry: Mapping[str, Any],
    device: Optional[DeviceLike],
    files: Optional[Mapping[str, str]],
    needs_values: bool,
) -> Further:
    if not isinstance(asked, ImagePair):
        raise BadInputError(f"also has {asked!r}; it is to be made of gpuregistration.ImagePair(fixed, moving).")
    with _named(number):
        bare = any(is_bare_array(image) for image in (asked.fixed, asked.moving))
        images = asked.fixed, asked.moving, asked.fixed_mask, asked.moving_mask
        pair = read_pair(*images, geometry if bare else {}, files, needs_values=needs_values)
        if pair.dimension != first.dimension:
            raise BadInputError(f"The images have {pair.dimension} dimensions, and those of pair 1 {first.dimension}.")
        for which, one, its in zip(("fixed", "moving"), pair.slices, first.slices):
            if pair.dimension == 2 and one is not None and its is not None:
                name = f"file {files[which]}" if files and which in files else f"{which} image"
                check_is_same_slice(one, its, name, f"{which} image of pair 1")
        pair.choose_device(device)
        further = Further(asked, pair, number)
        for stage in stages:
            further.settings(stage)
        return further


@contextmanager
def _named(number: int) -> Iterator[None]:
    """Adds the pair's name to the messages of errors that are raised inside."""
    try:
        yield
    except (BadInputError, UnsupportedError) as error:
        raise type(error)(f"pair {number}: {error}") from error
