// SPDX-License-Identifier: Apache-2.0
// How a work-group adds its samples' forces up, for the devices that have work-groups: CUDA and OpenCL.
//
// A prelude for these adds: GPUREG_LOCAL, GPUREG_GROUP_FUNCTION, LaneIndex(), LaneCount(), LocalBarrier().
#ifndef gpureg_kernels_ForceKernels_h
#define gpureg_kernels_ForceKernels_h

GPUREG_NAMESPACE_BEGIN

#ifndef GPUREG_HAS_SUM_OVER_LANES
/** The sum of each lane's value, in an order that does not depend on timing; the same in all lanes. */
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

/** Adds a sample's force at the virtual index x to its lane's sums; FinishForceAlongZ is yet to come where the variant is
 *  not precise. */
GPUREG_FUNCTION void
AddForceOfSample(int variant, const SampleArguments * a, const float * force, const float * x, float * sums)
{
  if (VariantHas(variant, SamplesArePrecise))
  {
    float fromCentre[3];
    FindOffsetFromCentre(a, x, fromCentre);
    AddForceExactly(sums, force, fromCentre);
  }
  else
  {
    AddForceAlongZ(sums, force, x[2] - a->centre[2]);
  }
}

/** Adds up count sums of each lane's, and, where the variant is precise, the rests behind them: s's total is then
 *  scratch[s·LaneCount()]. */
GPUREG_GROUP_FUNCTION void
SumEachOverLanes(int variant, int count, const float * sums, GPUREG_LOCAL float * scratch)
{
  const int            lane = LaneIndex();
  const int            lanes = LaneCount();
  const int            parts = VariantHas(variant, SamplesArePrecise) ? 2 * count : count;
  GPUREG_LOCAL float * rests = scratch + count * lanes;
  LocalBarrier();
  for (int s = 0; s < parts; ++s)
  {
    scratch[s * lanes + lane] = sums[s];
  }
  LocalBarrier();
  for (int width = lanes / 2; width > 0; width /= 2)
  {
    for (int item = lane; item < width * count; item += lanes)
    {
      const int s = item / width;
      const int place = s * lanes + item % width;
      if (VariantHas(variant, SamplesArePrecise))
      {
        float sum = scratch[place];
        float rest = rests[place] + rests[place + width];
        AddExactly(scratch[place + width], &sum, &rest);
        scratch[place] = sum;
        rests[place] = rest;
      }
      else
      {
        scratch[place] += scratch[place + width];
      }
    }
    LocalBarrier();
  }
}

GPUREG_NAMESPACE_END

#endif
