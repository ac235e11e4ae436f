# SPDX-License-Identifier: Apache-2.0
"""Reads the arguments of ANTsPy's functions, and names them in errors in place of the flags that they stand for."""

from __future__ import annotations

import os
import re
from contextlib import contextmanager
from typing import Any, Iterator, Optional, Sequence, Union

from .._checks import MOST_SEED, read_number, read_whole
from .._engine import BadInputError, OutOfMemoryError, UnsupportedError
from .._image import Image
from .._kinds import is_bare_array, read_image
from .._paths import name_of
from .._sides import HINT_OF_MASKS, check_grid, check_kinds
from .presets import FIXED, MOVING, begins_with_identity, takes_further_metrics
from .registration_call import Initial, read_initial
from .registration_stages import OTHER_METRICS, SIMILARITIES, least_size
from .registration_flags import FLAGS
from .syntax import read_values

_LINEAR_METRICS, _SYN_METRICS = "mattes, MI, CC, meansquares or GC", "mattes, MI, CC, meansquares, GC or demons"
# A flag with its value, which may have brackets, and the number of the stage behind it.
_FLAG = re.compile(r"(?:-\w/)?--([a-z][a-z-]+)( (?!has )[^\s\[:]*(?:\[[^\]]*\])?)?(?: in stage (\d+))?")
# The arguments that flags stand for: of linear stages, and of those that deform.
_ARGUMENTS = {
    "metric": ("aff_metric and aff_sampling", "syn_metric and syn_sampling"),
    "convergence": ("aff_iterations", "reg_iterations"),
    "shrink-factors": ("aff_shrink_factors", "reg_iterations"),
    "smoothing-sigmas": ("aff_smoothing_sigmas", "reg_iterations"),
    "restrict-deformation": ("restrict_transformation",) * 2,
    "initial-moving-transform": ("initial_transform",) * 2,
    "interpolation": ("interpolator",) * 2,
    "interpolator": ("interpolator",) * 2,
}
# The types that a file's name may have.
_NAMES = (str, bytes, os.PathLike)
_EXTRA = "(name, fixed, moving, weight, bins or radius)"
_OTHER_GRIDS = "initial_transform: its displacements are on different grids, and cannot become one field; expected fields on one grid"


@contextmanager
def named_arguments(type_of_transform: str = "", words: Sequence[str] = ()) -> Iterator[None]:
    """Names arguments in the messages of errors that are raised inside, in place of flags.

    Args:
        words: the arguments of antsRegistration of all stages.
    """
    deforming = [value.startswith("SyN") for flag, value in zip(words, words[1:]) if flag == "-t"]

    def name(found: "re.Match[str]") -> str:
        flag, value, stage = found.group(1), (found.group(2) or "").strip(), found.group(3)
        deforms = stage is not None and deforming[int(stage)]
        where = (f" ({value})" if value else "") + ("" if stage is None else f" in stage {stage}")
        if flag == "transform":
            is_limit = deforms and found.string[found.end() :].startswith(" (")
            return f"{'grad_step, flow_sigma and total_sigma' if is_limit else f'type_of_transform={type_of_transform!r}'}{where}"
        if flag == "metric" and "multivariate_extras" in value:
            return f"multivariate_extras{where}"
        return f"{_ARGUMENTS[flag][deforms]}{where}" if flag in _ARGUMENTS else found.group(0)

    try:
        yield
    except (BadInputError, UnsupportedError, OutOfMemoryError) as error:
        text = str(error)
        named = _OTHER_GRIDS if text.startswith("-z/--collapse-output-transforms") else _FLAG.sub(name, text)
        named = named.replace("expected -r [FIXED,MOVING,0]", "expected initial_transform='Identity'")
        named = re.sub(r"^\[(.*),1\]: it deforms", r"\1 is to be inverted, and deforms", named)
        if named == text:
            raise
        raise type(error)(named) from error


def read_type(given: Union[str, Sequence[str]]) -> str:
    """Reads a type of transform: a name, or a list of one; "" is SyN."""
    names = [given] if isinstance(given, str) else _list_of(given)
    if names is None or len(names) != 1 or not isinstance(names[0], str):
        raise BadInputError(f"type_of_transform={given!r} is not possible: give one name.")
    return names[0] or "SyN"


def check_metric(name: str, metric: Any, sampling: Any) -> None:
    """Checks a metric and its bins or radius. name: "aff" or "syn"."""
    is_linear = name == "aff"
    known = isinstance(metric, str) and metric.lower() in (*SIMILARITIES, *OTHER_METRICS)
    if not known or (is_linear and metric.lower() == "demons"):
        raise BadInputError(f"{name}_metric={metric!r} is not possible: give {_LINEAR_METRICS if is_linear else _SYN_METRICS}.")
    read_whole(f"{name}_sampling", sampling, least_size(metric.lower()))


def check_step(grad_step: Any, flow_sigma: Any, total_sigma: Any) -> None:
    """Checks SyN's step and variances."""
    read_number("grad_step", grad_step, above=0)
    read_number("flow_sigma", flow_sigma, 0)
    read_number("total_sigma", total_sigma, 0)


def read_iterations(given: Any) -> list[int]:
    """Reads reg_iterations: whole numbers, one for each level."""
    read = _list_of(given)
    if not read:
        raise BadInputError(f"reg_iterations={given!r} is not possible: give whole numbers, one for each level, such as (40, 20, 0).")
    return [read_whole("reg_iterations", one) for one in read]


def read_levels(iterations: Any, factors: Any, sigmas: Any) -> tuple[list[int], list[int], list[float]]:
    """Reads iterations, factors and sigmas of linear levels: one number each stands for one level."""
    levels = []
    for name, given in (("aff_iterations", iterations), ("aff_shrink_factors", factors), ("aff_smoothing_sigmas", sigmas)):
        if isinstance(given, (str, bytes)) or given is None:
            raise BadInputError(f"{name}={given!r} is not possible: give numbers, one for each level, such as (3, 2, 1).")
        levels.append(list(given) if hasattr(given, "__iter__") else [given])
    counts = [len(one) for one in levels]
    if len(set(counts)) != 1 or not counts[0]:
        raise BadInputError(
            f"aff_iterations, aff_shrink_factors and aff_smoothing_sigmas have {', '.join(map(str, counts))} entries: give one of each for each level."
        )
    return (
        [read_whole("aff_iterations", one) for one in levels[0]],
        [read_whole("aff_shrink_factors", one, 1) for one in levels[1]],
        [read_number("aff_smoothing_sigmas", one, 0) for one in levels[2]],
    )


def read_restriction(given: Optional[Sequence[float]], dimension: int) -> list[str]:
    """Reads restrict_transformation. Returns what it stands for."""
    if given is None:
        return []
    factors = _list_of(given) or []
    if len(factors) < dimension:
        raise BadInputError(
            f"restrict_transformation={given!r} is not possible: give one factor for each axis, or for each parameter of a linear stage, such as "
            f"{(1,) * (dimension - 1) + (0,)}."
        )
    return ["-g", "x".join(f"{read_number('restrict_transformation', factor, 0):g}" for factor in factors)]


def read_seed(given: Optional[int]) -> list[str]:
    """Reads random_seed. Returns what it stands for."""
    return [] if given is None else ["--random-seed", str(read_whole("random_seed", given, 0, MOST_SEED))]


def check_arrays(images: dict[str, Any]) -> None:
    """Checks that no bare array, whose voxels would be of 1 mm, stands beside an image that has a grid. images: as they were given."""
    check_kinds(images, {}, "")


def read_mask(mask: Any, name: str, image: Image, image_name: str) -> Image:
    """Reads an image's mask. A bare array has the image's voxels."""
    read = read_image(mask, name)[0].on_host()
    if not is_bare_array(mask):
        return read
    if read.shape != image.shape:
        check_grid(read, image, name, f"{image_name} image", HINT_OF_MASKS, False)
    return image.like(read.array)


def read_extras(extras: Optional[Sequence[Sequence[Any]]], type_of_transform: str, images: dict[str, Image], first: Any) -> list[str]:
    """Reads further metrics. Adds their images to the others, and returns the metrics as -m takes them. first: the fixed image as it was given."""
    if extras is None:
        return []
    entries = _list_of(extras)
    if entries is None:
        raise BadInputError(f"multivariate_extras={extras!r} is not possible: give a list of {_EXTRA}.")
    if not entries:
        return []
    if not takes_further_metrics(type_of_transform):
        raise BadInputError(
            f"multivariate_extras is not possible with type_of_transform={type_of_transform!r}: it is of SyNOnly and antsRegistrationSyN[s] alone."
        )
    words = []
    for number, extra in enumerate(entries):
        parts = _list_of(extra)
        if parts is None:
            raise BadInputError(f"multivariate_extras[{number}]={extra!r} is not possible: give {_EXTRA}.")
        if len(parts) != 5:
            raise BadInputError(f"multivariate_extras[{number}] has {len(parts)} entries; expected {_EXTRA}.")
        name, fixed, moving, weight, size = parts
        keys = [f"multivariate_extras {number} {which}" for which in ("fixed", "moving")]
        check_arrays({FIXED: first, **dict(zip(keys, (fixed, moving)))})
        for key, image in zip(keys, (fixed, moving)):
            images[key] = read_image(image, key)[0].on_host()
        words.append(f"{name}[{keys[0]},{keys[1]},{weight},{size}]")
    return words


def read_initial_transform(given: Any, type_of_transform: str) -> list[Initial]:
    """Reads initial_transform, in the order in which parts of the result are."""
    if given is None:
        return [Initial("Identity") if begins_with_identity(type_of_transform) else Initial("", False, FIXED, MOVING, 1)]
    files = _files_of(given)
    if not files or any(not file for file in files):
        raise BadInputError(f"initial_transform={given!r} is not possible: give None, \"Identity\", a file's name, or a list of some.")
    return [_read_initial(name_of(file)) for file in files][::-1]


def _read_initial(name: str) -> Initial:
    # A name may have brackets of its own; ANTs' [FILE,1] is all in brackets.
    if name.startswith("[") and name.endswith("]"):
        flag = next(flag for flag in FLAGS if flag.long == "initial-moving-transform")
        return read_initial(read_values([f"--{flag.long}", name], [flag])[flag.long][0])
    return Initial("Identity" if name.lower() == "identity" else name)


def read_transforms(given: Any) -> list[str]:
    """Reads transformlist. Returns the names of the files."""
    files = _files_of(given)
    if files is None:
        raise BadInputError(f"transformlist={given!r} is not possible: give a file's name, or a list of some.")
    return [name_of(file) for file in files]


def _files_of(given: Any) -> Optional[list[Any]]:
    """Returns one name, or several, as a list; None if it is not that."""
    files = [given] if isinstance(given, _NAMES) else _list_of(given)
    return None if files is None or not all(isinstance(file, _NAMES) for file in files) else files


def _list_of(given: Any) -> Optional[list[Any]]:
    """Returns a sequence that is no text as a list; None if it is not that."""
    return None if isinstance(given, (str, bytes)) or not hasattr(given, "__iter__") else list(given)


def check_interpolator(given: Any) -> None:
    """Checks that an interpolator is a name."""
    if not isinstance(given, str):
        raise BadInputError(f"interpolator={given!r} is not possible: give a name, such as 'linear' or 'nearestNeighbor'.")


def read_inverses(names: Sequence[str], given: Optional[Sequence[bool]]) -> list[bool]:
    """Reads whichtoinvert, of files of these names."""
    inverses = [] if given is None else _list_of(given)
    if inverses is None:
        raise BadInputError(f"whichtoinvert={given!r} is not possible: give a list of True or False, one for each transform.")
    if given is None or all(one is None for one in inverses):
        return [len(names) == 2 and n == 0 and ".mat" in names[0] and ".mat" not in names[1] for n in range(len(names))]
    if len(inverses) != len(names):
        raise BadInputError(f"whichtoinvert has {len(inverses)} entries for {len(names)} transforms: give one for each.")
    return [bool(one) for one in inverses]
