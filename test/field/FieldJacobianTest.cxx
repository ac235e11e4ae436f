// SPDX-License-Identifier: Apache-2.0
// Jacobian determinants, against itk::DisplacementFieldJacobianDeterminantFilter, and on turned grids against the definition.
#include "FieldCase.h"

#include "itkDisplacementFieldJacobianDeterminantFilter.h"

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
    Floats          determinants(its.voxels);
    // In floats: of a gradient up to some number, whose third power is in the determinant.
    double largest = 1.0;
    for (std::size_t i = 0; i < field.size(); ++i)
    {
      largest = std::max(largest,
                         std::abs(field[i]) *
                           static_cast<double>(*std::max_element(grid.perSpacing, grid.perSpacing + VDimension)));
    }
    ForEachItem(its.voxels, [&](std::int64_t item) {
      FindJacobianDeterminant(&grid, field.data(), determinants.data(), item);
      const double itks = filter->GetOutput()->GetBufferPointer()[item];
      EXPECT_NEAR(determinants[item], itks, 1e-6 * std::pow(largest, VDimension));
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
  const double determinant = gpureg::FindDeterminant(plusOne);
  for (const auto & grid : MakeFieldGrids<3>())
  {
    const FieldCase<3> its(grid);
    Floats             field;
    ForEachItem(its.voxels, [&](std::int64_t item) {
      int index[3];
      FindVoxelIndex(&its.forKernels, item, index);
      const auto place = its.FromVoxels({ 1.0 * index[0], 1.0 * index[1], 1.0 * index[2] });
      for (const double component : gpureg::Multiply(map, place))
      {
        field.push_back(static_cast<float>(component));
      }
    });
    ForEachItem(its.voxels, [&](std::int64_t item) {
      int  index[3];
      bool isAtEdge = false;
      FindVoxelIndex(&its.forKernels, item, index);
      for (int d = 0; d < 3; ++d)
      {
        isAtEdge |= index[d] == 0 || index[d] == its.forKernels.size[d] - 1;
      }
      if (!isAtEdge)
      {
        Floats        determinants(its.voxels), logarithms(its.voxels);
        std::uint32_t folded[2000] = {};
        ASSERT_LE(its.voxels, 2000);
        FindJacobianDeterminant(&its.forKernels, field.data(), determinants.data(), item);
        FindLogJacobian(&its.forKernels, 0.01F, field.data(), logarithms.data(), folded, item);
        // Vectors of up to 100 mm are floats, and slopes the differences of two of them over two voxels, the thinnest of 0.05 mm.
        const double rounding = 40 * its.FindRounding(10.0);
        EXPECT_NEAR(determinants[item], determinant, rounding);
        EXPECT_NEAR(logarithms[item], std::log(determinant), rounding);
        EXPECT_EQ(folded[item], 0U);
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
    Floats        field(3 * its.voxels);
    float         logarithm[2000];
    std::uint32_t folded[2000];
    ForEachItem(its.voxels, [&](std::int64_t item) {
      int index[3];
      FindVoxelIndex(&its.forKernels, item, index);
      field[3 * item] = -slope * static_cast<float>(index[0]);
    });
    const std::int64_t inside = (4 * 11 + 5) * 12 + 6;
    FindLogJacobian(&its.forKernels, 0.01F, field.data(), logarithm, folded, inside);
    EXPECT_NEAR(logarithm[inside], std::log(std::max(0.01F, 1.0F - slope)), 1e-5) << slope;
    EXPECT_EQ(folded[inside], slope < 1.0F ? 0U : 1U) << slope;
  }
}

} // namespace gpuregtest
