# SPDX-License-Identifier: Apache-2.0
"""Holds the settings of a template, and what each round's result depends on."""

from __future__ import annotations

import dataclasses
import hashlib
import math
from typing import Any, Optional, Sequence

from .._checks import read_number
from .._engine import BadInputError
from .._json import plain, text_of
from ..stages import DEFORMING, Stage, read_settings

#: How a mean is sharpened.
SHARPENING = ("laplacian", "unsharp", "none")
#: The number of times that each round applies the shape update, as in ANTs' script.
SHAPE_STEPS = 4


@dataclasses.dataclass(frozen=True)
class Settings:
    """Settings of a template.

    Attributes:
        rounds: the stages of each round's registrations.
        weights: the modalities' weights, each relative to the first one's, which is 1.
        step: the share of the mean displacement that the template takes on, SHAPE_STEPS times a round; 0: no shape update.
        sharpening: one of SHARPENING.
        normalize: images are divided by their mean intensities before they are averaged.
        seed: the seed of random numbers.
        default: the value outside of an image.
    """

    rounds: Sequence[Sequence[Stage]]
    weights: Sequence[float]
    step: float = 0.25
    sharpening: str = "laplacian"
    normalize: bool = True
    seed: int = 1
    default: float = 0.0

    def check(self) -> None:
        """Checks the stages as far as that is possible without images. Raises BadInputError."""
        for stages in self.rounds:
            read_settings(stages, seed=self.seed)

    def describe_registration(self, number: int) -> dict[str, Any]:
        """Returns all settings that the registrations of a round depend on, as plain data. Rounds count from 1."""
        stages = plain([{"name": one.name, **dataclasses.asdict(one)} for one in self.rounds[number - 1]])
        # JSON has neither NaN nor infinity.
        default = self.default if math.isfinite(self.default) else str(self.default)
        return {"stages": stages, "seed": self.seed, "weights": list(self.weights), "default": default}

    def describe_mean(self) -> dict[str, Any]:
        """Returns all settings that a round's mean depends on beside its registrations, as plain data."""
        return {"step": self.step, "sharpening": self.sharpening, "normalize": self.normalize}


def read_weights(weights: Optional[Sequence[float]], modalities: int, stages: Sequence[Stage]) -> tuple[float, ...]:
    """Reads the weights of modalities.

    Args:
        weights: one for each modality; None: all are 1.
        stages: the last round's stages, which compare the modalities.

    Returns:
        The weights relative to the first one.

    Raises:
        BadInputError: there are too many or too few, one is negative, the first one is 0, or no stage compares several modalities.
    """
    if modalities > 1 and not any(isinstance(stage, DEFORMING) for stage in stages):
        raise BadInputError(
            f"The table has {modalities} modalities, and no stage compares several: {', '.join(stage.name for stage in stages)}; "
            "stages that deform do: ffd, greedy, syn and velocity."
        )
    if weights is None:
        return (1.0,) * modalities
    given = [weights] if isinstance(weights, (int, float)) else list(weights)
    if len(given) != modalities:
        raise BadInputError(f"weights={given} is not possible; it is to have one number for each modality of the table, that is {modalities}.")
    numbers = [read_number("weights", one, 0) for one in given]
    if numbers[0] == 0:
        raise BadInputError(f"weights={given} is not possible; the first one is to be above 0: linear stages compare that modality.")
    return tuple(number / numbers[0] for number in numbers)


def key_of(*parts: Any) -> str:
    """Returns a name for plain data, which other data do not have."""
    return hashlib.sha256(text_of(list(parts)).encode("utf-8", "surrogateescape")).hexdigest()
