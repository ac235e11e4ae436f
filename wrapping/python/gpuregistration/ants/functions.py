# SPDX-License-Identifier: Apache-2.0
"""ANTsPy's registration() and apply_transforms(), on this package's engine."""

from __future__ import annotations

import os
import shutil
import tempfile
from typing import Any, Callable, Optional, Sequence, Union

import numpy as np

from .._checks import read_number
from .._devices import DeviceLike, choose_device
from .._engine import BadInputError, UnsupportedError
from .._files import write_transform
from .._image import Image
from .._kinds import ImageLike, Kind, Wrap, read_image
from .._paths import PathLike
from .._series import Series
from .._warnings import warn_of_result
from ..command.errors import CommandError
from ..command.outputs import Outputs
from .apply import compose as compose_transforms
from .arguments import (
    check_arrays,
    check_interpolator,
    check_metric,
    check_step,
    named_arguments,
    read_extras,
    read_initial_transform,
    read_inverses,
    read_iterations,
    read_levels,
    read_mask,
    read_restriction,
    read_seed,
    read_transforms,
    read_type,
)
from .apply import check_components
from .hand_over import Elsewhere
from .initial import read_beginnings
from .interpolation import read_interpolation
from .limits import list_reasons
from .moving import FIVE_DIMENSIONS, PHYSICAL, SCALARS, SERIES, TENSORS, Making, cut_to_type, move_image
from .output_files import make_inverse_warped, make_warped, name_outputs, write_outputs
from .presets import FIXED, FIXED_MASK, MOVING, MOVING_MASK, Numbers, is_script, make_stages
from .call_images import read_image_named
from .runner import register
from .registration_call import Initial, read_registration
from .syntax import Flag, read_values
from .tensors import check_tensors
from .volumes import read_volumes

_INTERPOLATOR = Flag("n", "interpolator", "", "linear, nearestNeighbor, bSpline, genericLabel, lanczosWindowedSinc, …")


def registration(
    fixed: Kind,
    moving: Kind,
    type_of_transform: Union[str, Sequence[str]] = "SyN",
    initial_transform: Union[None, PathLike, Sequence[PathLike]] = None,
    outprefix: str = "",
    mask: Optional[ImageLike] = None,
    moving_mask: Optional[ImageLike] = None,
    mask_all_stages: bool = False,
    grad_step: float = 0.2,
    flow_sigma: float = 3,
    total_sigma: float = 0,
    aff_metric: str = "mattes",
    aff_sampling: int = 32,
    aff_random_sampling_rate: float = 0.2,
    syn_metric: str = "mattes",
    syn_sampling: int = 32,
    reg_iterations: Sequence[int] = (40, 20, 0),
    aff_iterations: Union[int, Sequence[int]] = (2100, 1200, 1200, 10),
    aff_shrink_factors: Union[int, Sequence[int]] = (6, 4, 2, 1),
    aff_smoothing_sigmas: Union[float, Sequence[float]] = (3, 2, 1, 0),
    write_composite_transform: bool = False,
    verbose: bool = False,
    multivariate_extras: Optional[Sequence[Sequence[Any]]] = None,
    restrict_transformation: Optional[Sequence[float]] = None,
    smoothing_in_mm: bool = False,
    singleprecision: bool = True,
    use_legacy_histogram_matching: bool = False,
    random_seed: Optional[int] = None,
    device: Optional[DeviceLike] = None,
) -> dict[str, Any]:
    """Registers two images, with the arguments of ANTsPy's ants.registration.

    Args:
        fixed, moving: images of any kind that register() takes, ANTsPy's among them. Bare arrays have voxels of 1 mm; beside an image with a
            grid they are an error.
        type_of_transform: such as "SyN", "SyNRA", "SyNCC", "SyNOnly", "Rigid", "Affine" or "antsRegistrationSyN[s]".
        initial_transform: files, of which the first one is nearest to the fixed image, "Identity", or None, which lays the centres of mass
            on each other.
        outprefix: the beginning of the names of the transforms' files; "": a folder of its own among the temporary files.
        mask, moving_mask: images whose voxels other than 0 the last stage looks at; with mask_all_stages all stages do. Bare arrays have their
            image's voxels.
        grad_step, flow_sigma, total_sigma: SyN's step in voxels, and the variances of its Gaussians in squared voxels.
        aff_…, syn_…, reg_iterations: the metrics of linear stages and of SyN, "mattes", "meansquares", "GC" or "CC", or "demons" of SyN;
            their bins or radius; and iterations, factors and sigmas of levels. aff_random_sampling_rate has no effect: all voxels are
            looked at.
        write_composite_transform: writes one file of all transforms, and one of the way back.
        verbose: prints lines as antsRegistration does.
        multivariate_extras: further metrics of SyNOnly and antsRegistrationSyN…, each (name, fixed, moving, weight, bins or radius).
        restrict_transformation: factors of the components along x, y (and z) of a deformation without stages before it, or of the
            parameters of the first linear stage, where they leave a transform of fewer degrees of freedom.
        smoothing_in_mm: aff_smoothing_sigmas are in mm, and not in voxels.
        singleprecision: computes warped images as floats, and not as doubles.
        use_legacy_histogram_matching: gives the moving image the fixed one's histogram first, but for antsRegistrationSyN…, as in ANTsPy.
        random_seed: taken; no stage uses random numbers.
        device: a device's name; None: the default one.

    Returns:
        "warpedmovout" and "warpedfixout", images on the other one's grid, of the moving and the fixed image's kind and of the fixed image's
        type of values, without decimals where that is of whole numbers; "fwdtransforms" and "invtransforms", the files for
        apply_transforms(), or one composite file each. A deformation of initial_transform has no inverse: "warpedfixout" is None then, and
        "invtransforms" empty.

    Warns:
        UserWarning: what was found may be wrong; the text says why. There is one warning for each text, of those that the command prints.

    Raises:
        BadInputError: an argument is not possible; the message names it.
        UnsupportedError: ANTsPy has it, and this package has not.
    """
    kind = read_type(type_of_transform)
    images, wraps = _read_images(fixed, moving, mask, moving_mask)
    check_metric("aff", aff_metric, aff_sampling)
    check_metric("syn", syn_metric, syn_sampling)
    check_step(grad_step, flow_sigma, total_sigma)
    linear_iterations, linear_factors, linear_sigmas = read_levels(aff_iterations, aff_shrink_factors, aff_smoothing_sigmas)
    numbers = Numbers(
        grad_step=grad_step,
        flow_sigma=flow_sigma,
        total_sigma=total_sigma,
        aff_metric=aff_metric,
        aff_sampling=aff_sampling,
        aff_random_sampling_rate=read_number("aff_random_sampling_rate", aff_random_sampling_rate, 0, 1),
        syn_metric=syn_metric,
        syn_sampling=syn_sampling,
        reg_iterations=read_iterations(reg_iterations),
        aff_iterations=linear_iterations,
        aff_shrink_factors=linear_factors,
        aff_smoothing_sigmas=linear_sigmas,
        smoothing_in_mm=smoothing_in_mm,
        further=read_extras(multivariate_extras, kind, images, fixed),
    )
    masks = f"[{FIXED_MASK if mask is not None else 'NULL'},{MOVING_MASK if moving_mask is not None else 'NULL'}]"
    words = ["-d", str(images[FIXED].dimension), "-o", "prefix"]
    words += make_stages(kind, numbers, masks if mask_all_stages else "NULL", masks)
    words += ["-u", str(int(use_legacy_histogram_matching and not is_script(kind))), "-a", str(int(write_composite_transform))]
    words += ["--float", str(int(singleprecision)), "-v", str(int(verbose))]
    words += [*read_restriction(restrict_transformation, images[FIXED].dimension), *read_seed(random_seed)]
    with named_arguments(kind, words):
        return _register(words, read_initial_transform(initial_transform, kind), images, wraps, outprefix, device)


def _register(
    words: list[str], initial: list[Initial], images: dict[str, Image], wraps: tuple[Wrap, Wrap], outprefix: str, device: Optional[DeviceLike]
) -> dict[str, Any]:
    """Registers as antsRegistration does with these arguments, and returns what registration() returns.

    Args:
        initial: the transforms to begin with.
        images: images by their names among the arguments.
        wraps: functions that make images of the fixed and the moving one's kind.
    """
    call = read_registration(words)
    call.initial = initial
    reasons = list_reasons(call)
    if reasons:
        raise UnsupportedError(f"This is not possible here: {' and '.join(reasons)}.")
    begins = read_beginnings(call)
    own_folder = None if outprefix else tempfile.mkdtemp(prefix="gpureg-ants-")
    call.prefix = outprefix or os.path.join(str(own_folder), "")
    names = name_outputs(call, begins)
    try:
        with Outputs(names.all) as places:
            result = register(call, begins, read_image_named(images), print if call.is_verbose else lambda line: None, device)
            write_outputs(call, result, names, places)
            places.commit()
    except BaseException as error:
        if own_folder is not None:
            shutil.rmtree(own_folder, ignore_errors=True)
        if isinstance(error, CommandError):
            raise BadInputError(f"outprefix={outprefix!r}: {error}") from error
        if isinstance(error, Elsewhere):
            raise UnsupportedError(f"This is not possible here: {error}.") from error
        raise
    for text in result.warnings:
        warn_of_result(text)
    forward, inverse = names.forward[::-1], names.inverse
    return {
        "warpedmovout": wraps[1](_of_type(make_warped(call, result), images[FIXED])),
        "warpedfixout": None if result.inverse is None else wraps[0](_of_type(make_inverse_warped(call, result), images[FIXED])),
        "fwdtransforms": forward[0] if call.writes_composite else forward,
        "invtransforms": [] if result.inverse is None else inverse[0] if call.writes_composite else inverse,
    }


@named_arguments()
def apply_transforms(
    fixed: ImageLike,
    moving: Union[Kind, Series, Sequence[Kind]],
    transformlist: Union[PathLike, Sequence[PathLike]],
    interpolator: str = "linear",
    imagetype: int = 0,
    whichtoinvert: Optional[Sequence[bool]] = None,
    compose: Optional[str] = None,
    defaultvalue: float = 0,
    singleprecision: bool = False,
    verbose: bool = False,
    device: Optional[DeviceLike] = None,
) -> Union[Kind, list[Kind], str]:
    """Moves an image by transforms, with the arguments of ANTsPy's ants.apply_transforms.

    Args:
        fixed: the image whose grid the result has.
        moving: the image that is moved, of any kind that register() takes, ANTsPy's among them. A series is an image of ANTsPy or SimpleITK
            with an axis of time behind the others, what read_series() returns, or a list of images.
        transformlist: files, of which the first one is applied first to points of the fixed image.
        interpolator: "linear", "nearestNeighbor", "bSpline", "genericLabel", "lanczosWindowedSinc", ….
        imagetype: 0 for scalars; 1 for vectors along the image's axes, which come to be along the fixed image's; 2 for tensors along them,
            six numbers (xx, xy, xz, yy, yz, zz); 3 for a series; 4 for channels; 6 for vectors along physical axes. Vectors and tensors are
            turned as the transforms turn what they move, and of tensors the logarithms are interpolated.
        whichtoinvert: True for each file whose inverse is taken. None: the first of two files is inverted, if it is a matrix and the second
            is not.
        compose: the beginning of the name of one file of all transforms, which is written, and whose name is returned.
        defaultvalue: the value outside of the moving image; of tensors, their eigenvalues there, and where all six numbers are 0.
        verbose: has no effect; ANTsPy prints with it.
        device: a device's name; None: the default one.

    Returns:
        An image of the moving image's kind and of the fixed image's type of values, without decimals where that is of whole numbers, or a
        list of images; or the name of a file.

    Raises:
        BadInputError: an argument is not possible; the message names it.
        UnsupportedError: ANTsPy has it, and this package has not.
    """
    names = read_transforms(transformlist)
    inverses = read_inverses(names, whichtoinvert)
    reference = read_image(fixed, "fixed")[0]
    if imagetype not in range(PHYSICAL + 1):
        raise BadInputError(f"imagetype={imagetype} is not possible: give a number from 0 to {PHYSICAL}.")
    if imagetype == FIVE_DIMENSIONS:
        raise UnsupportedError("imagetype=5 is not possible here: five dimensions. ANTsPy has it alone.")
    transform = compose_transforms(list(zip(names, inverses)), reference.dimension)
    if compose is not None:
        path = compose if compose.endswith(".h5") else f"{compose}comptx.nii.gz"
        write_transform(path, transform.to_displacement_field(reference, device))
        return path
    check_interpolator(interpolator)
    interpolation = read_interpolation(read_values(["-n", interpolator], [_INTERPOLATOR])["interpolator"][0])
    making = Making(interpolation, defaultvalue, "float32" if singleprecision else "float64")
    where = choose_device(device)
    images, wrap = read_volumes(moving, reference.dimension) if imagetype == SERIES else _read_one(moving, imagetype, defaultvalue)
    kind = SCALARS if imagetype == SERIES else imagetype
    for image in images[:1]:
        if image.dimension != reference.dimension:
            raise BadInputError(f"The moving image has {image.dimension} dimensions, and the fixed one {reference.dimension}: give two of the same.")
    return wrap([_of_type(move_image(image, kind, transform, reference, making, where), reference) for image in images])


def _read_one(moving: Any, imagetype: int, defaultvalue: float) -> tuple[list[Image], Callable[[list[Image]], Any]]:
    """Reads an image that is no series, and checks that it is of a type. Returns a list of it, and what makes an image of its kind of a
    list."""
    image, wrap = read_image(moving, "moving")
    name = f"imagetype={imagetype}: the moving image"
    if imagetype == TENSORS:
        check_tensors(image, name)
        if defaultvalue < 0:
            raise BadInputError(f"defaultvalue={defaultvalue:g}: give 0 or more for tensors, as it is their eigenvalues.")
    else:
        check_components(image, imagetype, name)
    return [image], lambda made: wrap(made[0])


def _read_images(
    fixed: Any, moving: Any, mask: Any, moving_mask: Any
) -> tuple[dict[str, Image], tuple[Wrap, Wrap]]:
    """Reads all images. Returns them by the names that arguments have for them, and what makes images of the fixed and the moving one's
    kind."""
    check_arrays({FIXED: fixed, MOVING: moving})
    fixed_image, wrap_fixed = read_image(fixed, "fixed")
    moving_image, wrap_moving = read_image(moving, "moving")
    if fixed_image.dimension != moving_image.dimension:
        raise BadInputError(
            f"The fixed image has {fixed_image.dimension} dimensions, and the moving one {moving_image.dimension}: give two of the same."
        )
    images = {FIXED: fixed_image.on_host(), MOVING: moving_image.on_host()}
    for name, one, which in ((FIXED_MASK, mask, FIXED), (MOVING_MASK, moving_mask, MOVING)):
        if one is not None:
            images[name] = read_mask(one, name, images[which], which)
    return images, (wrap_fixed, wrap_moving)


def _of_type(image: Image, like: Image) -> Image:
    """Returns an image with another one's type of values."""
    return image.like(cut_to_type(np.asarray(image.array), like.content.dtype))
