// SPDX-License-Identifier: Apache-2.0
// Fields for the kernels, the same as ITK has them, and how far two are apart.
#ifndef FieldCase_h
#define FieldCase_h

#include "engine/field/FieldGeometry.h"
#include "engine/field/FieldKernels.h"

#include "RandomGrid.h"
#include "TestImages.h"
#include "TestSeeds.h"

#include "itkImage.h"
#include "itkImageRegionIterator.h"
#include "itkVector.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace gpuregtest
{

using Floats = std::vector<float>;
using Doubles = std::vector<double>;

template <unsigned int VDimension>
using FieldImage = itk::Image<itk::Vector<double, VDimension>, VDimension>;

/** Calls body(item) for all items of an array. */
template <typename TBody>
void
ForEachItem(std::int64_t count, const TBody & body)
{
  for (std::int64_t item = 0; item < count; ++item)
  {
    body(item);
  }
}

/** As many dimensions of a grid as it has, and the rest as the engine wants it. */
template <unsigned int VDimension>
gpureg::FieldGeometry
GetGeometry(const Grid<VDimension> & grid)
{
  gpureg::FieldGeometry geometry;
  geometry.dimension = VDimension;
  for (unsigned int d = 0; d < VDimension; ++d)
  {
    geometry.size[d] = static_cast<int>(grid.size[d]);
    geometry.firstIndex[d] = static_cast<int>(grid.start[d]);
    geometry.spacing[d] = grid.spacing[d];
    geometry.origin[d] = grid.origin[d];
    for (unsigned int c = 0; c < VDimension; ++c)
    {
      geometry.direction[3 * d + c] = grid.direction[d][c];
    }
  }
  return geometry;
}

/** A grid with what the kernels and ITK need of it. */
template <unsigned int VDimension>
struct FieldCase
{
  using ImageType = FieldImage<VDimension>;

  explicit FieldCase(const Grid<VDimension> & itsGrid)
    : grid(itsGrid)
    , forKernels(gpureg::MakeFieldGrid(GetGeometry(itsGrid)))
    , toVoxels(gpureg::Invert(gpureg::ComputeIndexToPhysical(GetGeometry(itsGrid)).matrix))
    , voxels(gpureg::kernels::CountFieldVoxels(&forKernels))
  {}

  /** The vector, mm, that leads so many voxels along each axis. */
  std::array<double, 3>
  FromVoxels(const std::array<double, 3> & steps) const
  {
    return gpureg::Multiply(gpureg::ComputeIndexToPhysical(GetGeometry(grid)).matrix, steps);
  }

  /** Makes a field of random vectors, whose components are at most the given number of voxels long. */
  Floats
  DrawField(Random & random, double most) const
  {
    Floats field;
    ForEachItem(voxels, [&](std::int64_t) {
      std::array<double, 3> steps{ 0, 0, 0 };
      for (unsigned int d = 0; d < VDimension; ++d)
      {
        steps[d] = Uniform(random, -most, most);
      }
      for (const double component : this->FromVoxels(steps))
      {
        field.push_back(static_cast<float>(component));
      }
    });
    return field;
  }

  /** Makes a field of waves that are no shorter than the given number of voxels, with vectors of up to about `most` voxels. */
  Floats
  DrawSmoothField(Random & random, double most, double shortest) const
  {
    std::vector<SmoothFunction> along;
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      along.emplace_back(random, shortest, 2.0 * shortest);
    }
    Floats field;
    ForEachItem(voxels, [&](std::int64_t item) {
      int                             index[3];
      itk::Vector<double, VDimension> place;
      std::array<double, 3>           steps{ 0, 0, 0 };
      gpureg::kernels::ComputeVoxelIndex(&forKernels, item, index);
      for (unsigned int d = 0; d < VDimension; ++d)
      {
        place[d] = index[d];
      }
      for (unsigned int d = 0; d < VDimension; ++d)
      {
        steps[d] = most * along[d](place);
      }
      for (const double component : this->FromVoxels(steps))
      {
        field.push_back(static_cast<float>(component));
      }
    });
    return field;
  }

  /** Makes a field fade within so many voxels of the grid's edge, to 0 there: then what it moves stays inside. */
  void
  FadeTowardsEdge(double width, Floats & field) const
  {
    ForEachItem(voxels, [&](std::int64_t item) {
      int    index[3];
      double factor = 1.0;
      gpureg::kernels::ComputeVoxelIndex(&forKernels, item, index);
      for (unsigned int d = 0; d < VDimension; ++d)
      {
        factor *= std::min(1.0, std::min(index[d], forKernels.size[d] - 1 - index[d]) / width);
      }
      for (int r = 0; r < 3; ++r)
      {
        field[3 * item + r] *= static_cast<float>(factor);
      }
    });
  }

  template <typename TReal>
  typename ImageType::Pointer
  MakeImage(const std::vector<TReal> & field) const
  {
    const auto image = ImageType::New();
    grid.ApplyTo(*image);
    image->Allocate();
    auto * vector = image->GetBufferPointer();
    ForEachItem(voxels, [&](std::int64_t item) {
      for (unsigned int d = 0; d < VDimension; ++d)
      {
        vector[item][d] = field[3 * item + d];
      }
    });
    return image;
  }

  /** The length of their difference at a voxel, in voxels. */
  template <typename TReal>
  double
  ComputeDifference(const std::vector<TReal> & ours, const ImageType & itks, std::int64_t item) const
  {
    std::array<double, 3> difference{ 0, 0, 0 };
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      difference[d] = ours[3 * item + d] - itks.GetBufferPointer()[item][d];
    }
    const auto steps = gpureg::Multiply(toVoxels, difference);
    return std::sqrt(steps[0] * steps[0] + steps[1] * steps[1] + steps[2] * steps[2]);
  }

  template <typename TReal>
  double
  ComputeLargestDifference(const std::vector<TReal> & ours, const ImageType & itks) const
  {
    double largest = 0;
    ForEachItem(voxels, [&](std::int64_t item) {
      const double difference = this->ComputeDifference(ours, itks, item);
      // NaN, too, shall show.
      largest = difference <= largest ? largest : difference;
    });
    return largest;
  }

  /** Returns the error, in voxels, that rounding causes in vectors in mm of up to the given number of voxels: on oblique grids with thick
   *  slices far more than 2^-24 of their lengths in voxels. */
  double
  FindRounding(double most) const
  {
    double length = 0;
    for (const double component : this->FromVoxels({ most, most, most }))
    {
      length = std::max(length, std::abs(component));
    }
    const float * const perSpacing = forKernels.perSpacing;
    return std::ldexp(length, -24) * *std::max_element(perSpacing, perSpacing + VDimension);
  }

  Grid<VDimension>           grid;
  gpureg::kernels::FieldGrid forKernels;
  gpureg::Matrix3            toVoxels;
  std::int64_t               voxels;
};

/** Grids that are unlike each other: oblique, of thick and of single slices, of tiny and of large voxels, with a first index. */
template <unsigned int VDimension>
std::vector<Grid<VDimension>>
MakeFieldGrids()
{
  const unsigned int sizes[][3] = { { 9, 7, 5 }, { 1, 8, 6 }, { 8, 9, 1 }, { 1, 1, 1 }, { 17, 2, 3 }, { 12, 11, 10 } };
  std::vector<Grid<VDimension>> grids;
  for (const auto & size : sizes)
  {
    Grid<VDimension> grid;
    const double     spacing[3] = { 0.05, 25.0, 1.3 };
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      grid.size[d] = size[d];
      grid.start[d] = grids.size() % 2 == 0 ? 0 : 1 + static_cast<int>(d);
      grid.spacing[d] = grids.size() < 5 ? spacing[(d + grids.size()) % 3] : 1.0;
      grid.origin[d] = 100.0 * d - 120.0;
    }
    if (grids.size() < 5)
    {
      grid.direction = MakeRotation<VDimension>(0.4 + 0.3 * static_cast<double>(grids.size()));
    }
    grids.push_back(grid);
  }
  return grids;
}

/** Calls test(case, random) for grids of MakeFieldGrids() and for random ones. */
template <unsigned int VDimension, typename TTest>
void
ForEachFieldCase(const TTest & test)
{
  for (const auto & grid : MakeFieldGrids<VDimension>())
  {
    SCOPED_TRACE(Describe(grid));
    Random random(17);
    test(FieldCase<VDimension>(grid), random);
  }
  ForEachSeed(1, 8, [&](std::uint64_t seed) {
    Random     random(seed);
    const auto grid = DrawGrid<VDimension>(random, 2000);
    SCOPED_TRACE(Describe(grid));
    test(FieldCase<VDimension>(grid), random);
  });
}

/** Does so, and calls test for grids that the host, too, cuts into several blocks along an axis; see kernels/field/FieldBlocks.h. */
template <unsigned int VDimension, typename TTest>
void
ForEachCaseOfBlocks(const TTest & test)
{
  ForEachFieldCase<VDimension>(test);
  const unsigned int sizes[][3] = { { 197, 5, 3 }, { 5, 35, 2 }, { 3, 4, 37 } };
  for (const auto & size : sizes)
  {
    Grid<VDimension> grid = MakeFieldGrids<VDimension>().front();
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      grid.size[d] = size[d];
    }
    SCOPED_TRACE(Describe(grid));
    Random random(19);
    test(FieldCase<VDimension>(grid), random);
  }
}

} // namespace gpuregtest

#endif
