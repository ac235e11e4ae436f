// SPDX-License-Identifier: Apache-2.0
// The work-group that computes a similarity from its sums, for the devices that have work-groups: CUDA and OpenCL.
// src/host/metric/SimilarityPasses.cpp says the same in plain loops and is what this is tested against.
#ifndef gpureg_kernels_SimilaritySumKernels_h
#define gpureg_kernels_SimilaritySumKernels_h

GPUREG_NAMESPACE_BEGIN

/** One group does all. scratch: 2·MostPairSums·LaneCount() floats. */
GPUREG_GROUP_FUNCTION void
SimilarityGroup(const SimilaritySums *      a,
                GPUREG_GLOBAL const float * partials,
                GPUREG_GLOBAL float *       evaluated,
                GPUREG_LOCAL float *        scratch)
{
  const int lane = LaneIndex();
  const int lanes = LaneCount();
  float     sums[2 * MostPairSums];
  for (int s = 0; s < 2 * MostPairSums; ++s)
  {
    sums[s] = 0.0f;
  }
  for (int chunk = lane; chunk < a->chunks; chunk += lanes)
  {
    AddSumsOfChunk(a, partials, chunk, sums);
  }
  SumEachOverLanes(SamplesAreFixedPoint, a->count, sums, scratch);
  if (lane == 0)
  {
    for (int s = 0; s < 2 * a->count; ++s)
    {
      sums[s] = scratch[s * lanes];
    }
    FindSimilarity(a, sums, evaluated);
  }
}

GPUREG_GROUP_KERNEL(SimilarityGroup, 256, 32 * 2 * MostPairSums, "computing a similarity");

GPUREG_NAMESPACE_END

#endif
