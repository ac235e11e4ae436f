// SPDX-License-Identifier: Apache-2.0
// What the lanes of a work-group have between them, for the devices that have work-groups: CUDA and OpenCL.
//
// A prelude for these adds: GPUREG_LOCAL, GPUREG_GROUP_FUNCTION, LaneIndex(), LaneCount(), LocalBarrier(); and it may have a
// SumOverLanes() of its own.
#ifndef gpureg_kernels_LaneReduction_h
#define gpureg_kernels_LaneReduction_h

GPUREG_NAMESPACE_BEGIN

#ifndef GPUREG_HAS_SUM_OVER_LANES
/** The sum of each lane's value, in an order that does not depend on timing; the same in all lanes. scratch: LaneCount() floats. */
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

/** The largest of them, the same in all lanes. scratch: LaneCount() floats. */
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

/** The sum of each lane's value, the same in all lanes. scratch: LaneCount() 64-bit integers. */
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
