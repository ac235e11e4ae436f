// SPDX-License-Identifier: Apache-2.0
// The work-groups of the other schemes by which Li 2015 (table 1, section 3) sums N, Σ Y and Σ Y² of each fixed bin, for the devices that
// have work-groups: CUDA and OpenCL. The scheme SharedMerge is HistogramGroup and SumHistogramsGroup themselves. A sample adds the same
// integers in all schemes, so the sums are the same to the bit. If a launch has fewer groups than chunks, a group processes several chunks,
// one after the other: 32-bit counters hold no more than one chunk's samples.
//
// A prelude for these adds: AddGlobally(), AddWindowGlobally(), GlobalBarrier(), GroupCount().
#ifndef gpureg_kernels_CorrelationRatioSchemes_h
#define gpureg_kernels_CorrelationRatioSchemes_h

GPUREG_NAMESPACE_BEGIN

/** Adds others to entries. */
GPUREG_FUNCTION void
AddEntries(const u64 * others, u64 * entries)
{
  for (int k = 0; k < CorrelationRatioColumns; ++k)
  {
    entries[k] += others[k];
  }
}

/** Adds others to entries to which other groups add, too. Most background values are 0 and add nothing (Li 2015, listing 2, line 16), so
 *  zeros are skipped. */
GPUREG_GROUP_FUNCTION void
AddEntriesGlobally(const u64 * others, int columns, GPUREG_GLOBAL u64 * entries)
{
  for (int k = 0; k < columns; ++k)
  {
    if (others[k] != 0)
    {
      AddGlobally(entries + k, others[k]);
    }
  }
}

/** GlobalAtomic (Li 2015, section 3.2): every sample of a chunk is added to the single histogram, which was cleared; each lane adds the
 *  squares of all its samples at the end. */
GPUREG_GROUP_FUNCTION void
GlobalAtomicGroup(int                               variant,
                  const CorrelationRatioArguments * a,
                  const SampleMaps *                maps,
                  const SampleVolumes *             v,
                  int                               chunk,
                  GPUREG_GLOBAL u64 *               histogram)
{
  const SampleArguments * samples = &a->histogram.samples;
  const int               columns = a->histogram.columns;
  LaneWalk                walk = StartLaneWalk(variant, samples, maps, chunk, LaneCount(), LaneIndex());
  u64                     squares = 0;
  for (int step = 0; step < walk.count; ++step, AdvanceLaneWalk(variant, maps, &walk))
  {
    float     x[3];
    i64       position[3];
    u64       entries[CorrelationRatioColumns];
    const int row = v->fixedBins[walk.sample];
    if (row == InvalidBin)
    {
      continue;
    }
    MapSample(variant, samples, maps, v, &walk, x, position);
    if (ComputeEntries(variant, a, maps, v, position, entries))
    {
      squares += entries[CorrelationRatioSquares];
      entries[CorrelationRatioSquares] = 0;
      AddEntriesGlobally(entries, columns, histogram + row * columns);
    }
  }
  AddGlobally(histogram + LaneIndex() % a->histogram.rows * columns + CorrelationRatioSquares, squares);
}

/** GlobalMerge (Li 2015, section 3.3): a group counts each chunk's histogram in a part of global memory of its own. SumHistogramsGroup
 *  adds these histograms up. In the paper each thread has a histogram of its own; gpureg::CorrelationRatioScheme gives the reason for
 *  the difference. */
GPUREG_GROUP_FUNCTION void
GlobalMergeGroup(int                               variant,
                 const CorrelationRatioArguments * a,
                 const SampleMaps *                maps,
                 const SampleVolumes *             v,
                 int                               chunk,
                 int                               slot,
                 GPUREG_GLOBAL u32 *               chunkHistograms)
{
  const SampleArguments * samples = &a->histogram.samples;
  const int               columns = a->histogram.columns;
  const int               entries = a->histogram.rows * columns;
  const int               counters = entries * CountersPerEntry(variant);
  GPUREG_GLOBAL u32 *     histogram = chunkHistograms + (i64)slot * counters;
  for (int counter = LaneIndex(); counter < counters; counter += LaneCount())
  {
    histogram[counter] = 0;
  }
  GlobalBarrier();
  LaneWalk walk = StartLaneWalk(variant, samples, maps, chunk, LaneCount(), LaneIndex());
  u64      laneSum = 0;
  for (int step = 0; step < walk.count; ++step, AdvanceLaneWalk(variant, maps, &walk))
  {
    float     x[3];
    i64       position[3];
    u32       weights[WindowEntries], low[WindowEntries], squares;
    const int row = v->fixedBins[walk.sample];
    if (row == InvalidBin)
    {
      continue;
    }
    MapSample(variant, samples, maps, v, &walk, x, position);
    if (CountsHalves(variant))
    {
      if (ComputeFixedPointWindow(variant, a, maps, v, position, weights, low))
      {
        AddWindowGlobally(histogram + row * columns, WindowEntries, weights);
        AddWindowGlobally(histogram + entries + row * columns, WindowEntries, low);
      }
    }
    else if (ComputeWindow(variant, a, maps, v, position, weights, &squares))
    {
      AddWindowGlobally(histogram + row * columns, CorrelationRatioWindow, weights);
      laneSum += squares;
    }
  }
  if (!CountsHalves(variant))
  {
    GPUREG_GLOBAL u32 * entry =
      histogram + RowOfLaneSum(LaneIndex(), a->histogram.rows) * columns + CorrelationRatioSquares;
    u32 even, odd;
    SplitLaneSum(laneSum, &even, &odd);
    AddWindowGlobally(entry, 1, &even);
    AddWindowGlobally(entry + columns, 1, &odd);
  }
}

/** SharedAtomic (Li 2015, section 3.4): a group counts a chunk in local memory, as HistogramGroup does, and adds the counts to the
 *  single histogram, which was cleared. */
GPUREG_GROUP_FUNCTION void
SharedAtomicGroup(int                               variant,
                  const CorrelationRatioArguments * a,
                  const SampleMaps *                maps,
                  const SampleVolumes *             v,
                  int                               chunk,
                  GPUREG_LOCAL u32 *                counted,
                  GPUREG_GLOBAL u64 *               histogram)
{
  const int copies = a->histogram.histogramCopies;
  const int firstRow = GroupIndexY() * a->histogram.bandRows;
  const int rows = RowsOfBand(&a->histogram, firstRow);
  const int columns = a->histogram.columns;
  const int bandEntries = rows * columns;
  ClearCounters(counted, bandEntries * CountersPerEntry(variant) * copies);
  CountLane(variant, a, maps, v, chunk, firstRow, rows, counted + (LaneIndex() & (copies - 1)), copies);
  LocalBarrier();
  for (int row = LaneIndex(); row < rows; row += LaneCount())
  {
    u32 counters[CorrelationRatioColumns], low[CorrelationRatioColumns];
    u64 entries[CorrelationRatioColumns];
    for (int k = 0; k < columns; ++k)
    {
      const int entry = row * columns + k;
      counters[k] = 0;
      low[k] = 0;
      for (int copy = 0; copy < copies; ++copy)
      {
        counters[k] += counted[entry * copies + copy];
        low[k] += CountsHalves(variant) ? counted[(bandEntries + entry) * copies + copy] : 0;
      }
    }
    JoinRow(variant, a, firstRow + row, counters, low, entries);
    AddEntriesGlobally(entries, columns, histogram + (firstRow + row) * columns);
  }
}

/** SharedWarp (Li 2015, section 3.5): each row of 32 lanes counts in a histogram of its own, one after the other in local memory; the
 *  group adds them up and writes the sum as its chunk's histogram. SumHistogramsGroup then adds up the chunks' histograms. */
GPUREG_GROUP_FUNCTION void
SharedWarpGroup(int                               variant,
                const CorrelationRatioArguments * a,
                const SampleMaps *                maps,
                const SampleVolumes *             v,
                int                               chunk,
                int                               slot,
                GPUREG_LOCAL u32 *                counted,
                GPUREG_GLOBAL u32 *               chunkHistograms)
{
  const HistogramArguments * h = &a->histogram;
  const int                  warps = LaneCount() / TileWidth;
  const int                  firstRow = GroupIndexY() * h->bandRows;
  const int                  rows = RowsOfBand(h, firstRow);
  const int                  bandEntries = rows * h->columns;
  const int                  counters = bandEntries * CountersPerEntry(variant);
  ClearCounters(counted, counters * warps);
  CountLane(variant, a, maps, v, chunk, firstRow, rows, counted + LaneIndex() / TileWidth * counters, 1);
  LocalBarrier();
  GPUREG_GLOBAL u32 * out = chunkHistograms + BandInChunk(variant, h, slot, firstRow);
  for (int counter = LaneIndex(); counter < counters; counter += LaneCount())
  {
    u32 sum = 0;
    for (int warp = 0; warp < warps; ++warp)
    {
      sum += counted[warp * counters + counter];
    }
    out[CounterInChunk(variant, h, bandEntries, counter)] = sum;
  }
}

/** Writes the sum over all lanes of each of the `columns` entries. scratch: CorrelationRatioColumns·LaneCount() 64-bit integers. */
GPUREG_GROUP_FUNCTION void
WriteSumOfEntries(const u64 * entries, int columns, GPUREG_LOCAL u64 * scratch, GPUREG_GLOBAL u64 * out)
{
  const int lane = LaneIndex();
  const int lanes = LaneCount();
  for (int k = 0; k < CorrelationRatioColumns; ++k)
  {
    scratch[k * lanes + lane] = entries[k];
  }
  LocalBarrier();
  for (int width = lanes / 2; width > 0; width /= 2)
  {
    for (int item = lane; item < width * CorrelationRatioColumns; item += lanes)
    {
      const int place = item / width * lanes + item % width;
      scratch[place] += scratch[place + width];
    }
    LocalBarrier();
  }
  if (lane < columns)
  {
    out[lane] = scratch[lane * lanes];
  }
}

/** ConflictFree (Li 2015, section 3.6, listing 3): all samples of a workload are of one bin, so a lane counts its share in registers,
 *  and the group joins the lanes' counts without atomics. sorted: the samples' indices. */
GPUREG_GROUP_FUNCTION void
ConflictFreeGroup(int                               variant,
                  const CorrelationRatioArguments * a,
                  const SampleMaps *                maps,
                  const SampleVolumes *             v,
                  GPUREG_GLOBAL const u32 *         sorted,
                  GPUREG_GLOBAL const Workload *    workloads,
                  GPUREG_LOCAL u64 *                scratch,
                  GPUREG_GLOBAL u64 *               sumsOfWorkloads)
{
  const SampleArguments * samples = &a->histogram.samples;
  const Workload          workload = workloads[GroupIndex()];
  u64                     sums[CorrelationRatioColumns] = { 0, 0, 0, 0 };
  for (u32 n = (u32)LaneIndex(); n < workload.count; n += (u32)LaneCount())
  {
    const LaneWalk walk = StartWalkAt(variant, samples, maps, sorted[workload.first + n]);
    float          x[3];
    i64            position[3];
    u64            entries[CorrelationRatioColumns] = { 0, 0, 0, 0 };
    MapSample(variant, samples, maps, v, &walk, x, position);
    if (ComputeEntries(variant, a, maps, v, position, entries))
    {
      AddEntries(entries, sums);
    }
  }
  WriteSumOfEntries(sums,
                    CorrelationRatioColumns,
                    scratch,
                    sumsOfWorkloads + (i64)GroupIndex() * CorrelationRatioColumns);
}

/** Adds up the workloads of the fixed bin with the group's number: those from firstWorkloads[bin] to before firstWorkloads[bin + 1]. */
GPUREG_GROUP_FUNCTION void
JoinWorkloadsGroup(int                       columns,
                   GPUREG_GLOBAL const u32 * firstWorkloads,
                   GPUREG_GLOBAL const u64 * sumsOfWorkloads,
                   GPUREG_LOCAL u64 *        scratch,
                   GPUREG_GLOBAL u64 *       histogram)
{
  const int bin = GroupIndex();
  u64       sums[CorrelationRatioColumns] = { 0, 0, 0, 0 };
  for (u32 workload = firstWorkloads[bin] + (u32)LaneIndex(); workload < firstWorkloads[bin + 1];
       workload += (u32)LaneCount())
  {
    for (int k = 0; k < CorrelationRatioColumns; ++k)
    {
      sums[k] += sumsOfWorkloads[(i64)workload * CorrelationRatioColumns + k];
    }
  }
  WriteSumOfEntries(sums, columns, scratch, histogram + bin * columns);
}

GPUREG_NAMESPACE_END

#endif
