# SPDX-License-Identifier: Apache-2.0
"""Tests multiprocessing's fork after each device was used: a child computes on the host, or gets an error, and never hangs."""
import multiprocessing

import numpy

numpy.bool = bool  # which ITK before 5.3 asks for and numpy since 1.24 has not

import itk  # noqa: E402

# For a child, and for a pool of children, which take a second.
LIMIT = 60

fork = multiprocessing.get_context("fork")
image_type = itk.Image[itk.F, 3]
voxels = numpy.random.default_rng(7).uniform(0, 250, (18, 20, 24)).astype(numpy.float32)


def smooth(instance):
    """Returns the output of a new smoothing filter for the same image."""
    instance.SetInput(itk.image_from_array(voxels))
    instance.SetSigma(1.5)
    instance.Update()
    return itk.array_from_image(instance.GetOutput())


def smooth_by_new_one(_=None):
    return smooth(itk.GPUSmoothingRecursiveGaussianImageFilter[image_type, image_type].New())


def outcome(work):
    """Returns what a child sends: the result of some work, or its error."""
    try:
        return work()
    except RuntimeError as error:
        return str(error)


def run_in_child(work):
    """Returns the outcome of some work in a child. A child that hangs is ended."""
    receiver, sender = fork.Pipe(duplex=False)
    child = fork.Process(target=lambda: sender.send(outcome(work)))
    child.start()
    sender.close()
    try:
        assert receiver.poll(LIMIT), f"the child hung: {work}"
        result = receiver.recv()
        child.join(LIMIT)
        assert child.exitcode == 0, f"the child ended with {child.exitcode}: {work}"
        return result
    finally:
        child.kill()
        child.join()


def expect_near(found, expected):
    assert isinstance(found, numpy.ndarray), found
    assert numpy.abs(found - expected).max() <= 1e-4 * numpy.ptp(expected)


def expect_message(text):
    assert isinstance(text, str) and "forked" in text and "spawn" in text, text


def make_metric(device):
    metric = itk.CudaMattesNMI[image_type, image_type].New()
    metric.SetFixedImage(itk.image_from_array(voxels))
    metric.SetMovingImage(itk.image_from_array(voxels[:, ::-1].copy()))
    metric.SetMovingTransform(itk.TranslationTransform[itk.D, 3].New())
    metric.SetDevice(device)
    metric.Initialize()
    return metric


for device in itk.GPUDevice.GetAvailable():
    instance = itk.GPUSmoothingRecursiveGaussianImageFilter[image_type, image_type].New()
    instance.SetDevice(device)
    expected = smooth(instance)
    metric = make_metric(device)
    value = metric.GetValue()
    itk.GPUDevice.SetDefault(device)
    print(f"{device.GetName()}: smoothed to {numpy.ptp(expected):.4f}, NMI {value:.6f}")

    assert run_in_child(lambda: [d.GetName() for d in itk.GPUDevice.GetAvailable()]) == ["host"]
    expect_near(run_in_child(smooth_by_new_one), expected)
    if device.GetName() == "host":
        expect_near(run_in_child(lambda: smooth(instance)), expected)
        assert run_in_child(metric.GetValue) == value
    else:
        expect_message(run_in_child(lambda: smooth(instance)))
        expect_message(run_in_child(metric.GetValue))

    # A program that names none of this module's classes: a filter of the parent's, and a new one.
    itk.GPURegistrationFactory.RegisterAll()
    override = itk.SmoothingRecursiveGaussianImageFilter[image_type, image_type].New()
    expected_of_override = smooth(override)
    expect_near(run_in_child(lambda: smooth(override)), expected_of_override)
    make_new = itk.SmoothingRecursiveGaussianImageFilter[image_type, image_type].New
    expect_near(run_in_child(lambda: smooth(make_new())), expected_of_override)
    itk.GPURegistrationFactory.UnRegisterAll()

    # Several children, each of which works more than once.
    with fork.Pool(2) as pool:
        for found in pool.map_async(smooth_by_new_one, range(6)).get(LIMIT):
            expect_near(found, expected)

    # The parent continues to work.
    expect_near(smooth(instance), expected)
    assert metric.GetValue() == value
