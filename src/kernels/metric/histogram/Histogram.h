// SPDX-License-Identifier: Apache-2.0
// Sums over the samples of each fixed bin, in fixed point: integers add up to the same sum in any order. A fixed bin has a
// row of cells (moving bins of a joint histogram, or sums of powers of moving values), of which a sample counts in some, as
// a rule in four neighbours, its window; and a row of a table, by which its samples' forces are weighed.
// A metric says which by CountSample(), or FindWindow() and WindowCount.h; CountLaneSum(), or LaneSum.h; ReadChunk() and
// FindForce(); and precise twins.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_Histogram_h
#define gpureg_kernels_Histogram_h

GPUREG_NAMESPACE_BEGIN

/** 2^32: HistogramArguments::countUnit where weights are counted by halves. */
#define GPUREG_PRECISE_COUNT_UNIT GPUREG_FIXED_UNITS

enum
{
  /** Cells of the histogram that one group adds up over the chunks, its lanes sharing these out among them; at least so many … */
  LeastSumCells = 16,
  /** … and of a batch more, until each lane has so many chunks. */
  LeastChunksOfLane = 4,
  /** Cells that a sample counts in. */
  WindowCells = 4,
  /** 64-bit integers from which a candidate's value follows: see a metric's SummaryGroup(). */
  SummaryCount = 4,
  /** Floats behind a table's entries, see Evaluated.h. Of a mutual information the factor is 1 over the number of samples in the
   *  histogram's units, the value the normalised mutual information, 0 where that is not asked for; of a correlation ratio see
   *  WriteNumbersBehindTable. A joint histogram has none. */
  NumbersBehindTable = EvaluatedValue + 1
};

/** What an evaluation depends on besides the volumes and SampleMaps: the first member of each metric's arguments. 32-bit
 *  members only. */
typedef struct HistogramArguments
{
  SampleArguments samples;
  int             rows;            /* fixed bins */
  int             columns;         /* cells of each */
  int             tableColumns;    /* entries of each in the table */
  float           countUnit;       /* a weight of 1 in fixed point, a power of two */
  int             bandRows;        /* fixed bins whose rows fit into local memory at once */
  int             histogramCopies; /* of a group's histogram, a power of two, interleaved: neighbours, which often
                                     meet in a cell, count in different ones */
} HistogramArguments;

/** Groups that sum the chunks' histograms up, each so many cells of them. */
GPUREG_FUNCTION int
CountSumGroups(const HistogramArguments * a, int sumCells)
{
  return (a->rows * a->columns + sumCells - 1) / sumCells;
}

/** Cells that a group of so many lanes adds up of a candidate. A batch's candidates have few chunks: with LeastSumCells most lanes
 *  would have none, and there would be more than a million groups of 8000 candidates. A power of two, as lanes are. */
GPUREG_FUNCTION int
SumCellsOfBatch(int chunks, int lanes)
{
  int cells = LeastSumCells;
  while (cells < lanes && lanes / cells * LeastChunksOfLane > chunks)
  {
    cells *= 2;
  }
  return cells;
}

/** Whether weights are counted by halves: the precise variants', and those of samples that do not all weigh the same. */
GPUREG_FUNCTION int
CountsHalves(int variant)
{
  return VariantHas(variant, SamplesArePrecise | WeighsBorder);
}

/** A cell of a chunk's histogram has one counter, or, where weights are counted by halves, two: first those of the high halves
 *  of all cells, then those of the low halves, see SplitWeights. */
GPUREG_FUNCTION int
CountersPerCell(int variant)
{
  return CountsHalves(variant) ? 2 : 1;
}

/** Bytes of a cell of a chunk's histogram. */
GPUREG_FUNCTION int
CellBytes(int variant)
{
  return 4 * CountersPerCell(variant);
}

/** Bytes of an entry of the table: a float, or a 64-bit integer. */
GPUREG_FUNCTION int
TableEntryBytes(int variant)
{
  return VariantHas(variant, SamplesArePrecise) ? 8 : 4;
}

/** What a chunk's histogram has counted in a cell. */
GPUREG_FUNCTION u64
CountInChunk(int variant, GPUREG_GLOBAL const u32 * chunkHistograms, int chunk, int cells, int cell)
{
  if (CountsHalves(variant))
  {
    GPUREG_GLOBAL const u32 * counters = chunkHistograms + (i64)chunk * 2 * cells + cell;
    return ((u64)counters[0] << 16) + counters[cells];
  }
  return chunkHistograms[(i64)chunk * cells + cell];
}

/** Weights in units of 2^-32 as halves of 16 bits, so that each half's sums fit into 32 bits. */
GPUREG_FUNCTION void
SplitWeights(const i64 * weights, u32 * high, u32 * low)
{
  for (int k = 0; k < WindowCells; ++k)
  {
    high[k] = (u32)(weights[k] >> 16);
    low[k] = (u32)weights[k] & 0xFFFFu;
  }
}

GPUREG_NAMESPACE_END

#endif
