// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_RegularSubsample_h
#define gpureg_RegularSubsample_h

#include "gpureg/core/Geometry.h"
#include "gpureg/metric/samples/RandomPosition.h"

#include <array>
#include <cstdint>

namespace gpureg
{

/** Few voxels of a grid: one of every so many along each axis. All parts of the grid have as many, which leaves less noise in sums than
 *  if each voxel were drawn by itself. Where the first one is begins at random and goes on quasi-randomly, so that a few iterations'
 *  subsamples one behind the other are spread evenly, too, and in the long run each voxel is taken as often. */
class RegularSubsample
{
public:
  /** All voxels. */
  explicit RegularSubsample(const Size & size = { 1, 1, 1 })
    : m_Size(size)
  {}

  /** At most `count` of them, about as far apart along each axis. \param spacing of the voxels. */
  RegularSubsample(const Size & size, const std::array<double, 3> & spacing, std::int64_t count);

  bool
  TakesAll() const
  {
    return m_Steps == Size{ 1, 1, 1 };
  }

  /** Samples along each axis. The last ones may lie beyond the grid, for it is as many wherever the first one is. */
  const Size &
  GetSize() const
  {
    return m_Size;
  }

  /** Voxels from a sample to the next. */
  const Size &
  GetSteps() const
  {
    return m_Steps;
  }

  /** From samples' indices to voxels', the same for the same key. */
  IndexMap
  Place(const RandomKey & key) const;

private:
  Size m_Size;
  Size m_Steps{ 1, 1, 1 };
};

} // namespace gpureg

#endif
