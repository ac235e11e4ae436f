# SPDX-License-Identifier: Apache-2.0
"""Reads a command line of antsApplyTransforms into plain data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Optional, Sequence

from .._engine import BadInputError
from .._parts import IMAGES
from ..command.outputs import TRANSFORMS
from .apply_flags import FLAGS
from .interpolation import read_interpolation
from .moving import CHANNELS, FIVE_DIMENSIONS, PHYSICAL, SCALARS, SERIES, TENSORS, VECTORS, Making
from .other_formats import WRITTEN, check_dimension, check_type, name_not_written, name_of_several
from .syntax import Value, last, read_values

#: ANTs' names of the input's types, by their numbers.
_INPUT_TYPES = ("scalar", "vector", "tensor", "time-series", "multichannel", "five-dimensional", "physical-vector")
#: NumPy's names of the types of values.
_TYPES = {"char": "int8", "uchar": "uint8", "short": "int16", "int": "int32", "float": "float32", "double": "float64"}


@dataclass
class ApplyCall:
    """A whole command line.

    Attributes:
        input_type: 0 scalars, 1 vectors, 2 tensors, 3 a series, 4 channels, 5 five dimensions, 6 vectors along physical axes.
        kind: the kind of the output: "image", "field", "linear" or "composite".
        is_inverse: True if the inverse of a linear output is written.
        transforms: files, and whether each one's inverse is taken; the first one is applied first to points of the reference.
        time_index: the volume of a series that is taken alone; None: all of them.
        others: reasons why the real antsApplyTransforms has to do it.
    """

    dimension: int
    input_type: int
    input: Optional[str]
    reference: Optional[str]
    output: str
    kind: str
    is_inverse: bool
    making: Making
    transforms: list[tuple[str, bool]]
    time_index: Optional[int]
    is_verbose: bool
    others: list[str] = field(default_factory=list)


def read_apply(words: Sequence[str]) -> ApplyCall:
    """Reads antsApplyTransforms' arguments.

    Raises:
        BadInputError: a flag, a count or a number is wrong; the message names the flag and says what is expected.
    """
    values = read_values(words, FLAGS)
    is_single = _truth(values, "float")
    # It is checked, and ignored.
    _truth(values, "static-cast-for-R")
    output, kind, is_inverse = _read_output(_one(values, "output", True))
    call = ApplyCall(
        dimension=0,
        input_type=_read_type(_one(values, "input-image-type")),
        input=_name(_one(values, "input", kind == "image")),
        reference=_name(_one(values, "reference-image", kind in ("image", "field"))),
        output=output,
        kind=kind,
        is_inverse=is_inverse,
        making=Making(
            interpolation=read_interpolation(_one(values, "interpolation")),
            default=_read_default(_one(values, "default-value")),
            type=_read_data_type(_one(values, "output-data-type"), is_single),
        ),
        transforms=[_read_transform(value) for value in values["transform"]],
        time_index=_read_index(_one(values, "time-index")),
        is_verbose=_truth(values, "verbose"),
    )
    # ANTs takes the dimension of the input where it is not given.
    given = _one(values, "dimensionality")
    if given is not None:
        call.dimension = given.whole(given.first())
        if call.dimension == 4:
            call.others.append("images of four dimensions")
        elif call.dimension not in (2, 3):
            raise given.wrong()
    not_written = name_not_written(output)
    if not_written is not None:
        call.others.append(not_written)
    if call.input_type == FIVE_DIMENSIONS:
        call.others.append(f"--input-image-type {call.input_type}")
    if call.input_type == TENSORS:
        if call.making.default < 0:
            raise BadInputError(f"-f/--default-value {call.making.default:g}: expected 0 or more with -e 2, as it is the eigenvalues of a tensor")
        # ANTs stores tensors as it computes them.
        call.making = call.making._replace(type=_read_data_type(None, is_single))
    call.others += _name_several(call)
    if kind == "image" and not call.others:
        check_dimension(output, call.dimension)
        check_type(output, call.making.type, f"-u/--output-data-type {_one(values, 'output-data-type')}")
    return call


def _name_several(call: ApplyCall) -> list[str]:
    """Names the files, for hand_over, of which ANTs alone reads or writes several volumes or vectors."""
    several = {VECTORS: "vectors", TENSORS: "tensors", CHANNELS: "channels", PHYSICAL: "vectors"}.get(call.input_type)
    if several is not None:
        return [reason for path in (call.input, call.output) for reason in name_of_several(path, several)]
    if call.time_index is not None:
        return name_of_several(call.input, "a series")
    return [reason for path in (call.input, call.output) for reason in name_of_several(path, "a series")] if call.input_type == SERIES else []


def _one(values: dict[str, list[Value]], name: str, is_needed: bool = False) -> Optional[Value]:
    """Returns a flag's value. Raises BadInputError if it is missing and needed."""
    value = last(values[name])
    if value is None and is_needed:
        flag = next(flag for flag in FLAGS if flag.long == name)
        raise BadInputError(f"{flag.spelled} is missing: expected {flag.expected}")
    return value


def _truth(values: dict[str, list[Value]], name: str) -> bool:
    value = last(values[name])
    return value is not None and value.truth()


def _name(value: Optional[Value]) -> Optional[str]:
    if value is not None and (value.parameters or not value.name):
        raise value.wrong()
    return None if value is None else value.name


def _read_type(value: Optional[Value]) -> int:
    if value is None:
        return SCALARS
    name = value.first().lower()
    found = _INPUT_TYPES.index(name) if name in _INPUT_TYPES else value.whole(name)
    if found >= len(_INPUT_TYPES):
        raise value.wrong()
    return found


def _read_output(value: Optional[Value]) -> tuple[str, str, bool]:
    assert value is not None
    name, count = value.name.lower(), len(value.parameters)
    if not count:
        found = value.name, "image", False
    elif name == "linear" and count <= 2:
        found = value.parameters[0], "linear", value.truth(value.parameter(1, "0"))
    elif name == "compositetransform" and count == 1:
        found = value.parameters[0], "composite", False
    elif name == "displacementfield" and count == 1:
        found = value.parameters[0], "field", False
    elif not name and count == 2:
        found = value.parameters[0], "field" if value.truth(value.parameters[1]) else "image", False
    else:
        raise value.wrong()
    suffixes = {"image": WRITTEN, "field": (*IMAGES, ".h5"), "linear": TRANSFORMS, "composite": (".h5", ".tfm", ".txt")}[found[1]]
    if not found[0].lower().endswith(suffixes) and name_not_written(found[0]) is None:
        raise value.wrong(f"a name that ends on one of {' '.join(suffixes)}")
    return found


def _read_transform(value: Value) -> tuple[str, bool]:
    if len(value.parameters) > 2 or (value.parameters and value.name) or not value.first():
        raise value.wrong()
    return value.first(), len(value.parameters) == 2 and value.truth(value.parameters[1])


def _read_default(value: Optional[Value]) -> float:
    return 0.0 if value is None else value.real(value.first())


def _read_data_type(value: Optional[Value], is_single: bool) -> str:
    usual = "float32" if is_single else "float64"
    if value is None or value.first().lower() == "default":
        return usual
    if value.first().lower() not in _TYPES:
        raise value.wrong()
    return _TYPES[value.first().lower()]


def _read_index(value: Optional[Value]) -> Optional[int]:
    return None if value is None else value.whole(value.first())
