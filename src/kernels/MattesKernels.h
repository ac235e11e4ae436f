// SPDX-License-Identifier: Apache-2.0
// The work-groups of the two passes, for the devices that have work-groups: CUDA and OpenCL.
// src/host/MattesPasses.cpp says the same in plain loops and is what these are tested against.
//
// A prelude for these adds: GPUREG_LOCAL, GPUREG_GROUP_FUNCTION, LaneIndex(), LaneCount(), GroupIndex(), BandIndex(),
// BandCount(), LocalBarrier(), AddParzenWindow().
#ifndef gpureg_kernels_MattesKernels_h
#define gpureg_kernels_MattesKernels_h

GPUREG_NAMESPACE_BEGIN

/** The fixed bins, counted from firstRow, that a band's groups deal with. */
GPUREG_FUNCTION int
RowsOfBand(const MattesArguments * a, int firstRow)
{
  return a->bins - firstRow < a->bandRows ? a->bins - firstRow : a->bandRows;
}

/** Pass 1. One group counts one chunk into a histogram in local memory, then writes it to a slab of
 *  its own: slabs[group][fixed bin][moving bin], in units of 1/countUnit.
 *  Where bins² cells do not fit into local memory, the groups of band b count the fixed bins from
 *  b·bandRows on. */
GPUREG_GROUP_FUNCTION void
MattesHistogramGroup(int                     variant,
                     const MattesArguments * a,
                     const MattesVolumes *   v,
                     int                     firstChunk,
                     GPUREG_LOCAL u32 *      histogram,
                     GPUREG_GLOBAL u32 *     slabs)
{
  const int          lane = LaneIndex();
  const int          lanes = LaneCount();
  const int          firstRow = BandIndex() * a->bandRows;
  const int          rows = RowsOfBand(a, firstRow);
  const int          cells = rows * a->bins;
  const int          copies = a->histogramCopies;
  GPUREG_LOCAL u32 * ownHistogram = histogram + (lane & (copies - 1));
  for (int cell = lane; cell < cells * copies; cell += lanes)
  {
    histogram[cell] = 0;
  }
  LocalBarrier();

  const LaneWalk walk = StartLaneWalk(variant, a, firstChunk + GroupIndex(), lanes, lane);
  i64            sample = walk.sample;
  for (int step = 0; step < walk.count; ++step, sample += walk.stride)
  {
    float     x[3], y[3], u;
    const int row = (int)v->fixedBins[sample] - firstRow;
    if (row < 0 || row >= rows)
    {
      continue;
    }
    MapSample(variant, a, v, &walk, step, sample, x, y);
    if (SampleMovingValue(variant, a, v, y, &u))
    {
      float     t;
      u32       weights[4];
      const int first = FirstParzenBin(a->lastWhole, u, &t);
      FixedPointParzenWeights(t, a->countUnit, weights);
      AddParzenWindow(ownHistogram, row * a->bins + first, copies, weights);
    }
  }
  LocalBarrier();

  GPUREG_GLOBAL u32 * slab = slabs + ((i64)GroupIndex() * a->bins + firstRow) * a->bins;
  for (int cell = lane; cell < cells; cell += lanes)
  {
    // Each lane begins with another copy, so that together they read from all banks of local memory.
    const int firstCopy = lane * copies / TileWidth;
    u32       sum = 0;
    for (int copy = 0; copy < copies; ++copy)
    {
      sum += histogram[cell * copies + ((firstCopy + copy) & (copies - 1))];
    }
    slab[cell] = sum;
  }
}

/** Adds the slabs up: histogram[cell] (+)= Σ over groups of slabs[group][cell]. A group sums
 *  SlabCellsPerGroup cells, its lanes sharing the slabs out among them. */
GPUREG_GROUP_FUNCTION void
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
    GPUREG_UNROLL_8
    for (int slab = lane / SlabCellsPerGroup; slab < slabCount; slab += shares)
    {
      sum += slabs[(i64)slab * cells + cell];
    }
  }
  partial[lane] = sum;
  LocalBarrier();
  for (int width = LaneCount() / 2; width >= SlabCellsPerGroup; width /= 2)
  {
    if (lane < width)
    {
      partial[lane] += partial[lane + width];
    }
    LocalBarrier();
  }
  if (lane < SlabCellsPerGroup && cell < cells)
  {
    histogram[cell] = accumulate ? histogram[cell] + partial[lane] : partial[lane];
  }
}

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

/** One group makes the table of the second pass from the histogram. scratch: LaneCount() floats;
 *  marginals: 2·bins floats. */
GPUREG_GROUP_FUNCTION void
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
  // Rows first, then columns: a lane sums one line.
  for (int line = lane; line < 2 * bins; line += lanes)
  {
    const int isRow = line < bins;
    const int first = isRow ? line * bins : line - bins;
    const int stride = isRow ? 1 : bins;
    u64       sum = 0;
    GPUREG_UNROLL_8
    for (int other = 0; other < bins; ++other)
    {
      sum += histogram[first + other * stride];
    }
    marginals[line] = (float)sum;
    count += isRow ? (float)sum : 0.0f;
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
                             scale,
                             nmi,
                             inverseJointEntropy);
  }
}

/** Pass 2. One group sums the forces of one chunk: partials[(chunk·bands + band)·12 + …], or writes
 *  each sample's force. scratch: the larger of bandRows·bins and ForceSumCount·LaneCount() floats. */
GPUREG_GROUP_FUNCTION void
MattesForceGroup(int                         variant,
                 const MattesArguments *     a,
                 const MattesVolumes *       v,
                 int                         firstChunk,
                 GPUREG_GLOBAL const float * table,
                 GPUREG_LOCAL float *        scratch,
                 GPUREG_GLOBAL float *       partials,
                 GPUREG_GLOBAL float *       forces)
{
  const int lane = LaneIndex();
  const int lanes = LaneCount();
  const int firstRow = BandIndex() * a->bandRows;
  const int rows = RowsOfBand(a, firstRow);
  for (int cell = lane; cell < rows * a->bins; cell += lanes)
  {
    scratch[cell] = table[firstRow * a->bins + cell];
  }
  LocalBarrier();

  float sums[ForceSumCount];
  for (int s = 0; s < ForceSumCount; ++s)
  {
    sums[s] = 0.0f;
  }
  const int      chunk = firstChunk + GroupIndex();
  const LaneWalk walk = StartLaneWalk(variant, a, chunk, lanes, lane);
  i64            sample = walk.sample;
  for (int step = 0; step < walk.count; ++step, sample += walk.stride)
  {
    float     x[3], y[3], u;
    float     force[3] = { 0.0f, 0.0f, 0.0f };
    int       isValid = 0;
    const int bin = v->fixedBins[sample];
    const int row = bin - firstRow;
    const int isMine = row >= 0 && row < rows;
    if (isMine)
    {
      float gradient[3];
      MapSample(variant, a, v, &walk, step, sample, x, y);
      isValid = SampleMovingValueAndGradient(variant, a, v, y, &u, gradient);
      if (isValid)
      {
        float                t;
        GPUREG_LOCAL float * window = scratch + row * a->bins + FirstParzenBin(a->lastWhole, u, &t);
        const float          weight = ParzenForce(t, window[0], window[1], window[2], window[3]);
        force[0] = weight * gradient[0];
        force[1] = weight * gradient[1];
        force[2] = weight * gradient[2];
      }
    }
    if (MattesHas(variant, MattesWritesForces))
    {
      // Every sample's force is written once, by the band of its bin; an invalid one's by the first.
      if (isMine || (bin == InvalidBin && firstRow == 0))
      {
        GPUREG_GLOBAL float * out = forces + 3 * sample;
        out[0] = force[0];
        out[1] = force[1];
        out[2] = force[2];
      }
    }
    else if (MattesHas(variant, MattesSamplesArePoints))
    {
      if (isValid)
      {
        x[0] -= a->centre[0];
        x[1] -= a->centre[1];
        x[2] -= a->centre[2];
        AddForce(sums, force, x);
      }
    }
    else if (isValid)
    {
      AddForceAlongZ(sums, force, x[2] - a->centre[2]);
    }
  }
  if (MattesHas(variant, MattesWritesForces))
  {
    return;
  }
  if (!MattesHas(variant, MattesSamplesArePoints))
  {
    FinishForceAlongZ(sums, walk.x[0] - a->centre[0], walk.x[1] - a->centre[1]);
  }

  LocalBarrier();
  for (int s = 0; s < ForceSumCount; ++s)
  {
    scratch[s * lanes + lane] = sums[s];
  }
  LocalBarrier();
  for (int width = lanes / 2; width > 0; width /= 2)
  {
    for (int item = lane; item < width * ForceSumCount; item += lanes)
    {
      const int s = item / width;
      const int place = s * lanes + item % width;
      scratch[place] += scratch[place + width];
    }
    LocalBarrier();
  }
  if (lane < ForceSumCount)
  {
    partials[((i64)chunk * BandCount() + BandIndex()) * ForceSumCount + lane] = scratch[lane * lanes];
  }
}

GPUREG_NAMESPACE_END

#endif
