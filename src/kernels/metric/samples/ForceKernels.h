// SPDX-License-Identifier: Apache-2.0
// Sums of forces over a work-group's samples, for the devices that have work-groups: CUDA and OpenCL.
//
// A prelude for these adds: GPUREG_LOCAL, GPUREG_GROUP_FUNCTION, LaneIndex(), LaneCount() and LocalBarrier(). It may have a StoreVector()
// of its own.
#ifndef gpureg_kernels_ForceKernels_h
#define gpureg_kernels_ForceKernels_h

GPUREG_NAMESPACE_BEGIN

#ifndef GPUREG_HAS_STORE_VECTOR
/** Stores a lane's vector, float[3]; those of neighbouring lanes are adjacent. */
GPUREG_FUNCTION void
StoreVector(const float * vector, GPUREG_GLOBAL float * out)
{
  out[0] = vector[0];
  out[1] = vector[1];
  out[2] = vector[2];
}
#endif

/** Adds a sample's force at the virtual index x to its lane's sums. Unless the variant is fixed-point, FinishForceAlongZ must follow at
 *  the end. */
GPUREG_FUNCTION void
AddForceOfSample(int variant, const SampleArguments * a, const float * force, const float * x, float * sums)
{
  if (VariantHas(variant, SamplesAreFixedPoint))
  {
    float fromCentre[3];
    ComputeOffsetFromCentre(a, x, fromCentre);
    AddForceExactly(sums, force, fromCentre);
  }
  else
  {
    AddForceAlongZ(sums, force, x[2] - a->centre[2]);
  }
}

/** Adds up `count` sums over all lanes, and, in fixed-point variants, what rounding left of them, which follows them. The total of sum s
 *  is then scratch[s·LaneCount()]. Up to eight values are added at a time: 512 lanes leave 64 values, then 8, then one. The order does
 *  not depend on timing. */
GPUREG_GROUP_FUNCTION void
SumEachOverLanes(int variant, int count, const float * sums, GPUREG_LOCAL float * scratch)
{
  const int lane = LaneIndex();
  const int lanes = LaneCount();
  const int parts = VariantHas(variant, SamplesAreFixedPoint) ? 2 * count : count;
  const int toRest = count * lanes;
  LocalBarrier();
  for (int s = 0; s < parts; ++s)
  {
    scratch[s * lanes + lane] = sums[s];
  }
  LocalBarrier();
  for (int width = lanes; width > 1;)
  {
    const int left = width > 8 ? width / 8 : 1;
    for (int s = lane / left; s < count; s += lanes / left)
    {
      GPUREG_LOCAL float * column = scratch + s * lanes + lane % left;
      float                sum = column[0];
      float                rest = VariantHas(variant, SamplesAreFixedPoint) ? column[toRest] : 0.0f;
      for (int place = left; place < width; place += left)
      {
        if (VariantHas(variant, SamplesAreFixedPoint))
        {
          AddExactly(column[place], &sum, &rest);
          rest += column[toRest + place];
        }
        else
        {
          sum += column[place];
        }
      }
      column[0] = sum;
      if (VariantHas(variant, SamplesAreFixedPoint))
      {
        column[toRest] = rest;
      }
    }
    LocalBarrier();
    width = left;
  }
}

GPUREG_NAMESPACE_END

#endif
