// SPDX-License-Identifier: Apache-2.0
// The work-group that sums forces about their samples, or about where fixed pre-transforms move these, for the devices that have
// work-groups: CUDA and OpenCL. src/host/metric/samples/PreTransformPasses.cpp says the same in plain loops and is what this is tested
// against.
#ifndef gpureg_kernels_PreTransformKernels_h
#define gpureg_kernels_PreTransformKernels_h

GPUREG_NAMESPACE_BEGIN

/** Writes a group's sums, and what rounding has left of them: 2·ForceSumCount floats. scratch: as many for each lane. */
GPUREG_GROUP_FUNCTION void
SumPreTransformForcesGroup(const PreTransformArguments * a,
                           i64                           count,
                           GPUREG_GLOBAL const i64 *     points,
                           GPUREG_GLOBAL const float *   displacement,
                           GPUREG_GLOBAL const float *   forces,
                           GPUREG_GLOBAL float *         partials,
                           GPUREG_LOCAL float *          scratch)
{
  const int lane = LaneIndex();
  const int lanes = LaneCount();
  float     sums[2 * ForceSumCount];
  for (int s = 0; s < 2 * ForceSumCount; ++s)
  {
    sums[s] = 0.0f;
  }
  for (i64 sample = (i64)GroupIndex() * lanes + lane; sample < count; sample += (i64)a->groupCount * lanes)
  {
    if (HasForce(forces, sample))
    {
      const float force[3] = { forces[3 * sample], forces[3 * sample + 1], forces[3 * sample + 2] };
      float       place[3];
      ComputePreTransformPlace(a, points, displacement, sample, place);
      AddForceExactly(sums, force, place);
    }
  }
  SumEachOverLanes(SamplesAreFixedPoint, ForceSumCount, sums, scratch);
  if (lane < 2 * ForceSumCount)
  {
    partials[(i64)GroupIndex() * 2 * ForceSumCount + lane] = scratch[lane * lanes];
  }
}

GPUREG_GROUP_KERNEL(SumPreTransformForcesGroup, 256, 32 * 2 * ForceSumCount, "summing forces");

GPUREG_NAMESPACE_END

#endif
