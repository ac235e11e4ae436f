// SPDX-License-Identifier: Apache-2.0
// SyN of a real head on every device against itk::SyNImageRegistrationMethod: in two and three dimensions, with and without masks, of
// floats and of doubles, also by ANTs' step. The head is ch2.nii.gz of Debian's package mricron-data; the moving one is the same head,
// deformed and with other values.
#include "CompareSyN.h"
#include "SyNCase.h"

#include "itkImageFileReader.h"
#include "itkLinearInterpolateImageFunction.h"
#include "itkNiftiImageIO.h"

#include <cmath>
#include <fstream>
#include <string>

namespace gpuregtest
{

namespace
{
using gpureg::SimilarityKind;
using Volume = itk::Image<float, 3>;

constexpr char HeadFile[] = "/usr/share/mricron/templates/ch2.nii.gz";
// ANTs' SyN[0.1,3,0] has a step of 0.1, which is also the largest error that ends an inversion: then rounding decides whether the first
// inversion goes on, in ITK as here. With a step below that it decides less.
constexpr double Step = 0.09;
constexpr double StepOfANTs = 0.1;
// Each of four inversions may go on or not: so often ITK's input changes until it has moved in each of these ways.
constexpr int Draws = 16;

Volume::Pointer
ReadHead()
{
  const auto reader = itk::ImageFileReader<Volume>::New();
  reader->SetImageIO(itk::NiftiImageIO::New());
  reader->SetFileName(HeadFile);
  reader->Update();
  return reader->GetOutput();
}

/** Returns the grid of a part of the head, in mm from its first voxel: voxels of 4 mm, or of 2 mm in the axial slice. */
template <unsigned int VDimension>
Grid<VDimension>
MakeHeadGrid()
{
  Grid<VDimension> grid;
  const unsigned   sizes[] = { 181, 217, 181 };
  const double     edge = VDimension == 2 ? 2.0 : 4.0;
  for (unsigned int d = 0; d < VDimension; ++d)
  {
    grid.size[d] = static_cast<itk::SizeValueType>(sizes[d] / edge);
    grid.spacing[d] = edge;
  }
  return grid;
}

/** Returns the head's values on a grid, as read at displaced voxels of 1 mm, and changed. */
template <typename TPixel, unsigned int VDimension, typename TMove, typename TChange>
typename SyNCase<VDimension, TPixel>::ImageType::Pointer
SampleHead(const Volume & head, const Grid<VDimension> & grid, const TMove & move, const TChange & change)
{
  const auto interpolator = itk::LinearInterpolateImageFunction<Volume, double>::New();
  interpolator->SetInputImage(&head);
  return MakeImage<typename SyNCase<VDimension, TPixel>::ImageType>(grid, [&](const auto & point) {
    itk::ContinuousIndex<double, 3> index;
    index[2] = 75;
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      index[d] = point[d];
    }
    move(index);
    return interpolator->IsInsideBuffer(index) ? change(interpolator->EvaluateAtContinuousIndex(index)) : 0.0;
  });
}

template <unsigned int VDimension, typename TPixel>
SyNCase<VDimension, TPixel>
MakeHeadCase()
{
  const Volume::Pointer       head = ReadHead();
  const auto                  grid = MakeHeadGrid<VDimension>();
  SyNCase<VDimension, TPixel> its;
  its.fixed = SampleHead<TPixel>(
    *head, grid, [](auto &) {}, [](double value) { return value; });
  its.moving = SampleHead<TPixel>(
    *head,
    grid,
    [](auto & index) {
      const auto before = index;
      index[0] += 4.0 * std::sin(0.05 * before[1]) + 1.5;
      index[1] -= 3.0 * std::cos(0.04 * before[0]);
    },
    [](double value) { return 0.9 * value; });
  return its;
}

/** Compares the fields of a head by each similarity. \tparam TPixel the images' pixels */
template <unsigned int VDimension, typename TPixel = float>
void
CompareHeads(const std::string & device, bool haveMasks, double step = Step)
{
  auto its = MakeHeadCase<VDimension, TPixel>();
  if (haveMasks)
  {
    AddMasks(its, MakeHeadGrid<VDimension>());
  }
  for (const SimilarityKind kind : AllKinds)
  {
    for (const int iterations : { 1, 5, 20 })
    {
      its.settings = MakeSyNSettings(kind, iterations);
      its.settings.flat = gpureg::GetFlatNeighborhoodsOfITK<TPixel, TPixel, double>();
      its.settings.step = step;
      its.settings.syn.shrinkFactors = { { 2, 2, 2 } };
      its.settings.syn.smoothingSigmas = { 1.0 };
      Compare(device,
              its,
              std::string(GetName(kind)) + (haveMasks ? ", masks, " : ", ") + std::to_string(iterations) +
                " iterations of " + std::to_string(step),
              step == StepOfANTs ? Draws : 2);
    }
  }
}

class SyNHeadsTest : public ::testing::TestWithParam<std::string>
{
protected:
  void
  SetUp() override
  {
    if (!std::ifstream(HeadFile))
    {
      GTEST_SKIP() << "there is no " << HeadFile << ": install Debian's mricron-data";
    }
  }
};
} // namespace

TEST_P(SyNHeadsTest, ComputesITKsFieldsOfASlice)
{
  CompareHeads<2>(GetParam(), false);
}

TEST_P(SyNHeadsTest, ComputesITKsFieldsOfASliceWithMasks)
{
  CompareHeads<2>(GetParam(), true);
}

TEST_P(SyNHeadsTest, ComputesITKsFieldsOfASliceOfDoubles)
{
  CompareHeads<2, double>(GetParam(), false);
}

TEST_P(SyNHeadsTest, ComputesITKsFieldsOfASliceOfDoublesWithMasks)
{
  CompareHeads<2, double>(GetParam(), true);
}

TEST_P(SyNHeadsTest, ComputesITKsFieldsOfASliceByANTsStep)
{
  CompareHeads<2>(GetParam(), false, StepOfANTs);
}

TEST_P(SyNHeadsTest, ComputesITKsFieldsOfASliceByANTsStepWithMasks)
{
  CompareHeads<2>(GetParam(), true, StepOfANTs);
}

TEST_P(SyNHeadsTest, ComputesITKsFieldsOfAVolume)
{
  CompareHeads<3>(GetParam(), false);
}

TEST_P(SyNHeadsTest, ComputesITKsFieldsOfAVolumeWithMasks)
{
  CompareHeads<3>(GetParam(), true);
}

INSTANTIATE_TEST_SUITE_P(Devices, SyNHeadsTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
