# SPDX-License-Identifier: Apache-2.0
"""Builds a template: build_template() and its progress."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Optional, Sequence

import numpy as np

from .._checks import MOST_SEED, check_progress, read_choice, read_number, read_whole
from .._engine import BadInputError
from .._paths import PathLike, name_of, readable
from .._resample import read_default
from .._zarr_names import split_name
from ..cohort.cluster import import_distributed, plan_workers
from ..cohort.folder import check_is_for, locked, make_folder
from ..cohort.rows import Table
from ..cohort.workers import Workers
from ..stages import StagesLike, read_stages
from .page import write_page
from .places import check_folders, remove_all_leftovers
from .results import Template, write_results
from .rounds import Rounds
from .settings import SHARPENING, Settings, read_weights
from .table import check_places, count_modalities, read_table


@dataclass(frozen=True)
class Progress:
    """Describes how far a template is.

    Attributes:
        round: the current round; 0 is the mean to begin with.
        rounds: the number of the last round.
        part: the part of the round: "images" are registered, the "mean" is made, or "transforms" are written.
        done: how many jobs of the part have ended: there is one for each image, or one for the mean, and before that, of many people, one
            for each worker, which averages some voxels.
        jobs: how many there are.
        workers: how many workers there are.
        news: an event, such as that a round is done again; "" if there is none.
    """

    round: int
    rounds: int
    part: str
    done: int
    jobs: int
    workers: int = 0
    news: str = ""


def build_template(
    table: Table,
    output: PathLike,
    transform: StagesLike = ("affine", "greedy"),
    metric: Any = None,
    rounds: int = 4,
    first: StagesLike = ("rigid",),
    step: float = 0.25,
    sharpening: str = "laplacian",
    weights: Optional[Sequence[float]] = None,
    start: Optional[PathLike] = None,
    grid: Optional[PathLike] = None,
    normalize: bool = True,
    default: float = 0.0,
    seed: int = 1,
    devices: Optional[Sequence[Any]] = None,
    workers_per_device: Optional[int] = None,
    scheduler: Optional[str] = None,
    progress: Optional[Callable[[Progress], Any]] = None,
    command: str = "",
) -> Template:
    """Builds an unbiased mean image of several people, as ANTs' antsMultivariateTemplateConstruction2.sh does (Avants 2010, NeuroImage 49,
    2457).

    Each round registers every person's images to the present mean, averages the warped images, sharpens the mean, and brings it to the mean
    shape. Results of an earlier run are taken over, unless settings or files have changed; a run that was ended continues where it
    stopped, and comes to the same bits on the same kind of device.

    Workers are processes: call it under ``if __name__ == "__main__":``.

    Args:
        table: a file's name, or rows, with the columns id, image, mask, image2, …, image6; see table.FILES and rows.read_rows.
        output: a folder; it is made if its parent exists. It gets template.nii.gz, template2.nii.gz, … of further modalities; a folder for
            each person with affine.mat, warp.nii.gz and inverse_warp.nii.gz; the rounds' means, rounds/N/mean.nii.gz; results.json and
            report.html.
        transform, metric: the stages of a round's registrations, as register() takes them; stages that deform are to be last.
        rounds: how many rounds there are with these stages.
        first: stages of rounds before them, one a round, which make the first mean sharper; () for none.
        step: the share of the mean displacement that is taken on four times in each round; 0: no shape update at all.
        sharpening: "laplacian", as ANTs' ImageMath Sharpen (itk::LaplacianSharpeningImageFilter); "unsharp", an unsharp mask of amount 0.5
            with a Gaussian of one voxel; or "none".
        weights: one for each modality, for the registrations. None: all are 1.
        start: an image file to begin with, and its grid. None: the mean of the images, with their centres of mass on each other.
        grid: an image file whose grid the template has. None: the grid of the start, or of the first person's image.
        normalize: images are divided by their mean intensities in the template's space before they are averaged, and the mean is multiplied
            by the mean of these.
        default: the value outside of an image.
        seed: as register() takes it.
        devices, workers_per_device, scheduler: as register_cohort() takes them.
        progress: called with a Progress now and then; may raise to end the work.
        command: the command line that repeats this; the report shows it.

    Returns:
        A Template.

    Raises:
        BadInputError: the table, images, settings or devices are not possible; or another process works in that folder.
        TemplateError: a registration failed, or its worker was killed; what is done stays.
        DeviceError: there is no such device.
        ImportError: there is no Dask, or no SimpleITK.
        WorkerError: workers end before they can work, or the scheduler ends.
        OSError: the folder or the results cannot be written.
        KeyboardInterrupt: Ctrl-C ends it; what is done stays.
    """
    begin = time.monotonic()
    check_progress(progress)
    people = read_table(table)
    modalities = count_modalities(people)
    stages = read_stages(transform, metric)
    count = read_whole("rounds", rounds, 1)
    before = read_stages(first, None) if first else []
    settings = Settings(
        [*([one] for one in before), *[stages] * count],
        read_weights(weights, modalities, stages),
        read_number("step", step, 0, 1),
        read_choice("sharpening", sharpening, SHARPENING),
        bool(normalize),
        read_whole("seed", seed, 0, MOST_SEED),
        read_default(default, np.dtype(np.float32)),
    )
    settings.check()
    if start is not None and grid is not None:
        raise BadInputError("start= has a grid of its own, and grid= another one: leave one out.")
    folder = Path(os.path.abspath(name_of(output)))
    begins = {name: os.path.abspath(name_of(path)) for name, path in (("start", start), ("grid", grid)) if path is not None}
    for name, path in begins.items():
        if not os.path.exists(split_name(path)[0]):
            raise BadInputError(readable(f"{name}={path} is not possible: there is no such file."))
    check_places(table, people, folder, begins)
    check_is_for(folder, is_template=True)
    plan = plan_workers(devices, workers_per_device, scheduler)
    import_distributed()
    make_folder(folder)
    with locked(folder, "builds a template"):
        check_folders(folder / person.id for person in people)
        remove_all_leftovers(folder)
        try:
            with Workers(plan, scheduler, "What is done stays: run it again.") as workers:
                made = Rounds(folder, people, settings, begins, lambda *state: _report(progress, len(settings.rounds), *state))
                template = made.build(workers.run, begin, command)
        finally:
            # Also those of a scheduler's workers that were killed. One that still writes has no folder then, and nobody waits for it.
            remove_all_leftovers(folder)
        write_results(template)
        write_page(template)
        return template


def _report(
    progress: Optional[Callable[[Progress], Any]], rounds: int, number: int, part: str, done: int, jobs: int, workers: int, news: Sequence[str]
) -> None:
    if progress is not None:
        for one in news or [""]:
            progress(Progress(number, rounds, part, done, jobs, workers, one))
