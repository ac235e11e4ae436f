# SPDX-License-Identifier: Apache-2.0
"""Registers one pair in three parts, which other threads do for other pairs meanwhile: reading, computing and writing."""

from __future__ import annotations

import shlex
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Mapping, Optional

import numpy as np

from .._affine import Affine
from .._devices import Device
from .._files import read_image, read_transform, write_image, write_transform
from .._grey import as_grey
from .._image import Image
from .._labels import check_labels, compute_dice
from .._register import register_pair
from .._report_data import find_versions
from .._resample import read_default, resample, resample_array
from .._result import Result
from .._sides import ONE_IN_FILE, Pair, check_grid, hint_of_files, read_pair
from .._slices import check_is_same_slice, reshaped
from .._stage_words import write_stages
from .._transforms import Transform
from .._warnings import collect_input_warnings
from ..report.pictures import encode
from . import pictures
from .folder import REPORT, describe_files, making, publish
from .settings import Settings
from .table import Row

WARPED = "warped.nii.gz"
LABELS = "labels.nii.gz"
#: File of a linear transform, and of any other one, which would be large as text.
LINEAR, OTHER = "transform.tfm", "transform.h5"
BEFORE, AFTER = "before.jpg", "after.jpg"

_QUALITY = 80


@dataclass(frozen=True)
class Job:
    """Describes the work for one pair.

    Attributes:
        row: the pair's row of the table.
        settings: the registration's settings.
        folder: gets the results.
    """

    row: Row
    settings: Settings
    folder: Path

    @property
    def id(self) -> str:
        return self.row.id

    def read(self) -> Inputs:
        return read(self)

    def compute(self, inputs: Inputs, device: str) -> Found:
        return compute(self, inputs, device)

    def write(self, inputs: Inputs, found: Found, device: Device, times: Mapping[str, Any]) -> dict[str, Any]:
        return write(self, inputs, found, device, times)


@dataclass
class Inputs:
    """Holds a pair's inputs.

    Attributes:
        files: path, size and time of change of each file.
        images: by the columns' names.
        pair: the images as registrations take them; they are checked while the device does something else.
        initial: a transform to begin with.
        picture_grid: a small grid over the fixed image.
        picture_before: the moving image on that grid before the registration.
        warnings: the warnings of files whose headers contradict themselves.
    """

    files: Mapping[str, Any]
    images: Mapping[str, Image]
    pair: Pair
    initial: Optional[Transform]
    picture_grid: Image
    picture_before: np.ndarray
    warnings: list[str]


@dataclass
class Found:
    """Holds the results that the device computed. Labels are on the fixed image's grid."""

    result: Result
    labels_before: Optional[np.ndarray]
    labels: Optional[np.ndarray]


def read(job: Job) -> Inputs:
    """Reads all of a pair's files at once, and does all work that needs no device.

    Raises:
        BadInputError: a file cannot be read; the message names it.
        OSError: a file has gone.
    """
    # Before files are read, so that the next run notices changes in the meantime.
    files = describe_files(job.row.files)
    paths = {name: path for name, path in job.row.files.items() if name != "initial"}
    with ThreadPoolExecutor(len(paths)) as pool:
        read_files = dict(zip(paths, pool.map(_read_file, paths.values())))
    images = {name: image for name, (image, _) in read_files.items()}
    warnings = [warning for _, texts in read_files.values() for warning in texts]
    for name in ("labels", "fixed_labels"):
        if name in images:
            images[name] = as_grey(images[name], f"file {paths[name]}", ONE_IN_FILE)
            check_labels(images[name].array, paths[name])
    if "labels" in images:
        check_is_same_slice(images["labels"], images["moving"], f"file {paths['labels']}", f"file {paths['moving']}")
    if "fixed_labels" in images:
        labels, fixed = paths["fixed_labels"], paths["fixed"]
        check_grid(images["fixed_labels"], images["fixed"], f"file {labels}", f"file {fixed}", hint_of_files(labels, fixed), True)
    initial = None
    if "initial" in files:
        with collect_input_warnings(warnings):
            initial = read_transform(job.row.files["initial"], images["fixed"], images["moving"])
    checked = read_pair(images["fixed"], images["moving"], images.get("fixed_mask"), images.get("moving_mask"), {}, paths)
    outside = read_default(job.settings.default, checked.moving.content.dtype)
    grid = pictures.small_grid(checked.fixed)
    before = resample_array(checked.moving, initial, grid, "linear", "host", outside)
    return Inputs(files, images, checked, initial, grid, before, warnings)


def _read_file(path: str) -> tuple[Image, list[str]]:
    """Reads an image, and returns it with its warnings."""
    warnings: list[str] = []
    with collect_input_warnings(warnings):
        return read_image(path), warnings


def compute(job: Job, inputs: Inputs, device: str) -> Found:
    """Does all work that needs the device. Raises what register() raises."""
    images = inputs.images
    result = register_pair(
        inputs.pair, job.settings.stages, inputs.initial, device, job.settings.seed, default=job.settings.default
    )
    result.warped  # Computes the image, which the result stores.
    result._release_device_memory()
    labels, before = None, None
    if "labels" in images:
        labels = resample(images["labels"], result.transform, inputs.pair.grid, "nearest", device=device).array
        if "fixed_labels" in images:
            # By a transform of two dimensions slices at different heights lie on each other.
            start = Affine(np.eye(2)) if inputs.initial is None and inputs.pair.dimension == 2 else inputs.initial
            before = resample(images["labels"], start, inputs.pair.grid, "nearest", device=device).array
    return Found(result, before, labels)


def write(job: Job, inputs: Inputs, found: Found, device: Device, times: Mapping[str, Any]) -> dict[str, Any]:
    """Writes a pair's files and then its record, which it returns.

    Args:
        times: seconds of each part, for the record.

    Raises:
        OSError: the disk is full, or fails. Then there is no record, and no file is half written.
    """
    result, images = found.result, inputs.images
    with making(job.folder) as made:
        with ThreadPoolExecutor(3) as pool:
            work = [pool.submit(write_image, made / WARPED, result.warped), pool.submit(_write_transform, made, result)]
            if found.labels is not None:
                work.append(pool.submit(write_image, made / LABELS, images["fixed"].like(found.labels)))
            _write_pictures(made, inputs, result)
            for one in work:
                one.result()
        if job.settings.reports:
            result.write_report(made / REPORT, _repeating(job, device.name), job.row.files)
        record = {
            "id": job.row.id,
            "inputs": inputs.files,
            "settings": job.settings.describe(),
            "device": device.name,
            "device_description": device.description,
            "cost": result.cost,
            "matrix": result.transform.matrix_of(),
            "warnings": inputs.warnings,
            "stages": [stage.numbers() for stage in result.stages],
            "dice": _compute_dice(images, found),
            "times": times,
            "versions": find_versions(),
            "outputs": sorted(one.name for one in made.iterdir()),
        }
        publish(made, job.folder, record)
        return record


def _write_transform(made: Path, result: Result) -> None:
    write_transform(made / (OTHER if result.transform.matrix_of() is None else LINEAR), result.transform)


def _write_pictures(made: Path, inputs: Inputs, result: Result) -> None:
    grid = inputs.picture_grid
    fixed = inputs.pair.fixed
    after = pictures.pick(fixed.like(reshaped(result.warped.array, fixed.shape)), grid)
    drawn = pictures.draw(pictures.pick(fixed, grid), inputs.picture_before, after, grid.direction)
    for name, picture in zip((BEFORE, AFTER), drawn):
        (made / name).write_bytes(encode(picture, _QUALITY))


def _compute_dice(images: Mapping[str, Image], found: Found) -> dict[str, list[float]]:
    """Computes each label's Dice before and after the registration."""
    if found.labels is None or found.labels_before is None:
        return {}
    truth = images["fixed_labels"].array
    before, after = compute_dice(truth, found.labels_before), compute_dice(truth, found.labels)
    return {str(label): [before.get(label, 0.0), after.get(label, 0.0)] for label in sorted({**before, **after})}


def _repeating(job: Job, device: str) -> str:
    """Returns the command line that repeats the registration; "" if no command line can."""
    transform = write_stages(job.settings.stages)
    if transform is None:
        return ""
    options = {"fixed_mask": "--mask", "moving_mask": "--moving-mask", "initial": "--initial"}
    words = ["gpureg", "register", job.row.files["fixed"], job.row.files["moving"], "-o", WARPED]
    words += ["--transform", transform, "--seed", str(job.settings.seed), "--device", device]
    words += [f"--default={job.settings.default!r}"] if job.settings.default != 0 else []
    for name, option in options.items():
        if name in job.row.files:
            words += [option, job.row.files[name]]
    return shlex.join(words)
