// SPDX-License-Identifier: Apache-2.0
// Random geometries of images: odd and prime sizes, single slices, oblique and mirrored axes, origins far away.
#ifndef RandomGrid_h
#define RandomGrid_h

#include "TestImages.h"

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

namespace gpuregtest
{

/** Returns a random number from 0 to count - 1. */
inline unsigned int
Draw(Random & random, unsigned int count)
{
  return static_cast<unsigned int>(random() % count);
}

/** Returns true once in `in` calls, on average. */
inline bool
Chance(Random & random, unsigned int in)
{
  return Draw(random, in) == 0;
}

/** Returns a random rotation, sometimes with permuted or reversed axes. */
template <unsigned int VDimension>
itk::Matrix<double, VDimension, VDimension>
DrawDirection(Random & random)
{
  itk::Matrix<double, VDimension, VDimension> direction;
  direction.SetIdentity();
  if (!Chance(random, 4))
  {
    direction = MakeRotation<VDimension>(Uniform(random, -Pi, Pi));
  }
  itk::Matrix<double, VDimension, VDimension> axes;
  axes.Fill(0.0);
  const unsigned int first = Chance(random, 4) ? Draw(random, VDimension) : 0;
  for (unsigned int d = 0; d < VDimension; ++d)
  {
    axes[(d + first) % VDimension][d] = Chance(random, 6) ? -1.0 : 1.0;
  }
  return direction * axes;
}

/** Returns a random size, small enough for tests of many cases. */
template <unsigned int VDimension>
itk::Size<VDimension>
DrawSize(Random & random, itk::SizeValueType mostVoxels)
{
  // Around the number of a work-group's rows, and of bands, too.
  const std::vector<unsigned int> lengths{ 1, 1, 2, 3, 4, 5, 7, 8, 11, 13, 16, 17, 23, 31, 32, 33, 37 };
  itk::Size<VDimension>           size;
  for (unsigned int d = 0; d < VDimension; ++d)
  {
    size[d] = lengths[Draw(random, static_cast<unsigned int>(lengths.size()))];
  }
  if (Chance(random, 6))
  {
    size[Draw(random, VDimension)] = 120 + Draw(random, 180);
  }
  while (itk::ImageRegion<VDimension>(size).GetNumberOfPixels() > mostVoxels)
  {
    auto & longest = *std::max_element(size.begin(), size.end());
    longest = (longest + 1) / 2;
  }
  return size;
}

template <unsigned int VDimension>
Grid<VDimension>
DrawGrid(Random & random, itk::SizeValueType mostVoxels)
{
  Grid<VDimension> grid;
  grid.size = DrawSize<VDimension>(random, mostVoxels);
  grid.direction = DrawDirection<VDimension>(random);
  const double scale = std::pow(10.0, Uniform(random, -1.0, 1.0));
  const double far = Chance(random, 3) ? 1e4 : 100.0;
  for (unsigned int d = 0; d < VDimension; ++d)
  {
    // Images of a few slices have thick slices.
    grid.spacing[d] = scale * Uniform(random, 0.5, 2.0) * (grid.size[d] < 4 ? Uniform(random, 1.0, 8.0) : 1.0);
    grid.start[d] = Chance(random, 2) ? 0 : static_cast<int>(Draw(random, 41)) - 20;
    grid.origin[d] = Uniform(random, -far, far);
  }
  return grid;
}

/** Returns a grid whose positions relative to another one are not rounded: shifted by a thousandth of a voxel, or scaled by two, as
 *  related grids often are. */
template <unsigned int VDimension>
Grid<VDimension>
DrawGridNear(const Grid<VDimension> & other, Random & random, itk::SizeValueType mostVoxels)
{
  Grid<VDimension> grid = other;
  switch (Draw(random, 6))
  {
    case 0:
      // The grid is the same: positions are integers.
      return grid;
    case 1:
      // Every second voxel: positions may be half-way.
      for (unsigned int d = 0; d < VDimension; ++d)
      {
        grid.size[d] = (grid.size[d] + 1) / 2;
      }
      grid.spacing *= 2.0;
      break;
    default:
      grid.size = DrawSize<VDimension>(random, mostVoxels);
      grid.direction = Chance(random, 3) ? other.direction : DrawDirection<VDimension>(random);
      for (unsigned int d = 0; d < VDimension; ++d)
      {
        grid.spacing[d] = other.GetExtent(d) * Uniform(random, 0.6, 1.4) / static_cast<double>(grid.size[d]);
        grid.start[d] = Chance(random, 2) ? 0 : static_cast<int>(Draw(random, 41)) - 20;
      }
  }
  auto centre = other.GetCentre();
  for (unsigned int d = 0; d < VDimension; ++d)
  {
    centre[d] += Uniform(random, -0.1, 0.1) * other.GetExtent(d);
  }
  grid.SetCentre(centre);
  return grid;
}

/** Returns a description in one line, for error messages. */
template <unsigned int VDimension>
std::string
Describe(const Grid<VDimension> & grid)
{
  std::ostringstream words;
  words << "size " << grid.size << " start " << grid.start << " spacing " << grid.spacing << " origin " << grid.origin
        << " direction";
  for (unsigned int d = 0; d < VDimension; ++d)
  {
    words << ' ' << itk::Vector<double, VDimension>(grid.direction[d]);
  }
  return words.str();
}

} // namespace gpuregtest

#endif
