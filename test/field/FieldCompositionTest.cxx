// SPDX-License-Identifier: Apache-2.0
// Composing, resampling, adding and scaling fields, on every device, against ITK's filters.
#include "FieldCase.h"
#include "FieldsOnDevice.h"
#include "TestDevices.h"

#include "engine/field/FieldSums.h"
#include "engine/transform/FixedPoint.h"

#include "itkComposeDisplacementFieldsImageFilter.h"
#include "itkDisplacementFieldTransform.h"
#include "itkDisplacementFieldTransformParametersAdaptor.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace gpuregtest
{

namespace
{
using namespace gpureg::kernels;
using gpureg::Input;
using gpureg::Output;
using gpureg::RealNumber;

class FieldCompositionTest : public DeviceTest
{};

class FieldResamplingTest : public DeviceTest
{};

class FieldSumsTest : public DeviceTest
{};

const Floats FactorsOfOne{ 1.0F, 1.0F };

// In roundings of a vector: a place has 4, and counts for up to twice 3 times that, along each axis, between vectors that are 6 voxels
// apart. For a vector of 3 voxels on a grid of cubes they are 1e-5 voxel at most.
constexpr double Roundings = 60;

/** Says whether a vector, mm, leads to a place whose side of the buffer's edge rounding decides. */
template <unsigned int VDimension>
bool
IsAtEdge(const FieldCase<VDimension> & its, const float * vector, std::int64_t item)
{
  int index[3];
  ComputeVoxelIndex(&its.forKernels, item, index);
  const auto steps = gpureg::Multiply(its.toVoxels, gpureg::Vector3{ vector[0], vector[1], vector[2] });
  bool       isAtEdge = false;
  for (unsigned int d = 0; d < VDimension; ++d)
  {
    const double place = index[d] + steps[d];
    isAtEdge |= std::abs(place + 0.5) < 1e-5 || std::abs(place - its.forKernels.size[d] + 0.5) < 1e-5;
  }
  return isAtEdge;
}

/** Composes two fields on a device. */
Floats
Compose(FieldsOnDevice & on, const FieldGrid & grid, const Floats & factors, const Floats & outer, const Floats & inner)
{
  const std::int64_t voxels = CountFieldVoxels(&grid);
  return on.Compute<ComposeFieldsKernel>(voxels,
                                         3 * voxels,
                                         grid,
                                         Input<float>(*on.Upload(factors)),
                                         Input<RealNumber>(*on.Upload(outer)),
                                         Input<RealNumber>(*on.Upload(inner)));
}

/** Does so in the inner field's place. */
Floats
ComposeInPlace(
  FieldsOnDevice & on, const FieldGrid & grid, const Floats & factors, const Floats & outer, const Floats & inner)
{
  const auto place = on.Upload(inner);
  on.Run<ComposeFieldsKernel>(CountFieldVoxels(&grid),
                              grid,
                              Input<float>(*on.Upload(factors)),
                              Input<RealNumber>(*on.Upload(outer)),
                              Input<RealNumber>(*place),
                              Output<RealNumber>(*place));
  return on.Download<float>(place);
}

template <unsigned int VDimension>
void
TestComposition(const std::string & device)
{
  using ImageType = FieldImage<VDimension>;
  FieldsOnDevice on(device);
  ForEachFieldCase<VDimension>([&](const FieldCase<VDimension> & its, Random & random) {
    const Floats outer = its.DrawField(random, 3.0);
    const Floats inner = its.DrawField(random, 3.0);
    const auto   filter = itk::ComposeDisplacementFieldsImageFilter<ImageType, ImageType>::New();
    filter->SetDisplacementField(its.MakeImage(outer));
    filter->SetWarpingField(its.MakeImage(inner));
    filter->Update();
    const Floats composed = Compose(on, its.forKernels, FactorsOfOne, outer, inner);
    ForEachItem(its.voxels, [&](std::int64_t item) {
      if (!IsAtEdge(its, &inner[3 * item], item))
      {
        EXPECT_LE(its.ComputeDifference(composed, *filter->GetOutput(), item), Roundings * its.FindRounding(3.0));
      }
    });
    // In place, and by factors: to the bit.
    Floats twice(outer), half(inner);
    for (std::size_t i = 0; i < outer.size(); ++i)
    {
      twice[i] = 2.0F * outer[i];
      half[i] = 0.5F * inner[i];
    }
    EXPECT_EQ(ComposeInPlace(on, its.forKernels, FactorsOfOne, outer, inner), composed);
    EXPECT_EQ(ComposeInPlace(on, its.forKernels, { 0.5F, 2.0F }, twice, half), composed);
  });
}

/** Returns the map from indices of one geometry to indices of another, both counted from the first voxel, in fixed point. */
FixedMap
ComputeMapBetween(const gpureg::FieldGeometry & from, const gpureg::FieldGeometry & to)
{
  const gpureg::IndexMap fromIndex = gpureg::ComputeIndexToPhysical(from),
                         toPhysical = gpureg::ComputeIndexToPhysical(to);
  const gpureg::Matrix3 toIndex = gpureg::Invert(toPhysical.matrix);
  const gpureg::Vector3 between{ fromIndex.offset[0] - toPhysical.offset[0],
                                 fromIndex.offset[1] - toPhysical.offset[1],
                                 fromIndex.offset[2] - toPhysical.offset[2] };
  return gpureg::ToFixedMap({ gpureg::Multiply(toIndex, fromIndex.matrix), gpureg::Multiply(toIndex, between) });
}

/** Resamples a field on a device. */
Floats
Resample(FieldsOnDevice & on, const FieldResampling & resampling, const Floats & field)
{
  const std::int64_t voxels = CountFieldVoxels(&resampling.grid);
  return on.Compute<ResampleFieldKernel>(voxels, 3 * voxels, resampling, Input<RealNumber>(*on.Upload(field)));
}

template <unsigned int VDimension>
void
TestResampling(const std::string & device)
{
  FieldsOnDevice on(device);
  using TransformType = itk::DisplacementFieldTransform<double, VDimension>;
  ForEachFieldCase<VDimension>([&](const FieldCase<VDimension> & its, Random & random) {
    auto to = DrawGridNear(its.grid, random, 3000);
    // The adaptor's grids begin at index 0.
    to.origin = to.GetPoint(itk::Vector<double, VDimension>(0.0));
    to.start.Fill(0);
    const FieldCase<VDimension> other(to);
    // The border is 0, as every field's in SyN: whether a place just at the edge is inside makes no difference.
    Floats field = its.DrawField(random, 2.0);
    ForEachItem(its.voxels, [&](std::int64_t item) {
      int index[3];
      ComputeVoxelIndex(&its.forKernels, item, index);
      for (unsigned int d = 0; d < VDimension; ++d)
      {
        if (index[d] == 0 || index[d] == its.forKernels.size[d] - 1)
        {
          std::fill_n(field.begin() + 3 * item, 3, 0.0F);
        }
      }
    });
    const auto transform = TransformType::New();
    transform->SetDisplacementField(its.MakeImage(field));
    const auto adaptor = itk::DisplacementFieldTransformParametersAdaptor<TransformType>::New();
    adaptor->SetTransform(transform);
    adaptor->SetRequiredSize(to.size);
    adaptor->SetRequiredSpacing(to.spacing);
    adaptor->SetRequiredOrigin(to.origin);
    adaptor->SetRequiredDirection(to.direction);
    adaptor->AdaptTransformParameters();
    const FieldResampling resampling{
      ComputeMapBetween(GetGeometry(to), GetGeometry(its.grid)), other.forKernels, its.forKernels, 0, 0
    };
    const Floats resampled = Resample(on, resampling, field);
    // In voxels of the field's own grid.
    double largest = 0;
    ForEachItem(other.voxels, [&](std::int64_t item) {
      std::array<double, 3> difference{ 0, 0, 0 };
      for (unsigned int d = 0; d < VDimension; ++d)
      {
        difference[d] = resampled[3 * item + d] - transform->GetDisplacementField()->GetBufferPointer()[item][d];
      }
      for (const double step : gpureg::Multiply(its.toVoxels, difference))
      {
        largest = std::max(largest, std::abs(step));
      }
    });
    EXPECT_LE(largest, Roundings * its.FindRounding(2.0));
  });
}
} // namespace

TEST(FieldGrid, FindsVoxelsBeyondFourBillion)
{
  FieldGrid grid{};
  grid.size[0] = 5000;
  grid.size[1] = 3000;
  grid.size[2] = 1000;
  for (const std::int64_t voxel :
       { std::int64_t{ 4999 }, std::int64_t{ 4294967295 }, std::int64_t{ 4294967296 }, CountFieldVoxels(&grid) - 1 })
  {
    int index[3];
    ComputeVoxelIndex(&grid, voxel, index);
    EXPECT_EQ((std::int64_t{ 3000 } * index[2] + index[1]) * 5000 + index[0], voxel);
    EXPECT_TRUE(index[0] >= 0 && index[0] < 5000 && index[1] >= 0 && index[1] < 3000);
  }
}

TEST_P(FieldCompositionTest, IsITKs2D)
{
  TestComposition<2>(GetParam());
}

TEST_P(FieldCompositionTest, IsITKs3D)
{
  TestComposition<3>(GetParam());
}

TEST_P(FieldCompositionTest, TakesITKsSideOfTheEdge)
{
  using ImageType = FieldImage<3>;
  FieldsOnDevice on(GetParam());
  Grid<3>        grid = MakeFieldGrids<3>().back();
  grid.origin.Fill(0.0);
  const FieldCase<3> its(grid);
  Random             random(2);
  const Floats       outer = its.DrawField(random, 1.0);
  for (const float step : { 0.5F, std::nextafter(0.5F, 0.0F), std::nextafter(0.5F, 1.0F) })
  {
    for (const float sign : { -1.0F, 1.0F })
    {
      const Floats inner(outer.size(), sign * step);
      const auto   filter = itk::ComposeDisplacementFieldsImageFilter<ImageType, ImageType>::New();
      filter->SetDisplacementField(its.MakeImage(outer));
      filter->SetWarpingField(its.MakeImage(inner));
      filter->Update();
      const Floats composed = Compose(on, its.forKernels, FactorsOfOne, outer, inner);
      EXPECT_LE(its.ComputeLargestDifference(composed, *filter->GetOutput()), Roundings * its.FindRounding(1.0));
    }
  }
}

TEST_P(FieldCompositionTest, CountsWhatLeadsNowhereAsZero)
{
  FieldsOnDevice     on(GetParam());
  const FieldCase<3> its(MakeFieldGrids<3>().back());
  Random             random(5);
  const Floats       outer = its.DrawField(random, 1.0);
  for (const float vector : { 1e30F, -1e30F, std::numeric_limits<float>::infinity(), 1e9F, -12.5F })
  {
    const Floats inner(outer.size(), vector);
    EXPECT_EQ(Compose(on, its.forKernels, FactorsOfOne, outer, inner), inner) << vector;
  }
  const Floats inner(outer.size(), std::numeric_limits<float>::quiet_NaN());
  for (const float component : Compose(on, its.forKernels, FactorsOfOne, outer, inner))
  {
    EXPECT_TRUE(std::isnan(component));
  }
}

TEST_P(FieldResamplingTest, IsITKs2D)
{
  TestResampling<2>(GetParam());
}

TEST_P(FieldResamplingTest, ContinuesTheEdge)
{
  FieldGrid coarse{}, fine{};
  coarse.dimension = fine.dimension = 3;
  for (int d = 0; d < 3; ++d)
  {
    coarse.size[d] = 4 + d;
    fine.size[d] = 2 * coarse.size[d] + 1;
  }
  gpureg::IndexMap toCoarse;
  Floats           field(3 * CountFieldVoxels(&coarse));
  std::iota(field.begin(), field.end(), 1.0F);
  for (std::size_t d = 0; d < 3; ++d)
  {
    toCoarse.matrix[4 * d] = 0.5;
    // The fine grid's first plane lies half a voxel before the coarse one's, and its last plane half a voxel behind.
    toCoarse.offset[d] = -0.5;
  }
  FieldsOnDevice on(GetParam());
  const Floats   continued = Resample(on, { gpureg::ToFixedMap(toCoarse), fine, coarse, 1, 0 }, field);
  const Floats   ended = Resample(on, { gpureg::ToFixedMap(toCoarse), fine, coarse, 0, 0 }, field);
  int            zeros = 0;
  ForEachItem(CountFieldVoxels(&fine), [&](std::int64_t item) {
    int    index[3];
    double expected[3] = {};
    ComputeVoxelIndex(&fine, item, index);
    double       place[3];
    std::int64_t first = 0, step[3], stride = 3;
    for (int d = 0; d < 3; ++d)
    {
      place[d] = std::clamp(0.5 * index[d] - 0.5, 0.0, coarse.size[d] - 1.0);
      const int cell = std::min(static_cast<int>(place[d]), coarse.size[d] - 2);
      place[d] -= cell;
      first += cell * stride;
      step[d] = stride;
      stride *= coarse.size[d];
    }
    for (int corner = 0; corner < 8; ++corner)
    {
      double       weight = 1;
      std::int64_t at = first;
      for (int d = 0; d < 3; ++d)
      {
        const bool isFar = (corner >> d & 1) != 0;
        weight *= isFar ? place[d] : 1 - place[d];
        at += isFar ? step[d] : 0;
      }
      for (int c = 0; c < 3; ++c)
      {
        expected[c] += weight * field[static_cast<std::size_t>(at + c)];
      }
    }
    zeros += ended[3 * item] == 0 ? 1 : 0;
    for (int c = 0; c < 3; ++c)
    {
      EXPECT_NEAR(continued[3 * item + c], expected[c], 1e-4) << index[0] << ", " << index[1] << ", " << index[2];
    }
  });
  // The last planes.
  EXPECT_EQ(zeros, 9 * 11 * 13 - 8 * 10 * 12);
}

TEST_P(FieldResamplingTest, IsITKs3D)
{
  TestResampling<3>(GetParam());
}

TEST_P(FieldSumsTest, AreWeighedByComponent)
{
  FieldsOnDevice     on(GetParam());
  const FieldCase<3> its(MakeFieldGrids<3>().front());
  Random             random(3);
  const Floats       first = its.DrawField(random, 1.0);
  const Floats       second = its.DrawField(random, 1.0);
  FieldWeights       weights{ { 1.0F, 0.5F, 0.0F }, { 1.0F, 1.0F, 1.0F }, 0 };
  const auto         add = [&](const Floats & other) {
    const auto sum = on.MakeUnwritten(3 * its.voxels);
    gpureg::AddFields(on.GetQueue(), 3 * its.voxels, weights, *on.Upload(first), *on.Upload(other), *sum);
    return on.Download<float>(sum);
  };
  Floats sum = add(Floats(first.size(), std::numeric_limits<float>::quiet_NaN()));
  for (std::size_t i = 0; i < first.size(); ++i)
  {
    EXPECT_EQ(sum[i], weights.first[i % 3] * first[i]);
  }
  weights.hasSecond = 1;
  weights.second[2] = -2.0F;
  sum = add(second);
  for (std::size_t i = 0; i < first.size(); ++i)
  {
    const double addends[] = { double{ weights.first[i % 3] } * first[i], double{ weights.second[i % 3] } * second[i] };
    EXPECT_NEAR(sum[i], addends[0] + addends[1], 1.2e-7 * (std::abs(addends[0]) + std::abs(addends[1])));
  }
}

TEST_P(FieldSumsTest, AreInThePlaceOfEither)
{
  FieldsOnDevice     on(GetParam());
  const FieldCase<3> its(MakeFieldGrids<3>().back());
  Random             random(4);
  const Floats       field = its.DrawField(random, 1.0);
  const auto         first = on.Upload(field), second = on.Upload(field);
  // Rounding changes nothing here.
  gpureg::AddFields(on.GetQueue(), 3 * its.voxels, gpureg::MakeWeights(1.0F, 2.0F), *first, *second, *first);
  gpureg::AddFields(on.GetQueue(), 3 * its.voxels, gpureg::MakeWeights(0.0F, 4.0F), *first, *second, *second);
  const auto foundFirst = on.Download<float>(first), foundSecond = on.Download<float>(second);
  for (std::size_t i = 0; i < field.size(); ++i)
  {
    EXPECT_FLOAT_EQ(foundFirst[i], 3.0F * field[i]);
    EXPECT_EQ(foundSecond[i], 4.0F * field[i]);
  }
  on.Run<ClearElementKernel>(3 * its.voxels - 1, Output<float>(*second));
  const auto cleared = on.Download<float>(second);
  EXPECT_EQ(std::count(cleared.begin(), cleared.end(), 0.0F), 3 * its.voxels - 1);
  EXPECT_EQ(cleared.back(), foundSecond.back());
}

TEST(FieldSums, MeasureLengthsOfAnySize)
{
  const FieldCase<3> its(MakeFieldGrids<3>().front());
  for (const float scale : { 1.0F, 1e-30F, 1e30F, 1e-15F, 1e15F })
  {
    const float  vector[] = { -0.05F * scale, 50.0F * scale, 2.6F * scale };
    const double length = ComputeLengthInVoxels(&its.forKernels, vector);
    EXPECT_NEAR(length / scale, 3.0, 1e-6) << scale;
  }
  const float zero[] = { 0.0F, 0.0F, 0.0F };
  EXPECT_EQ(ComputeLengthInVoxels(&its.forKernels, zero), 0.0F);
  const float nan[] = { 0.0F, std::numeric_limits<float>::quiet_NaN(), 0.0F };
  EXPECT_TRUE(std::isnan(ComputeLengthInVoxels(&its.forKernels, nan)));
}

TEST_P(FieldSumsTest, ScaleToTheLongestVector)
{
  FieldsOnDevice on(GetParam());
  LongestVector  rule{ 0.25F, 0, FactorOfOuter };
  const auto     factors = on.Upload(Floats{ 7.0F, 7.0F });
  const auto     find = [&](float longest) {
    on.Run<ComputeScaleFactorKernel>(1, rule, Input<float>(*on.Upload(Floats{ longest })), Output<float>(*factors));
    return on.Download<float>(factors);
  };
  EXPECT_EQ(find(2.0F), (Floats{ 0.125F, 7.0F }));
  EXPECT_EQ(find(0.125F), (Floats{ 2.0F, 7.0F }));
  EXPECT_EQ(find(0.0F), (Floats{ 0.25F, 7.0F }));
  rule.onlyShrinks = 1;
  rule.slot = FactorOfInner;
  EXPECT_EQ(find(0.125F), (Floats{ 0.25F, 1.0F }));
  EXPECT_EQ(find(2.0F), (Floats{ 0.25F, 0.125F }));
  const auto field = on.Upload(Floats{ 3.0F, -1e30F, 0.0F, 5.0F });
  gpureg::ScaleField(on.GetQueue(), 3, *factors, *field);
  EXPECT_EQ(on.Download<float>(field), (Floats{ 0.75F, -0.25e30F, 0.0F, 5.0F }));
}

INSTANTIATE_TEST_SUITE_P(Devices, FieldCompositionTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);
INSTANTIATE_TEST_SUITE_P(Devices, FieldResamplingTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);
INSTANTIATE_TEST_SUITE_P(Devices, FieldSumsTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
