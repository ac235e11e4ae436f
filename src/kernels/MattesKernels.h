// SPDX-License-Identifier: Apache-2.0
// The work-groups of the two passes, for the devices that have work-groups: CUDA and OpenCL.
// src/host/MattesPasses.cpp says the same in plain loops and is what these are tested against.
//
// A prelude for these adds: GPUREG_LOCAL, GPUREG_GROUP_FUNCTION, LaneIndex(), LaneCount(), GroupIndex(), GroupIndexY(),
// GroupCountY(), LocalBarrier(), AddParzenWindow().
#ifndef gpureg_kernels_MattesKernels_h
#define gpureg_kernels_MattesKernels_h

GPUREG_NAMESPACE_BEGIN

/** The fixed bins, counted from firstRow, that a band's groups deal with. */
GPUREG_FUNCTION int
RowsOfBand(const MattesArguments * a, int firstRow)
{
  return a->bins - firstRow < a->bandRows ? a->bins - firstRow : a->bandRows;
}

/** Pass 1. One group counts one chunk into a histogram in local memory, then writes it to
 *  chunkHistograms[group][counter][fixed bin][moving bin], in units of 1/countUnit.
 *  Where bins² cells do not fit into local memory, the groups of band b count the fixed bins from
 *  b·bandRows on. */
GPUREG_GROUP_FUNCTION void
MattesHistogramGroup(int                     variant,
                     const MattesArguments * a,
                     const SampleMaps *      maps,
                     const SampleVolumes *   v,
                     int                     firstChunk,
                     GPUREG_LOCAL u32 *      histogram,
                     GPUREG_GLOBAL u32 *     chunkHistograms)
{
  const int          lane = LaneIndex();
  const int          lanes = LaneCount();
  const int          firstRow = GroupIndexY() * a->bandRows;
  const int          rows = RowsOfBand(a, firstRow);
  const int          bandCells = rows * a->bins;
  const int          counters = bandCells * CountersPerCell(variant);
  const int          copies = a->histogramCopies;
  GPUREG_LOCAL u32 * ownHistogram = histogram + (lane & (copies - 1));
  for (int counter = lane; counter < counters * copies; counter += lanes)
  {
    histogram[counter] = 0;
  }
  LocalBarrier();

  LaneWalk walk = StartLaneWalk(variant, &a->samples, maps, firstChunk + GroupIndex(), lanes, lane);
  for (int step = 0; step < walk.count; ++step, AdvanceLaneWalk(variant, maps, &walk))
  {
    float     x[3], u;
    i64       position[3];
    const int row = (int)v->fixedBins[walk.sample] - firstRow;
    if (row < 0 || row >= rows)
    {
      continue;
    }
    MapSample(variant, &a->samples, maps, v, &walk, x, position);
    if (VariantHas(variant, SamplesArePrecise))
    {
      int first;
      u32 high[4], low[4];
      if (FindPreciseWindow(variant, a, maps, v, position, &first, high, low))
      {
        AddParzenWindow(ownHistogram, row * a->bins + first, copies, high);
        AddParzenWindow(ownHistogram, bandCells + row * a->bins + first, copies, low);
      }
    }
    else if (FindMattesValue(variant, a, maps, v, position, &u))
    {
      float     t;
      u32       weights[4];
      const int first = FirstParzenBin(a->lastWhole, u, &t);
      FixedPointParzenWeights(t, a->countUnit, weights);
      AddParzenWindow(ownHistogram, row * a->bins + first, copies, weights);
    }
  }
  LocalBarrier();

  const int           allRows = a->bins * CountersPerCell(variant);
  GPUREG_GLOBAL u32 * out = chunkHistograms + ((i64)GroupIndex() * allRows + firstRow) * a->bins;
  for (int counter = lane; counter < counters; counter += lanes)
  {
    // Each lane begins with another copy, so that together they read from all banks of local memory.
    const int firstCopy = lane * copies / TileWidth;
    u32       sum = 0;
    for (int copy = 0; copy < copies; ++copy)
    {
      sum += histogram[counter * copies + ((firstCopy + copy) & (copies - 1))];
    }
    // Low halves lie behind the high ones: here of the band's cells, there of all of them.
    const int isLow = VariantHas(variant, SamplesArePrecise) && counter >= bandCells;
    out[isLow ? counter - bandCells + a->bins * a->bins : counter] = sum;
  }
}

/** Adds the chunks' histograms up: histogram[cell] (+)= Σ over chunks of what they have counted in it. A group sums
 *  SumCellsPerGroup cells, its lanes sharing the chunks out among them. */
GPUREG_GROUP_FUNCTION void
MattesSumHistogramsGroup(int                       variant,
                         int                       cells,
                         int                       chunkCount,
                         int                       accumulate,
                         GPUREG_GLOBAL const u32 * chunkHistograms,
                         GPUREG_LOCAL u64 *        shareSums,
                         GPUREG_GLOBAL u64 *       histogram)
{
  const int lane = LaneIndex();
  const int shares = LaneCount() / SumCellsPerGroup;
  const int cell = GroupIndex() * SumCellsPerGroup + lane % SumCellsPerGroup;
  u64       sum = 0;
  if (cell < cells)
  {
    GPUREG_UNROLL_8
    for (int chunk = lane / SumCellsPerGroup; chunk < chunkCount; chunk += shares)
    {
      sum += CountInChunk(variant, chunkHistograms, chunk, cells, cell);
    }
  }
  shareSums[lane] = sum;
  LocalBarrier();
  for (int width = LaneCount() / 2; width >= SumCellsPerGroup; width /= 2)
  {
    if (lane < width)
    {
      shareSums[lane] += shareSums[lane + width];
    }
    LocalBarrier();
  }
  if (lane < SumCellsPerGroup && cell < cells)
  {
    histogram[cell] = accumulate ? histogram[cell] + shareSums[lane] : shareSums[lane];
  }
}

/** The table of the second pass in units of 2^-32, see PreciseTableEntry. logarithms: bins 64-bit integers. */
GPUREG_GROUP_FUNCTION void
FillPreciseTable(const MattesArguments *   a,
                 GPUREG_GLOBAL const u64 * histogram,
                 float                     nmi,
                 float                     inverseJointEntropy,
                 GPUREG_LOCAL i64 *        logarithms,
                 GPUREG_GLOBAL i64 *       table)
{
  const int bins = a->bins;
  LocalBarrier();
  for (int bin = LaneIndex(); bin < bins; bin += LaneCount())
  {
    u64 sum = 0;
    GPUREG_UNROLL_8
    for (int other = 0; other < bins; ++other)
    {
      sum += histogram[bin + other * bins];
    }
    logarithms[bin] = LogOfCount(sum);
  }
  LocalBarrier();
  for (int cell = LaneIndex(); cell < bins * bins; cell += LaneCount())
  {
    table[cell] =
      PreciseTableEntry(a->normalized, LogOfCount(histogram[cell]), logarithms[cell % bins], nmi, inverseJointEntropy);
  }
}

/** One group makes the table of the second pass from the histogram: floats, or 64-bit integers where the variant is
 *  precise. scratch: LaneCount() floats; marginals: 2·bins floats, and room for bins 64-bit integers. */
GPUREG_GROUP_FUNCTION void
MattesTableGroup(int                       variant,
                 const MattesArguments *   a,
                 GPUREG_GLOBAL const u64 * histogram,
                 GPUREG_LOCAL float *      scratch,
                 GPUREG_LOCAL float *      marginals,
                 GPUREG_GLOBAL void *      table)
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
  if (VariantHas(variant, SamplesArePrecise))
  {
    FillPreciseTable(a, histogram, nmi, inverseJointEntropy, (GPUREG_LOCAL i64 *)marginals, (GPUREG_GLOBAL i64 *)table);
    return;
  }
  GPUREG_GLOBAL float * entries = (GPUREG_GLOBAL float *)table;
  for (int cell = lane; cell < bins * bins; cell += lanes)
  {
    entries[cell] = TableEntry(a->normalized,
                               (float)histogram[cell] * scale,
                               movingMarginal[cell % bins] * scale,
                               scale,
                               nmi,
                               inverseJointEntropy);
  }
}

/** A band's rows of the table, from a device's memory to a group's. */
GPUREG_GROUP_FUNCTION void
CopyTableRows(int                        variant,
              const MattesArguments *    a,
              int                        firstRow,
              int                        rows,
              GPUREG_GLOBAL const void * table,
              GPUREG_LOCAL float *       scratch)
{
  GPUREG_LOCAL i64 * preciseRows = (GPUREG_LOCAL i64 *)scratch;
  for (int cell = LaneIndex(); cell < rows * a->bins; cell += LaneCount())
  {
    if (VariantHas(variant, SamplesArePrecise))
    {
      preciseRows[cell] = ((GPUREG_GLOBAL const i64 *)table)[firstRow * a->bins + cell];
    }
    else
    {
      scratch[cell] = ((GPUREG_GLOBAL const float *)table)[firstRow * a->bins + cell];
    }
  }
  LocalBarrier();
}

/** Pass 2. One group sums the forces of one chunk: partials[(chunk·bands + band)·PartialCount + …], or writes
 *  each sample's force. scratch: the larger of bandRows·bins table entries and PartialCount·LaneCount() floats. */
GPUREG_GROUP_FUNCTION void
MattesForceGroup(int                        variant,
                 const MattesArguments *    a,
                 const SampleMaps *         maps,
                 const SampleVolumes *      v,
                 int                        firstChunk,
                 GPUREG_GLOBAL const void * table,
                 GPUREG_LOCAL float *       scratch,
                 GPUREG_GLOBAL float *      partials,
                 GPUREG_GLOBAL float *      forces)
{
  const int lane = LaneIndex();
  const int lanes = LaneCount();
  const int firstRow = GroupIndexY() * a->bandRows;
  const int rows = RowsOfBand(a, firstRow);
  CopyTableRows(variant, a, firstRow, rows, table, scratch);

  GPUREG_LOCAL const i64 * preciseRows = (GPUREG_LOCAL const i64 *)scratch;
  float                    sums[2 * ForceSumCount];
  for (int s = 0; s < PartialCount(variant); ++s)
  {
    sums[s] = 0.0f;
  }
  const int chunk = firstChunk + GroupIndex();
  LaneWalk  walk = StartLaneWalk(variant, &a->samples, maps, chunk, lanes, lane);
  for (int step = 0; step < walk.count; ++step, AdvanceLaneWalk(variant, maps, &walk))
  {
    float     x[3];
    float     force[3] = { 0.0f, 0.0f, 0.0f };
    i64       position[3];
    int       isValid = 0;
    const int bin = v->fixedBins[walk.sample];
    const int row = bin - firstRow;
    const int isMine = row >= 0 && row < rows;
    if (isMine)
    {
      MapSample(variant, &a->samples, maps, v, &walk, x, position);
      isValid = VariantHas(variant, SamplesArePrecise)
                  ? FindPreciseForce(variant, a, maps, v, position, preciseRows + row * a->bins, force)
                  : FindForce(variant, a, maps, v, position, scratch + row * a->bins, force);
    }
    if (VariantHas(variant, WritesForces))
    {
      // Every sample's force is written once, by the band of its bin; an invalid one's by the first.
      if (isMine || (bin == InvalidBin && firstRow == 0))
      {
        GPUREG_GLOBAL float * out = forces + 3 * walk.sample;
        out[0] = force[0];
        out[1] = force[1];
        out[2] = force[2];
      }
    }
    else if (isValid)
    {
      AddForceOfSample(variant, &a->samples, force, x, sums);
    }
  }
  if (VariantHas(variant, WritesForces))
  {
    return;
  }
  if (!VariantHas(variant, SamplesArePrecise))
  {
    FinishForceAlongZ(sums, walk.x[0] - a->samples.centre[0], walk.x[1] - a->samples.centre[1]);
  }
  SumForcesOverLanes(variant, sums, scratch);
  if (lane < PartialCount(variant))
  {
    partials[((i64)chunk * GroupCountY() + GroupIndexY()) * PartialCount(variant) + lane] = scratch[lane * lanes];
  }
}

GPUREG_NAMESPACE_END

#endif
