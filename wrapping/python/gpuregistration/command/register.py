# SPDX-License-Identifier: Apache-2.0
"""gpureg register: finds the transform between two images."""

from __future__ import annotations

import argparse
import shlex
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Optional

from .._parts import IMAGES
from . import inputs, options, outputs
from .also import add_also, describe_what_ignores, read_also
from .errors import DONE, FAILED, WrongUse, one_line
from .native import native_messages_off
from .output import print_json, print_lines, print_notes
from .progress import ProgressLine
from .stages import check, describe_stages, read_stages
from .times import Times

if TYPE_CHECKING:
    from .._also import Further
    from .._image import Image
    from .._inverse import InverseErrors
    from .._plan import Plan
    from .._result import Result
    from .._sides import Pair
    from .._transforms import DisplacementField, Transform
    from ..stages import Stage

NAME = "register"

_MASKS = ("fixed_mask", "moving_mask")

_EPILOG = """\
files:      images are NIfTI, MetaImage, NRRD, DICOM, ..., or a folder with the slices of one DICOM series (docs/formats.md); they are
            written as .nii.gz .nii .mha .mhd .nrrd .nhdr. Grey images that are stored as colours are read as grey. Two images of one slice
            each, such as 64 x 64 x 1 voxels, are registered in two dimensions, as their transforms are. big.zarr#1 is the level 1 of an
            OME-Zarr; without a number it is the finest one of at most 2^28 values.

transforms: lead from the fixed image's points to the moving one's, in mm, as ITK's and ANTs' do. --output-transform writes ITK's
            .tfm .txt .h5, .mat (ANTs', or FSL's with --mat fsl) of linear ones, or an image of displacements, such as warp.nii.gz.
            --output-inverse writes the same of the way back; an image of displacements then has MOVING's grid.

stages, each of which begins with the transform of the stages before, and their settings:
{stages}
            --transform affine,ffd:levels=3:spacing=8x8x8 sets some. finest_edge and spacing are in mm; spacing is one number, or one for
            each of x, y (and z). Their defaults are one edge of a voxel, and five. The default of ffd's levels is 4, or fewer where an
            image or a mask has few voxels. Without --initial a first linear stage lays the centres of mass on each other.

devices:    --device cuda:0,cuda:1 has both devices compute greedy together, with its default smoothing, in slabs of a volume: the transform is
            that of one device, and each holds less. They compute syn together, too: of two devices each moves one image, by any
            similarity; of four two move each, of one pair and by the default one. The other stages run on the first device.

progress:   a level of ffd is a number, of which 0 is the coarsest; a level of a linear stage is its voxels' size. The time left is the stage's.
"""


def add_parser(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        NAME,
        help="register a moving image to a fixed one",
        description="Finds the transform that lays the moving image on the fixed one, and resamples it.",
        epilog=_EPILOG.format(stages=describe_stages()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("fixed", metavar="FIXED", help="the image that stays where it is")
    parser.add_argument("moving", metavar="MOVING", help="the image that is moved")
    parser.add_argument("-o", "--output", metavar="OUT", help="the moving image, resampled on the fixed one's grid")
    parser.add_argument("--output-transform", metavar="FILE", help="the transform, from the fixed image's points to the moving one's")
    parser.add_argument("--output-inverse", metavar="FILE", help="the transform's inverse, from the moving image's points to the fixed one's")
    parser.add_argument("--output-field", metavar="FILE", help="the transform's displacements, an image of floats in mm")
    parser.add_argument(
        "--report", metavar="FILE", nargs="?", const="", help="an HTML page on the result; without FILE it is OUT.html, beside OUT"
    )
    options.add_stages(parser, "rigid", "rigid, affine, global, ffd, greedy, syn or velocity, or several: affine,syn")
    parser.add_argument("--mask", metavar="FILE", help="a mask of the fixed image: voxels where it is not 0 are compared")
    parser.add_argument("--moving-mask", metavar="FILE", help="a mask of the moving image")
    parser.add_argument("--initial", metavar="FILE", help="a transform to begin with")
    parser.add_argument("--mat", choices=("ants", "fsl"), default="ants", help="the program whose .mat --output-transform writes (default: ants)")
    parser.add_argument(
        "--plan",
        action="store_true",
        help="print the memory that each level, from 0, the coarsest, on, would take on the device, and register nothing; the exit code is 1 where there is too little. Values of files "
        "are not looked at",
    )
    add_also(parser)
    options.add_default(parser, "MOVING")
    options.add_channel(parser)
    options.add_seed(parser)
    options.add_device(parser, ', or several for greedy and syn, such as "cuda:0,cuda:1"')
    options.add_printing(parser)


@dataclass
class _Inputs:
    fixed: Image
    moving: Image
    pair: Pair
    initial: Optional[Transform]
    further: list[Further]


def run(arguments: argparse.Namespace) -> int:
    times = Times()
    stages = read_stages(arguments.transform, arguments.metric)
    arguments.also = read_also(arguments.also)
    _check_devices(arguments, stages)
    if arguments.plan:
        return _plan(arguments, stages, times)
    _check_names(arguments, stages)
    made = [arguments.output, arguments.output_transform, arguments.output_inverse, arguments.output_field, arguments.report]
    read = [arguments.fixed, arguments.moving, arguments.mask, arguments.moving_mask, arguments.initial]
    read += [path for asked in arguments.also for path in asked.files.values()]
    inputs.check_stays(made, read)
    with outputs.Outputs(made) as places:
        devices, files = _begin(arguments, stages, times)
        result = _register(arguments, stages, files, devices, times)
        with native_messages_off(not arguments.debug):
            _write(arguments, result, files, places, times)
        _print(arguments, result, times)
        places.commit()
    _tell(arguments, result, stages, times)
    return DONE


def _plan(arguments: argparse.Namespace, stages: list[Stage], times: Times) -> int:
    """Prints the plan of what would be held, and returns FAILED if that is too much."""
    from .._plan import plan_pair
    from ..stages import read_settings

    devices, files = _begin(arguments, stages, times, needs_values=False)
    settings = read_settings(stages, files.pair.fixed.spacing.tolist(), arguments.seed)
    plan = plan_pair(files.pair, stages, settings, devices, files.further, files.initial)
    if arguments.json:
        print_json({"devices": devices, **_describe_plan(plan)})
    else:
        print_lines(*str(plan).splitlines())
    return DONE if plan.fits else FAILED


def _describe_plan(plan: Plan) -> dict[str, Any]:
    return {
        "device": plan.device,
        "room": plan.room,
        "bytes": plan.bytes,
        "images": plan.images,
        "fits": plan.fits,
        "stages": [
            {
                "name": stage.name,
                "bytes": stage.bytes,
                "levels": [{"size": list(level.size), "bytes": level.bytes} for level in stage.levels],
                "arrays": stage.arrays,
                "changes": stage.changes,
            }
            for stage in plan.stages
        ],
        "others": [_describe_plan(other) for other in plan.others],
    }


def _check_devices(arguments: argparse.Namespace, stages: list[Stage]) -> None:
    """Raises WrongUse if --device names several devices for what these do not do together."""
    if arguments.device is None or "," not in arguments.device:
        return
    from .._engine import BadInputError
    from .._several_devices import check_is_for_several

    try:
        check_is_for_several(stages)
    except BadInputError as error:
        raise WrongUse(f"--device {arguments.device}: {one_line(error)}") from error


def _check_names(arguments: argparse.Namespace, stages: list[Stage]) -> None:
    """Raises WrongUse for what is wrong with the names of the outputs, before anything is read. Sets the report's name where it has
    none."""
    from ..stages import DEFORMING

    if arguments.report == "":
        if arguments.output is None:
            raise WrongUse("--report has no name, and there is no OUT to have it beside: give --report FILE.html")
        arguments.report = _stem(arguments.output) + ".html"
    if arguments.output is not None:
        outputs.check_name(arguments.output, IMAGES, "an image")
    if arguments.output_field is not None:
        outputs.check_name(arguments.output_field, IMAGES, "an image of displacements")
    if arguments.report is not None:
        outputs.check_name(arguments.report, outputs.REPORTS, "a report")
    transforms = [name for name in (arguments.output_transform, arguments.output_inverse) if name is not None]
    for name in transforms:
        outputs.check_name(name, outputs.TRANSFORMS + IMAGES, "a transform")
        if name.lower().endswith(".mat") and any(isinstance(stage, DEFORMING) for stage in stages):
            raise WrongUse(f"{name}: a .mat holds no deformation; write a .tfm, an .h5, or an image such as warp.nii.gz")
    if arguments.mat == "fsl" and not any(name.lower().endswith(".mat") for name in transforms):
        raise WrongUse("--mat fsl is of an --output-transform that ends on .mat: give one")
    if not any((arguments.output, transforms, arguments.output_field, arguments.report)):
        raise WrongUse("there is nothing to write: give -o OUT, --output-transform, --output-inverse, --output-field or --report")


def _begin(arguments: argparse.Namespace, stages: list[Stage], times: Times, needs_values: bool = True) -> tuple[list[str], _Inputs]:
    """Reads all files, or of images the grids and types alone, and looks at them, and starts the first device meanwhile."""
    from .._sides import read_pair

    def start() -> list[str]:
        from .._start import start_device

        with times.part("start device"):
            devices = options.choose_devices(arguments.device)
            start_device(devices[0])
            return devices

    with times.part("read and start"), native_messages_off(not arguments.debug), ThreadPoolExecutor(5) as pool:
        starting = pool.submit(start)
        paths = _image_files(arguments)
        channels = inputs.channels_of(_compared_files(arguments), arguments.channel)
        reading = {
            which: pool.submit(_read, path, None if which in _MASKS else channels[path], times, needs_values) for which, path in paths.items()
        }
        images = {which: one.result() for which, one in reading.items()}
        fixed, moving = images["fixed"], images["moving"]
        pair = read_pair(fixed, moving, images.get("fixed_mask"), images.get("moving_mask"), {}, paths, needs_values=needs_values)
        check(stages, pair.fixed.spacing.tolist())
        further = _read_further(arguments, stages, pair, times, needs_values, channels)
        initial = None
        if arguments.initial is not None:
            initial = inputs.read_transform(arguments.initial, fixed, moving)
            inputs.check_transform(initial, arguments.initial, pair.fixed)
        return starting.result(), _Inputs(fixed, moving, pair, initial, further)


def _read_further(
    arguments: argparse.Namespace, stages: list[Stage], pair: Pair, times: Times, needs_values: bool, channels: dict[str, Optional[int]]
) -> list[Further]:
    from .._also import read_also as read

    pairs = [asked.read(lambda path: _read(path, channels.get(path), times, needs_values)) for asked in arguments.also]
    return read(pairs, pair, stages, {}, files=[asked.files for asked in arguments.also], needs_values=needs_values)


def _compared_files(arguments: argparse.Namespace) -> list[str]:
    """Returns the names of files of images without masks."""
    further = [asked.files[which] for asked in arguments.also for which in ("fixed", "moving")]
    return [arguments.fixed, arguments.moving, *further]


def _image_files(arguments: argparse.Namespace) -> dict[str, str]:
    """Returns the names of image files by what each one is; masks if there are any."""
    paths = {
        "fixed": arguments.fixed,
        "moving": arguments.moving,
        "fixed_mask": arguments.mask,
        "moving_mask": arguments.moving_mask,
    }
    return {which: path for which, path in paths.items() if path is not None}


def _read(path: str, channel: Optional[int], times: Times, needs_values: bool) -> Image:
    with times.part(f"read {path}"):
        return inputs.read_scalar_image(path, channel, needs_values)


def _register(arguments: argparse.Namespace, stages: list[Stage], files: _Inputs, devices: list[str], times: Times) -> Result:
    from .._register import register_pair

    line = None if arguments.quiet else ProgressLine(stages, files.pair.dimension)
    try:
        with times.part("register"):
            asked = files.initial, devices, arguments.seed, line
            result = register_pair(files.pair, stages, *asked, default=arguments.default, further=files.further)
    finally:
        if line is not None:
            line.end()
    for number, stage in enumerate(result.stages):
        times.seconds[f"stage {number + 1} {stage.name}"] = stage.seconds
    return result


def _write(
    arguments: argparse.Namespace, result: Result, files: _Inputs, places: outputs.Outputs, times: Times
) -> None:
    """Writes the results. The device computes while files are written."""
    from .._files import write_image, write_transform

    def write(what: str, path: str, save: Any, *content: Any) -> None:
        with times.part(f"write {what}"):
            save(places.place(path), *content)

    with times.part("make and write"), ThreadPoolExecutor(4) as pool:
        writing = []
        if arguments.output is not None:
            with times.part("warp"):
                warped = result.warped
            writing.append(pool.submit(write, "image", arguments.output, write_image, warped))
        if arguments.output_transform is not None:
            path = arguments.output_transform
            content = (result.transform, files.fixed, files.moving, _format(arguments, path))
            writing.append(pool.submit(write, "transform", path, write_transform, *content))
        if arguments.output_inverse is not None:
            path = arguments.output_inverse
            with times.part("invert"):
                inverse = _on_grid(result.inverse, files.moving, result.device) if path.lower().endswith(IMAGES) else result.inverse
            content = (inverse, files.moving, files.fixed, _format(arguments, path))
            writing.append(pool.submit(write, "inverse", path, write_transform, *content))
        if arguments.output_field is not None:
            with times.part("find displacements"):
                field = result.displacement_field
            writing.append(pool.submit(write, "field", arguments.output_field, write_transform, field))
        if arguments.report is not None:
            with times.part("write report"):
                result.write_report(places.place(arguments.report), _repeating(arguments, result), _image_files(arguments))
        for one in writing:
            one.result()


def _on_grid(transform: Transform, image: Image, device: str) -> DisplacementField:
    """Returns a transform's displacements at an image's voxels: the transform itself if it is those."""
    from .._transforms import DisplacementField, lies_on, read_grid

    if isinstance(transform, DisplacementField) and lies_on(transform, read_grid(image, transform)):
        return transform
    return transform.to_displacement_field(image, device)


def _format(arguments: argparse.Namespace, path: str) -> Optional[str]:
    """Returns the format of a transform's file whose name does not say it."""
    return "fsl" if arguments.mat == "fsl" and path.lower().endswith(".mat") else None


def _repeating(arguments: argparse.Namespace, result: Result) -> str:
    """Returns the command line that repeats this registration on the same devices."""
    line = list(arguments.command_line)
    return shlex.join(line if arguments.device is not None else [*line, "--device", result.device])


def _print(arguments: argparse.Namespace, result: Result, times: Times) -> None:
    """Prints the result on standard output."""
    if arguments.json:
        print_json(_describe(arguments, result, times))
    elif not arguments.quiet:
        for found in result.stages:
            print_lines(f"{found.name}: cost {found.cost:.6g}, {found.seconds:.3f} s on {', '.join(found.devices)}")
        print_lines(*(_describe_inverse(errors) for errors in _inverse_errors(arguments, result)))


def _tell(arguments: argparse.Namespace, result: Result, stages: list[Stage], times: Times) -> None:
    """Prints what is no result on standard error, when all files are in their places."""
    if arguments.times:
        times.print()
    if not arguments.quiet:
        warnings = (f"gpureg: {warning}" for warning in _warnings(arguments, result))
        print_notes(*describe_what_ignores(arguments.also, stages), *warnings)


def _inverse_errors(arguments: argparse.Namespace, result: Result) -> list[InverseErrors]:
    return [] if arguments.output_inverse is None else result.inverse_errors


def _describe_inverse(errors: InverseErrors) -> str:
    return (
        f"inverse: {errors.mean:.2g} voxels off in the mean, {errors.largest:.2g} at most; more than 0.1 at {errors.off_voxels} voxels, and "
        f"nothing is mapped to {errors.unmapped_voxels} at the edge"
    )


def _warnings(arguments: argparse.Namespace, result: Result) -> list[str]:
    return [*result.warnings, *(warning for errors in _inverse_errors(arguments, result) for warning in errors.warnings())]


def _describe(arguments: argparse.Namespace, result: Result, times: Times) -> dict[str, Any]:
    matrix = result.transform.matrix_of()
    return {
        "fixed": arguments.fixed,
        "moving": arguments.moving,
        "also": [{**asked.files, **asked.settings} for asked in arguments.also],
        "output": arguments.output,
        "output_transform": arguments.output_transform,
        "output_inverse": arguments.output_inverse,
        "output_field": arguments.output_field,
        "report": arguments.report,
        "device": result.device,
        "devices": result.devices,
        "seed": arguments.seed,
        "cost": result.cost,
        "matrix": matrix,
        "inverse_errors": [errors._asdict() for errors in _inverse_errors(arguments, result)],
        "warnings": [*arguments.warnings, *_warnings(arguments, result)],
        "stages": [stage.numbers() for stage in result.stages],
        "times": times.all(),
    }


def _stem(path: str) -> str:
    """Returns a file's name without its suffix."""
    suffix = max((one for one in IMAGES if path.lower().endswith(one)), key=len, default="")
    return path[: len(path) - len(suffix)]
