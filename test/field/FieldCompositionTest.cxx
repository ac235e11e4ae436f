// SPDX-License-Identifier: Apache-2.0
// Composing, resampling, adding and scaling fields, against ITK's filters.
#include "FieldCase.h"

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

template <unsigned int VDimension>
void
TestComposition()
{
  using ImageType = FieldImage<VDimension>;
  ForEachFieldCase<VDimension>([](const FieldCase<VDimension> & its, Random & random) {
    const Floats outer = its.DrawField(random, 3.0);
    const Floats inner = its.DrawField(random, 3.0);
    const auto   filter = itk::ComposeDisplacementFieldsImageFilter<ImageType, ImageType>::New();
    filter->SetDisplacementField(its.MakeImage(outer));
    filter->SetWarpingField(its.MakeImage(inner));
    filter->Update();
    Floats composed(outer.size());
    ForEachItem(its.voxels, [&](std::int64_t item) {
      ComposeFields(&its.forKernels, FactorsOfOne, outer.data(), inner.data(), composed.data(), item);
      if (!IsAtEdge(its, &inner[3 * item], item))
      {
        EXPECT_LE(its.ComputeDifference(composed, *filter->GetOutput(), item), Roundings * its.FindRounding(3.0));
      }
    });
    // In place, and by factors: to the bit.
    const float factors[] = { 0.5F, 2.0F };
    Floats      half(outer), twice(inner), inPlace(inner);
    for (std::size_t i = 0; i < outer.size(); ++i)
    {
      half[i] = 2.0F * outer[i];
      twice[i] = 0.5F * inner[i];
    }
    ForEachItem(its.voxels, [&](std::int64_t item) {
      ComposeFields(&its.forKernels, FactorsOfOne, outer.data(), inPlace.data(), inPlace.data(), item);
      ComposeFields(&its.forKernels, factors, half.data(), twice.data(), twice.data(), item);
    });
    EXPECT_EQ(inPlace, composed);
    EXPECT_EQ(twice, composed);
  });
}

template <unsigned int VDimension>
void
TestResampling()
{
  using TransformType = itk::DisplacementFieldTransform<double, VDimension>;
  ForEachFieldCase<VDimension>([](const FieldCase<VDimension> & its, Random & random) {
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
      gpureg::ComputeMapBetween(GetGeometry(to), GetGeometry(its.grid)), other.forKernels, its.forKernels, 0, 0
    };
    Floats resampled(3 * other.voxels);
    ForEachItem(other.voxels,
                [&](std::int64_t item) { ResampleField(&resampling, field.data(), resampled.data(), item); });
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

TEST(FieldComposition, IsITKs2D)
{
  TestComposition<2>();
}

TEST(FieldComposition, IsITKs3D)
{
  TestComposition<3>();
}

TEST(FieldComposition, TakesITKsSideOfTheEdge)
{
  using ImageType = FieldImage<3>;
  Grid<3> grid = MakeFieldGrids<3>().back();
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
      Floats composed(outer.size());
      ForEachItem(its.voxels, [&](std::int64_t item) {
        ComposeFields(&its.forKernels, FactorsOfOne, outer.data(), inner.data(), composed.data(), item);
      });
      EXPECT_LE(its.ComputeLargestDifference(composed, *filter->GetOutput()), Roundings * its.FindRounding(1.0));
    }
  }
}

TEST(FieldComposition, CountsWhatLeadsNowhereAsZero)
{
  const FieldCase<3> its(MakeFieldGrids<3>().back());
  Random             random(5);
  const Floats       outer = its.DrawField(random, 1.0);
  Floats             inner(outer.size());
  const float        nan = std::numeric_limits<float>::quiet_NaN();
  const float        vectors[] = { 1e30F, -1e30F, std::numeric_limits<float>::infinity(), 1e9F, -12.5F };
  for (const float vector : vectors)
  {
    std::fill(inner.begin(), inner.end(), vector);
    Floats composed(outer.size());
    ComposeFields(&its.forKernels, FactorsOfOne, outer.data(), inner.data(), composed.data(), 77);
    EXPECT_EQ(composed[3 * 77], vector);
  }
  inner[3 * 77] = nan;
  Floats composed(outer.size());
  ComposeFields(&its.forKernels, FactorsOfOne, outer.data(), inner.data(), composed.data(), 77);
  EXPECT_TRUE(std::isnan(composed[3 * 77]));
}

TEST(FieldResampling, IsITKs2D)
{
  TestResampling<2>();
}

TEST(FieldResampling, ContinuesTheEdge)
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
  const FieldResampling continuing{ gpureg::ToFixedMap(toCoarse), fine, coarse, 1, 0 };
  const FieldResampling ending{ gpureg::ToFixedMap(toCoarse), fine, coarse, 0, 0 };
  Floats                continued(3 * CountFieldVoxels(&fine));
  Floats                ended(continued);
  int                   zeros = 0;
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
    ResampleField(&continuing, field.data(), continued.data(), item);
    ResampleField(&ending, field.data(), ended.data(), item);
    zeros += ended[3 * item] == 0 ? 1 : 0;
    for (int c = 0; c < 3; ++c)
    {
      EXPECT_NEAR(continued[3 * item + c], expected[c], 1e-4) << index[0] << ", " << index[1] << ", " << index[2];
    }
  });
  // The last planes.
  EXPECT_EQ(zeros, 9 * 11 * 13 - 8 * 10 * 12);
}

TEST(FieldResampling, IsITKs3D)
{
  TestResampling<3>();
}

TEST(FieldSums, AreWeighedByComponent)
{
  const FieldCase<3> its(MakeFieldGrids<3>().front());
  Random             random(3);
  const Floats       first = its.DrawField(random, 1.0);
  const Floats       second(first.size(), std::numeric_limits<float>::quiet_NaN());
  FieldWeights       weights{ { 1.0F, 0.5F, 0.0F }, { 1.0F, 1.0F, 1.0F }, 0 };
  Floats             sum(first.size());
  ForEachItem(3 * its.voxels,
              [&](std::int64_t item) { AddFields(&weights, first.data(), second.data(), sum.data(), item); });
  for (std::size_t i = 0; i < first.size(); ++i)
  {
    EXPECT_EQ(sum[i], weights.first[i % 3] * first[i]);
  }
  weights.hasSecond = 1;
  weights.second[2] = -2.0F;
  ForEachItem(3 * its.voxels,
              [&](std::int64_t item) { AddFields(&weights, first.data(), first.data(), sum.data(), item); });
  for (std::size_t i = 0; i < first.size(); ++i)
  {
    EXPECT_FLOAT_EQ(sum[i], (weights.first[i % 3] + weights.second[i % 3]) * first[i]);
  }
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

TEST(FieldSums, ScaleToTheLongestVector)
{
  LongestVector rule{ 0.25F, 0, FactorOfOuter };
  float         factors[] = { 7.0F, 7.0F };
  const auto    find = [&](float longest) {
    ComputeScaleFactor(&rule, &longest, factors, 0);
    return factors[rule.slot];
  };
  EXPECT_EQ(find(2.0F), 0.125F);
  EXPECT_EQ(find(0.125F), 2.0F);
  EXPECT_EQ(find(0.0F), 0.25F);
  rule.onlyShrinks = 1;
  rule.slot = FactorOfInner;
  EXPECT_EQ(find(0.125F), 1.0F);
  EXPECT_EQ(find(2.0F), 0.125F);
  const float field[] = { 3.0F };
  float       scaled[1];
  ScaleField(factors, field, scaled, 0);
  EXPECT_EQ(scaled[0], 0.25F * 3.0F);
}

} // namespace gpuregtest
