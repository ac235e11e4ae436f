# SPDX-License-Identifier: Apache-2.0
"""The files that antsRegistration writes."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, Optional, Union

import numpy as np

from .._composite import Composite
from .._engine import BadInputError
from .._files import write_image, write_transform
from .._image import Image, host_array
from .._transforms import Affine, Transform
from ..command.outputs import IMAGES, Outputs
from ..command.times import Times
from .linear_files import write_stage
from .interpolation import Interpolation, resample_by
from .runner import Registered, collapse, compose_inverses
from .registration_call import DEFORMING, RegistrationCall


class OutputNames(NamedTuple):
    """Names of files: those of the transforms, of each stage's or of all as one, those of the way back, and those of images. A linear
    transform's way back has the same file, and a B-spline has none."""

    forward: list[str]
    inverse: list[str]
    images: list[str]

    @property
    def all(self) -> list[str]:
        return list(dict.fromkeys([*self.forward, *self.inverse, *self.images]))


def name_outputs(call: RegistrationCall) -> OutputNames:
    """Names all files that a registration will write, as antsRegistration does, before any work.

    Returns:
        Names of the transforms in the order of the stages, those of the way back, and those of images.

    Raises:
        BadInputError: a name of an image is of a format that is not written.
    """
    images = [name for name in (call.warped, call.inverse_warped) if name is not None]
    for name in images:
        if not name.lower().endswith(IMAGES):
            raise BadInputError(f"-o/--output: {name} is no name of an image; expected one that ends on one of {' '.join(IMAGES)}")
    last = call.stages[-1].transform
    deforms = last in DEFORMING
    if last == "BSpline":
        # As ANTs, which writes none either.
        images = [name for name in images if name != call.inverse_warped]
    if call.writes_composite:
        return OutputNames([f"{call.prefix}Composite.h5"], [] if last == "BSpline" else [f"{call.prefix}InverseComposite.h5"], images)
    if call.collapses:
        kinds = (["GenericAffine"] if call.initial or len(call.stages) > int(deforms) else []) + ([last] if deforms else [])
        numbered = list(enumerate(kinds))
    else:
        # Those of files are there already.
        initial = ["" if one.file else "DerivedInitialMovingTranslation" for one in call.initial]
        numbered = [(n, kind) for n, kind in enumerate([*initial, *(stage.transform for stage in call.stages)]) if kind]
    endings = {"SyN": "Warp.nii.gz", "BSpline": "BSpline.txt"}
    forward = [f"{call.prefix}{n}{endings.get(kind, kind + '.mat')}" for n, kind in numbered]
    inverse = [f"{call.prefix}{n}{'InverseWarp.nii.gz' if kind == 'SyN' else kind + '.mat'}" for n, kind in numbered if kind != "BSpline"]
    return OutputNames(forward, inverse, images)


def make_warped(call: RegistrationCall, result: Registered) -> Image:
    """Makes the moving image on the fixed one's grid, of floats or doubles."""
    return resample_by(_real(result.moving, call), result.transform, result.fixed, _interpolation(call, result), device=result.device)


def make_inverse_warped(call: RegistrationCall, result: Registered) -> Image:
    """Makes the fixed image on the moving one's grid, of floats or doubles. The registration has to have an inverse."""
    assert result.inverse is not None
    return resample_by(_real(result.fixed, call), result.inverse, result.moving, _interpolation(call, result), device=result.device)


def write_outputs(
    call: RegistrationCall, result: Registered, names: OutputNames, places: Outputs, times: Optional[Times] = None
) -> None:
    """Writes all files where they wait for the others. times counts the parts' seconds."""
    times = Times() if times is None else times
    # The device computes images while files are written.
    with times.part("make and write"), ThreadPoolExecutor(4) as pool:
        writing = [pool.submit(_write, times, path, places, transform, name) for path, transform, name in _list_transforms(call, result, names)]
        for image, make in ((call.warped, make_warped), (call.inverse_warped, make_inverse_warped)):
            if image in names.images:
                with times.part(f"make {os.path.basename(image)}"):
                    made = make(call, result)
                writing.append(pool.submit(_write, times, image, places, made, ""))
        for done in writing:
            done.result()


def _list_transforms(call: RegistrationCall, result: Registered, names: OutputNames) -> list[tuple[str, Transform, str]]:
    """Lists files, the transform of each, and the name of the part that it is; "" stands for several."""
    parts = collapse(result.parts) if call.collapses else result.parts
    if call.writes_composite:
        transforms: list[tuple[str, Transform, str]] = [(names.forward[0], Composite([part.transform for part in reversed(parts)]), "")]
        back = compose_inverses(parts)
        return transforms if back is None else [*transforms, (names.inverse[0], back, "")]
    kept = parts if call.collapses else [part for part in parts if part.name != "File"]
    transforms = [(path, part.transform, part.name) for part, path in zip(kept, names.forward)]
    backs = [(part.inverse, part.name) for part in kept if part.inverse is not None]
    return transforms + [(path, back, name) for (back, name), path in zip(backs, names.inverse) if path not in names.forward]


def _write(times: Times, path: str, places: Outputs, content: Union[Image, Transform], name: str) -> None:
    with times.part(f"write {os.path.basename(path)}"):
        place = places.place(path)
        if isinstance(content, Image):
            write_image(place, content)
        elif isinstance(content, Affine):
            write_stage(place, name, content)
        else:
            write_transform(place, content)


def _interpolation(call: RegistrationCall, result: Registered) -> Interpolation:
    """Returns the interpolation of both images. A Gaussian's usual sigmas are the fixed image's voxels, of the way back, too."""
    return call.interpolation.for_image(result.fixed)


def _real(image: Image, call: RegistrationCall) -> Image:
    return image.like(host_array(image).astype(np.float32 if call.is_single else np.float64, copy=False))
