# SPDX-License-Identifier: Apache-2.0
"""Make the cases of the comparison of dense registrations, two people's heads or a known deformation, and score what a tool returns.

A case lies in a folder of its own, and jobs of other processes read it there.
"""

from __future__ import annotations

import abc
import dataclasses
import itertools
from pathlib import Path
from typing import Any, Optional, Sequence

import dense_programs as programs
import gpuregistration as gr
import numpy as np
from dense_known import draw_known, half_otsu
from dense_rows import Row
from dense_scores import carry_labels, displacement_errors, inverse_error, overlap, smoothness


class Missing(Exception):
    """The input is not there; the text is one line."""


def read(path: Path, shrink: int, is_labels: bool = False) -> gr.Image:
    """Reads an image of floats, or of labels, and takes every shrink-th voxel, of images after they are smoothed."""
    if not path.is_file():
        raise Missing(f"There is no file {path}.")
    image = gr.read_image(path)
    if not is_labels:
        image = image.like(np.asarray(image.array, np.float32))
    if shrink == 1:
        return image
    if not is_labels:
        image = gr.smooth(image, 0.5 * shrink * image.spacing.min(), device="host")
    array = np.ascontiguousarray(image.array[::shrink, ::shrink, ::shrink])
    return gr.Image(array, image.spacing * shrink, image.origin, image.direction)


@dataclasses.dataclass
class Case(abc.ABC):
    """Two images that are registered.

    Attributes:
        data: folder of the images.
        folder: of the case.
        contrasts: of the fixed and of the moving image, such as ("t1", "t2").
        shrink: images have this many times fewer voxels along each axis.
    """

    data: Path
    folder: Path
    contrasts: tuple[str, str]
    shrink: int

    @property
    def contrast(self) -> str:
        """The contrasts as tables have them."""
        return " <- ".join(self.contrasts)

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """The case's name as tables have it."""

    @abc.abstractmethod
    def prepare(self, device: str) -> None:
        """Creates the folder and fills it: see programs.write_pair(). An affine transform is found by a device, if the case has one."""

    @abc.abstractmethod
    def score(self, found: programs.Found) -> dict[str, float]:
        """Returns the scores of a result."""

    @abc.abstractmethod
    def score_start(self) -> Row:
        """Returns the scores, and the name as a program, of what the programs start from."""


@dataclasses.dataclass
class HeadCase(Case):
    """The heads of two people: files head_NAME_CONTRAST.nii.gz and head_NAME_labels.nii.gz. heads: their names, the fixed one first."""

    heads: tuple[str, str]

    @property
    def name(self) -> str:
        return " <- ".join(self.heads)

    def prepare(self, device: str) -> None:
        images = [
            read(self.data / f"head_{head}_{contrast}.nii.gz", self.shrink) for head, contrast in zip(self.heads, self.contrasts)
        ]
        with programs.alone_on(device):
            affine = gr.register(*images, "affine", device=device).transform
        self.folder.mkdir()
        programs.write_pair(programs.Pair(*images, affine), self.folder)

    def score(self, found: programs.Found) -> dict[str, float]:
        labels, others, affine = self._read_labels()
        head = labels.array > 0
        dice = overlap(carry_labels(found.field, affine, others, labels), labels.array)[0]
        scores = {"dice": dice, **smoothness(found.field, head)}
        if found.inverse is not None:
            scores.update(zip(("inv_mean", "inv_max"), inverse_error(found.field, found.inverse, head)))
        return scores

    def score_start(self) -> Row:
        labels, others, affine = self._read_labels()
        still = gr.DisplacementField(np.zeros((*labels.shape, 3)), labels.spacing, labels.origin, labels.direction)
        return {"program": "affine", "dice": overlap(carry_labels(still, affine, others, labels), labels.array)[0]}

    def _read_labels(self) -> tuple[gr.Image, gr.Image, gr.Affine]:
        fixed, moving = (read(self.data / f"head_{head}_labels.nii.gz", self.shrink, True) for head in self.heads)
        return fixed, moving, programs.read_pair(self.folder).affine


@dataclasses.dataclass
class KnownCase(Case):
    """An image and the same, or its other contrast, deformed by a thin plate: files t1 and t2, each .nii.gz or .mha. seed: of the plate."""

    seed: int

    @property
    def name(self) -> str:
        return f"thin plate {self.seed}"

    def prepare(self, device: str) -> None:
        images = {contrast: read(self._find(contrast), self.shrink) for contrast in set(self.contrasts)}
        known = draw_known(images[self.contrasts[0]], self.seed)
        fixed = gr.resample(images[self.contrasts[0]], known.field, device="host")
        self.folder.mkdir()
        np.save(self.folder / "known.npy", known.field.array)
        programs.write_pair(programs.Pair(fixed, images[self.contrasts[1]], gr.Affine()), self.folder)

    def score(self, found: programs.Found) -> dict[str, float]:
        fixed = gr.read_image(self.folder / "fixed.nii").array
        return {**self._score_vectors(found.field.array), **smoothness(found.field, fixed > half_otsu(fixed))}

    def score_start(self) -> Row:
        return {"program": "no deformation", **self._score_vectors(0.0)}

    def _score_vectors(self, vectors: Any) -> dict[str, float]:
        fixed, known = gr.read_image(self.folder / "fixed.nii").array, np.load(self.folder / "known.npy")
        found = np.broadcast_to(vectors, known.shape)
        scores: dict[str, float] = {}
        for prefix, mask in (("", fixed != 0), ("head_", fixed > half_otsu(fixed))):
            errors = displacement_errors(found, known, mask)
            scores.update(zip((f"{prefix}mean", f"{prefix}median", f"{prefix}p95"), errors))
        return scores

    def _find(self, contrast: str) -> Path:
        """Returns the file of a contrast: a NIfTI file if there is one, which is read without SimpleITK, or a MetaImage."""
        compressed = self.data / f"{contrast}.nii.gz"
        return compressed if compressed.is_file() else self.data / f"{contrast}.mha"


def find_pairs(data: Path, pairs: Optional[str]) -> list[tuple[str, str]]:
    """Returns the names of the heads of each pair, the fixed one first.

    pairs: FIXED:MOVING,…; None: all ordered pairs of the heads in the folder data. Raises Missing if there are none.
    """
    if pairs:
        asked = [tuple(pair.split(":")) for pair in pairs.split(",")]
        if any(len(pair) != 2 or not all(pair) for pair in asked):
            raise Missing(f"--pairs {pairs} is to be FIXED:MOVING,FIXED:MOVING,…")
        return asked  # type: ignore[return-value]
    names = sorted(path.name[len("head_") : -len("_labels.nii.gz")] for path in data.glob("head_*_labels.nii.gz"))
    if len(names) < 2:
        raise Missing(f"{data} has {len(names)} files head_*_labels.nii.gz; two are needed.")
    return list(itertools.permutations(names, 2))


def make_cases(data: Path, folder: Path, contrasts: tuple[str, str], shrink: int, pairs: Sequence[tuple[str, str]]) -> list[Any]:
    """Returns the cases of pairs of heads, in folders within a folder. Other arguments are those of Case."""
    return [HeadCase(data, folder / f"case{n}", contrasts, shrink, heads) for n, heads in enumerate(pairs)]


def make_known_cases(data: Path, folder: Path, contrasts: tuple[str, str], shrink: int, seeds: int) -> list[Any]:
    """Returns the cases of so many known deformations, likewise."""
    return [KnownCase(data, folder / f"case{seed}", contrasts, shrink, seed) for seed in range(1, seeds + 1)]
