// SPDX-License-Identifier: Apache-2.0
// Exponentials of velocities by scaling and squaring, on every device: against itk::ExponentialDisplacementFieldImageFilter.
#include "FieldCase.h"
#include "FieldsOnDevice.h"
#include "TestDevices.h"

#include "engine/field/FieldExponential.h"

#include "itkExponentialDisplacementFieldImageFilter.h"

#include <algorithm>

namespace gpuregtest
{

namespace
{
using namespace gpureg::kernels;

class FieldExponentialTest : public DeviceTest
{};

template <unsigned int VDimension>
void
TestExponential(const std::string & device)
{
  using ImageType = FieldImage<VDimension>;
  DeviceArrays arrays(device);
  ForEachFieldCase<VDimension>([&](const FieldCase<VDimension> & its, Random & random) {
    const Floats velocity = its.DrawSmoothField(random, 2.0, 8.0);
    Floats       twice = velocity;
    std::transform(twice.begin(), twice.end(), twice.begin(), [](float component) { return 2 * component; });
    const auto input = arrays.Upload(twice), scratch = arrays.Upload(velocity), output = arrays.Upload(velocity);
    const auto filter = itk::ExponentialDisplacementFieldImageFilter<ImageType, ImageType>::New();
    filter->SetInput(its.MakeImage(velocity));
    filter->AutomaticNumberOfIterationsOff();
    gpureg::FieldExponential exponential(arrays.GetQueue());
    for (const int squarings : { 1, 2, 6 })
    {
      filter->SetMaximumNumberOfIterations(static_cast<unsigned int>(squarings));
      exponential.Set(its.forKernels, 0.5, squarings);
      for (const bool isInverse : { false, true })
      {
        filter->SetComputeInverse(isInverse);
        filter->Update();
        exponential.Enqueue(*input, isInverse, *scratch, *output);
        // Each squaring doubles what the one before has rounded, and adds its own.
        EXPECT_LE(its.ComputeLargestDifference(arrays.template Download<float>(output), *filter->GetOutput()),
                  100 * its.FindRounding(3.0))
          << squarings << ' ' << isInverse;
      }
    }
  });
}
} // namespace

TEST_P(FieldExponentialTest, IsITKs)
{
  TestExponential<2>(GetParam());
  TestExponential<3>(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Devices, FieldExponentialTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
