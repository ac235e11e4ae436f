// SPDX-License-Identifier: Apache-2.0
// The requirements and results of an evaluation with a histogram, and the sizes of its arrays and launches.
#ifndef gpureg_HistogramProblem_h
#define gpureg_HistogramProblem_h

#include "gpureg/metric/samples/Samples.h"

#include "engine/metric/histogram/HistogramPasses.h"
#include "engine/metric/samples/SamplePartition.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gpureg
{

/** The sizes of an evaluation's arrays, and of the launches of pass 1. */
struct HistogramExtent
{
  int         chunks = 0;
  int         chunksPerLaunch = 0;
  std::size_t entries = 0;
  std::size_t histogramBytes = 0; // of one chunk
  std::size_t partials = 0;       // number of floats in the chunks' sums of forces

  std::size_t
  GetSumBytes() const
  {
    return entries * sizeof(kernels::u64) + partials * sizeof(float);
  }
};

/** Describes what a metric requires of its samples. */
struct HistogramNeeds
{
  int mostSamplesOfChunk;
  /** The range that the moving image's values are scaled to. */
  double scaledRange;
};

/** The histogram and the sums of forces, downloaded from a device. */
struct HistogramResult : ForceResult
{
  /** [rows][columns], in units of 1/countUnit. */
  std::vector<std::uint64_t> histogram;
  double                     countUnit = 1;
};

/** The sums from which the values of a batch's candidates follow; see a metric's SummaryGroup(). */
struct HistogramSummaries
{
  std::vector<std::array<std::int64_t, kernels::SummaryCount>> sums;
  /** The unit of the histogram's counts. */
  double countUnit = 1;
};

/** Returns the integer that a weight of 1 is counted as: as large as a chunk's 32-bit sums allow, but at most 2^22, where a float's
 *  rounding is coarser. */
inline float
ComputeCountUnit(const kernels::SampleArguments & a, int lanes, int mostSamples)
{
  if (kernels::CountsHalves(a.variant))
  {
    return GPUREG_FIXED_POINT_COUNT_UNIT;
  }
  float unit = 1 << 18;
  for (int samples = lanes * a.tileDepth; 2 * samples <= mostSamples + 1 && unit < 1 << 22; samples *= 2)
  {
    unit *= 2;
  }
  return unit;
}

/** Returns the requirements of the samples. */
inline SampleNeeds
GetSampleNeeds(const HistogramNeeds & needs)
{
  // With fewer samples, clearing, storing and summing a chunk's histogram costs more than counting the samples. The number is no larger
  // because the histogram's unit is the finest up to here: in units of 2^-20, sparse histograms miss ITK's derivative by more than 1e-4.
  constexpr int LeastSamplesOfChunk = 1024;
  return { LeastSamplesOfChunk, needs.mostSamplesOfChunk, needs.scaledRange };
}

/** Returns the sizes of an evaluation. \param chunks the number of chunks of the first pass */
inline HistogramExtent
MakeExtent(const kernels::HistogramArguments & a, int chunks, Forces forces)
{
  // The most bytes of the chunks' histograms of one launch; larger problems need several launches.
  constexpr std::size_t MaximumHistogramBytes = std::size_t{ 64 } << 20;
  HistogramExtent       extent;
  extent.chunks = chunks;
  extent.entries = CountEntries(a);
  extent.histogramBytes = extent.entries * kernels::EntryBytes(a.samples.variant);
  extent.chunksPerLaunch =
    static_cast<int>(std::clamp<std::size_t>(MaximumHistogramBytes / extent.histogramBytes, 1, extent.chunks));
  if (forces == Forces::Summed)
  {
    extent.partials = CountPartials(a.samples, CountBands(a));
  }
  return extent;
}

/** Sets the rows of a band, which fit into local memory, and the copies of a group's histogram. */
inline void
SetBands(const SampleGrain & grain, kernels::HistogramArguments & a)
{
  // The most copies of a group's histogram, as long as they leave local memory for other groups.
  constexpr int         MaximumCopies = 4;
  constexpr std::size_t CopiesBytes = std::size_t{ 48 } << 10;
  const std::size_t     rowBytes = static_cast<std::size_t>(a.columns) * kernels::EntryBytes(a.samples.variant);
  const std::size_t tableBytes = static_cast<std::size_t>(a.tableColumns) * kernels::TableEntryBytes(a.samples.variant);
  a.bandRows = ComputeBandRows(a.rows, std::max(rowBytes, tableBytes), grain.localBytes);
  a.histogramCopies = MaximumCopies;
  while (a.histogramCopies > 1 && rowBytes * a.histogramCopies * a.bandRows > std::min(grain.localBytes, CopiesBytes))
  {
    a.histogramCopies /= 2;
  }
}

} // namespace gpureg

#endif
