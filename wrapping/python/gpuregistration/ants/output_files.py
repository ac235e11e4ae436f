# SPDX-License-Identifier: Apache-2.0
"""The files that antsRegistration writes."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, Optional, Sequence, Union

import numpy as np

from .._affine import Affine
from .._engine import BadInputError
from .._files import write_image, write_transform
from .._image import Image, host_array
from .._transforms import Transform
from ..command.outputs import Outputs
from ..command.times import Times
from .initial import Beginning, Beginnings, list_kinds
from .linear_files import write_stage
from .interpolation import Interpolation, resample_by
from .other_formats import WRITTEN, as_written, check_dimension
from .parts import FIELD, LINEAR_FORM, Kind, collapse, collapse_kinds, compose, compose_inverses, state_of
from .runner import Registered
from .registration_call import RegistrationCall


class OutputNames(NamedTuple):
    """Names of files: those of the transforms, of each stage's or of all as one; those of the way back; those of images; those of the fixed
    image's own transforms that are computed from images; and the state's, None if it is not saved. A linear transform's way back has the
    same file; a B-spline and a file's field have none."""

    forward: list[str]
    inverse: list[str]
    images: list[str]
    fixed: list[str]
    state: Optional[str] = None

    @property
    def all(self) -> list[str]:
        state = [] if self.state is None else [self.state]
        # A linear transform's way back has the same file. Any other name that is here twice is of two files, which Outputs refuses.
        return [*dict.fromkeys([*self.forward, *self.inverse]), *self.images, *self.fixed, *state]


def name_outputs(call: RegistrationCall, begins: Beginnings) -> OutputNames:
    """Names all files that a registration will write, as antsRegistration does, before any work.

    Args:
        begins: the transforms that the registration begins with.

    Returns:
        Names of the transforms in the order of the stages, those of the way back, and those of images.

    Raises:
        BadInputError: a name of an image is of a format that is not written, or does not hold images of the dimension.
    """
    images = [name for name in (call.warped, call.inverse_warped) if name is not None]
    for name in images:
        if not name.lower().endswith(WRITTEN):
            raise BadInputError(f"-o/--output: {name} is no name of an image; expected one that ends on one of {' '.join(WRITTEN)}")
    kinds = list_kinds(call, begins)
    has_inverse = all(kind.has_inverse for kind in kinds)
    if not has_inverse:
        # As ANTs, which writes none either.
        images = [name for name in images if name != call.inverse_warped]
    for name in images:
        check_dimension(name, call.dimension)
    # Without -z 1 ANTs writes what is computed from images, too.
    fixed = [] if call.collapses else _name_initial(call, begins.fixed, "Fixed")
    if call.writes_composite:
        initial = [] if call.collapses else _name_initial(call, begins.moving, "Moving")
        composites = [f"{call.prefix}{way}Composite.h5" for way in ("", "Inverse")]
        return OutputNames([composites[0], *initial], [composites[1], *initial] if has_inverse else [], images, fixed, call.saved_state)
    if call.collapses:
        numbered = list(enumerate(collapse_kinds(kinds)))
    else:
        # Transforms that were given as files are there already.
        numbered = [(n, kind) for n, kind in enumerate(kinds) if kind.name != "File"]
    forward = [f"{call.prefix}{n}{_end(kind)}" for n, kind in numbered]
    inverse = [f"{call.prefix}{n}{_end(kind, 'Inverse')}" for n, kind in numbered if kind.has_inverse]
    return OutputNames(forward, inverse, images, fixed)


def _name_initial(call: RegistrationCall, begins: Sequence[Beginning], which: str) -> list[str]:
    """Names the files of those transforms to begin with that are computed from images. which: "Moving" or "Fixed", of the image's"""
    kinds = [kind for one in begins for kind in one.kinds]
    return [f"{call.prefix}{n}{_end_of_initial(which)}" for n, kind in enumerate(kinds) if kind.name == "Initial"]


def _end_of_initial(which: str) -> str:
    return f"DerivedInitial{which}Translation.mat"


def _end(kind: Kind, way: str = "") -> str:
    """Returns what the name of a part's file ends on. way: "Inverse" for the way back."""
    if kind.form == LINEAR_FORM:
        return _end_of_initial("Moving") if kind.name == "Initial" else f"{kind.name}.mat"
    return f"{way}Warp.nii.gz" if kind.form == FIELD else "BSpline.txt"


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
    state = [] if names.state is None else [(names.state, state_of(result.parts, result.halves), "")]
    return [*_list_result(call, result, names), *state, *((path, part.transform, part.name) for path, part in zip(names.fixed, result.initial_fixed))]


def _list_result(call: RegistrationCall, result: Registered, names: OutputNames) -> list[tuple[str, Transform, str]]:
    """Lists those of the result."""
    parts = collapse(result.parts, result.device) if call.collapses else result.parts
    if call.writes_composite:
        transforms: list[tuple[str, Transform, str]] = [(names.forward[0], compose(parts), "")]
        back = compose_inverses(parts)
        transforms += [(path, part.transform, part.name) for path, part in zip(names.forward[1:], result.initial)]
        return transforms if back is None else [*transforms, (names.inverse[0], back, "")]
    kept = parts if call.collapses else [part for part in parts if part.name != "File"]
    transforms = [(path, part.transform, part.name) for part, path in zip(kept, names.forward)]
    backs = [(part.inverse, part.name) for part in kept if part.inverse is not None]
    return transforms + [(path, back, name) for (back, name), path in zip(backs, names.inverse) if path not in names.forward]


def _write(times: Times, path: str, places: Outputs, content: Union[Image, Transform], name: str) -> None:
    with times.part(f"write {os.path.basename(path)}"):
        place = places.place(path)
        if isinstance(content, Image):
            write_image(place, as_written(place, content))
        elif isinstance(content, Affine):
            write_stage(place, name, content)
        else:
            write_transform(place, content)


def _interpolation(call: RegistrationCall, result: Registered) -> Interpolation:
    """Returns the interpolation of both images. A Gaussian's usual sigmas are the fixed image's voxels, of the way back, too."""
    return call.interpolation.for_image(result.fixed)


def _real(image: Image, call: RegistrationCall) -> Image:
    return image.like(host_array(image).astype(np.float32 if call.is_single else np.float64, copy=False))
