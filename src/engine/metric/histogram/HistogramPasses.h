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

/** The arrays of an evaluation; null where the variant has none. */
struct HistogramArrays
{
  const SampleArrays * samples = nullptr;
  /** u32 [chunks of a launch][CountersPerCell][rows][columns]. */
  MemoryPointer chunkHistograms;
  /** u64 [rows][columns], and behind it the float partials [chunks][bands][PartialCount]: one copy brings both. */
  MemoryPointer sums;
  /** float, or i64 where the variant is precise, [rows][tableColumns]. */
  MemoryPointer table;
  /** float[3], one a sample: what SampleSet::ReserveForces has given. */
  Memory * forces = nullptr;
};

/** Cells of the histogram. */
inline std::size_t
CountCells(const kernels::HistogramArguments & a)
{
  return static_cast<std::size_t>(a.rows) * static_cast<std::size_t>(a.columns);
}

/** Bytes of a band's rows of the histogram, … */
inline std::size_t
GetBandBytes(const kernels::HistogramArguments & a)
{
  return static_cast<std::size_t>(a.bandRows) * static_cast<std::size_t>(a.columns) *
         static_cast<std::size_t>(kernels::CellBytes(a.samples.variant));
}

/** … and of the table. */
inline std::size_t
GetTableBandBytes(const kernels::HistogramArguments & a)
{
  return static_cast<std::size_t>(a.bandRows) * static_cast<std::size_t>(a.tableColumns) *
         static_cast<std::size_t>(kernels::TableEntryBytes(a.samples.variant));
}

/** How many rows of so many bytes are a band's: an even number, unless it is all of them or there is room for no more than one. */
inline int
FindBandRows(int rows, std::size_t rowBytes, std::size_t localBytes)
{
  const auto most = static_cast<int>(std::clamp<std::size_t>(localBytes / rowBytes, 1, static_cast<std::size_t>(rows)));
  return most < rows && most > 1 ? most - most % 2 : most;
}

inline int
CountBands(const kernels::HistogramArguments & a)
{
  return (a.rows + a.bandRows - 1) / a.bandRows;
}

/** The operations of the two passes on one device, for a metric's kernels::…Arguments. src/host, cuda and opencl each have
 *  them, by these names, in a file of this name; what is a metric's own there, in …Passes.
 *  \tparam TSummaryArguments what its SummaryGroup() takes. */
template <typename TArguments, typename TSummaryArguments = TArguments>
class HistogramPasses
{
public:
  virtual ~HistogramPasses() = default;

  virtual SampleGrain
  GetGrain() const = 0;

  /** Compiles or loads what the variant needs, so that no evaluation does. */
  virtual void
  Prepare(int variant) = 0;

  /** Pass 1 over the chunks firstChunk … + chunkCount - 1: chunkHistograms[chunk - firstChunk]. */
  virtual void
  Histogram(const TArguments &          a,
            const kernels::SampleMaps & maps,
            const HistogramArrays &     arrays,
            int                         firstChunk,
            int                         chunkCount) = 0;

  /** sums (+)= the histograms of so many chunks. */
  virtual void
  SumHistograms(const TArguments & a, const HistogramArrays & arrays, int chunkCount, bool accumulate) = 0;

  /** sums → table. */
  virtual void
  Table(const TArguments & a, const HistogramArrays & arrays) = 0;

  /** Whether there is SumBatch, … */
  virtual bool
  HasBatches() const
  {
    return false;
  }

  /** … and Summarize, of what these arguments say. */
  virtual bool
  HasSummaries(const TSummaryArguments &) const
  {
    return false;
  }

  /** Pass 1 of some of a batch's candidates: histograms[candidate - range.first], each the sum over its chunks.
   *  \param a what they have in common.
   *  \param maps those of all candidates. */
  virtual void
  SumBatch(
    const TArguments &, BatchRange, const HistogramArrays &, const Memory & /* maps */, Memory & /* histograms */)
  {}

  /** Sums their histograms up: summaries[candidate]. */
  virtual void
  Summarize(const TSummaryArguments &, BatchRange, const Memory & /* histograms */, Memory & /* summaries */)
  {}

  /** Pass 2 over every chunk: partials behind the sums, or forces. */
  virtual void
  FindForces(const TArguments & a, const kernels::SampleMaps & maps, const HistogramArrays & arrays) = 0;
};

} // namespace gpureg

#endif
