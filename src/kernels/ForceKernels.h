// SPDX-License-Identifier: Apache-2.0
// How a work-group adds its samples' forces up, for the devices that have work-groups: CUDA and OpenCL.
//
// A prelude for these adds: GPUREG_LOCAL, GPUREG_GROUP_FUNCTION, LaneIndex(), LaneCount(), LocalBarrier(); and it may have a
// StoreVector() of its own.
#ifndef gpureg_kernels_ForceKernels_h
#define gpureg_kernels_ForceKernels_h

GPUREG_NAMESPACE_BEGIN

#ifndef GPUREG_HAS_STORE_VECTOR
/** Stores a lane's vector, float[3]; those of neighbouring lanes lie one behind the other. */
GPUREG_FUNCTION void
StoreVector(const float * vector, GPUREG_GLOBAL float * out)
{
  out[0] = vector[0];
  out[1] = vector[1];
  out[2] = vector[2];
}
#endif

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
