# SPDX-License-Identifier: Apache-2.0
"""Registers two images by SyN, and by a translation, from Python, in 2D and 3D: by this module's class as by ITK's."""
import numpy

numpy.bool = bool  # which ITK before 5.3 asks for and numpy since 1.24 has not

import itk  # noqa: E402


def blobs(shift, size):
    """Returns an image of two Gaussian blobs, moved by shift (voxels, along the array's axes)."""
    axes = numpy.meshgrid(*[numpy.arange(n) for n in size], indexing="ij")
    values = numpy.zeros(size)
    for centre, width in ((0.4, 0.15), (0.6, 0.1)):
        squares = sum((x - s - centre * n) ** 2 for x, s, n in zip(axes, shift, size))
        values += numpy.exp(-squares / (2 * (width * size[0]) ** 2))
    return itk.image_from_array(values.astype(numpy.float32))


def set_up(method, metric_class, fixed, moving):
    """Sets what all methods have. Python keeps the metric as long as the caller keeps what this returns."""
    metric = metric_class[type(fixed), type(moving)].New()
    metric.SetUseFixedImageGradientFilter(False)
    metric.SetUseMovingImageGradientFilter(False)
    method.SetFixedImage(fixed)
    method.SetMovingImage(moving)
    method.SetMetric(metric)
    method.SetNumberOfLevels(1)
    method.SetShrinkFactorsPerLevel([1])
    method.SetSmoothingSigmasPerLevel([0])
    if hasattr(method, "SetDevice"):
        method.SetDevice(itk.GPUDevice.FromName("host"))
        assert method.GetDevice().GetName() == "host"
    return metric


def find_by_syn(method_class, fixed, moving, further=()):
    """Returns a method of a class that has registered both images, and what it needs. further: devices beside the first one."""
    method = method_class[type(fixed), type(moving)].New()
    metric = set_up(method, itk.MeanSquaresImageToImageMetricv4, fixed, moving)
    if further:
        method.SetFurtherDevices(further)
        assert [device.GetName() for device in method.GetFurtherDevices()] == [device.GetName() for device in further]
    method.SetNumberOfIterationsPerLevel([15])
    method.SetLearningRate(0.4)
    if method_class is itk.GPUSyNImageRegistrationMethod:
        planned = method.GetPlannedBytes()
        assert len(planned) == 1 + len(further) and min(planned) > 4 * fixed.GetLargestPossibleRegion().GetNumberOfPixels(), planned
    method.Update()
    return method, metric


def find_translation(method_class, fixed, moving):
    """Returns the translation that a method of a class finds."""
    dimension = fixed.GetImageDimension()
    method = method_class[type(fixed), type(moving)].New()
    transform = itk.TranslationTransform[itk.D, dimension].New()
    optimizer = itk.RegularStepGradientDescentOptimizerv4[itk.D].New()
    optimizer.SetLearningRate(1.0)
    optimizer.SetMinimumStepLength(1e-4)
    optimizer.SetRelaxationFactor(0.7)
    optimizer.SetNumberOfIterations(100)
    metric = set_up(method, itk.GPUMeanSquaresImageToImageMetricv4, fixed, moving)
    metric.SetDevice(itk.GPUDevice.FromName("host"))
    method.SetOptimizer(optimizer)
    method.SetInitialTransform(transform)
    method.InPlaceOn()
    method.Update()
    return numpy.array(transform.GetParameters())


for size in ((40, 33), (22, 21, 19)):
    shift = (1.5, -1.0, 0.5)[: len(size)]
    fixed = blobs((0,) * len(size), size)
    moving = blobs(shift, size)

    ours, _metric = find_by_syn(itk.GPUSyNImageRegistrationMethod, fixed, moving)
    itks, _other = find_by_syn(itk.SyNImageRegistrationMethod, fixed, moving)
    middle = [0.5 * n for n in reversed(size)]
    ends = [numpy.array(method.GetTransform().TransformPoint(middle)) for method in (ours, itks)]
    print(f"{len(size)}D: the middle moves by {ends[0] - middle}")
    assert numpy.abs(ends[0] - ends[1]).max() < 1e-3, ends
    assert numpy.abs(ends[0] - middle - shift[::-1]).max() < 0.3, ends
    assert abs(ours.GetCurrentMetricValue() - itks.GetCurrentMetricValue()) <= 1e-5 * abs(itks.GetCurrentMetricValue())
    # The refined inverse leads back. There is none where ITK's code registers.
    voxel = [int(round(place)) for place in ends[0]]
    back = itk.array_from_image(ours.GetRefinedInverse())[tuple(reversed(voxel))]
    assert numpy.abs(numpy.array(ours.GetTransform().TransformPoint((voxel + back).tolist())) - voxel).max() < 1e-3

    # Two devices have the field of one.
    team, _third = find_by_syn(itk.GPUSyNImageRegistrationMethod, fixed, moving, [itk.GPUDevice.FromName("host")])
    fields = [itk.array_from_image(method.GetTransform().GetDisplacementField()) for method in (team, ours)]
    assert numpy.array_equal(*fields)
    assert numpy.abs(fields[0]).max() > 0.5

    # Without a shrunk level both take the same steps. The blobs reach over the images' edges, so the shift is not found exactly.
    found = [
        find_translation(method_class, fixed, moving)
        for method_class in (itk.ImageRegistrationMethodv4, itk.GPUImageRegistrationMethodv4)
    ]
    assert numpy.array_equal(*found), found
    assert numpy.abs(found[0] - shift[::-1]).max() < 0.05, found
