# SPDX-License-Identifier: Apache-2.0
"""A registration's report out of its result."""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING, Optional

import numpy as np

from ._devices import describe_device
from ._resample import resample_array
from ._sides import mask_of_image
from ._similarity import find_similarities_of, reached_by_moving
from ._transforms import Affine, Composite, Transform
from .report import Level, ReportData, Stage

if TYPE_CHECKING:
    from ._register import Result


def report_data(result: Result, command: str = "") -> ReportData:
    """What the report shows. "Before" is the moving image, resampled by the initial transform, or as it lies; the displacement leads
    from there to what was found.

    Args:
        result: of register().
        command: the command line that repeats it.
    """
    pair, device = result._pair.on_host(), result.device
    fixed = pair.fixed
    initial = result._initial
    before = resample_array(pair.moving, initial, fixed, "linear", 0.0, 1, False, device, None)
    after = result._pair.fixed.like(result._warped_array).on_host().array
    similar_before = find_similarities_of(pair, before, initial, device)
    similar_after = find_similarities_of(pair, after, result.transform, device)
    deformation = deformation_from(initial, result.transform)
    return ReportData(
        fixed=fixed.array,
        moving_before=before,
        moving_after=after,
        spacing=fixed.spacing,
        origin=fixed.origin,
        direction=fixed.direction,
        displacement=deformation.to_displacement_field(fixed, device).array.astype(np.float32),
        fixed_mask=None if pair.fixed_mask is None else mask_of_image(pair.fixed_mask, fixed),
        moving_mask=None if pair.moving_mask is None else reached_by_moving(pair, result.transform, device),
        stages=[
            Stage(stage.name, 1e3 * stage.seconds, [Level(level.name, level.costs) for level in stage.levels])
            for stage in result.stages
        ],
        device=f"{device}: {describe_device(device).description}",
        versions=find_versions(),
        command=command,
        similarity={name: (similar_before[name], similar_after[name]) for name in similar_before},
    )


def deformation_from(initial: Optional[Transform], found: Transform) -> Transform:
    """What a registration added to the initial transform: what comes before it in `found`, or, where a linear stage went on from it,
    all of `found` and then the way back through it."""
    if initial is None:
        return found
    parts = found.transforms if isinstance(found, Composite) else [found]
    begin = initial.transforms if isinstance(initial, Composite) else [initial]
    if len(parts) > len(begin) and all(one is other for one, other in zip(parts[-len(begin) :], begin)):
        return Composite(parts[: -len(begin)])
    # A linear stage begins with linear transforms alone.
    matrix = initial.matrix_of()
    assert matrix is not None
    return Composite([found, Affine.from_matrix(matrix).inverse()])


def find_versions() -> dict[str, str]:
    """Of what a registration's result may depend on."""
    from . import __version__

    return {"gpuregistration": __version__, "Python": platform.python_version(), "NumPy": np.__version__}
