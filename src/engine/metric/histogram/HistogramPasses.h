// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_HistogramPasses_h
#define gpureg_HistogramPasses_h

#include "engine/metric/Batch.h"
#include "engine/metric/samples/SampleArrays.h"

#include "kernels/metric/histogram/Histogram.h"

#include <algorithm>
#include <cstddef>

namespace gpureg
{

/** The arrays of an evaluation. An array that the variant does not need is null. */
struct HistogramArrays
{
  const SampleArrays * samples = nullptr;
  /** u32[chunks of a launch][CountersPerEntry][rows][columns]. */
  MemoryPointer chunkHistograms;
  /** u64[rows][columns], followed by the float partials [chunks][bands][PartialCount], so that one copy downloads both. */
  MemoryPointer sums;
  /** float[rows][tableColumns], or i64 in fixed-point variants. */
  MemoryPointer table;
  /** float[3], one per sample; SampleForces::Write() sets it while a pass is enqueued. */
  Memory * forces = nullptr;
};

/** Returns the number of entries of the histogram. */
inline std::size_t
CountEntries(const kernels::HistogramArguments & a)
{
  return static_cast<std::size_t>(a.rows) * static_cast<std::size_t>(a.columns);
}

/** Returns the bytes of a band's rows of the histogram. */
inline std::size_t
GetBandBytes(const kernels::HistogramArguments & a)
{
  return static_cast<std::size_t>(a.bandRows) * static_cast<std::size_t>(a.columns) *
         static_cast<std::size_t>(kernels::EntryBytes(a.samples.variant));
}

/** Returns the bytes of a band's rows of the table. */
inline std::size_t
GetTableBandBytes(const kernels::HistogramArguments & a)
{
  return static_cast<std::size_t>(a.bandRows) * static_cast<std::size_t>(a.tableColumns) *
         static_cast<std::size_t>(kernels::TableEntryBytes(a.samples.variant));
}

/** Returns the number of rows of a band. It is even, unless a band has all rows, or local memory has room for one row only. */
inline int
ComputeBandRows(int rows, std::size_t rowBytes, std::size_t localBytes)
{
  const auto most = static_cast<int>(std::clamp<std::size_t>(localBytes / rowBytes, 1, static_cast<std::size_t>(rows)));
  return most < rows && most > 1 ? most - most % 2 : most;
}

inline int
CountBands(const kernels::HistogramArguments & a)
{
  return (a.rows + a.bandRows - 1) / a.bandRows;
}

/** The operations of the two passes on one device, for a metric's kernels::…Arguments. src/host, cuda and opencl each implement them, by
 *  these names, in a file of this name, and a metric's own operations in the metric's …Passes file.
 *  \tparam TSummaryArguments the arguments of the metric's SummaryGroup() */
template <typename TArguments, typename TSummaryArguments = TArguments>
class HistogramPasses
{
public:
  virtual ~HistogramPasses() = default;

  virtual SampleGrain
  GetGrain() const = 0;

  /** Compiles or loads the kernels of a variant, so that evaluations do not. */
  virtual void
  Prepare(int variant) = 0;

  /** Pass 1 over the chunks firstChunk … firstChunk + chunkCount - 1: writes chunkHistograms[chunk - firstChunk]. */
  virtual void
  Histogram(const TArguments &          a,
            const kernels::SampleMaps & maps,
            const HistogramArrays &     arrays,
            int                         firstChunk,
            int                         chunkCount) = 0;

  /** Writes, or if accumulate is true adds, the sum of chunkCount chunks' histograms to the sums. */
  virtual void
  SumHistograms(const TArguments & a, const HistogramArrays & arrays, int chunkCount, bool accumulate) = 0;

  /** Computes the table from the sums. */
  virtual void
  Table(const TArguments & a, const HistogramArrays & arrays) = 0;

  /** Returns true if the device has SumBatch(). */
  virtual bool
  HasBatches() const
  {
    return false;
  }

  /** Returns true if the device has Summarize() for these arguments. */
  virtual bool
  HasSummaries(const TSummaryArguments &) const
  {
    return false;
  }

  /** Pass 1 for a range of candidates: writes histograms[candidate - range.first], each one the sum over the candidate's chunks.
   *  \param a the arguments that all candidates share
   *  \param maps the maps of all candidates */
  virtual void
  SumBatch(
    const TArguments &, BatchRange, const HistogramArrays &, const Memory & /* maps */, Memory & /* histograms */)
  {}

  /** Computes the sums of a range of candidates from their histograms: writes summaries[candidate]. */
  virtual void
  Summarize(const TSummaryArguments &, BatchRange, const Memory & /* histograms */, Memory & /* summaries */)
  {}

  /** Pass 2 over every chunk: writes partials behind the sums, or forces. */
  virtual void
  ComputeForces(const TArguments & a, const kernels::SampleMaps & maps, const HistogramArrays & arrays) = 0;
};

} // namespace gpureg

#endif
