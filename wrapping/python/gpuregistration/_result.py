# SPDX-License-Identifier: Apache-2.0
"""The result of a registration."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Mapping, Optional

from . import _engine
from ._composite import Composite, parts_of
from ._inverse import InverseErrors
from ._paths import PathLike, name_of
from ._resample import resample_array, warp_loaded
from ._sides import Pair
from ._stage_result import StageResult, all_warnings
from ._transforms import DisplacementField, Transform


class Result:
    """Result of a registration.

    Attributes:
        transform: maps the fixed image's points to the moving image's, in mm. The displacements of "greedy", "syn" and "velocity" stay on
            the device until their `array` is asked for, another registration begins or is planned there, or release_memory() is called.
        cost: the last stage's cost.
        stages: the result of each stage.
        device: the name of the device that computed; of several, the first one.
        devices: the names of all devices that computed.
        seconds: the time from images in memory to the transform.
        default: the value outside of the moving image.
    """

    def __init__(
        self,
        pair: Pair,
        stages: list[StageResult],
        initial: Optional[Transform],
        devices: list[str],
        seconds: float,
        loaded: Optional[_engine.DeviceArray],
        default: float,
    ) -> None:
        self._pair = pair
        self._loaded = loaded
        self._initial = initial
        self.stages = stages
        self.transform = stages[-1].transform
        self.cost = stages[-1].cost
        self.device = devices[0]
        self.devices = devices
        self.seconds = seconds
        self.default = default

    @cached_property
    def warped(self) -> Any:
        """The moving image on the fixed image's grid, interpolated linearly, with the default outside. It has the kind and the type of the
        moving image, and is grey if that stores grey as colours. The first access computes it, and reads an array on a GPU then."""
        return self._pair.wrap_warped(self._warped_array)

    @cached_property
    def _warped_array(self) -> Any:
        fixed, moving = self._pair.fixed, self._pair.moving
        if self._loaded is not None:
            return warp_loaded(self._loaded, moving, self.transform, fixed, self.device, self.default)
        return resample_array(moving, self.transform, fixed, "linear", self.device, self.default)

    @cached_property
    def displacement_field(self) -> DisplacementField:
        """The displacement of each voxel of the fixed image, in mm, in doubles. If the fixed image is on a GPU, it is an array there, of
        the same library. The first access computes it."""
        return self.transform.to_displacement_field(self._pair.fixed, self.device)

    @cached_property
    def inverse(self) -> Transform:
        """The inverse of the transform: it maps the moving image's points to the fixed image's, in mm. Behind "syn" and "velocity" it is
        the one that the stage has found together with the transform; otherwise the first access computes it: see Transform.inverse()."""
        last = self.stages[-1]
        if last.inverse is not None:
            return last.inverse
        if not isinstance(self.transform, Composite):
            return self.transform.inverse(self._pair.fixed, self.device)
        # The last stage's deformation has the fixed image's grid; what it began with may have another one.
        first, *others = self.transform.transforms
        known = self.stages[-2].inverse if len(self.stages) > 1 else None
        behind = [part.inverse(device=self.device) for part in reversed(others)] if known is None else [known]
        return Composite([*behind, first.inverse(self._pair.fixed, self.device)])

    @property
    def inverse_errors(self) -> list[InverseErrors]:
        """The errors of the inverse of each deformation in the transform, in the inverse's order; empty if the transform is linear."""
        parts = parts_of(self.inverse)
        return [part.inverse_errors for part in parts if isinstance(part, DisplacementField) and part.inverse_errors is not None]

    @property
    def warnings(self) -> list[str]:
        """Sentences that warn of what may have gone wrong in any stage, each once."""
        return all_warnings(self.stages)

    def _release_device_memory(self) -> None:
        """Frees the device's copy of the moving image. Results that need it later upload it again."""
        self._loaded = None

    def write_report(self, path: PathLike, command: str = "", files: Optional[Mapping[str, str]] = None) -> None:
        """Writes one HTML file that shows the images before and after, the deformation and how costs fell. "Before" is the moving image
        after the initial transform.

        Args:
            path: the file's name.
            command: the command line that repeats the registration; the report shows it.
            files: names of the images' files, which the report shows, by argument of register(), such as "fixed".

        Raises:
            BadInputError: the name does not end on .html or .htm, or there is no such folder.
            OSError: the disk is full, or fails. A file that is not whole is never left.
        """
        from ._report_data import report_data
        from .report import write_report

        data = report_data(self._pair, self._warped_array, self.stages, self._initial, self.device, command, files, self.default, self.devices)
        write_report(name_of(path), data)

    def __repr__(self) -> str:
        names = ", ".join(stage.name for stage in self.stages)
        warned = f", warnings={self.warnings}" if self.warnings else ""
        where = f"device={self.device!r}" if len(self.devices) == 1 else f"devices={self.devices}"
        return f"Result(stages=[{names}], cost={self.cost:.6g}, {where}, seconds={self.seconds:.3f}{warned})"
