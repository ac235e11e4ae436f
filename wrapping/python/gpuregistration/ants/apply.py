# SPDX-License-Identifier: Apache-2.0
"""Runs what a command line of antsApplyTransforms asks for."""

from __future__ import annotations

from typing import Iterator, Optional

import numpy as np

from .._composite import Composite
from .._devices import choose_device
from .._engine import BadInputError
from .._files import read_image, write_image, write_transform
from .._image import Image, host_array
from .._resample import to_type
from .._series import is_series, read_series, write_series
from .._transforms import Affine, Transform
from ..command.outputs import Outputs
from .apply_call import SERIES, VECTORS, ApplyCall, Making
from .diagnostics import Log
from .initial import read_part
from .interpolation import resample_by
from .other_formats import as_written, check_dimension


def apply(call: ApplyCall, log: Log) -> None:
    """Moves an image, or writes transforms as one.

    Raises:
        BadInputError: a file cannot be read, or does not fit to the others.
        CommandError: the output cannot be written, or would replace a file that is read.
    """
    with Outputs([call.output]) as places:
        place = places.place(call.output)
        reference = None if call.reference is None else _read_grid(call.reference)
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


def _read_grid(path: str) -> Image:
    return read_series(path)[0] if is_series(path) else read_image(path)


def _write_moved(call: ApplyCall, transform: Transform, reference: Image, place: str, log: Log) -> None:
    device = choose_device(None)
    assert call.input is not None

    def move(image: Image) -> Image:
        if image.dimension != reference.dimension:
            raise BadInputError(f"-i/--input {call.input}: it has {image.dimension} dimensions; expected {reference.dimension}, as the reference")
        return move_image(image, transform, reference, call.making, device)

    if call.input_type == SERIES and call.time_index is None:
        if not is_series(call.input):
            # read_image() says why a file cannot be read.
            read_image(call.input)
            raise BadInputError(f"-e/--input-image-type 3: {call.input} holds one volume; expected a series of several, or -e 0")
        series = read_series(call.input)

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
            raise BadInputError(f"--time-index {call.time_index}: expected 0 to {len(series) - 1}, as {call.input} has {len(series)} volumes")
        write_image(place, as_written(place, move(series[call.time_index])))
        return
    image = read_image(call.input)
    if image.is_vector != (call.input_type == VECTORS):
        raise BadInputError(
            f"-e/--input-image-type {call.input_type}: {call.input} has {image.components} numbers a voxel; expected "
            + ("-e 1 for vectors" if image.is_vector else "-e 0 for scalars")
        )
    write_image(place, as_written(place, move(image)))


def move_image(image: Image, transform: Transform, reference: Image, making: Making, device: Optional[str]) -> Image:
    """Resamples an image on a reference's grid, as doubles or floats, and converts it to the type that is asked for."""
    exact = np.float32 if making.type == "float32" else np.float64
    values = host_array(image).astype(exact, copy=False)

    def move(array: np.ndarray) -> np.ndarray:
        one = Image(array, image.spacing, image.origin, image.direction)
        moved: np.ndarray = resample_by(one, transform, reference, making.interpolation, making.default, device).array
        return moved

    if image.is_vector:
        # Vectors are of the input's axes, and become ones of the reference's. No transform turns them: see read_apply().
        turned = values @ (reference.direction.T @ image.direction).T.astype(exact)
        moved = np.stack([move(turned[..., n]) for n in range(image.components)], axis=-1)
    else:
        moved = move(values)
    return reference.like(cut_to_type(moved, np.dtype(making.type)))


def cut_to_type(values: np.ndarray, kind: np.dtype) -> np.ndarray:
    """Returns values of another type, without their decimals where it is of whole numbers, as ANTs makes them. Values beyond its range become
    its ends, where ANTs has other numbers."""
    if kind.kind not in "biu" or values.dtype.kind not in "f":
        return values.astype(kind, copy=False)
    return to_type(np.trunc(values), kind)
