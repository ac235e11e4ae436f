# SPDX-License-Identifier: Apache-2.0
"""Optimizes B-splines by a similarity and a penalty from Python, in 2D and 3D, and asserts that the penalty keeps them smooth."""
import numpy

numpy.bool = bool  # which ITK before 5.3 asks for and numpy since 1.24 has not

import itk  # noqa: E402


def blob(dimension, width):
    """Returns a Gaussian in the middle."""
    size = 48 if dimension == 2 else 24
    axes = numpy.meshgrid(*[numpy.arange(size) - 0.5 * size] * dimension, indexing="ij")
    values = numpy.exp(-sum(axis**2 for axis in axes) / (2 * (width * size) ** 2))
    return itk.image_from_array(values.astype(numpy.float32))


def register(dimension, alpha):
    """Returns the penalty of the B-spline between two blobs of different widths, and its similarity before and after."""
    image_type = itk.Image[itk.F, dimension]
    fixed, moving = blob(dimension, 0.15), blob(dimension, 0.2)
    spline = itk.BSplineTransform[itk.D, dimension, 3].New()
    spline.SetTransformDomainPhysicalDimensions([float(length - 1) for length in itk.size(fixed)])
    spline.SetTransformDomainMeshSize([4] * dimension)
    spline.SetIdentity()

    host = itk.GPUDevice.FromName("host")
    similarity = itk.GPUMeanSquaresImageToImageMetricv4[image_type, image_type].New()
    similarity.SetDevice(host)
    penalty = itk.GPUBSplinePenaltyMetric[image_type, image_type].New()
    penalty.SetDevice(host)
    penalty.SetBendingEnergyWeight(10.0)
    penalty.SetJacobianPenaltyWeight(0.01)
    assert penalty.GetDevice().GetName() == "host"
    cost = itk.WeightedSumMultiMetricv4[dimension, dimension, image_type].New()
    cost.AddMetric(similarity)
    cost.AddMetric(penalty)
    cost.SetMetricWeights([1 - alpha, alpha])

    optimizer = itk.RegularStepGradientDescentOptimizerv4[itk.D].New()
    optimizer.SetLearningRate(2.0)
    optimizer.SetMinimumStepLength(1e-4)
    optimizer.SetRelaxationFactor(0.7)
    optimizer.SetGradientMagnitudeTolerance(1e-10)
    optimizer.SetNumberOfIterations(100)
    registration = itk.ImageRegistrationMethodv4[image_type, image_type].New()
    for pair in range(2):
        registration.SetFixedImage(pair, fixed)
        registration.SetMovingImage(pair, moving)
    registration.SetMetric(cost)
    registration.SetOptimizer(optimizer)
    registration.SetInitialTransform(spline)
    registration.InPlaceOn()
    registration.SetNumberOfLevels(1)
    registration.SetShrinkFactorsPerLevel([1])
    registration.SetSmoothingSigmasPerLevel([0])
    registration.Update()

    value = cost.GetValue()
    values = [cost.GetValueArray().GetElement(n) for n in range(2)]
    assert abs(value - (1 - alpha) * values[0] - alpha * values[1]) <= 1e-12 * value, (value, values)
    spline.SetIdentity()
    assert penalty.GetValue() == 0
    return values[1], similarity.GetValue(), values[0]


for dimension in (2, 3):
    bending = []
    for alpha in (1e-6, 0.3):
        penalty, before, after = register(dimension, alpha)
        print(f"{dimension}D, alpha {alpha}: mean squares {before:.6f} before, {after:.6f} after, penalty {penalty:.6f}")
        assert after < 0.5 * before, (before, after)
        bending.append(penalty)
    assert bending[1] < 0.7 * bending[0], bending

# Impossible settings cause errors.
image_type = itk.Image[itk.F, 3]
penalty = itk.GPUBSplinePenaltyMetric[image_type, image_type].New()
penalty.SetMovingTransform(itk.TranslationTransform[itk.D, 3].New())
try:
    penalty.Initialize()
except RuntimeError as error:
    assert "is a TranslationTransform" in str(error), error
else:
    raise AssertionError("a penalty of a translation was accepted")
