# SPDX-License-Identifier: Apache-2.0
"""Registers two images: register()."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Callable, Optional, Sequence, Union

from ._also import Further, ImagePair, compares_several, read_also
from ._checks import check_progress
from ._gpu_arrays import GpuArray
from ._kept_fields import download_kept_fields
from ._kinds import ImageLike
from ._plan import check_pair
from ._progress import Progress, Reporter
from ._resample import read_default
from ._result import Result
from ._run_stage import StageRun, run_stage
from ._several_devices import DevicesLike, choose_devices, devices_of_each, list_asked
from ._sides import Pair, read_geometry, read_pair
from ._sides_on_devices import SidesOnDevices
from ._stage_result import StageResult
from ._syn_options import SyNOptions
from ._transform_like import as_transform
from ._transforms import TransformLike
from .stages import MetricsLike, Stage, StagesLike, named, read_settings, read_stages

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def register(
    fixed: ImageLike,
    moving: ImageLike,
    transform: StagesLike = "rigid",
    metric: MetricsLike = None,
    fixed_mask: Optional[ImageLike] = None,
    moving_mask: Optional[ImageLike] = None,
    initial: Optional[TransformLike] = None,
    device: Optional[DevicesLike] = None,
    seed: int = 1,
    progress: Optional[Callable[[Progress], Any]] = None,
    spacing: Optional[ArrayLike] = None,
    origin: Optional[ArrayLike] = None,
    direction: Optional[ArrayLike] = None,
    default: float = 0.0,
    also: Union[None, ImagePair, Sequence[ImagePair]] = None,
) -> Result:
    """Registers two images of two or three dimensions. Images of three dimensions with one slice are registered in two dimensions: the
    transform has two, and the warped image has the fixed image's shape.

    Args:
        fixed, moving: Image, NumPy array, SimpleITK's, ITK's, nibabel's or ANTsPy's image, or an array by DLPack or CUDA's array interface,
            such as CuPy's or PyTorch's: see Image for those on a GPU. Grey images that are stored as colours are taken for grey.
        transform: "rigid", "affine", "global" (affine, from any start), "ffd" (free-form deformation), "greedy", "syn" or
            "velocity" (a displacement for each voxel); a stage of gpuregistration.stages with settings of its
            own; or a list of these, each of which begins with what was found before.
        metric: the metric of the stages that are given by name, such as "correlation_ratio" or "mean_squares": a name for all,
            or a list with one for each stage, in which None leaves a stage its own. See stages.Rigid and stages.FreeForm, which do not
            have all in common. A stage of gpuregistration.stages has its own: its cost, or similarity.
        fixed_mask, moving_mask: images of any kind, of the shapes of the images, with voxels less than half a voxel elsewhere: voxels where
            they are not 0 are compared.
        initial: a transform of this package, of SimpleITK or of ITK, from the fixed image's points to the moving one's: where the
            first stage begins. A linear stage needs a linear one, and ignores the parts for which it has no degrees of freedom; stages that
            deform take any, also a BSpline, a DisplacementField or a Composite, and leave it as it is behind their own deformation. None:
            linear stages lay the centres of mass on each other, the others begin with the identity.
        device: a name such as "cuda:0", "opencl:0" or "host", or one of devices(). None: the GPU that an image's array is on, or
            else the first GPU, or else the host. A list of several devices, such as ["cuda:0", "cuda:1"]: the first one runs every stage,
            and all of them together run "greedy", in slabs of a volume, which takes less memory of each. The first two run "syn", of which
            each moves one image; of one pair of volumes, by its default similarity, the largest even number of devices do, half of which
            move one image, in slabs. The deformation is that of one device, but for rounding: docs/large-volumes.md. Images are on the host
            then, and "greedy" has its default smoothing.
        seed: seeds the random numbers of stages that use some. Two runs with one seed on one device give the same bits.
        progress: called with a Progress after each iteration or batch; may raise to end the work.
        spacing, origin, direction: the places of bare arrays, as Image has them. Where one image is a bare array, and the other one says
            where its voxels are, the array's spacing is needed.
        default: the value of the warped image outside of the moving image; the moving image's type must hold it.
        also: an ImagePair, or a list of them: further images that "ffd", "greedy", "syn" and "velocity" compare at the same time, and
            linear stages where no stage deforms. Other stages compare fixed and moving alone.

    Returns:
        A Result.

    Raises:
        BadInputError: images, masks, settings or names that are not possible, or arrays on another GPU than is to compute; several
            devices for what they do not register together; also a ValueError.
        DeviceError: there is no such device, or it fails; DeviceLostError for good.
        OutOfMemoryError: also a MemoryError; before anything is uploaded, if the device has less memory than plan_registration() says.
        UnsupportedError: an initial transform that a stage cannot begin with, or settings, or images of two dimensions, with which several
            devices do not compute "greedy" or "syn".
        KeyboardInterrupt: Ctrl-C ends it.
    """
    begin = time.perf_counter()
    check_progress(progress)
    geometry = read_geometry(spacing, origin, direction)
    stages = read_stages(transform, metric)
    pair = read_pair(fixed, moving, fixed_mask, moving_mask, geometry)
    further = read_also(also, pair, stages, geometry, list_asked(device)[0])
    result = register_pair(pair, stages, initial, device, seed, progress, begin, default, further)
    result._release_device_memory()
    return result


def register_pair(
    pair: Pair,
    stages: list[Stage],
    initial: Optional[TransformLike],
    device: Optional[DevicesLike],
    seed: int,
    progress: Optional[Callable[[Progress], Any]] = None,
    begin: Optional[float] = None,
    default: float = 0.0,
    further: Sequence[Further] = (),
    syn_options: SyNOptions = SyNOptions(),
) -> Result:
    """Registers a pair that has been read and checked, as register() does. If the moving image has floats, which the device stores
    unchanged, the result keeps them there.

    Args:
        begin: the time.perf_counter() from which seconds are counted; None: now.
        further: pairs that are compared beside this one, by the stages that compare several.
        syn_options: what is asked of stages by SyN, beside their settings.
    """
    begin = time.perf_counter() if begin is None else begin
    # Settings of all stages are checked before the first one runs, which may take long.
    outside = read_default(default, pair.moving.content.dtype)
    settings = read_settings(stages, pair.fixed.spacing.tolist(), seed, syn_options.may_rest)
    devices = choose_devices(device, [pair, *(one.pair for one in further)], stages)
    begin_with = as_transform(initial, pair.dimension, "initial transform") if initial is not None else None
    found = begin_with
    check_pair(pair, stages, settings, devices, further, begin_with, syn_options)
    sides = SidesOnDevices(pair, further, devices)
    computing = devices_of_each(stages, devices, pair.dimension, further)
    results: list[StageResult] = []
    for number, stage in enumerate(stages):
        # The plan has no room for what an earlier stage has left on the device.
        download_kept_fields(devices)
        with named(stage):
            sides.load(len(computing[number]), compares_several(stage, stages))
            came_to = run_stage(
                stage,
                StageRun(
                    settings=settings[number],
                    pair=pair,
                    devices=computing[number],
                    sides=sides.on_each(stage, len(computing[number])),
                    found=found,
                    before=results[-1] if results else None,
                    options=syn_options.of(stage),
                    reporter=Reporter(progress, number, len(stages), stage.name),
                ),
            )
        sides.keep(max(map(len, computing[number + 1 :]), default=1))
        results.append(replace(came_to, devices=list(computing[number])))
        found = results[-1].transform
    loaded = sides.first[1].image if pair.moving.content.dtype.kind == "f" and not isinstance(pair.moving.content, GpuArray) else None
    return Result(pair, results, begin_with, devices, time.perf_counter() - begin, loaded, outside)
