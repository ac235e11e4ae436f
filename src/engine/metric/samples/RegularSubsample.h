// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_RegularSubsample_h
#define gpureg_RegularSubsample_h

#include "gpureg/core/Geometry.h"
#include "gpureg/metric/samples/RandomPosition.h"

#include <array>
#include <cstdint>

namespace gpureg
{

/** A regular subsample of a grid's voxels: one of every few voxels along each axis. All parts of the grid have equally many samples, so
 *  sums are less noisy than if each voxel were drawn independently. The first sample's position is random, and continues quasi-randomly, so
 *  that the subsamples of a few successive iterations are evenly spread, too, and each voxel is taken equally often in the long run. */
class RegularSubsample
{
public:
  /** Takes all voxels. */
  explicit RegularSubsample(const Size & size = { 1, 1, 1 })
    : m_Size(size)
  {}

  /** Takes at most count voxels, about equally far apart along each axis. \param spacing the voxels' spacing */
  RegularSubsample(const Size & size, const std::array<double, 3> & spacing, std::int64_t count);

  bool
  TakesAll() const
  {
    return m_Steps == Size{ 1, 1, 1 };
  }

  /** Returns the number of samples along each axis. It does not depend on the position of the first sample, so the last samples may lie
   *  beyond the grid. */
  const Size &
  GetSize() const
  {
    return m_Size;
  }

  /** Returns the number of voxels from one sample to the next along each axis. */
  const Size &
  GetSteps() const
  {
    return m_Steps;
  }

  /** Returns the map from samples' indices to voxels' indices. It depends on the key alone. */
  IndexMap
  Place(const RandomKey & key) const;

private:
  Size m_Size;
  Size m_Steps{ 1, 1, 1 };
};

} // namespace gpureg

#endif
