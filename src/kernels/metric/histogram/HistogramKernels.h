// SPDX-License-Identifier: Apache-2.0
// The work-groups of the two passes of every metric that has a histogram, for the devices that have work-groups: CUDA and OpenCL.
// MetricArguments is the metric's own; its CountSample(), CountLaneSum(), ReadChunk(), ComputeForce() and ComputeFixedPointForce() must be
// defined before this header is included. src/host/metric/histogram/HostHistogramPasses.h computes the same in plain loops; tests compare
// the two.
//
// A prelude for these adds: GPUREG_LOCAL, GPUREG_GROUP_FUNCTION, GPUREG_METRIC_GROUP_FUNCTION, LaneIndex(), LaneCount(), GroupIndex(),
// GroupIndexY(), GroupCountY(), LocalBarrier(), AddWindow().
#ifndef gpureg_kernels_HistogramKernels_h
#define gpureg_kernels_HistogramKernels_h

GPUREG_NAMESPACE_BEGIN

/** Returns the number of fixed bins in the band that begins at firstRow. */
GPUREG_FUNCTION int
RowsOfBand(const HistogramArguments * a, int firstRow)
{
  return a->rows - firstRow < a->bandRows ? a->rows - firstRow : a->bandRows;
}

/** Counts those samples of a lane of a chunk whose fixed bin is one of a band's rows, in a histogram of the band's entries, which are
 *  `stride` apart. */
GPUREG_METRIC_GROUP_FUNCTION void
CountLane(int                     variant,
          const MetricArguments * a,
          const SampleMaps *      maps,
          const SampleVolumes *   v,
          int                     chunk,
          int                     firstRow,
          int                     rows,
          GPUREG_LOCAL u32 *      histogram,
          int                     stride)
{
  const HistogramArguments * h = &a->histogram;
  const int                  bandEntries = rows * h->columns;
  LaneWalk                   walk = StartLaneWalk(variant, &h->samples, maps, chunk, LaneCount(), LaneIndex());
  u64                        laneSum = 0;
  for (int step = 0; step < walk.count; ++step, AdvanceLaneWalk(variant, maps, &walk))
  {
    float     x[3];
    i64       position[3];
    const int row = (int)v->fixedBins[walk.sample] - firstRow;
    if (row < 0 || row >= rows)
    {
      continue;
    }
    MapSample(variant, &h->samples, maps, v, &walk, x, position);
    CountSample(variant, a, maps, v, position, histogram, row * h->columns, bandEntries, stride, &laneSum);
  }
  CountLaneSum(variant, a, laneSum, LaneIndex(), rows, histogram, stride);
}

/** Clears a group's counters. */
GPUREG_GROUP_FUNCTION void
ClearCounters(GPUREG_LOCAL u32 * counters, int count)
{
  for (int counter = LaneIndex(); counter < count; counter += LaneCount())
  {
    counters[counter] = 0;
  }
  LocalBarrier();
}

/** Returns the place of a band's counter in its chunk's histogram, from the band's first row on. Low halves lie behind high ones: in the
 *  band behind the band's own entries, in the chunk's histogram behind the entries of all bands. */
GPUREG_FUNCTION int
CounterInChunk(int variant, const HistogramArguments * a, int bandEntries, int counter)
{
  const int isLow = CountsHalves(variant) && counter >= bandEntries;
  return isLow ? counter - bandEntries + a->rows * a->columns : counter;
}

/** Returns the offset of a band's first row in the histogram of a slot. */
GPUREG_FUNCTION i64
BandInChunk(int variant, const HistogramArguments * a, int slot, int firstRow)
{
  return ((i64)slot * (a->rows * CountersPerEntry(variant)) + firstRow) * a->columns;
}

/** Pass 1. One group counts one chunk into a histogram in local memory, then writes it to chunkHistograms[slot][counter][fixed
 *  bin][entry], in units of 1/countUnit.
 *  If the entries do not fit into local memory, the groups of band b count the fixed bins from b·bandRows on. */
GPUREG_METRIC_GROUP_FUNCTION void
HistogramGroup(int                     variant,
               const MetricArguments * a,
               const SampleMaps *      maps,
               const SampleVolumes *   v,
               int                     chunk,
               int                     slot,
               GPUREG_LOCAL u32 *      histogram,
               GPUREG_GLOBAL u32 *     chunkHistograms)
{
  const HistogramArguments * h = &a->histogram;
  const int                  lane = LaneIndex();
  const int                  firstRow = GroupIndexY() * h->bandRows;
  const int                  rows = RowsOfBand(h, firstRow);
  const int                  bandEntries = rows * h->columns;
  const int                  counters = bandEntries * CountersPerEntry(variant);
  const int                  copies = h->histogramCopies;
  ClearCounters(histogram, counters * copies);
  CountLane(variant, a, maps, v, chunk, firstRow, rows, histogram + (lane & (copies - 1)), copies);
  LocalBarrier();

  GPUREG_GLOBAL u32 * out = chunkHistograms + BandInChunk(variant, h, slot, firstRow);
  for (int counter = lane; counter < counters; counter += LaneCount())
  {
    // The lanes begin with different copies, so that together they read from all banks of local memory.
    const int firstCopy = lane * copies / TileWidth;
    u32       sum = 0;
    for (int copy = 0; copy < copies; ++copy)
    {
      sum += histogram[counter * copies + ((firstCopy + copy) & (copies - 1))];
    }
    out[CounterInChunk(variant, h, bandEntries, counter)] = sum;
  }
}

/** Adds up the chunks' histograms: histogram[entry] (+)= the sum over the chunks of their counts in that entry. Each group sums sumEntries
 *  entries, a power of two up to LaneCount(); its lanes share the chunks out among them. */
GPUREG_METRIC_GROUP_FUNCTION void
SumHistogramsGroup(int                       variant,
                   const MetricArguments *   a,
                   int                       sumEntries,
                   int                       group,
                   int                       chunkCount,
                   int                       accumulate,
                   GPUREG_GLOBAL const u32 * chunkHistograms,
                   GPUREG_LOCAL u64 *        shareSums,
                   GPUREG_GLOBAL u64 *       histogram)
{
  const int entries = a->histogram.rows * a->histogram.columns;
  const int lane = LaneIndex();
  const int shares = LaneCount() / sumEntries;
  const int entry = group * sumEntries + (lane & (sumEntries - 1));
  u64       sum = 0;
  if (entry < entries)
  {
    GPUREG_UNROLL_8
    for (int chunk = lane / sumEntries; chunk < chunkCount; chunk += shares)
    {
      sum += ReadChunk(variant, a, chunkHistograms, chunk, entry);
    }
  }
  shareSums[lane] = sum;
  LocalBarrier();
  for (int width = LaneCount() / 2; width >= sumEntries; width /= 2)
  {
    if (lane < width)
    {
      shareSums[lane] += shareSums[lane + width];
    }
    LocalBarrier();
  }
  if (lane < sumEntries && entry < entries)
  {
    histogram[entry] = accumulate ? histogram[entry] + shareSums[lane] : shareSums[lane];
  }
}

/** Copies a band's rows of the table from a device's global memory to a group's local memory. */
GPUREG_GROUP_FUNCTION void
CopyTableRows(int                        variant,
              const HistogramArguments * a,
              int                        firstRow,
              int                        rows,
              GPUREG_GLOBAL const void * table,
              GPUREG_LOCAL float *       scratch)
{
  GPUREG_LOCAL i64 * fixedPointRows = (GPUREG_LOCAL i64 *)scratch;
  for (int entry = LaneIndex(); entry < rows * a->tableColumns; entry += LaneCount())
  {
    if (VariantHas(variant, SamplesAreFixedPoint))
    {
      fixedPointRows[entry] = ((GPUREG_GLOBAL const i64 *)table)[firstRow * a->tableColumns + entry];
    }
    else
    {
      scratch[entry] = ((GPUREG_GLOBAL const float *)table)[firstRow * a->tableColumns + entry];
    }
  }
  LocalBarrier();
}

/** Pass 2. One group sums the forces of one chunk: partials[(chunk·bands + band)·PartialCount + …], or writes each sample's force.
 *  scratch: the larger of bandRows·tableColumns table entries and PartialCount·LaneCount() floats. */
GPUREG_METRIC_GROUP_FUNCTION void
ForceGroup(int                        variant,
           const MetricArguments *    a,
           const SampleMaps *         maps,
           const SampleVolumes *      v,
           int                        firstChunk,
           GPUREG_GLOBAL const void * table,
           GPUREG_LOCAL float *       scratch,
           GPUREG_GLOBAL float *      partials,
           GPUREG_GLOBAL float *      forces)
{
  const HistogramArguments * h = &a->histogram;
  const int                  lane = LaneIndex();
  const int                  lanes = LaneCount();
  const int                  firstRow = GroupIndexY() * h->bandRows;
  const int                  rows = RowsOfBand(h, firstRow);
  CopyTableRows(variant, h, firstRow, rows, table, scratch);

  GPUREG_LOCAL const i64 * fixedPointRows = (GPUREG_LOCAL const i64 *)scratch;
  float                    sums[2 * ForceSumCount];
  for (int s = 0; s < PartialCount(variant); ++s)
  {
    sums[s] = 0.0f;
  }
  const int chunk = firstChunk + GroupIndex();
  LaneWalk  walk = StartLaneWalk(variant, &h->samples, maps, chunk, lanes, lane);
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
      MapSample(variant, &h->samples, maps, v, &walk, x, position);
      isValid = VariantHas(variant, SamplesAreFixedPoint)
                  ? ComputeFixedPointForce(
                      variant, a, maps, v, walk.sample, position, fixedPointRows + row * h->tableColumns, force)
                  : ComputeForce(variant, a, maps, v, walk.sample, position, scratch + row * h->tableColumns, force);
      FollowForceBack(variant, &h->samples, v, &walk, force);
    }
    if (VariantHas(variant, WritesForces))
    {
      // Every sample's force is written once: by the band of its fixed bin, or, if the sample is not valid, by the first band.
      if (isMine || (bin == InvalidBin && firstRow == 0))
      {
        StoreVector(force, forces + 3 * walk.sample);
      }
    }
    else if (isValid)
    {
      AddForceOfSample(variant, &h->samples, force, x, sums);
    }
  }
  if (VariantHas(variant, WritesForces))
  {
    return;
  }
  if (!VariantHas(variant, SamplesAreFixedPoint))
  {
    FinishForceAlongZ(sums, walk.x[0] - h->samples.centre[0], walk.x[1] - h->samples.centre[1]);
  }
  SumEachOverLanes(variant, ForceSumCount, sums, scratch);
  if (lane < PartialCount(variant))
  {
    partials[((i64)chunk * GroupCountY() + GroupIndexY()) * PartialCount(variant) + lane] = scratch[lane * lanes];
  }
}

GPUREG_NAMESPACE_END

#endif
