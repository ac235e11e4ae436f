# SPDX-License-Identifier: Apache-2.0
"""Compares the filters with ITK's from Python on each device, by their functional names, and through the factory."""
import numpy

numpy.bool = bool  # which ITK before 5.3 asks for and numpy since 1.24 has not

import itk  # noqa: E402

random = numpy.random.default_rng(20261121)


def make_image(dimension, pixel_type=numpy.float32):
    size = (40, 33) if dimension == 2 else (18, 20, 24)
    image = itk.image_from_array(random.uniform(0, 250, size).astype(pixel_type))
    image.SetSpacing([1.1, 0.9, 1.3][:dimension])
    image.SetOrigin([-7.5, 12.0, 3.25][:dimension])
    return image


def make_transform(image):
    """Returns an affine map after a B-spline."""
    dimension = image.GetImageDimension()
    size = numpy.array(image.GetSpacing()) * numpy.array(image.GetLargestPossibleRegion().GetSize())
    affine = itk.AffineTransform[itk.D, dimension].New()
    affine.SetCenter([float(x) for x in numpy.array(image.GetOrigin()) + size / 2])
    affine.Rotate(0, 1, 0.2)
    affine.Scale(0.9)
    spline = itk.BSplineTransform[itk.D, dimension, 3].New()
    spline.SetTransformDomainOrigin(image.GetOrigin())
    spline.SetTransformDomainPhysicalDimensions([float(x) for x in size])
    spline.SetTransformDomainMeshSize([4] * dimension)
    parameters = itk.OptimizerParameters[itk.D](spline.GetNumberOfParameters())
    for i, value in enumerate(random.uniform(-1.5, 1.5, spline.GetNumberOfParameters())):
        parameters.SetElement(i, float(value))
    spline.SetParameters(parameters)
    composite = itk.CompositeTransform[itk.D, dimension].New()
    composite.AddTransform(affine)
    composite.AddTransform(spline)
    return composite


def make_outputs(filter_class, image, device=None, **settings):
    """Returns a filter's outputs as arrays; settings: Sigma=1.5 for SetSigma(1.5)."""
    image_type = type(image)
    instance = filter_class[image_type, image_type].New(image)
    for name, value in settings.items():
        getattr(instance, "Set" + name)(value)
    if device is not None:
        instance.SetDevice(device)
        assert instance.GetDevice() == device
    instance.Update()
    return [itk.array_from_image(instance.GetOutput(i)) for i in range(instance.GetNumberOfIndexedOutputs())]


def compare(name, image, **settings):
    """Compares the filter and ITK's of this name on each device. Integers may be truncated to either side."""
    expected = make_outputs(getattr(itk, name), image, **settings)
    assert numpy.ptp(expected[0]) > 1
    for device in itk.GPUDevice.GetAvailable():
        outputs = make_outputs(getattr(itk, "GPU" + name), image, device, **settings)
        assert len(outputs) == len(expected)
        worst = 0.0
        for ours, itks in zip(outputs, expected):
            assert ours.shape == itks.shape and ours.dtype == itks.dtype
            worst = max(worst, numpy.abs(ours.astype(float) - itks.astype(float)).max() / numpy.ptp(itks.astype(float)))
        print(f"{name}, {type(image).__name__}, {device.GetName()}: {worst:.1e} of the range")
        assert worst < (5e-6 if ours.dtype == numpy.float32 else 1.01 / 250)


for dimension in (2, 3):
    image = make_image(dimension)
    resampling = {"Transform": make_transform(image), "UseReferenceImage": True, "ReferenceImage": image}
    compare("ResampleImageFilter", image, **resampling)
    compare("ResampleImageFilter", make_image(dimension, numpy.int16), **resampling)
    compare("SmoothingRecursiveGaussianImageFilter", image, Sigma=1.7)
    compare("RecursiveGaussianImageFilter", image, Sigma=1.7, Direction=1)
    compare("ShrinkImageFilter", image, ShrinkFactors=2)
    compare("MultiResolutionPyramidImageFilter", image, NumberOfLevels=3)
    compare("RecursiveMultiResolutionPyramidImageFilter", image, NumberOfLevels=3)
    compare("BSplineDecompositionImageFilter", image, SplineOrder=3)

# Images of vectors, and the functional form.
vectors = itk.image_from_array(random.uniform(0, 250, (20, 30, 2)).astype(numpy.float32), is_vector=True)
arguments = {"size": [30, 20], "transform": itk.TranslationTransform[itk.D, 2].New(offset=[0.4, -0.3])}
expected = itk.array_from_image(itk.resample_image_filter(vectors, **arguments))
for device in itk.GPUDevice.GetAvailable():
    ours = itk.array_from_image(itk.gpu_resample_image_filter(vectors, device=device, **arguments))
    assert ours.shape == expected.shape and numpy.abs(ours - expected).max() < 1e-3 and numpy.ptp(ours) > 1
arguments = {"transform": resampling["Transform"], "use_reference_image": True, "reference_image": image}
ours = itk.array_from_image(itk.gpu_resample_image_filter(image, **arguments))
assert numpy.abs(ours - itk.array_from_image(itk.resample_image_filter(image, **arguments))).max() < 1e-2
smoothed = itk.gpu_smoothing_recursive_gaussian_image_filter(image, sigma=2.0)
itks = itk.smoothing_recursive_gaussian_image_filter(image, sigma=2.0)
assert numpy.abs(itk.array_from_image(smoothed) - itk.array_from_image(itks)).max() < 1e-2


def is_ours(name):
    """Returns true if New() of ITK's class gives ours, which has the same name. Print() shows the C++ class."""
    types = itk.D if "Optimizer" in name else (type(image), type(image))
    instance = getattr(itk, name)[types].New()
    # ITK's neighborhood correlation has this name.
    assert instance.GetNameOfClass() == name or instance.GetNameOfClass() == "Self"
    return "GPUOverride" in str(instance)


factory = itk.GPURegistrationFactory
names = list(factory.GetClassNames())
print(names)
assert len(names) == 17 and "ResampleImageFilter" in names and "MeanSquaresImageToImageMetricv4" in names
# ITK 5.2 wraps neither SyN nor line searches.
unwrapped = [name for name in names if not hasattr(itk, name)]
assert all(name.endswith(("LineSearchOptimizerv4Template", "SyNImageRegistrationMethod")) for name in unwrapped), unwrapped
names = [name for name in names if name not in unwrapped]
replaced = [name for name in names if name != "BSplineDecompositionImageFilter"]  # the factory's makes doubles
assert not any(is_ours(name) for name in names)
factory.RegisterClass("ShrinkImageFilter")
assert is_ours("ShrinkImageFilter") and not is_ours("ResampleImageFilter")
factory.RegisterAll()
assert all(is_ours(name) for name in replaced)
through_factory = make_outputs(itk.ResampleImageFilter, image, **resampling)[0]
factory.UnRegisterAll()
assert not any(is_ours(name) for name in names)
itks = make_outputs(itk.ResampleImageFilter, image, **resampling)[0]
assert numpy.abs(through_factory - itks).max() < 1e-2

try:
    factory.RegisterClass("ResampleImage")
except RuntimeError as error:
    assert '"ResampleImage"' in str(error) and "ResampleImageFilter" in str(error)
else:
    raise AssertionError("a filter that is not there must be an error")
