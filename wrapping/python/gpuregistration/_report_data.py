# SPDX-License-Identifier: Apache-2.0
"""Collects the data of a registration's report."""

from __future__ import annotations

import functools
import math
import platform
from datetime import datetime
from importlib import metadata
from typing import Any, Mapping, Optional, Sequence

import numpy as np

from ._affine import Affine
from ._composite import Composite, parts_of
from ._devices import describe_device
from ._engine import BadInputError
from ._metric import MEANING
from ._moving_side import resample_moving_side
from ._resample import resample_array
from ._sides import Pair, mask_of_image
from ._similarity import Subsample, compute_similarities_of, reached_by_moving
from ._stage_result import StageResult, all_warnings
from ._transforms import Transform
from .report import Level, ReportData, Stage
from .report.pictures import reduce_strides

# Voxels that similarities are of, at most, unless fewer than so many are inside of the mask then.
_VOXELS = 600_000
_VOXELS_INSIDE = 100_000


def report_data(
    pair: Pair,
    warped: Any,
    stages: Sequence[StageResult],
    initial: Optional[Transform],
    device: str,
    command: str = "",
    files: Optional[Mapping[str, str]] = None,
    default: float = 0.0,
    devices: Optional[Sequence[str]] = None,
) -> ReportData:
    """Collects the data that the report shows. "Before" is the moving image, resampled by the initial transform if there is one. The
    displacement leads from the initial transform to the transform that was found.

    Args:
        pair: the images, and their masks.
        warped: the moving image on the fixed one's grid, an array of the pair's kind.
        stages: the stages' results.
        initial: the transform that the first stage began with; None: none.
        device: that computes what the report shows.
        command: the command line that repeats it.
        files: names of files, by what each one is.
        default: the value outside of the moving image.
        devices: those that registered; None: the device alone.
    """
    found = stages[-1].transform
    after = pair.fixed.like(warped).on_host().array
    pair = pair.on_host()
    fixed = pair.fixed
    before = resample_array(pair.moving, initial, fixed, "linear", device)
    shown = before, after
    if default != 0:
        # The value outside must not widen the range of values that metrics look at. Where it is not a number, no picture shows it.
        after = resample_array(pair.moving, found, fixed, "linear", device)
        outside = resample_array(pair.moving, initial, fixed, "linear", device, default)
        shown = (outside, shown[1]) if np.isfinite(default) else (before, after)
    subsample = _choose_subsample(pair)
    thin = subsample.of_pair(pair)
    similar_before, similar_after = (
        compute_similarities_of(thin, subsample.of_array(moved), transform, device, radius=subsample.radius)
        for moved, transform in ((before, initial), (after, found))
    )
    warnings = [*pair.warnings, *(initial.warnings if initial is not None else ()), *all_warnings(stages)]
    try:
        moving_side = resample_moving_side(fixed, pair.moving, found, stages[-1].inverse, device)
    except BadInputError as error:
        moving_side = None
        warnings.append(f"the moving side is not shown, for there is no inverse: {str(error).rstrip('.')}")
    displacement = deformation_from(initial, found).to_displacement_field(fixed, device).array.astype(np.float32)
    return ReportData(
        fixed=fixed.array,
        moving_before=shown[0],
        moving_after=shown[1],
        spacing=fixed.spacing,
        origin=fixed.origin,
        direction=fixed.direction,
        displacement=displacement,
        moving_side=moving_side,
        fixed_mask=None if pair.fixed_mask is None else mask_of_image(pair.fixed_mask, fixed),
        moving_mask=None if pair.moving_mask is None else reached_by_moving(pair, found, device),
        stages=[
            Stage(stage.name, 1e3 * stage.seconds, [Level(level.name, level.costs) for level in stage.levels]) for stage in stages
        ],
        device=_describe_devices([device] if devices is None else devices),
        versions=find_versions(),
        command=command,
        files=files or {},
        date=datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %z"),
        similarity={name: (similar_before[name], similar_after[name]) for name in similar_before},
        headline=stages[-1].metric,
        less_is_better=True,
        similarity_text=f"{MEANING} They are of the fixed image’s voxels that the moving one reaches{_describe(subsample)}.",
        warnings=list(dict.fromkeys(warnings)),
    )


def _describe_devices(names: Sequence[str]) -> str:
    """Returns the names of devices, each kind followed by its description, such as "cuda:0, cuda:1: NVIDIA H200"."""
    kinds: dict[str, list[str]] = {}
    for name in names:
        kinds.setdefault(describe_device(name).description, []).append(name)
    return "; ".join(f"{', '.join(of_kind)}: {description}" for description, of_kind in kinds.items())


def _choose_subsample(pair: Pair) -> Subsample:
    """Returns the voxels of the fixed image of which the similarities are computed: all of a small image. All voxels of a large one would
    take several times as long as a registration; the similarities would differ in the third digit."""
    size, spacing = pair.fixed.size, tuple(pair.fixed.spacing.tolist())
    voxels = math.prod(size)
    inside = voxels if pair.fixed_mask is None else max(1, int(np.count_nonzero(mask_of_image(pair.fixed_mask, pair.fixed))))
    return Subsample(reduce_strides(size, spacing, max(_VOXELS, _VOXELS_INSIDE * voxels // inside)))


def _describe(subsample: Subsample) -> str:
    """Returns the end of the sentence that says which voxels the similarities are of."""
    return "" if subsample.is_whole else f", one of each {' × '.join(map(str, subsample.steps))}"


def deformation_from(initial: Optional[Transform], found: Transform) -> Transform:
    """Returns what a registration added to the initial transform: the transforms before it in `found`, or, where a linear stage continued
    from it, `found` followed by the inverse of `initial`."""
    if initial is None:
        return found
    parts, begin = parts_of(found), parts_of(initial)
    if len(parts) > len(begin) and all(one is other for one, other in zip(parts[-len(begin) :], begin)):
        return Composite(parts[: -len(begin)])
    # A linear stage begins with linear transforms alone.
    matrix = initial.matrix_of()
    assert matrix is not None
    return Composite([found, Affine.from_matrix(matrix).inverse()])


def find_versions() -> dict[str, str]:
    """Returns the versions of the libraries that a result may depend on, by their names."""
    from . import __version__

    found = {"gpuregistration": __version__, "Python": platform.python_version(), "NumPy": np.__version__}
    readers = {name: _find_version(name) for name in ("SimpleITK", "nibabel")}
    return {**found, **{name: version for name, version in readers.items() if version is not None}}


@functools.lru_cache
def _find_version(name: str) -> Optional[str]:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        # Images may come from elsewhere.
        return None
