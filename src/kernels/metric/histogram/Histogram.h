// SPDX-License-Identifier: Apache-2.0
// Sums over the samples of each fixed bin, in fixed point: sums of integers do not depend on the order of the additions. A fixed bin has a
// row of entries: the moving bins of a joint histogram, or sums of powers of moving values. A sample adds to some entries of its row, as a
// rule to four adjacent ones, its window. A fixed bin also has a row of a table, which gives the weights of its samples' forces.
// A metric defines CountSample(), or ComputeWindow() and includes WindowCount.h; CountLaneSum(), or includes LaneSum.h; ReadChunk() and
// ComputeForce(); and the fixed-point counterparts of these.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_Histogram_h
#define gpureg_kernels_Histogram_h

GPUREG_NAMESPACE_BEGIN

/** 2^32: HistogramArguments::countUnit in variants that count weights in 16-bit halves. */
#define GPUREG_FIXED_POINT_COUNT_UNIT GPUREG_FIXED_UNITS

enum
{
  /** The fewest entries of the histogram that one group sums over the chunks; its lanes share the chunks out among them. */
  LeastSumEntries = 16,
  /** In a batch, a group sums more entries, until each lane has this many chunks. */
  LeastChunksOfLane = 4,
  /** Adjacent entries in a sample's window. */
  WindowEntries = 4,
  /** 64-bit integers from which a candidate's value follows: see a metric's SummaryGroup(). */
  SummaryCount = 4,
  /** Floats behind a table's entries, see Evaluated.h. For a mutual information the factor is 1 over the number of samples in the
   *  histogram's units, and the value is the normalized mutual information, or 0 if that is not the metric; for a correlation ratio see
   *  WriteNumbersBehindTable. The table of a joint histogram with nearest bins has none. */
  NumbersBehindTable = EvaluatedValue + 1
};

/** Arguments of an evaluation besides the volumes and SampleMaps; the first member of each metric's arguments. 32-bit members only. */
typedef struct HistogramArguments
{
  SampleArguments samples;
  int             rows;            /* fixed bins */
  int             columns;         /* entries of each fixed bin */
  int             tableColumns;    /* entries of each fixed bin in the table */
  float           countUnit;       /* a weight of 1 in fixed point, a power of two */
  int             bandRows;        /* fixed bins whose rows fit into local memory at once */
  int             histogramCopies; /* of a group's histogram, a power of two, interleaved: neighbours, which often
                                     meet in an entry, count in different ones */
} HistogramArguments;

/** Returns the number of groups that sum the chunks' histograms, each of which sums sumEntries entries. */
GPUREG_FUNCTION int
CountSumGroups(const HistogramArguments * a, int sumEntries)
{
  return (a->rows * a->columns + sumEntries - 1) / sumEntries;
}

/** Returns the number of entries of a candidate that a group of `lanes` lanes sums, a power of two, as `lanes` is. The candidates of a
 *  batch have few chunks: with LeastSumEntries entries most lanes would have no chunk, and there would be more than a million groups for
 *  8000 candidates. */
GPUREG_FUNCTION int
SumEntriesOfBatch(int chunks, int lanes)
{
  int entries = LeastSumEntries;
  while (entries < lanes && lanes / entries * LeastChunksOfLane > chunks)
  {
    entries *= 2;
  }
  return entries;
}

/** Returns 1 if weights are counted in 16-bit halves: in fixed-point variants, and where samples near the border weigh less. */
GPUREG_FUNCTION int
CountsHalves(int variant)
{
  return VariantHas(variant, SamplesAreFixedPoint | WeighsBorder);
}

/** Returns the number of counters of an entry in a chunk's histogram: 1; or 2 if weights are counted in 16-bit halves: first the high
 *  halves of all entries, then the low halves, see SplitWeights. */
GPUREG_FUNCTION int
CountersPerEntry(int variant)
{
  return CountsHalves(variant) ? 2 : 1;
}

/** Returns the size of an entry of a chunk's histogram in bytes. */
GPUREG_FUNCTION int
EntryBytes(int variant)
{
  return 4 * CountersPerEntry(variant);
}

/** Returns the size of an entry of the table in bytes: that of a float, or of a 64-bit integer. */
GPUREG_FUNCTION int
TableEntryBytes(int variant)
{
  return VariantHas(variant, SamplesAreFixedPoint) ? 8 : 4;
}

/** Returns the count in an entry of a chunk's histogram. */
GPUREG_FUNCTION u64
CountInChunk(int variant, GPUREG_GLOBAL const u32 * chunkHistograms, int chunk, int entries, int entry)
{
  if (CountsHalves(variant))
  {
    GPUREG_GLOBAL const u32 * counters = chunkHistograms + (i64)chunk * 2 * entries + entry;
    return ((u64)counters[0] << 16) + counters[entries];
  }
  return chunkHistograms[(i64)chunk * entries + entry];
}

/** Splits weights in units of 2^-32 into halves of 16 bits, so that the sums of each half fit into 32 bits. */
GPUREG_FUNCTION void
SplitWeights(const i64 * weights, u32 * high, u32 * low)
{
  for (int k = 0; k < WindowEntries; ++k)
  {
    high[k] = (u32)(weights[k] >> 16);
    low[k] = (u32)weights[k] & 0xFFFFu;
  }
}

GPUREG_NAMESPACE_END

#endif
