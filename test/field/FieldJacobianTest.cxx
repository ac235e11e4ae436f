// SPDX-License-Identifier: Apache-2.0
// Jacobian determinants on every device, against itk::DisplacementFieldJacobianDeterminantFilter, and on turned grids against the
// definition.
#include "FieldCase.h"
#include "FieldsOnDevice.h"
#include "TestDevices.h"

#include "engine/field/JacobianMeasure.h"

#include "itkDisplacementFieldJacobianDeterminantFilter.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace gpuregtest
{

namespace
{
using namespace gpureg::kernels;

class FieldJacobianTest : public DeviceTest
{};

/** The grid with the axes that ITK's filter takes for the physical ones. */
FieldGrid
WithITKsAxes(FieldGrid grid)
{
  for (int r = 0; r < 3; ++r)
  {
    for (int c = 0; c < 3; ++c)
    {
      grid.toIndex[3 * r + c] = r == c ? grid.perSpacing[r] : 0.0F;
    }
  }
  return grid;
}

using Numbers = std::array<float, JacobianNumbers>;

/** Returns the numbers of each voxel, where determinants below 0.01 count as that. */
std::vector<Numbers>
DescribeOnDevice(FieldsOnDevice & on, const FieldGrid & grid, const Floats & field)
{
  const std::int64_t   voxels = CountFieldVoxels(&grid);
  const std::int64_t   half = (voxels + 1) / 2;
  const auto           there = on.Upload(field);
  std::vector<Numbers> numbers(static_cast<std::size_t>(voxels));
  // In two parts.
  for (std::int64_t first = 0; first < voxels; first += half)
  {
    const std::int64_t count = std::min(half, voxels - first);
    const Floats       found = on.Compute<DescribeJacobianKernel>(
      count, JacobianNumbers * count, grid, 0.01F, first, count, gpureg::Input<float>(*there));
    ForEachItem(count, [&](std::int64_t item) {
      for (int n = 0; n < JacobianNumbers; ++n)
      {
        numbers[first + item][n] = found[n * count + item];
      }
    });
  }
  return numbers;
}

/** Returns the rounding of determinants in floats, of gradients up to some number, the third power of which is in the determinant. */
template <unsigned int VDimension>
double
FindRoundingOfDeterminant(const FieldGrid & grid, const Floats & field)
{
  double largest = 1.0;
  for (const float component : field)
  {
    largest = std::max(largest,
                       std::abs(component) *
                         static_cast<double>(*std::max_element(grid.perSpacing, grid.perSpacing + VDimension)));
  }
  return 1e-6 * std::pow(largest, VDimension);
}

template <unsigned int VDimension>
void
TestDeterminants(const std::string & device)
{
  using ImageType = FieldImage<VDimension>;
  FieldsOnDevice          on(device);
  gpureg::JacobianMeasure measure(on.GetQueue());
  gpureg::MemoryPointer   scratch;
  std::int64_t            folded = 0;
  ForEachFieldCase<VDimension>([&](const FieldCase<VDimension> & its, Random & random) {
    const Floats field = its.DrawField(random, 0.5);
    const auto   filter = itk::DisplacementFieldJacobianDeterminantFilter<ImageType, double>::New();
    filter->SetInput(its.MakeImage(field));
    filter->Update();
    const FieldGrid grid = WithITKsAxes(its.forKernels);
    const double    rounding = FindRoundingOfDeterminant<VDimension>(grid, field);
    const auto      numbers = DescribeOnDevice(on, grid, field);
    double          smallest = std::numeric_limits<double>::infinity();
    std::int64_t    itsFolded = 0, unsure = 0;
    ForEachItem(its.voxels, [&](std::int64_t item) {
      const double itks = filter->GetOutput()->GetBufferPointer()[item];
      EXPECT_NEAR(-numbers[item][JacobianNegative], itks, rounding);
      smallest = std::min(smallest, itks);
      itsFolded += itks > 0 ? 0 : 1;
      unsure += std::abs(itks) > rounding ? 0 : 1;
    });
    const auto changes = measure.Measure(grid, *on.Upload(field), on.GetReducer(), scratch);
    EXPECT_NEAR(changes.smallestDeterminant, smallest, rounding);
    EXPECT_LE(std::abs(changes.foldedVoxels - itsFolded), unsure);
    folded += itsFolded;
  });
  EXPECT_GT(folded, 0);
}

/** Compares the deviation of logarithms with that of ITK's determinants, of a field that does not fold. */
template <unsigned int VDimension>
void
TestDeviation(const std::string & device)
{
  FieldsOnDevice          on(device);
  gpureg::JacobianMeasure measure(on.GetQueue());
  gpureg::MemoryPointer   scratch;
  Grid<VDimension>        grid = MakeFieldGrids<VDimension>().back();
  grid.size[0] = 57;
  for (unsigned int d = 0; d < VDimension; ++d)
  {
    grid.spacing[d] = 0.7 + 0.4 * d;
  }
  const FieldCase<VDimension> its(grid);
  Random                      random(29);
  const Floats                field = its.DrawSmoothField(random, 1.0, 12.0);
  const auto filter = itk::DisplacementFieldJacobianDeterminantFilter<FieldImage<VDimension>, double>::New();
  filter->SetInput(its.MakeImage(field));
  filter->Update();
  double sum = 0, squares = 0;
  ForEachItem(its.voxels, [&](std::int64_t item) {
    const double determinant = filter->GetOutput()->GetBufferPointer()[item];
    ASSERT_GT(determinant, 0.1);
    sum += std::log(determinant);
    squares += std::pow(std::log(determinant), 2);
  });
  const double mean = sum / its.voxels;
  const double deviation = std::sqrt(squares / its.voxels - mean * mean);
  const auto   changes = measure.Measure(its.forKernels, *on.Upload(field), on.GetReducer(), scratch);
  EXPECT_GT(deviation, 0.05);
  EXPECT_NEAR(changes.logDeterminantDeviation, deviation, 1e-5 * deviation);
  EXPECT_EQ(changes.foldedVoxels, 0);
}
} // namespace

TEST_P(FieldJacobianTest, IsITKs2D)
{
  TestDeterminants<2>(GetParam());
}

TEST_P(FieldJacobianTest, IsITKs3D)
{
  TestDeterminants<3>(GetParam());
}

TEST_P(FieldJacobianTest, HasTheDeviationOfITKsLogarithms)
{
  TestDeviation<2>(GetParam());
  TestDeviation<3>(GetParam());
}

TEST_P(FieldJacobianTest, OfALinearMapIsItsDeterminantOnAnyGrid)
{
  FieldsOnDevice        on(GetParam());
  const gpureg::Matrix3 map{ 0.2, -0.1, 0.05, 0.3, -0.15, 0.1, -0.2, 0.25, 0.1 };
  gpureg::Matrix3       plusOne = map;
  for (int d = 0; d < 3; ++d)
  {
    plusOne[4 * d] += 1.0;
  }
  const double determinant = gpureg::ComputeDeterminant(plusOne);
  for (const auto & grid : MakeFieldGrids<3>())
  {
    const FieldCase<3> its(grid);
    Floats             field;
    ForEachItem(its.voxels, [&](std::int64_t item) {
      int index[3];
      ComputeVoxelIndex(&its.forKernels, item, index);
      const auto place = its.FromVoxels({ 1.0 * index[0], 1.0 * index[1], 1.0 * index[2] });
      for (const double component : gpureg::Multiply(map, place))
      {
        field.push_back(static_cast<float>(component));
      }
    });
    const auto all = DescribeOnDevice(on, its.forKernels, field);
    ForEachItem(its.voxels, [&](std::int64_t item) {
      int  index[3];
      bool isAtEdge = false;
      ComputeVoxelIndex(&its.forKernels, item, index);
      for (int d = 0; d < 3; ++d)
      {
        isAtEdge |= index[d] == 0 || index[d] == its.forKernels.size[d] - 1;
      }
      if (!isAtEdge)
      {
        const auto & numbers = all[item];
        // Vectors of up to 100 mm are floats, and slopes the differences of two of them over two voxels, the thinnest of 0.05 mm.
        const double rounding = 40 * its.FindRounding(10.0);
        EXPECT_NEAR(-numbers[JacobianNegative], determinant, rounding);
        EXPECT_NEAR(numbers[JacobianLogarithm], std::log(determinant), rounding);
        EXPECT_EQ(numbers[JacobianLogarithmSquare], numbers[JacobianLogarithm] * numbers[JacobianLogarithm]);
        EXPECT_EQ(numbers[JacobianFolded], 0.0F);
      }
    });
  }
}

TEST_P(FieldJacobianTest, CountsFolds)
{
  // u = -s·x: 1 - s along x.
  FieldsOnDevice     on(GetParam());
  const FieldCase<3> its(MakeFieldGrids<3>().back());
  for (const float slope : { 0.5F, 0.995F, 1.0F, 1.5F })
  {
    Floats field(3 * its.voxels);
    ForEachItem(its.voxels, [&](std::int64_t item) {
      int index[3];
      ComputeVoxelIndex(&its.forKernels, item, index);
      field[3 * item] = -slope * static_cast<float>(index[0]);
    });
    const std::int64_t inside = (4 * 11 + 5) * 12 + 6;
    const auto         numbers = DescribeOnDevice(on, its.forKernels, field)[inside];
    EXPECT_NEAR(numbers[JacobianLogarithm], std::log(std::max(0.01F, 1.0F - slope)), 1e-5) << slope;
    EXPECT_EQ(numbers[JacobianFolded], slope < 1.0F ? 0.0F : 1.0F) << slope;
    EXPECT_NEAR(numbers[JacobianNegative], slope - 1.0F, 1e-5) << slope;
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, FieldJacobianTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
