# SPDX-License-Identifier: Apache-2.0
"""Finds which plane of the image is axial, coronal or sagittal, and which side of the patient is on which side of the screen."""

from __future__ import annotations

import itertools

import numpy as np

# The ends of the patient's axes: where x, y and z of LPS grow from and to.
LETTERS = (("R", "L"), ("A", "P"), ("I", "S"))

# For each plane: the patient's axes to the right and down the screen, with the sign that they grow with, and the normal.
# As radiologists look: from the feet, from the front, and from the patient's left.
PLANES = (
    ("Axial", (0, 1), (1, 1), 2),
    ("Coronal", (0, 1), (2, -1), 1),
    ("Sagittal", (1, 1), (2, -1), 0),
)

# From this cosine on, an axis is named after a second side of the patient, too: 20 degrees.
OBLIQUE = np.sin(np.radians(20))


def nearest_axes(direction: np.ndarray) -> tuple[int, ...]:
    """Returns, for each axis of the patient, the axis of the image that is most parallel to it; each axis once."""
    dimension = len(direction)
    return max(
        itertools.permutations(range(dimension)),
        key=lambda axes: sum(abs(direction[patient, image]) for patient, image in enumerate(axes)),
    )


def side(vector: np.ndarray) -> str:
    """Returns the letters of the patient's side that a vector points to, the nearest one first: "L", or "LA"."""
    order = np.argsort(-np.abs(vector), kind="stable")
    return "".join(LETTERS[k][int(vector[k] > 0)] for n, k in enumerate(order) if n == 0 or abs(vector[k]) > OBLIQUE)


def tilt(direction: np.ndarray) -> float:
    """Computes the largest angle, in degrees, between an axis of the image and the patient's axis that is nearest to it."""
    axes = nearest_axes(direction)
    lengths = np.linalg.norm(direction, axis=0)
    cosines = [abs(direction[patient, image]) / lengths[image] for patient, image in enumerate(axes)]
    return float(np.degrees(np.arccos(np.clip(min(cosines), -1, 1))))


def planes(direction: np.ndarray) -> list[dict]:
    """Describes how each plane is shown.

    "h", "v" and "n" are the image's axes (0 is x) to the right of the screen, down, and through it; "hflip", "vflip" and
    "nflip" say whether indices fall along them. "left", "right", "top" and "bottom" are the labels.
    """
    direction = direction / np.linalg.norm(direction, axis=0)
    axes = nearest_axes(direction)
    if len(direction) == 2:
        # Two coordinates don't say how the patient lies: the sides are those of the coordinates.
        h, v = axes
        return [
            {
                "name": "Image",
                "h": h,
                "v": v,
                "n": 2,
                "hflip": bool(direction[0, h] < 0),
                "vflip": bool(direction[1, v] < 0),
                "nflip": False,
                "left": "−x",
                "right": "+x",
                "top": "−y",
                "bottom": "+y",
            }
        ]
    result = []
    for name, (right, right_sign), (down, down_sign), normal in PLANES:
        h, v, n = axes[right], axes[down], axes[normal]
        hflip = bool(direction[right, h] * right_sign < 0)
        vflip = bool(direction[down, v] * down_sign < 0)
        to_right = direction[:, h] * (-1 if hflip else 1)
        to_bottom = direction[:, v] * (-1 if vflip else 1)
        result.append(
            {
                "name": name,
                "h": h,
                "v": v,
                "n": n,
                "hflip": hflip,
                "vflip": vflip,
                "nflip": bool(direction[normal, n] < 0),
                "left": side(-to_right),
                "right": side(to_right),
                "top": side(-to_bottom),
                "bottom": side(to_bottom),
            }
        )
    return result
