// SPDX-License-Identifier: Apache-2.0
// Images' places in space, at random: odd and prime sizes, single slices, oblique and mirrored axes, origins far away.
#ifndef RandomGrid_h
#define RandomGrid_h

#include "TestImages.h"

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

namespace gpuregtest
{

/** 0 … count - 1 */
inline unsigned int
Draw(Random & random, unsigned int count)
{
  return static_cast<unsigned int>(random() % count);
}

/** Once in so many times. */
inline bool
Chance(Random & random, unsigned int in)
{
  return Draw(random, in) == 0;
}

/** A rotation, and now and then axes in another order, or one of them backwards. */
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

/** As many voxels along each axis as tests of many cases can afford. */
template <unsigned int VDimension>
itk::Size<VDimension>
DrawSize(Random & random, itk::SizeValueType mostVoxels)
{
  // About a work-group's rows and bands, too.
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
    // A few slices are thick.
    grid.spacing[d] = scale * Uniform(random, 0.5, 2.0) * (grid.size[d] < 4 ? Uniform(random, 1.0, 8.0) : 1.0);
    grid.start[d] = Chance(random, 2) ? 0 : static_cast<int>(Draw(random, 41)) - 20;
    grid.origin[d] = Uniform(random, -far, far);
  }
  return grid;
}

/** Nothing rounded: a thousandth of a voxel, or a factor of two, as grids that belong together have them. */
template <unsigned int VDimension>
Grid<VDimension>
DrawGridNear(const Grid<VDimension> & other, Random & random, itk::SizeValueType mostVoxels)
{
  Grid<VDimension> grid = other;
  switch (Draw(random, 6))
  {
    case 0:
      // The same one: positions are whole.
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

/** One line, for whoever looks for the reason. */
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
