// SPDX-License-Identifier: Apache-2.0
// The inversions of SyN's fields on every device, side by side, against itk::InvertDisplacementFieldImageFilter.
#include "FieldCase.h"
#include "FieldsOnDevice.h"
#include "TestDevices.h"

#include "engine/registration/diffeomorphic/SideSlab.h"
#include "engine/registration/diffeomorphic/SyNInverter.h"
#include "engine/runtime/MakePasses.h"

#include "itkInvertDisplacementFieldImageFilter.h"

#include <array>
#include <memory>

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
  const auto     backend = gpureg::GetBackend(device);
  // It is the device's own queue, which others hold.
  const std::shared_ptr<gpureg::Queue> queue(&on.GetQueue(), [](gpureg::Queue *) {});
  const auto                           lines = gpureg::MakePasses<gpureg::LinePasses>(*queue);
  ForEachFieldCase<VDimension>([&](const FieldCase<VDimension> & its, Random & random) {
    gpureg::SchemeWorkspace workspace{ backend, queue, *lines, device, gpureg::FieldReducer(*queue), {}, {}, {}, {} };
    gpureg::SideSlab        slab(workspace);
    gpureg::SyNInverter     inverter(workspace, slab);
    const gpureg::LevelGrid level{ its.forKernels, {}, gpureg::MakeWholeSlab(its.forKernels.size[2]) };
    slab.BeginLevel(level, level.slab);
    inverter.BeginLevel();
    workspace.first = on.MakeUnwritten(its.voxels);
    // Fields of other sizes take other numbers of iterations than those before, by which the inverter expects them.
    for (const double most : { 0.01, 1.5, 0.3 })
    {
      std::array<Floats, 2>            fields, inverses;
      std::array<gpureg::SideField, 2> fieldsThere, inversesThere;
      for (const std::size_t side : { 0, 1 })
      {
        // The sides differ, too.
        fields[side] = its.DrawSmoothField(random, most * (side == 0 ? 1.0 : 0.5), 12.0);
        inverses[side] = its.DrawSmoothField(random, 0.3 * most, 12.0);
        fieldsThere[side].vectors = on.Upload(fields[side]);
        inversesThere[side].vectors = on.Upload(inverses[side]);
        inverter.Enqueue(side, fieldsThere[side], inversesThere[side]);
      }
      inverter.Finish();
      for (const std::size_t side : { 0, 1 })
      {
        const auto field = its.MakeImage(fields[side]), estimate = its.MakeImage(inverses[side]);
        const auto inverse = InvertByITK(*field, *estimate);
        const auto fieldOfInverse = InvertByITK(*inverse, *field);
        // As FieldInversionTest's: the second inversion begins with what the first one has rounded.
        const double rounding = 120 * its.FindRounding(3.0);
        EXPECT_LE(its.ComputeLargestDifference(on.Download<float>(inversesThere[side].vectors), *inverse), rounding)
          << most << ' ' << side;
        EXPECT_LE(its.ComputeLargestDifference(on.Download<float>(fieldsThere[side].vectors), *fieldOfInverse),
                  rounding)
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
