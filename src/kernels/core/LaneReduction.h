// SPDX-License-Identifier: Apache-2.0
// Reductions over the lanes of a work-group, for the devices that have work-groups: CUDA and OpenCL.
//
// The prelude of such a device defines, besides: GPUREG_LOCAL, GPUREG_GROUP_FUNCTION, LaneIndex(), LaneCount() and LocalBarrier(). It may
// define a SumOverLanes() of its own.
#ifndef gpureg_kernels_LaneReduction_h
#define gpureg_kernels_LaneReduction_h

GPUREG_NAMESPACE_BEGIN

#ifndef GPUREG_HAS_SUM_OVER_LANES
/** Returns the sum of all lanes' values, the same in all lanes. The order of the additions does not depend on timing. scratch:
 *  LaneCount() floats. */
GPUREG_GROUP_FUNCTION float
SumOverLanes(float value, GPUREG_LOCAL float * scratch)
{
  const int lane = LaneIndex();
  LocalBarrier();
  scratch[lane] = value;
  LocalBarrier();
  for (int width = LaneCount() / 2; width > 0; width /= 2)
  {
    if (lane < width)
    {
      scratch[lane] += scratch[lane + width];
    }
    LocalBarrier();
  }
  return scratch[0];
}
#endif

/** Returns the largest of all lanes' values, the same in all lanes. scratch: LaneCount() floats. */
GPUREG_GROUP_FUNCTION float
LargestOverLanes(float value, GPUREG_LOCAL float * scratch)
{
  const int lane = LaneIndex();
  LocalBarrier();
  scratch[lane] = value;
  LocalBarrier();
  for (int width = LaneCount() / 2; width > 0; width /= 2)
  {
    if (lane < width && scratch[lane + width] > scratch[lane])
    {
      scratch[lane] = scratch[lane + width];
    }
    LocalBarrier();
  }
  return scratch[0];
}

/** Returns the sum of all lanes' values, the same in all lanes. scratch: LaneCount() 64-bit integers. */
GPUREG_GROUP_FUNCTION u64
SumIntegersOverLanes(u64 value, GPUREG_LOCAL u64 * scratch)
{
  const int lane = LaneIndex();
  LocalBarrier();
  scratch[lane] = value;
  LocalBarrier();
  for (int width = LaneCount() / 2; width > 0; width /= 2)
  {
    if (lane < width)
    {
      scratch[lane] += scratch[lane + width];
    }
    LocalBarrier();
  }
  return scratch[0];
}

GPUREG_NAMESPACE_END

#endif
