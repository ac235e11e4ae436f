# SPDX-License-Identifier: Apache-2.0
"""Pairs with a known deformation: a thin plate over landmarks in the head, as FreeFormBenchmark has it, by NumPy alone."""

from __future__ import annotations

import dataclasses

import gpuregistration as gr
import numpy as np

from dense_scores import determinants, points_of

LANDMARKS = 45
LEAST_DETERMINANT = 0.1
MOST_SEEDS = 30


def half_otsu(values: np.ndarray) -> float:
    """Returns half of Otsu's threshold: what is brighter belongs to the head."""
    counts, edges = np.histogram(values, 256)
    centres = (edges[:-1] + edges[1:]) / 2
    below = np.cumsum(counts)
    sums = np.cumsum(counts * centres)
    above = below[-1] - below
    with np.errstate(divide="ignore", invalid="ignore"):
        between = below * above * (sums / below - (sums[-1] - sums) / above) ** 2
    return float(centres[np.nanargmax(between)]) / 2


def _draw_landmarks(image: gr.Image, random: np.random.Generator) -> np.ndarray:
    """Draws landmarks in the head that keep a distance from each other, so that the space between them seldom folds."""
    head = points_of(image, image.array > half_otsu(image.array))
    distance = 0.7 * np.cbrt(len(head) * np.prod(image.spacing) / LANDMARKS)
    landmarks: list[np.ndarray] = []
    while len(landmarks) < LANDMARKS:
        point = head[random.integers(len(head))]
        if all(np.linalg.norm(point - other) > distance for other in landmarks):
            landmarks.append(point)
        else:
            distance *= 0.999
    return np.array(landmarks)


def thin_plate(points: np.ndarray, landmarks: np.ndarray, displacements: np.ndarray) -> np.ndarray:
    """Returns the thin plate's displacements (n, 3) of points: kernel |x|, and an affine part; exact at the landmarks."""
    n = len(landmarks)
    kernel = np.linalg.norm(landmarks[:, np.newaxis] - landmarks, axis=-1)
    linear = np.hstack([landmarks, np.ones((n, 1))])
    system = np.block([[kernel, linear], [linear.T, np.zeros((4, 4))]])
    weights = np.linalg.solve(system, np.vstack([displacements, np.zeros((4, 3))]))
    found = points @ weights[n:-1] + weights[-1]
    for landmark, weight in zip(landmarks, weights[:n]):
        found += np.linalg.norm(points - landmark, axis=1)[:, np.newaxis] * weight
    return found


@dataclasses.dataclass
class Known:
    """A true field from fixed to moving points, the seed that it was drawn with, its mean displacement where the image is not 0, and its
    least determinant."""

    field: gr.DisplacementField
    seed: int
    mean: float
    least: float


def draw_known(image: gr.Image, seed: int, mean: float = 8.0, largest: float = 15.0) -> Known:
    """Draws a thin plate of this mean displacement, mm, over the voxels that are not 0, or of less where one would move by more than the
    largest. A deformation whose determinant is 0.1 or less somewhere is drawn again, with the next seed.

    Raises:
        ValueError: thirty seeds gave none that is smooth enough.
    """
    points = points_of(image, np.ones(image.shape, bool))
    inside = image.array.reshape(-1) != 0
    for one in range(seed, seed + MOST_SEEDS):
        random = np.random.default_rng(one)
        landmarks = _draw_landmarks(image, random)
        directions = random.normal(size=(LANDMARKS, 3))
        vectors = thin_plate(points, landmarks, directions / np.linalg.norm(directions, axis=1, keepdims=True))
        lengths = np.linalg.norm(vectors, axis=1)[inside]
        factor = min(mean / lengths.mean(), largest / lengths.max())
        array = (factor * vectors).reshape(*image.shape, 3)
        field = gr.DisplacementField(array, image.spacing, image.origin, image.direction)
        least = float(determinants(field).min())
        if least > LEAST_DETERMINANT:
            return Known(field, one, float(factor * lengths.mean()), least)
    raise ValueError(f"Seeds {seed} to {one} gave no deformation that is smooth enough.")
