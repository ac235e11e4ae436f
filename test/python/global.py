# SPDX-License-Identifier: Apache-2.0
"""Finds the transform between two rotated images from Python, in 2D and 3D, and asserts the method's results."""
import os
import tempfile

import numpy

numpy.bool = bool  # which ITK before 5.3 asks for and numpy since 1.24 has not

import itk  # noqa: E402

SPACING = 4.0


def phantom(places):
    """Returns an object of 10 cm with bright and dark regions that no rotation maps onto itself; places in mm from its middle."""
    half_axes = (48, 60, 43)
    radius = numpy.sqrt(sum((place / half) ** 2 for place, half in zip(places, half_axes)))
    blobs = [((24, 12, 14), 13, 70), ((-22, 28, -10), 11, -45), ((4, -38, 10), 13, 60), ((-20, -14, 18), 10, 50)]
    value = 60.0
    for centre, sigma, height in blobs:
        squares = sum((place - c) ** 2 for place, c in zip(places, centre))
        value = value + height * numpy.exp(-0.5 * squares / sigma**2)
    return value / (1 + numpy.exp(8 * (radius - 1)))


def image_of(dimension, turn, shift):
    """Returns the phantom, rotated by some radians in the plane of x and y and shifted by some mm along x."""
    size = 44
    middle = SPACING * (size - 1) / 2
    places = [SPACING * index - middle for index in numpy.meshgrid(*[numpy.arange(size)] * dimension, indexing="ij")[::-1]]
    x, y = places[0] - shift, places[1]
    places[0], places[1] = numpy.cos(turn) * x + numpy.sin(turn) * y, -numpy.sin(turn) * x + numpy.cos(turn) * y
    image = itk.image_from_array(phantom(places).astype(numpy.float32))
    image.SetSpacing([SPACING] * dimension)
    return image


for dimension in (2, 3):
    image_type = itk.Image[itk.F, dimension]
    turn, shift = 2.4, 14.0
    fixed, moving = image_of(dimension, 0.0, 0.0), image_of(dimension, turn, shift)
    middle = numpy.full(dimension, SPACING * 43 / 2)
    beside = middle + numpy.eye(dimension)[0] * 40

    method = itk.GlobalAffineRegistrationMethod[image_type, image_type].New()
    method.SetDevice(itk.GPUDevice.FromName("host"))
    method.SetFixedImage(fixed)
    method.SetMovingImage(moving)
    method.SetDegreesOfFreedom(6)
    (planned,) = method.GetPlannedBytes()
    assert planned > 4 * 44**dimension, planned
    if dimension == 3:
        method.SetSearchAngles(0, 0.0, 0.0)
        method.SetSearchAngles(1, 0.0, 0.0)
    method.Update()
    transform = method.GetTransform()
    moved = numpy.array(transform.TransformPoint(beside.tolist()))
    expected = middle.copy()
    expected[0] += shift + 40 * numpy.cos(turn)
    expected[1] += 40 * numpy.sin(turn)
    print(f"{dimension}D: {moved} instead of {expected}, cost {method.GetFinalCost():.5f}")
    assert numpy.abs(moved - expected).max() < 1.5 * (0.0196 if dimension == 2 else 0.00463), (moved, expected)  # the errors of record
    assert 0 < method.GetOverlap() <= 1
    stages = [
        (method.GetStageName(n), method.GetStageSeconds(n), method.GetStageEvaluations(n))
        for n in range(method.GetNumberOfStages())
    ]
    assert stages[-1][0] == f"{SPACING:g} mm" and sum(seconds for _, seconds, _ in stages) <= method.GetElapsedSeconds(), stages

# FLIRT's matrix gives the same transform.
with tempfile.TemporaryDirectory() as folder:
    name = os.path.join(folder, "found.mat")
    itk.FLIRTMatrix.Write(name, transform, fixed, moving)
    assert numpy.loadtxt(name).shape == (4, 4)
    read = itk.FLIRTMatrix.Read(name, fixed, moving)
    assert numpy.allclose(read.TransformPoint(beside.tolist()), moved, atol=1e-6)

# Refined from there with another cost and more degrees of freedom.
method.SetInitialTransform(read)
method.SetSearchAngles(0.0, 0.0)
method.SetCost("NormalizedMutualInformation")
method.SetDegreesOfFreedom(12)
method.Update()
assert method.GetCostName() == "NormalizedMutualInformation"
moved = numpy.array(method.GetTransform().TransformPoint(beside.tolist()))
assert numpy.abs(moved - expected).max() < 1.5 * 0.171, (moved, expected)

method.SetDegreesOfFreedom(8)
try:
    method.Update()
except RuntimeError as error:
    assert "3, 6, 7, 9 or 12" in str(error), error
else:
    raise AssertionError("8 degrees of freedom were accepted")
