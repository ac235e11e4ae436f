// SPDX-License-Identifier: Apache-2.0
// Jacobian determinants, against itk::DisplacementFieldJacobianDeterminantFilter, and on turned grids against the definition.
#include "FieldCase.h"

#include "itkDisplacementFieldJacobianDeterminantFilter.h"

#include <array>

namespace gpuregtest
{

namespace
{
using namespace gpureg::kernels;

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

/** Returns the numbers of JacobianNumbers for a voxel, where determinants below 0.01 count as that. */
std::array<float, JacobianNumbers>
Describe(const FieldCase<3> & its, const Floats & field, std::int64_t item)
{
  Floats all(JacobianNumbers * its.voxels);
  DescribeJacobian(&its.forKernels, 0.01F, 0, its.voxels, field.data(), all.data(), item);
  std::array<float, JacobianNumbers> numbers;
  for (int n = 0; n < JacobianNumbers; ++n)
  {
    numbers[n] = all[n * its.voxels + item];
  }
  return numbers;
}

template <unsigned int VDimension>
void
TestDeterminants()
{
  using ImageType = FieldImage<VDimension>;
  ForEachFieldCase<VDimension>([](const FieldCase<VDimension> & its, Random & random) {
    const Floats field = its.DrawField(random, 0.5);
    const auto   filter = itk::DisplacementFieldJacobianDeterminantFilter<ImageType, double>::New();
    filter->SetInput(its.MakeImage(field));
    filter->Update();
    const FieldGrid grid = WithITKsAxes(its.forKernels);
    // In floats: of a gradient up to some number, whose third power is in the determinant.
    double largest = 1.0;
    for (std::size_t i = 0; i < field.size(); ++i)
    {
      largest = std::max(largest,
                         std::abs(field[i]) *
                           static_cast<double>(*std::max_element(grid.perSpacing, grid.perSpacing + VDimension)));
    }
    ForEachItem(its.voxels, [&](std::int64_t item) {
      const double itks = filter->GetOutput()->GetBufferPointer()[item];
      EXPECT_NEAR(1.0F + ComputeVolumeChange(&grid, field.data(), item), itks, 1e-6 * std::pow(largest, VDimension));
    });
  });
}
} // namespace

TEST(FieldJacobian, IsITKs2D)
{
  TestDeterminants<2>();
}

TEST(FieldJacobian, IsITKs3D)
{
  TestDeterminants<3>();
}

TEST(FieldJacobian, OfALinearMapIsItsDeterminantOnAnyGrid)
{
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
        const auto numbers = Describe(its, field, item);
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

TEST(FieldJacobian, CountsFolds)
{
  // u = -s·x: 1 - s along x.
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
    const auto         numbers = Describe(its, field, inside);
    EXPECT_NEAR(numbers[JacobianLogarithm], std::log(std::max(0.01F, 1.0F - slope)), 1e-5) << slope;
    EXPECT_EQ(numbers[JacobianFolded], slope < 1.0F ? 0.0F : 1.0F) << slope;
    EXPECT_NEAR(numbers[JacobianNegative], slope - 1.0F, 1e-5) << slope;
  }
}

} // namespace gpuregtest
