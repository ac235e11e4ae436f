# SPDX-License-Identifier: Apache-2.0
"""Runs what a command line of antsApplyTransforms asks for."""

from __future__ import annotations

from typing import Callable, Iterator

import numpy as np

from .._affine import Affine
from .._composite import Composite
from .._devices import choose_device
from .._engine import BadInputError
from .._files import read_image, write_image, write_transform
from .._image import Image
from .._series import is_series, read_grid, read_one_or_more, read_series, write_series
from .._transforms import Transform
from ..command.outputs import Outputs
from .apply_call import ApplyCall
from .diagnostics import Log
from .initial import read_part
from .moving import CHANNELS, PHYSICAL, SCALARS, SERIES, TENSORS, VECTORS, move_image
from .other_formats import as_written, check_dimension
from .tensors import read_tensors, write_tensors
from .volumes import join_slices, split_slices


def apply(call: ApplyCall, log: Log) -> None:
    """Moves an image, or writes transforms as one. The output may replace a file that is read, as in ANTs.

    Raises:
        BadInputError: a file cannot be read, or does not fit to the others.
        CommandError: the output cannot be written.
    """
    with Outputs([call.output]) as places:
        place = places.place(call.output)
        reference = None if call.reference is None else read_grid(call.reference)
        dimension = call.dimension or (3 if reference is None else reference.dimension)
        if reference is not None and reference.dimension != dimension:
            raise BadInputError(f"-r/--reference-image {call.reference}: it has {reference.dimension} dimensions; expected {dimension}, as -d says")
        if call.kind == "image":
            check_dimension(call.output, dimension)
        transform = compose(call.transforms, dimension)
        log(f"Transforms: {len(call.transforms)}; interpolation: {call.making.interpolation.given}")
        if call.kind == "image":
            assert reference is not None
            _write_moved(call, transform, reference, place, log)
        elif call.kind == "field":
            assert reference is not None
            write_transform(place, transform.to_displacement_field(reference))
        elif call.kind == "composite":
            write_transform(place, transform)
        else:
            write_transform(place, _collapsed(call, transform))
        log(f"Output: {call.output}")
        places.commit()


def compose(transforms: list[tuple[str, bool]], dimension: int) -> Transform:
    """Reads transforms as one, of which the first one is applied first to a point of the reference.

    Args:
        transforms: files, or "identity", and whether each one's inverse is taken.
    """
    parts: list[Transform] = []
    for file, is_inverse in transforms:
        parts.append(Affine(np.eye(dimension)) if file.lower() == "identity" else read_part(file, is_inverse, dimension))
    return Composite(parts) if parts else Affine(np.eye(dimension))


def _collapsed(call: ApplyCall, transform: Transform) -> Affine:
    matrix = transform.matrix_of()
    if matrix is None:
        raise BadInputError("-o/--output Linear[…]: the transforms deform; expected linear ones, or -o [FIELD,1]")
    found = Affine.from_matrix(matrix)
    return found.inverse() if call.is_inverse else found


def _write_moved(call: ApplyCall, transform: Transform, reference: Image, place: str, log: Log) -> None:
    device = choose_device(None)
    assert call.input is not None

    def move(image: Image) -> Image:
        if image.dimension != reference.dimension:
            raise BadInputError(f"-i/--input {call.input}: it has {image.dimension} dimensions; expected {reference.dimension}, as the reference")
        kind = SCALARS if call.input_type == SERIES else call.input_type
        return move_image(image, kind, transform, reference, call.making, device)

    if call.input_type == TENSORS:
        write_tensors(place, move(read_tensors(call.input)))
        return
    if call.input_type == SERIES and reference.dimension == 2:
        _write_slices(call, move, place)
        return
    if call.input_type == SERIES and call.time_index is None:
        series = read_one_or_more(call.input)
        if len(series) == 1:
            check_components(series[0], SCALARS, f"-e/--input-image-type {SERIES}: {call.input}")

        def moved() -> Iterator[Image]:
            for number, volume in enumerate(series):
                log(f"  Applying transform(s) to timePoint {number} (out of {len(series)}).")
                yield move(volume)

        write_series(place, moved(), series)
        return
    if is_series(call.input):
        if call.time_index is None:
            raise BadInputError(f"-i/--input {call.input}: it holds several volumes; expected -e 3, or one volume")
        series = read_series(call.input)
        if call.time_index >= len(series):
            raise _no_volume(call, len(series))
        write_image(place, as_written(place, move(series[call.time_index])))
        return
    image = read_image(call.input)
    kind = call.input_type
    if kind == SERIES:
        # A series of one volume, as for ANTs.
        kind = SCALARS
        if call.time_index != 0:
            raise _no_volume(call, 1)
    check_components(image, kind, f"-e/--input-image-type {call.input_type}: {call.input}")
    write_image(place, as_written(place, move(image)))


def _write_slices(call: ApplyCall, move: Callable[[Image], Image], place: str) -> None:
    """Moves a series of images of two dimensions, which is a volume."""
    assert call.input is not None
    slices = split_slices(read_image(call.input), f"-e/--input-image-type 3: {call.input}")
    if call.time_index is None:
        write_image(place, join_slices([move(one) for one in slices.images], slices))
        return
    if call.time_index >= len(slices.images):
        raise _no_volume(call, len(slices.images))
    write_image(place, move(slices.images[call.time_index]))


def _no_volume(call: ApplyCall, count: int) -> BadInputError:
    expected, volumes = ("0", "1 volume") if count == 1 else (f"0 to {count - 1}", f"{count} volumes")
    return BadInputError(f"--time-index {call.time_index}: expected {expected}, as {call.input} has {volumes}")


def check_components(image: Image, kind: int, name: str) -> None:
    """Checks that an image that is no series and holds no tensors has as many numbers a voxel as its type says.

    Raises:
        BadInputError: it has not; the message begins with the name.
    """
    expected = {SCALARS: not image.is_vector, CHANNELS: image.is_vector, VECTORS: image.components == image.dimension}
    expected[PHYSICAL] = expected[VECTORS]
    if not expected[kind]:
        fit = 0 if not image.is_vector else 1 if expected[VECTORS] else 4
        named = {0: "0 for scalars", 1: "1 for vectors, or 4 for channels", 4: "4 for channels"}[fit]
        raise BadInputError(f"{name} has {image.components} number{'s' if image.is_vector else ''} a voxel; expected {named}")
