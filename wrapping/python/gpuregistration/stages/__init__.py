# SPDX-License-Identifier: Apache-2.0
"""The stages that a registration is made of, and their settings, which have the engine's names and units."""

from .choice import DEFORMING, INVERTING, STAGES, MetricsLike, Stage, StageLike, StagesLike, named, read_settings, read_stages
from .dense import (
    FIELD_OPTIMIZERS,
    FIELD_SIMILARITIES,
    FIELD_SMOOTHINGS,
    GREEDY_ITERATIONS,
    MOST_DENSE_LEVELS,
    SYN_ITERATIONS,
    Greedy,
    SyN,
    Velocity,
    read_radius,
)
from .free_form import FREE_FORM_OPTIMIZERS, MOST_FREE_FORM_LEVELS, SIMILARITIES, SPACING, FreeForm
from .linear import COSTS, FINEST_EDGE, LINEAR_OPTIMIZERS, Affine, Global, Rigid
from .values import ALL_VALUES, ValueRange, a_range, read_bins, read_range

__all__ = [
    "ALL_VALUES",
    "Affine",
    "COSTS",
    "DEFORMING",
    "FIELD_OPTIMIZERS",
    "FIELD_SIMILARITIES",
    "FIELD_SMOOTHINGS",
    "FINEST_EDGE",
    "FREE_FORM_OPTIMIZERS",
    "FreeForm",
    "GREEDY_ITERATIONS",
    "Global",
    "Greedy",
    "INVERTING",
    "LINEAR_OPTIMIZERS",
    "MOST_DENSE_LEVELS",
    "MOST_FREE_FORM_LEVELS",
    "MetricsLike",
    "Rigid",
    "SIMILARITIES",
    "SPACING",
    "STAGES",
    "SYN_ITERATIONS",
    "Stage",
    "StageLike",
    "StagesLike",
    "SyN",
    "ValueRange",
    "Velocity",
    "a_range",
    "named",
    "read_bins",
    "read_radius",
    "read_range",
    "read_settings",
    "read_stages",
]
