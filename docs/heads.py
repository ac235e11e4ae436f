# SPDX-License-Identifier: Apache-2.0
"""Reads Colin27's head, which Debian's package mricron-data has, and makes transforms that are known."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import gpuregistration as g
import numpy as np

TEMPLATES = Path("/usr/share/mricron/templates")


@lru_cache(None)
def head() -> g.Image:
    """Returns the head, of floats from 0 to 1, with some air around it, so that it stays inside where it is moved."""
    return _pad(g.read_image(TEMPLATES / "ch2.nii.gz"), np.float32(1 / 255))


@lru_cache(None)
def labels() -> g.Image:
    """Returns the labels of the head's regions, of the atlas AAL."""
    return _pad(g.read_image(TEMPLATES / "aal.nii.gz"), 1)


def _pad(image: g.Image, factor) -> g.Image:
    margin = 12
    origin = image.origin - image.direction @ (margin * image.spacing)
    return g.Image(np.pad(image.array * factor, margin), image.spacing, origin, image.direction)


def centre() -> np.ndarray:
    """Returns the point in the middle of the head's image."""
    size = np.array(head().size)
    return head().origin + head().direction @ (0.5 * (size - 1) * head().spacing)


def turned(degrees, shift=(0, 0, 0), scale=(1, 1, 1)) -> g.Affine:
    """Returns the transform that scales along x, y and z, then turns about these axes, all of it about the middle, and then shifts."""
    matrix = np.diag(np.array(scale, float))
    for axis, angle in enumerate(np.radians(degrees)):
        turn = np.eye(3)
        a, b = (axis + 1) % 3, (axis + 2) % 3
        turn[[a, b], [a, b]] = np.cos(angle)
        turn[a, b], turn[b, a] = -np.sin(angle), np.sin(angle)
        matrix = turn @ matrix
    return g.Affine(matrix, shift, centre())


def deformation(spacing=40.0, largest=11.0, seed=4) -> g.BSpline:
    """Returns a deformation that is smooth and random: each control point moves by at most `largest` mm along each axis."""
    nodes = [int(n // spacing) + 5 for n in head().size]
    vectors = np.random.default_rng(seed).uniform(-largest, largest, (*nodes[::-1], 3))
    origin = head().origin - head().direction @ np.full(3, 1.5 * spacing)
    return g.BSpline(vectors, [spacing] * 3, origin, head().direction)


def moved(image: g.Image, transform: g.Affine, interpolation="linear") -> g.Image:
    """Returns the image after each of its points has moved to where the transform leads it."""
    return g.resample(image, transform.inverse(), reference=head(), interpolation=interpolation)


def mean_error(found, truth, fixed: g.Image) -> float:
    """Returns how far apart two transforms lead the fixed image's points: mm, in the mean over the head. Where `found` is None, the
    points stay where they are."""
    found = g.Affine(np.eye(3)) if found is None else found
    difference = found.to_displacement_field(fixed).array - truth.to_displacement_field(fixed).array
    return float(np.linalg.norm(difference, axis=-1)[fixed.array > 0.15].mean())


def distance(found, truth, fixed: g.Image) -> str:
    """Returns in words how far apart two transforms lead the points, see mean_error()."""
    error = mean_error(found, truth, fixed)
    return "under 0.01 mm" if error < 0.01 else f"{error:.2g} mm"
