# SPDX-License-Identifier: Apache-2.0
"""gpureg compare: how well two images, or their labels, agree, and what a deformation does to space."""

from __future__ import annotations

import argparse
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Optional

from . import inputs, options
from .applied_transforms import read_chain
from .errors import DONE, WrongUse
from .native import native_messages_off
from .output import print_json, print_lines, print_table
from .times import Times

if TYPE_CHECKING:
    from .._image import Image
    from .._transforms import Transform

NAME = "compare"


def add_parser(subparsers: Any) -> None:
    from .._metric import MEANING

    parser = subparsers.add_parser(
        NAME,
        help="compare two images: similarity, Dice, Jacobian",
        description="Compares image B with image A, on A's grid.",
        epilog=options.wrapped("metrics: ", f"{MEANING} They are of the voxels of A that B reaches."),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("a", metavar="A", help="an image, such as the fixed one")
    parser.add_argument("b", metavar="B", help="another one, such as the warped one, or with --transform the moving one")
    parser.add_argument(
        "--labels",
        metavar="FILE",
        nargs="*",
        help="the labels of A and those of B: Dice's coefficient of each label; without files A and B are labels themselves",
    )
    parser.add_argument(
        "--transform",
        metavar="FILE",
        action="append",
        default=[],
        help="a transform from A's points to B's: resamples B and its labels, and measures the transform's Jacobian; may be repeated, the first one "
        "is applied first",
    )
    parser.add_argument("--mask", metavar="FILE", help="a mask of A: metrics and Jacobian are computed where it is not 0")
    options.add_channel(parser)
    options.add_device(parser)
    options.add_printing(parser)


def run(arguments: argparse.Namespace) -> int:
    from .._composite import Composite
    from .._sides import check_grid, hint_of_files, read_pair
    from .._similarity import compute_similarities
    from .._slices import check_is_same_slice, check_planes, flattened

    times = Times()
    labels = arguments.labels
    if labels is not None and len(labels) not in (0, 2):
        raise WrongUse(f"--labels names {len(labels)} files: give two, A's and B's, or none where A and B are labels")
    label_paths = None if labels is None else (labels or [arguments.a, arguments.b])
    device = options.choose_device(arguments.device)
    with times.part("read"), native_messages_off(not arguments.debug):
        masks = [] if arguments.mask is None else [arguments.mask]
        paths = [arguments.a, arguments.b, *masks, *(labels or [])]
        with ThreadPoolExecutor(len(paths)) as pool:
            channels = inputs.channels_of(paths[:2], arguments.channel)
            a, b, *others = pool.map(inputs.read_scalar_image, paths, [*map(channels.__getitem__, paths[:2]), *[None] * (len(paths) - 2)])
        transform: Optional[Transform] = None
        if arguments.transform:
            read = read_chain(arguments.transform, a, b)
            transform = read[0] if len(read) == 1 else Composite(read)
    for other, path in zip([b, *others], paths[1:]):
        inputs.check_dimensions(a, arguments.a, other, path)
    if masks:
        check_grid(others[0], a, f"file {arguments.mask}", f"file {arguments.a}", hint_of_files(arguments.mask, arguments.a), True)
    dimension = min(image.dimension for image in (a, b, *others)) if transform is None else transform.dimension
    if dimension == 2:
        for other, path in zip([b, *others], paths[1:]):
            inputs.check_can_be_flat(other, path)
            check_planes(a, other, f"file {arguments.a}", f"file {path}")
        # A's labels are of the slice that A is, and B's of B's.
        for other, path, image, of in zip(others[len(masks) :], labels or [], (a, b), paths):
            check_is_same_slice(other, image, f"file {path}", f"file {of}")
        a, b, *others = map(flattened, (a, b, *others))
    mask = others.pop(0) if masks else None
    label_images = others or [a, b]
    found: dict[str, Any] = {"a": arguments.a, "b": arguments.b, "device": device}
    if labels != []:
        with times.part("metrics"):
            files = {"fixed": arguments.a, "moving": arguments.b, **({} if mask is None else {"fixed_mask": arguments.mask})}
            for image, path in ((a, arguments.a), (b, arguments.b)):
                _warn_of_gaps(image, path)
            warnings: list[str] = []
            images = read_pair(a, b, mask, None, {}, files, has_gaps=True, dimension=dimension)
            found["metrics"] = compute_similarities(images, transform, device, warnings)
            arguments.warnings += [_naming_file(warning, arguments) for warning in warnings]
    if label_paths is not None:
        with times.part("labels"):
            found["dice"] = _compute_dice(label_images, label_paths, transform, device)
    if transform is not None:
        with times.part("Jacobian"):
            found["jacobian"] = _compute_jacobian(transform, a, mask, device)
    found["warnings"] = arguments.warnings
    found["times"] = times.all()
    if arguments.times:
        times.print()
    if arguments.json:
        print_json(found)
    else:
        _print(found)
    return DONE


def _naming_file(warning: str, arguments: argparse.Namespace) -> str:
    """Returns a metric's warning with the names of files A (the fixed image) and B (the moving one) as they were given."""
    for which, path in (("the fixed image ", arguments.a), ("the moving image ", arguments.b)):
        if warning.startswith(which):
            return f"{path} {warning[len(which):]}"
    return warning


def _warn_of_gaps(image: Image, path: str) -> None:
    """Warns of values that no metric is of."""
    import numpy as np

    from .._checks import say_not_finite
    from .._warnings import warn_of_input

    gaps = image.array.size - int(np.count_nonzero(np.isfinite(image.array)))
    if gaps:
        warn_of_input(f"The file {path} has {say_not_finite(gaps)}: they are left out, with what is interpolated of them.")


def _compute_dice(images: list[Image], paths: list[str], transform: Optional[Transform], device: str) -> dict[str, Any]:
    """Computes Dice's coefficient of each label that A or B has, and their mean. Labels of B are resampled by nearest neighbours."""
    from .._labels import check_labels, compute_dice
    from .._resample import resample

    for image, path in zip(images, paths):
        check_labels(image.array, path)
    moved = resample(images[1], transform, images[0], "nearest", device=device)
    by_label = compute_dice(images[0].array, moved.array)
    mean = sum(by_label.values()) / len(by_label) if by_label else float("nan")
    return {"labels": {str(label): value for label, value in by_label.items()}, "mean": mean}


def _compute_jacobian(transform: Transform, grid: Image, mask: Optional[Image], device: str) -> dict[str, Any]:
    from ..report import jacobian

    field = transform.to_displacement_field(grid, device)
    values = jacobian.determinant(field.array, grid.direction * grid.spacing)
    found = jacobian.extremes(values, None if mask is None else mask.array)
    share = found.folded / found.voxels if found.voxels else float("nan")
    return {"min": found.minimum, "max": found.maximum, "folded": found.folded, "folded_share": share, "voxels": found.voxels}


def _print(found: dict[str, Any]) -> None:
    if "metrics" in found:
        print_table(["metric, less is better", "value"], [[name, f"{value:.6g}"] for name, value in found["metrics"].items()])
    if "dice" in found:
        rows = [[label, f"{value:.4f}"] for label, value in found["dice"]["labels"].items()]
        print_table(["label", "Dice"], [*rows, ["mean", f"{found['dice']['mean']:.4f}"]])
    if "jacobian" in found:
        one = found["jacobian"]
        print_lines(
            f"Jacobian's determinant: {one['min']:.4g} to {one['max']:.4g}; folded (0 or less): {one['folded']} of {one['voxels']} "
            f"voxels, {100 * one['folded_share']:.3g} %"
        )
