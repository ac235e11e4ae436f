// SPDX-License-Identifier: Apache-2.0
// The work-group of the metrics that are sums over pairs of values, for the devices that have work-groups: CUDA and OpenCL.
// src/host/metric/pairs/PairPasses.cpp computes the same in plain loops; tests compare the two.
#ifndef gpureg_kernels_ValuePairKernels_h
#define gpureg_kernels_ValuePairKernels_h

GPUREG_NAMESPACE_BEGIN

/** Adds a pair to its lane's sums; in fixed-point variants, what rounding leaves follows the sums. */
GPUREG_FUNCTION void
AddSummands(int variant, int task, const ValuePair * pair, float * sums)
{
  if (VariantHas(variant, SamplesAreFixedPoint))
  {
    FloatAndRest summands[MostPairSums];
    ComputeFixedPointSummands(task, pair, summands);
    for (int s = 0; s < PairSumCount(task); ++s)
    {
      AddWithRest(summands[s], sums + s, sums + PairSumCount(task) + s);
    }
  }
  else
  {
    float summands[MostPairSums];
    ComputeSummands(task, pair, summands);
    for (int s = 0; s < PairSumCount(task); ++s)
    {
      sums[s] += summands[s];
    }
  }
}

/** Adds the forces of a pair at the virtual index x to its lane's sums; those of each weight follow each other. */
GPUREG_FUNCTION void
AddPairForces(int                   variant,
              int                   task,
              const PairArguments * a,
              const SampleMaps *    maps,
              const ValuePair *     pair,
              const float *         weights,
              const float *         gradient,
              const float *         x,
              float *               sums)
{
  for (int k = 0; k < PairForceSums(variant, task); ++k)
  {
    float * ofWeight = sums + k * PartialCount(variant);
    if (VariantHas(variant, SamplesAreFixedPoint))
    {
      float fromCentre[3];
      ComputeOffsetFromCentre(&a->samples, x, fromCentre);
      FloatAndRest force[3];
      WeighGradientExactly(ComputeFixedPointWeight(task, maps, pair, k, weights[k]), gradient, force);
      AddFixedPointForce(ofWeight, force, fromCentre);
    }
    else
    {
      const float force[3] = { weights[k] * gradient[0], weights[k] * gradient[1], weights[k] * gradient[2] };
      AddForceOfSample(variant, &a->samples, force, x, ofWeight);
    }
  }
}

/** Sums one chunk, by one group: partials[slot·PairPartialCount + …], or writes each sample's force. scratch:
 *  FloatsOfSum·ForceSumCount·LaneCount() floats; evaluated: see LoadCentring. */
GPUREG_GROUP_FUNCTION void
PairGroup(int                         variant,
          int                         task,
          const PairArguments *       a,
          const SampleMaps *          maps,
          const SampleVolumes *       v,
          GPUREG_GLOBAL const float * evaluated,
          int                         chunk,
          int                         slot,
          GPUREG_LOCAL float *        scratch,
          GPUREG_GLOBAL float *       partials,
          GPUREG_GLOBAL float *       forces)
{
  const int          lane = LaneIndex();
  const int          lanes = LaneCount();
  const int          forceSums = PairForceSums(variant, task);
  const PairCentring centring = LoadCentring(task, evaluated);
  float              pairSums[2 * MostPairSums];
  float              sums[MostPairWeights * 2 * ForceSumCount];
  for (int s = 0; s < FloatsOfSum(variant) * PairSumCount(task); ++s)
  {
    pairSums[s] = 0.0f;
  }
  for (int s = 0; s < forceSums * PartialCount(variant); ++s)
  {
    sums[s] = 0.0f;
  }
  LaneWalk walk = StartLaneWalk(variant, &a->samples, maps, chunk, lanes, lane);
  for (int step = 0; step < walk.count; ++step, AdvanceLaneWalk(variant, maps, &walk))
  {
    float     x[3], gradient[3], weights[MostPairWeights];
    i64       position[3];
    ValuePair pair;
    int       isValid = HasFixedValue(variant, v, walk.sample);
    if (isValid)
    {
      MapSample(variant, &a->samples, maps, v, &walk, x, position);
      isValid = ComputePair(variant, a, task, maps, v, walk.sample, position, &pair, gradient);
    }
    if (isValid)
    {
      AddSummands(variant, task, &pair, pairSums);
      if (TaskFindsForces(task))
      {
        ComputePairWeights(a, task, &centring, &pair, gradient, weights);
        FollowForceBack(variant, &a->samples, v, &walk, gradient);
      }
      AddPairForces(variant, task, a, maps, &pair, weights, gradient, x, sums);
    }
    if (VariantHas(variant, WritesForces))
    {
      float force[3];
      for (int r = 0; r < 3; ++r)
      {
        force[r] = isValid ? weights[0] * gradient[r] : 0.0f;
      }
      StoreVector(force, forces + 3 * walk.sample);
    }
  }

  GPUREG_GLOBAL float * out = partials + (i64)slot * PairPartialCount(variant, task);
  SumEachOverLanes(variant, PairSumCount(task), pairSums, scratch);
  if (lane < FloatsOfSum(variant) * PairSumCount(task))
  {
    out[lane] = scratch[lane * lanes];
  }
  out += FloatsOfSum(variant) * PairSumCount(task);
  for (int k = 0; k < forceSums; ++k, out += PartialCount(variant))
  {
    float * ofWeight = sums + k * PartialCount(variant);
    if (!VariantHas(variant, SamplesAreFixedPoint))
    {
      FinishForceAlongZ(ofWeight, walk.x[0] - a->samples.centre[0], walk.x[1] - a->samples.centre[1]);
    }
    SumEachOverLanes(variant, ForceSumCount, ofWeight, scratch);
    if (lane < PartialCount(variant))
    {
      out[lane] = scratch[lane * lanes];
    }
  }
}

/** Sums one chunk with each group: see PairGroup. */
GPUREG_GROUP_FUNCTION void
SumPairsGroup(int                         compiledVariant,
              int                         task,
              const PairArguments *       a,
              const SampleMaps *          maps,
              const SampleVolumes *       v,
              GPUREG_GLOBAL const float * evaluated,
              GPUREG_GLOBAL float *       partials,
              GPUREG_GLOBAL float *       forces,
              GPUREG_LOCAL float *        scratch)
{
  const int chunk = GroupIndex();
  PairGroup(
    GetVariant(compiledVariant, &a->samples), task, a, maps, v, evaluated, chunk, chunk, scratch, partials, forces);
}

GPUREG_VARIED_GROUP_KERNEL(SumPairsGroup, PairVariants, 512, GPUREG_LOCAL_OF_LAUNCH, "summing pairs of values");

/** Sums one chunk of one candidate of a batch with each group, without forces: see BatchHistogramGroup in HistogramKernels.h. */
GPUREG_GROUP_FUNCTION void
BatchPairGroup(int                              compiledVariant,
               int                              task,
               const PairArguments *            a,
               const SampleVolumes *            v,
               GPUREG_GLOBAL float *            partials,
               GPUREG_GLOBAL const SampleMaps * batch,
               int                              firstCandidate,
               GPUREG_LOCAL float *             scratch)
{
  const int        chunks = ChunkCount(&a->samples);
  const SampleMaps maps = batch[firstCandidate + GroupIndex() / chunks];
  PairGroup(GetVariant(compiledVariant, &a->samples),
            task,
            a,
            &maps,
            v,
            0,
            GroupIndex() % chunks,
            firstCandidate * chunks + GroupIndex(),
            scratch,
            partials,
            0);
}

GPUREG_VARIED_GROUP_KERNEL(
  BatchPairGroup, PairBatchVariants, 512, GPUREG_LOCAL_OF_LAUNCH, "summing pairs of values of a batch");

GPUREG_NAMESPACE_END

#endif
