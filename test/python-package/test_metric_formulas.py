# SPDX-License-Identifier: Apache-2.0
"""Compares metrics' values with their definitions, in NumPy's doubles."""

from math import factorial

import gpuregistration as gr
import numpy as np
import pytest

BINS = 32
# The shift of the moving image relative to the fixed one along each axis of the array, in voxels.
SHIFT = np.array([0.25, 0.4, 0.3])


def look(metric, images):
    """Returns the metric's value with the moving image shifted by SHIFT."""
    spacing = np.array(images[0].spacing)
    return metric.value(gr.Affine(translation=SHIFT[::-1] * spacing))


def corners():
    """Yields each corner of a voxel, as an offset along the array's axes, and its weight."""
    for corner in np.ndindex(2, 2, 2):
        yield corner, np.prod([s if c else 1 - s for c, s in zip(corner, SHIFT)])


def at_corner(array, corner):
    """Returns the neighbour of each voxel; the edge is repeated, since positions reach up to half a voxel beyond it."""
    padded = np.pad(array, [(0, 1)] * 3, mode="edge")
    return padded[tuple(slice(c, n + c) for c, n in zip(corner, array.shape))]


def shifted(array):
    return sum(weight * at_corner(array.astype(np.float64), corner) for corner, weight in corners())


def mutual_information(joint, log=np.log):
    joint = joint / joint.sum()
    product = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    there = joint > 0
    return (joint[there] * log(joint[there] / product[there])).sum()


def bessel(order, x):
    """Returns the modified Bessel function of the first kind."""
    return sum((x / 2) ** (2 * k + order) / (factorial(k) * factorial(k + order)) for k in range(30))


def smooth(joint, variance):
    """Smooths by a discrete Gaussian along both axes, with as many weights as leave out a hundredth; the edge is repeated."""
    weights = [np.exp(-variance) * bessel(0, variance)]
    while weights[0] + 2 * sum(weights[1:]) < 0.99:
        weights.append(np.exp(-variance) * bessel(len(weights), variance))
    kernel = np.array(weights[:0:-1] + weights)
    kernel /= kernel.sum()
    for axis in (0, 1):
        width = [(0, 0), (0, 0)]
        width[axis] = (len(weights) - 1,) * 2
        padded = np.pad(joint, width, mode="edge")
        joint = np.apply_along_axis(np.convolve, axis, padded, kernel, "valid")
    return joint


def test_joint_histogram(device, heads):
    fixed, moving = [image.array for image in heads]

    def place(values, image):
        low, high = np.float64(image.min()), np.float64(image.max())
        return np.floor(2 + (values - low) / (high - low) * (BINS - 5) + 0.5).astype(int)

    joint = np.zeros((BINS, BINS))
    np.add.at(joint, (place(fixed.astype(np.float64), fixed).ravel(), place(shifted(moving), moving).ravel()), 1)
    density = smooth(joint / joint.sum(), 1.5)
    product = np.outer(density.sum(axis=1), density.sum(axis=0))
    there = (density > 1e-16) & (product > 1e-16)
    wanted = -(density[there] * np.log2(density[there] / product[there])).sum()
    metric = gr.metric("joint_histogram_mutual_information", *heads, bins=BINS, device=device)
    # One or two samples are near an edge between two bins.
    assert look(metric, heads) == pytest.approx(wanted, rel=1e-4)


def test_partial_volume(device, heads):
    fixed, moving = [image.array for image in heads]

    def bins_of(image):
        low, high = np.float64(image.min()), np.float64(image.max())
        return np.minimum((image.astype(np.float64) - low) / (high - low) * BINS, BINS - 1).astype(int)

    joint = np.zeros((BINS, BINS))
    rows = bins_of(fixed).ravel()
    for corner, weight in corners():
        np.add.at(joint, (rows, at_corner(bins_of(moving), corner).ravel()), weight)
    metric = gr.metric("partial_volume_mutual_information", *heads, bins=BINS, device=device)
    assert look(metric, heads) == pytest.approx(-mutual_information(joint), rel=1e-5)


@pytest.mark.parametrize("radius", [1, 3])
def test_neighborhood_correlation(device, heads, radius):
    def sums(values):
        for axis in range(3):
            padded = np.concatenate([np.zeros_like(values.take([0], axis)), values.cumsum(axis)], axis)
            n = values.shape[axis]
            ends = np.minimum(np.arange(n) + radius + 1, n)
            begins = np.maximum(np.arange(n) - radius, 0)
            values = padded.take(ends, axis) - padded.take(begins, axis)
        return values

    f, m = heads[0].array.astype(np.float64), shifted(heads[1].array)
    n = sums(np.ones_like(f))
    ff, mm, fm = (sums(a * b) - sums(a) * sums(b) / n for a, b in ((f, f), (m, m), (f, m)))
    is_flat = ff * mm <= 2.0**-52
    wanted = -np.where(is_flat, 1.0, fm**2 / np.where(is_flat, 1.0, ff * mm)).mean()
    metric = gr.metric("neighborhood_correlation", *heads, radius=radius, device=device)
    assert look(metric, heads) == pytest.approx(wanted, rel=1e-5)


@pytest.mark.parametrize("name, setting, match", [
    ("joint_histogram_mutual_information", {"bins": 5}, "6 to 1024 bins, not 5"),
    ("partial_volume_mutual_information", {"bins": 257}, "2 to 256 bins, not 257"),
    ("neighborhood_correlation", {"radius": 0}, "1 voxel or more"),
])
def test_bad_settings(heads, name, setting, match):
    with pytest.raises(gr.BadInputError, match=match):
        gr.metric(name, *heads, device="host", **setting)
