# SPDX-License-Identifier: Apache-2.0
"""The arithmetic of a template: means of images, of fields and of affine maps, and the sharpening. All of it is in double precision, and in
the table's order, so that the bits do not depend on which image was registered first."""

from __future__ import annotations

from typing import Optional, Sequence

import numpy as np

from .._engine import BadInputError
from .._slabs import in_slabs


def mean_of_images(images: Sequence[np.ndarray], levels: Optional[Sequence[float]] = None, kind: type = np.float64) -> np.ndarray:
    """Computes the mean of images of one shape, in doubles.

    Args:
        images: those of files are read where they are looked at.
        levels: mean intensity of each image; each image is divided by its own, and the mean is multiplied by the mean of all, so that a
            bright image counts no more than a dark one. None: images count as they are.
        kind: the type that the mean is rounded to.
    """
    common = None if levels is None else sum(levels) / len(levels)
    mean: np.ndarray = np.empty(images[0].shape, kind)

    def add(first: int, end: int) -> None:
        part = np.zeros(mean[first:end].shape)
        for number, image in enumerate(images):
            values = image[first:end]
            part += values if levels is None or common is None else np.multiply(values, common / levels[number], dtype=np.float64)
        np.divide(part, len(images), out=mean[first:end], casting="same_kind")

    in_slabs(add, len(mean))
    return mean


def level_of(image: np.ndarray) -> float:
    """Computes an image's mean intensity over all voxels, in doubles."""
    return float(np.mean(image, dtype=np.float64))


def mean_stretch(matrices: Sequence[np.ndarray]) -> np.ndarray:
    """Computes the mean of linear maps without their rotations: exp(mean of log P), where each matrix is R P, of a rotation R and a
    symmetric, positive definite P (Arsigny 2006, log-Euclidean mean). ANTs' AverageAffineTransformNoRigid, which it stands for, takes
    rotation and translation out of the mean; here they are out of each map before, so the mean does not depend on how a person lay in the
    scanner.

    Args:
        matrices: ``(d, d)`` each, from the template's points to an image's.

    Returns:
        ``(d, d)``, symmetric.

    Raises:
        BadInputError: a matrix mirrors, or has no inverse.
    """
    total = np.zeros_like(np.asarray(matrices[0], dtype=np.float64))
    for matrix in matrices:
        if not np.linalg.det(matrix) > 0:
            raise BadInputError(f"The affine map {np.asarray(matrix).tolist()} mirrors, or has no inverse, so that there is no mean of it.")
        # log P is half the logarithm of P P.
        values, vectors = np.linalg.eigh(matrix.T @ matrix)
        total += 0.5 * (vectors * np.log(values)) @ vectors.T
    values, vectors = np.linalg.eigh(total / len(matrices))
    return (vectors * np.exp(values)) @ vectors.T


def about(matrix: np.ndarray, centre: np.ndarray) -> np.ndarray:
    """Returns the homogeneous matrix of a linear map that leaves a point where it is.

    Args:
        matrix: ``(d, d)``.
        centre: the point, ``(d,)``, mm.
    """
    whole = np.eye(len(matrix) + 1)
    whole[:-1, :-1] = matrix
    whole[:-1, -1] = centre - matrix @ centre
    return whole


def centre_of_mass(array: np.ndarray, index_to_point: np.ndarray) -> np.ndarray:
    """Computes an image's centre of mass, ``(d,)``, mm. Values count from the least one on."""
    least = float(array.min())
    size = array.shape[::-1]
    along = []
    for axis in range(array.ndim):
        # Sums of rows before sums of these: each axis alone.
        others = tuple(n for n in range(array.ndim) if n != array.ndim - 1 - axis)
        weights = array.sum(axis=others, dtype=np.float64) - least * (array.size / size[axis])
        total = weights.sum()
        along.append(float((weights * np.arange(size[axis])).sum() / total) if total > 0 else 0.5 * (size[axis] - 1))
    return index_to_point[:-1, :-1] @ np.array(along) + index_to_point[:-1, -1]


def laplacian(array: np.ndarray, spacing: Sequence[float]) -> np.ndarray:
    """Computes the sum of second differences, in doubles; the outermost voxels continue outside.

    Args:
        spacing: mm, of the array's axes in their order.
    """
    values = np.asarray(array, dtype=np.float64)
    total = np.empty_like(values)

    def find(first: int, end: int) -> None:
        begin = max(0, first - 1)
        total[first:end] = _laplacian(values[begin : end + 1], spacing)[first - begin : end - begin]

    in_slabs(find, len(values))
    return total


def _laplacian(values: np.ndarray, spacing: Sequence[float]) -> np.ndarray:
    """Computes the same of some slices, of which those at an end are wrong where others follow."""
    total = np.zeros_like(values)
    for axis, edge in enumerate(spacing):
        # A difference of neighbours, and the difference of these; at both ends the difference to what is outside is 0.
        steps = np.diff(values, axis=axis)
        steps *= 1 / edge**2
        first = [slice(None)] * values.ndim
        last = list(first)
        first[axis], last[axis] = slice(None, -1), slice(1, None)
        total[tuple(first)] += steps
        total[tuple(last)] -= steps
    return total


def sharpen_by_laplacian(array: np.ndarray, spacing: Sequence[float]) -> np.ndarray:
    """Sharpens an image as ``ImageMath Sharpen`` of ANTs does, that is itk::LaplacianSharpeningImageFilter with the image's spacing: the
    Laplacian, scaled to the image's range, is subtracted; the image's mean is restored, and values end at the image's range.

    Args:
        spacing: mm, of the array's axes in their order.

    Returns:
        The sharpened image, in doubles.
    """
    values = np.asarray(array, dtype=np.float64)
    low, high = float(values.min()), float(values.max())
    edges = laplacian(values, spacing)
    edge_low, edge_high = float(edges.min()), float(edges.max())
    if not (edge_high > edge_low and high > low):
        return values.copy()
    factor = (high - low) / (edge_high - edge_low)

    def subtract(first: int, end: int) -> None:
        part = edges[first:end]
        part -= edge_low
        part *= factor
        part += low
        np.subtract(values[first:end], part, out=part)

    in_slabs(subtract, len(edges))
    change = float(values.mean()) - float(edges.mean())

    def restore(first: int, end: int) -> None:
        part = edges[first:end]
        part += change
        np.clip(part, low, high, out=part)

    in_slabs(restore, len(edges))
    return edges


def sharpness(array: np.ndarray, spacing: Sequence[float]) -> float:
    """Computes how sharp an image is: the mean magnitude of its gradient in the head, as a share of the mean intensity there, per mm. The
    head is all voxels above half of the image's mean intensity.

    Args:
        spacing: mm, of the array's axes in their order.
    """
    values = np.asarray(array, dtype=np.float64)
    inside = find_head(values)
    level = float(values[inside].mean())

    def find(first: int, end: int) -> np.ndarray:
        begin = max(0, first - 1)
        part = values[begin : end + 1]
        squares = np.zeros_like(part)
        for axis, edge in enumerate(spacing):
            if values.shape[axis] > 1:
                squares += np.square(np.gradient(part, edge, axis=axis))
        magnitudes: np.ndarray = np.sqrt(squares[first - begin : end - begin][inside[first:end]])
        return magnitudes

    # Two slices at least, which a gradient needs.
    magnitudes = np.concatenate(in_slabs(find, len(values)))
    return float(magnitudes.mean()) / abs(level) if level else 0.0


def find_head(array: np.ndarray) -> np.ndarray:
    """Returns which voxels are above half of the image's mean intensity; all of an image of which none are."""
    inside = array > 0.5 * float(np.mean(array, dtype=np.float64))
    return inside if inside.any() else np.ones_like(inside)
