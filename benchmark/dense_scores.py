# SPDX-License-Identifier: Apache-2.0
"""Scores of dense deformations x + u(x), by the same formulas whichever program has found them. Displacements are in mm: [z, y, x, 3]."""

from __future__ import annotations

import gpuregistration as gr
import numpy as np

#: Voxels at each side of the grid that determinants leave out: what lies beyond the images is each program's own choice.
EDGE = 2


def overlap(found: np.ndarray, truth: np.ndarray) -> tuple[float, int]:
    """Returns the mean Dice overlap of the labels of truth, 0 left out, and how many labels those are."""
    labels, places = np.unique(truth, return_inverse=True)
    places = places.reshape(-1)
    sizes = np.bincount(places, minlength=labels.size)
    agrees = found.reshape(-1) == truth.reshape(-1)
    common = np.bincount(places, weights=agrees, minlength=labels.size)
    numbers, counts = np.unique(found, return_counts=True)
    found_sizes = dict(zip(numbers.tolist(), counts.tolist()))
    others = np.array([found_sizes.get(label, 0) for label in labels.tolist()])
    dices = (2 * common / (sizes + others))[labels != 0]
    if not dices.size:
        raise ValueError("The fixed image has no labels but 0.")
    return float(dices.mean()), int(dices.size)


def carry_labels(field: gr.DisplacementField, affine: gr.Affine, moving_labels: gr.Image, fixed_labels: gr.Image) -> np.ndarray:
    """Returns the moving image's labels at affine(x + u(x)), by nearest neighbour, on the fixed image's grid."""
    return gr.resample(moving_labels, gr.Composite([field, affine]), fixed_labels, interpolation="nearest", device="host").array


def determinants(field: gr.DisplacementField) -> np.ndarray:
    """Returns the determinants of the Jacobian of x + u(x), by central differences, without EDGE voxels at each side."""
    vectors = np.asarray(field.array, np.float32)
    by_index = np.stack([np.stack(np.gradient(vectors[..., c], axis=(2, 1, 0)), axis=-1) for c in range(3)], axis=-2)
    to_index = np.linalg.inv(field.direction * field.spacing).astype(np.float32)
    inner = (slice(EDGE, -EDGE),) * 3
    return np.linalg.det(by_index[inner] @ to_index + np.eye(3, dtype=np.float32))


def smoothness(field: gr.DisplacementField, head: np.ndarray) -> dict[str, float]:
    """Returns the standard deviation of log det J over the grid and within a mask, the least det J, and the number of voxels with
    det J <= 0. Where it folds, det J counts as 0.001."""
    found = determinants(field)
    logs = np.log(np.maximum(found, 1e-3))
    inner = head[(slice(EDGE, -EDGE),) * 3]
    return {
        "s": float(np.std(logs)),
        "s_head": float(np.std(logs[inner])),
        "least": float(found.min()),
        "folded": int(np.count_nonzero(found <= 0)),
    }


def points_of(image: gr.Image | gr.DisplacementField, mask: np.ndarray) -> np.ndarray:
    """Returns the points, (n, 3), x first, of a mask's voxels [z, y, x] on an image's grid."""
    index = np.argwhere(mask)[:, ::-1]
    return index @ (image.direction * image.spacing).T + image.origin


def inverse_error(field: gr.DisplacementField, inverse: gr.DisplacementField, head: np.ndarray) -> tuple[float, float]:
    """Returns the mean and the largest length of φ(φ⁻¹(y)) − y, in voxels, over the points y of a mask on the inverse's grid."""
    points = points_of(inverse, head)
    there = points + inverse.array[head]
    error = field.transform_points(there) - points
    lengths = np.linalg.norm(error @ np.linalg.inv(field.direction).T / field.spacing, axis=1)
    return float(lengths.mean()), float(lengths.max())


def displacement_errors(found: np.ndarray, truth: np.ndarray, mask: np.ndarray) -> tuple[float, float, float]:
    """Returns mean, median and 95th percentile of the distance, in mm, between two fields [z, y, x, 3] in a mask."""
    lengths = np.linalg.norm(found[mask] - truth[mask], axis=-1)
    return float(lengths.mean()), float(np.median(lengths)), float(np.percentile(lengths, 95))


def mutual_information(a: np.ndarray, b: np.ndarray, mask: np.ndarray, bins: int = 32) -> float:
    """Returns the mutual information, in nats, of two images' values in a mask, by a histogram of bins × bins over their ranges there."""
    counts, _, _ = np.histogram2d(a[mask].astype(float), b[mask].astype(float), bins)
    joint = counts / counts.sum()
    independent = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    occurs = joint > 0
    return float((joint[occurs] * np.log(joint[occurs] / independent[occurs])).sum())


def _box_sums(values: np.ndarray, radius: int) -> np.ndarray:
    """Returns the sums over boxes of 2·radius + 1 voxels along each axis; what lies outside of the image counts as 0."""
    width = 2 * radius + 1
    for axis in range(values.ndim):
        ends = [(width, radius) if one == axis else (0, 0) for one in range(values.ndim)]
        sums = np.cumsum(np.pad(values, ends), axis=axis)
        count = values.shape[axis]
        upper = np.take(sums, range(radius + width, radius + width + count), axis=axis)
        values = upper - np.take(sums, range(radius, radius + count), axis=axis)
    return values


def local_correlation(a: np.ndarray, b: np.ndarray, mask: np.ndarray, radius: int) -> float:
    """Returns the mean squared correlation of two images over boxes around a mask's voxels. Boxes in which an image is constant count as 0."""
    a, b = a.astype(float), b.astype(float)
    count = _box_sums(np.ones(a.shape), radius)
    means = [_box_sums(one, radius) / count for one in (a, b)]
    products = [_box_sums(one * other, radius) / count for one, other in ((a, a), (b, b), (a, b))]
    variances = [products[n] - means[n] ** 2 for n in range(2)]
    covariance = products[2] - means[0] * means[1]
    varies = mask & (variances[0] > 1e-9 * products[0]) & (variances[1] > 1e-9 * products[1])
    squared = covariance[varies] ** 2 / (variances[0][varies] * variances[1][varies])
    return float(squared.sum() / np.count_nonzero(mask))
