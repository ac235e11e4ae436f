// SPDX-License-Identifier: Apache-2.0
// The inversions of SyN's fields on every device, side by side, against itk::InvertDisplacementFieldImageFilter.
#include "FieldCase.h"
#include "FieldsOnDevice.h"
#include "TestDevices.h"

#include "engine/registration/diffeomorphic/SyNInverter.h"

#include "itkInvertDisplacementFieldImageFilter.h"

#include <array>

namespace gpuregtest
{

namespace
{
class SyNInverterTest : public DeviceTest
{};

/** Inverts a field from an estimate on, as itk::SyNImageRegistrationMethod::InvertDisplacementField() does. */
template <typename TImage>
typename TImage::Pointer
InvertByITK(const TImage & field, const TImage & estimate)
{
  const auto filter = itk::InvertDisplacementFieldImageFilter<TImage>::New();
  filter->SetInput(&field);
  filter->SetInverseFieldInitialEstimate(&estimate);
  filter->SetMaximumNumberOfIterations(20);
  filter->SetMeanErrorToleranceThreshold(0.001);
  filter->SetMaxErrorToleranceThreshold(0.1);
  filter->Update();
  return filter->GetOutput();
}

template <unsigned int VDimension>
void
TestAgainstITK(const std::string & device)
{
  FieldsOnDevice on(device);
  ForEachFieldCase<VDimension>([&](const FieldCase<VDimension> & its, Random & random) {
    gpureg::SyNInverter inverter(on.GetQueue());
    inverter.BeginLevel(its.forKernels);
    const auto lengths = on.MakeUnwritten(its.voxels);
    // Fields of other sizes take other numbers of iterations than those before, by which the inverter expects them.
    for (const double most : { 0.01, 1.5, 0.3 })
    {
      std::array<Floats, 2>                fields, inverses;
      std::array<gpureg::MemoryPointer, 2> fieldsThere, inversesThere;
      for (const std::size_t side : { 0, 1 })
      {
        // The sides differ, too.
        fields[side] = its.DrawSmoothField(random, most * (side == 0 ? 1.0 : 0.5), 12.0);
        inverses[side] = its.DrawSmoothField(random, 0.3 * most, 12.0);
        fieldsThere[side] = on.Upload(fields[side]);
        inversesThere[side] = on.Upload(inverses[side]);
        inverter.Enqueue(side, *fieldsThere[side], *inversesThere[side], on.GetReducer(), *lengths);
      }
      inverter.Finish(on.GetReducer(), *lengths);
      for (const std::size_t side : { 0, 1 })
      {
        const auto field = its.MakeImage(fields[side]), estimate = its.MakeImage(inverses[side]);
        const auto inverse = InvertByITK(*field, *estimate);
        const auto fieldOfInverse = InvertByITK(*inverse, *field);
        // As FieldInversionTest's: the second inversion begins with what the first one has rounded.
        const double rounding = 120 * its.FindRounding(3.0);
        EXPECT_LE(its.ComputeLargestDifference(on.Download<float>(inversesThere[side]), *inverse), rounding)
          << most << ' ' << side;
        EXPECT_LE(its.ComputeLargestDifference(on.Download<float>(fieldsThere[side]), *fieldOfInverse), rounding)
          << most << ' ' << side;
      }
    }
  });
}
} // namespace

TEST_P(SyNInverterTest, IsITKs2D)
{
  TestAgainstITK<2>(GetParam());
}

TEST_P(SyNInverterTest, IsITKs3D)
{
  TestAgainstITK<3>(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Devices, SyNInverterTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
