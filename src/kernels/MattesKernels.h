// SPDX-License-Identifier: Apache-2.0
// The work-groups of the two passes, for the devices that have work-groups: CUDA and OpenCL.
// src/host/MattesPasses.cpp says the same in plain loops and is what these are tested against.
//
// A prelude for these adds: GPUREG_LOCAL, LaneIndex(), LaneCount(), GroupIndex(), BandIndex(),
// BandCount(), LocalBarrier(), AddParzenWindow().
#ifndef gpureg_kernels_MattesKernels_h
#define gpureg_kernels_MattesKernels_h

GPUREG_NAMESPACE_BEGIN

GPUREG_FUNCTION int
SmallerOf(int a, int b)
{
  return a < b ? a : b;
}

/** Pass 1. One group counts one chunk into a histogram in local memory, then writes it to a slab of
 *  its own: slabs[group][fixed bin][moving bin], in units of 1/HistogramOne.
 *  Where bins² cells do not fit into local memory, the groups of band b count the fixed bins from
 *  b·bandRows on. */
GPUREG_FUNCTION void
MattesHistogramGroup(int                     variant,
                     const MattesArguments * a,
                     const MattesVolumes *   v,
                     int                     firstChunk,
                     GPUREG_LOCAL u32 *      histogram,
                     GPUREG_GLOBAL u32 *     slabs)
{
  const int lane = LaneIndex();
  const int lanes = LaneCount();
  const int firstRow = BandIndex() * a->bandRows;
  const int rows = SmallerOf(a->bandRows, a->bins - firstRow);
  const int cells = rows * a->bins;
  for (int cell = lane; cell < cells; cell += lanes)
  {
    histogram[cell] = 0;
  }
  LocalBarrier();

  const int chunk = firstChunk + GroupIndex();
  for (int step = 0; step < a->tileDepth; ++step)
  {
    float x[3], y[3], u;
    i64   sample;
    if (!FindSample(variant, a, v, chunk, lanes, lane, step, x, &sample))
    {
      break;
    }
    const int row = (int)v->fixedBins[sample] - firstRow;
    if (row < 0 || row >= rows)
    {
      continue;
    }
    MapSample(variant, a, v, x, sample, y);
    if (SampleMovingValue(variant, a, v, y, &u))
    {
      float     t;
      u32       weights[4];
      const int first = FirstParzenBin(a->bins, u, &t);
      FixedPointParzenWeights(t, weights);
      AddParzenWindow(histogram, row * a->bins + first, weights);
    }
  }
  LocalBarrier();

  GPUREG_GLOBAL u32 * slab = slabs + ((i64)GroupIndex() * a->bins + firstRow) * a->bins;
  for (int cell = lane; cell < cells; cell += lanes)
  {
    slab[cell] = histogram[cell];
  }
}

enum
{
  SlabCellsPerGroup = 32
};

/** Adds the slabs up: histogram[cell] (+)= Σ over groups of slabs[group][cell]. A group sums
 *  SlabCellsPerGroup cells, its lanes sharing the slabs out among them. */
GPUREG_FUNCTION void
MattesSumSlabsGroup(int                       cells,
                    int                       slabCount,
                    int                       accumulate,
                    GPUREG_GLOBAL const u32 * slabs,
                    GPUREG_LOCAL u64 *        partial,
                    GPUREG_GLOBAL u64 *       histogram)
{
  const int lane = LaneIndex();
  const int shares = LaneCount() / SlabCellsPerGroup;
  const int cell = GroupIndex() * SlabCellsPerGroup + lane % SlabCellsPerGroup;
  u64       sum = 0;
  if (cell < cells)
  {
    for (int slab = lane / SlabCellsPerGroup; slab < slabCount; slab += shares)
    {
      sum += slabs[(i64)slab * cells + cell];
    }
  }
  partial[lane] = sum;
  LocalBarrier();
  if (lane < SlabCellsPerGroup && cell < cells)
  {
    for (int share = 1; share < shares; ++share)
    {
      sum += partial[share * SlabCellsPerGroup + lane];
    }
    histogram[cell] = accumulate ? histogram[cell] + sum : sum;
  }
}

/** The sum of each lane's value, in an order that does not depend on timing; the same in all lanes. */
GPUREG_FUNCTION float
SumOverLanes(float value, GPUREG_LOCAL float * scratch)
{
  const int lane = LaneIndex();
  LocalBarrier();
  scratch[lane] = value;
  LocalBarrier();
  for (int half = LaneCount() / 2; half > 0; half /= 2)
  {
    if (lane < half)
    {
      scratch[lane] += scratch[lane + half];
    }
    LocalBarrier();
  }
  return scratch[0];
}

/** One group makes the table of the second pass from the histogram. scratch: LaneCount() floats;
 *  marginals: 2·bins floats. */
GPUREG_FUNCTION void
MattesTableGroup(const MattesArguments *   a,
                 GPUREG_GLOBAL const u64 * histogram,
                 GPUREG_LOCAL float *      scratch,
                 GPUREG_LOCAL float *      marginals,
                 GPUREG_GLOBAL float *     table)
{
  const int            lane = LaneIndex();
  const int            lanes = LaneCount();
  const int            bins = a->bins;
  GPUREG_LOCAL float * fixedMarginal = marginals;
  GPUREG_LOCAL float * movingMarginal = marginals + bins;
  float                count = 0.0f;
  for (int bin = lane; bin < bins; bin += lanes)
  {
    u64 row = 0;
    u64 column = 0;
    for (int other = 0; other < bins; ++other)
    {
      row += histogram[bin * bins + other];
      column += histogram[other * bins + bin];
    }
    fixedMarginal[bin] = (float)row;
    movingMarginal[bin] = (float)column;
    count += (float)row;
  }
  const float scale = 1.0f / SumOverLanes(count, scratch);

  float nmi = 0.0f;
  float inverseJointEntropy = 0.0f;
  if (a->normalized)
  {
    float marginalEntropies = 0.0f;
    for (int bin = lane; bin < bins; bin += lanes)
    {
      marginalEntropies += EntropyTerm(fixedMarginal[bin] * scale) + EntropyTerm(movingMarginal[bin] * scale);
    }
    float jointEntropy = 0.0f;
    for (int cell = lane; cell < bins * bins; cell += lanes)
    {
      jointEntropy += EntropyTerm((float)histogram[cell] * scale);
    }
    marginalEntropies = SumOverLanes(marginalEntropies, scratch);
    jointEntropy = SumOverLanes(jointEntropy, scratch);
    inverseJointEntropy = jointEntropy > 0.0f ? 1.0f / jointEntropy : 0.0f;
    nmi = marginalEntropies * inverseJointEntropy;
  }
  for (int cell = lane; cell < bins * bins; cell += lanes)
  {
    table[cell] = TableEntry(a->normalized,
                             (float)histogram[cell] * scale,
                             movingMarginal[cell % bins] * scale,
                             nmi,
                             inverseJointEntropy);
  }
}

/** Pass 2. One group sums the forces of one chunk: partials[(chunk·bands + band)·12 + …], or writes
 *  each sample's force. local: the larger of bandRows·bins and ForceSumCount·LaneCount() floats. */
GPUREG_FUNCTION void
MattesForceGroup(int                         variant,
                 const MattesArguments *     a,
                 const MattesVolumes *       v,
                 int                         firstChunk,
                 GPUREG_GLOBAL const float * table,
                 GPUREG_LOCAL float *        local,
                 GPUREG_GLOBAL float *       partials,
                 GPUREG_GLOBAL float *       forces)
{
  const int lane = LaneIndex();
  const int lanes = LaneCount();
  const int firstRow = BandIndex() * a->bandRows;
  const int rows = SmallerOf(a->bandRows, a->bins - firstRow);
  for (int cell = lane; cell < rows * a->bins; cell += lanes)
  {
    local[cell] = table[firstRow * a->bins + cell];
  }
  LocalBarrier();

  float sums[ForceSumCount];
  for (int s = 0; s < ForceSumCount; ++s)
  {
    sums[s] = 0.0f;
  }
  const int chunk = firstChunk + GroupIndex();
  for (int step = 0; step < a->tileDepth; ++step)
  {
    float x[3], y[3], gradient[3], u;
    i64   sample;
    if (!FindSample(variant, a, v, chunk, lanes, lane, step, x, &sample))
    {
      break;
    }
    const int bin = v->fixedBins[sample];
    const int row = bin - firstRow;
    const int isMine = row >= 0 && row < rows;
    if (!isMine && !(MattesHas(variant, MattesWritesForces) && bin == InvalidBin && firstRow == 0))
    {
      continue;
    }
    float force[3] = { 0.0f, 0.0f, 0.0f };
    if (isMine)
    {
      MapSample(variant, a, v, x, sample, y);
      if (SampleMovingValueAndGradient(variant, a, v, y, &u, gradient))
      {
        float                t;
        GPUREG_LOCAL float * window = local + row * a->bins + FirstParzenBin(a->bins, u, &t);
        const float          weight = ParzenForce(t, window[0], window[1], window[2], window[3]);
        force[0] = weight * gradient[0];
        force[1] = weight * gradient[1];
        force[2] = weight * gradient[2];
      }
    }
    if (MattesHas(variant, MattesWritesForces))
    {
      GPUREG_GLOBAL float * out = forces + 3 * sample;
      out[0] = force[0];
      out[1] = force[1];
      out[2] = force[2];
    }
    else
    {
      x[0] -= a->centre[0];
      x[1] -= a->centre[1];
      x[2] -= a->centre[2];
      AddForce(sums, force, x);
    }
  }
  if (MattesHas(variant, MattesWritesForces))
  {
    return;
  }

  LocalBarrier();
  for (int s = 0; s < ForceSumCount; ++s)
  {
    local[s * lanes + lane] = sums[s];
  }
  LocalBarrier();
  for (int half = lanes / 2; half > 0; half /= 2)
  {
    for (int item = lane; item < half * ForceSumCount; item += lanes)
    {
      const int s = item / half;
      const int place = s * lanes + item % half;
      local[place] += local[place + half];
    }
    LocalBarrier();
  }
  if (lane < ForceSumCount)
  {
    partials[((i64)chunk * BandCount() + BandIndex()) * ForceSumCount + lane] = local[lane * lanes];
  }
}

GPUREG_NAMESPACE_END

#endif
