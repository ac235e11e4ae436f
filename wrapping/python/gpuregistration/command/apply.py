# SPDX-License-Identifier: Apache-2.0
"""gpureg apply: resamples an image by transforms that are known."""

from __future__ import annotations

import argparse
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Optional

from .._parts import IMAGES
from . import inputs, options, outputs
from .applied_transforms import check_has_reference, read_transforms
from .errors import DONE
from .native import native_messages_off
from .output import print_json
from .times import Times

if TYPE_CHECKING:
    from .._image import Image
    from .._series import Series
    from .._transforms import Transform

NAME = "apply"

_EPILOG = """\
order:   transforms lead from the reference's points to the image's; of several the first one named is applied first. A deformation
         and then an affine map, of antsRegistration: -t Warp.nii.gz Affine.mat, or -t Warp.nii.gz -t Affine.mat, as ANTs has it.

series:  of an IMAGE of four dimensions every volume is transformed, and OUT is one of four, with the same times; of an OME-Zarr these are its
         points in time. A reference may be one, too.

labels:  --interpolation nearest, which makes no values that are not in the image.

zarr:    OUT that ends on .zarr is made block by block, each from the part of IMAGE that it needs: IMAGE may be an OME-Zarr that does not
         fit into memory, and so may the reference. Another IMAGE is held as a whole, within --memory, which does not count that
         other files than a plain .nii take up to about twice their values while they are read; several workers read their parts
         from a copy on the disk. big.zarr#2 is the level 2 of an OME-Zarr; without it IMAGE is the finest level. OUT is of
         OME-NGFF 0.5, with coarser levels, and gets its name when it is whole: a killed run leaves a folder .making-OUT, which the next
         one removes, and begins again.

FSL:     a .mat of FLIRT has a meaning with its two images alone, which IMAGE and the reference are; so it stands alone, and wants
         --reference.
"""


def add_parser(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        NAME,
        help="resample an image by transforms",
        description="Resamples an image on the grid of a reference, moved by transforms.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("image", metavar="IMAGE", help="the image to resample")
    parser.add_argument("-o", "--output", metavar="OUT", required=True, help="the image to write, of IMAGE's type of values")
    parser.add_argument(
        "-t",
        "--transform",
        metavar="FILE",
        nargs="+",
        action="extend",
        default=[],
        help="transforms of gpureg register, ITK, ANTs or FSL (default: points stay where they are); -t A -t B is -t A B",
    )
    parser.add_argument("--reference", metavar="FILE", help="an image whose grid OUT has (default: IMAGE)")
    parser.add_argument("--inverse", action="store_true", help="apply the inverses of the transforms, the last one first")
    parser.add_argument(
        "--interpolation", choices=("linear", "nearest", "bspline"), default="linear", help="nearest for labels (default: linear)"
    )
    options.add_default(parser, "IMAGE")
    options.add_device(parser)
    zarr = parser.add_argument_group("options of an OUT that ends on .zarr")
    memory = (
        "memory of all workers of this machine together, or of each of a scheduler's, such as 8G (default: a quarter of what the machine, or its control "
        "group, has)"
    )
    options.add_memory(zarr, memory)
    zarr.add_argument(
        "--chunk", metavar="N", help="voxels of a chunk along each axis, or NxNxN along x, y and z (default: a Zarr reference's, or 128)"
    )
    options.add_workers(zarr)
    options.add_printing(parser)


@dataclass
class _Inputs:
    """Holds the images that were read: one image, or the first volume of a series."""

    image: Image
    series: Optional[Series]
    reference: Image


def run(arguments: argparse.Namespace) -> int:
    from .._slices import check_planes
    from .._zarr_names import has_zarr_name
    from . import apply_zarr

    if has_zarr_name(arguments.output):
        return apply_zarr.run(arguments)
    apply_zarr.refuse_options(arguments)
    times = Times()
    outputs.check_name(arguments.output, (*IMAGES, ".zarr"), "an image")
    check_has_reference(arguments)
    inputs.check_stays([arguments.output], [arguments.image, arguments.reference, *arguments.transform])
    with outputs.Outputs([arguments.output]) as places:
        with native_messages_off(not arguments.debug):
            with times.part("read"), ThreadPoolExecutor(2) as pool:
                reading = pool.submit(_read, arguments.image)
                device = options.choose_device(arguments.device)
                reference = None if arguments.reference is None else inputs.read_grid(arguments.reference)
                image, series = reading.result()
            files = _Inputs(image, series, image if reference is None else reference)
            inputs.check_dimensions(files.image, arguments.image, files.reference, arguments.reference or arguments.image)
            with times.part("read transforms"):
                transform = read_transforms(arguments, files.image, files.reference, device)
            if transform is not None and transform.dimension == 2:
                check_planes(files.reference, files.image, f"file {arguments.reference or arguments.image}", f"file {arguments.image}")
        _make(arguments, files, transform, device, places.place(arguments.output), times)
        if arguments.json:
            volumes = {} if files.series is None else {"volumes": len(files.series)}
            found = {"output": arguments.output, "device": device, **volumes}
            print_json({**found, "warnings": arguments.warnings, "times": times.all()})
        places.commit()
    if arguments.times:
        times.print()
    return DONE


def _read(path: str) -> tuple[Image, Optional[Series]]:
    """Reads an image, or the first volume of a series, and the series."""
    series = inputs.read_series(path) if inputs.is_series(path) else None
    return (inputs.read_image(path) if series is None else series[0]), series


def _make(
    arguments: argparse.Namespace, files: _Inputs, transform: Optional[Transform], device: str, path: str, times: Times
) -> None:
    from .._files import write_image
    from .._resample import resample
    from .._series import write_series

    def make(image: Image) -> Image:
        with times.part("resample"):
            return resample(image, transform, files.reference, arguments.interpolation, arguments.default, device=device)

    if files.series is None:
        made = make(files.image)
        with times.part("write"), native_messages_off(not arguments.debug):
            write_image(path, made)
    else:
        with times.part("read, resample and write"):
            write_series(path, map(make, files.series), files.series)
