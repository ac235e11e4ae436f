// SPDX-License-Identifier: Apache-2.0
#include "engine/metric/histogram/MattesEvaluation.h"

#include "engine/runtime/ForEachItem.h"

#include "kernels/metric/histogram/MattesVoxelForces.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace gpureg
{

namespace
{
using kernels::i64;

/** Returns true if two shapes have the same voxels. */
bool
AreEqual(const kernels::VolumeShape & a, const kernels::VolumeShape & b)
{
  return std::equal(a.size, a.size + 3, b.size) && std::equal(a.stride, a.stride + 3, b.stride);
}

/** Returns true if a map in units of 2^-bits leads each index to itself. */
bool
IsIdentity(const kernels::FixedMap & map, int bits)
{
  for (int entry = 0; entry < 12; ++entry)
  {
    if (map.row[entry] != (entry % 5 == 0 ? i64{ 1 } << bits : 0))
    {
      return false;
    }
  }
  return true;
}

/** Returns true if half a spacing along each physical axis that has a spacing is half a voxel along an axis of the moving image. */
bool
StepsAreAlongAxes(const kernels::SampleArguments & a, const kernels::SampleMaps & maps)
{
  for (int axis = 0; axis < 3; ++axis)
  {
    int along = 0;
    for (int r = 0; r < 3; ++r)
    {
      const i64 step = maps.differenceStep[3 * r + axis];
      if (step != 0 && std::abs(step) != GPUREG_FIXED_HALF)
      {
        return false;
      }
      along += step != 0;
    }
    if (along != 1 && a.inverseSpacing[axis] != 0.0f)
    {
      return false;
    }
  }
  return true;
}

/** Returns true if ComputeMattesForceAtVoxel() computes the forces of these samples. */
bool
AreAtVoxels(const kernels::SampleArguments & a, const kernels::SampleMaps & maps)
{
  constexpr int possible = kernels::SamplesAreFixedPoint | kernels::WritesForces | kernels::GradientByDifferences |
                           kernels::MovingHasMask | kernels::ChecksRange;
  constexpr int needed = kernels::SamplesAreFixedPoint | kernels::WritesForces | kernels::GradientByDifferences;
  return (a.variant & ~possible) == 0 && (a.variant & needed) == needed && AreEqual(a.virtualShape, a.movingShape) &&
         IsIdentity(maps.toMoving, 32 + maps.guardBits) && StepsAreAlongAxes(a, maps);
}
} // namespace

void
MattesEvaluation::EnqueueForces()
{
  const kernels::SampleArguments & a = GetArguments().histogram.samples;
  if (!AreAtVoxels(a, GetMaps()))
  {
    HistogramEvaluation::EnqueueForces();
    return;
  }
  const HistogramArrays & arrays = GetArrays();
  ForEachItem<kernels::ComputeMattesForceAtVoxelKernel>(*GetCore().queue,
                                                        std::int64_t{ a.virtualShape.size[0] } *
                                                          a.virtualShape.size[1] * a.virtualShape.size[2],
                                                        GetArguments(),
                                                        GetMaps(),
                                                        Input<kernels::u16>(arrays.samples->fixedBins.get()),
                                                        Input<i64>(arrays.samples->moving.get()),
                                                        Input<kernels::u8>(arrays.samples->mask.get()),
                                                        Input<i64>(arrays.table.get()),
                                                        Output<float>(arrays.forces));
}

} // namespace gpureg
