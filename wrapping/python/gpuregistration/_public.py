# SPDX-License-Identifier: Apache-2.0
"""Lists the package's public names. The package imports this module when one of them is first used."""

from . import ants, stages
from ._affine import Affine
from ._also import ImagePair
from ._composite import Composite
from ._devices import (
    Device,
    devices,
    release_memory,
    set_idle_memory_limit,
    set_threads,
)
from ._engine import (
    BadInputError,
    DeviceError,
    DeviceLostError,
    Error,
    OutOfMemoryError,
    UnsupportedError,
)
from ._files import read_image, read_transform, write_image, write_transform
from ._filters import pyramid, smooth
from ._image import Image
from ._inverse import InverseErrors
from ._metric import Metric, metric
from ._plan import Plan, PlannedLevel, PlannedStage, plan_registration
from ._progress import Progress
from ._register import register
from ._resample import resample
from ._result import Result
from ._series import Series, read_series, write_series
from ._stage_result import Level, StageResult
from ._transform_like import as_transform
from ._transforms import BSpline, DisplacementField, Transform
from ._warnings import InputWarning

__all__ = [
    "Affine",
    "BSpline",
    "BadInputError",
    "Composite",
    "Device",
    "DeviceError",
    "DeviceLostError",
    "DisplacementField",
    "Error",
    "Image",
    "ImagePair",
    "InputWarning",
    "InverseErrors",
    "Level",
    "Metric",
    "OutOfMemoryError",
    "Plan",
    "PlannedLevel",
    "PlannedStage",
    "Progress",
    "Result",
    "Series",
    "StageResult",
    "Transform",
    "UnsupportedError",
    "ants",
    "as_transform",
    "devices",
    "metric",
    "plan_registration",
    "pyramid",
    "read_image",
    "read_series",
    "read_transform",
    "register",
    "release_memory",
    "resample",
    "set_idle_memory_limit",
    "set_threads",
    "smooth",
    "stages",
    "write_image",
    "write_series",
    "write_transform",
]
