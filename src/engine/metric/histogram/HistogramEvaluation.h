// SPDX-License-Identifier: Apache-2.0
// An evaluation of a metric that has a histogram: its arrays, the order of its passes, and its results.
#ifndef gpureg_HistogramEvaluation_h
#define gpureg_HistogramEvaluation_h

#include "engine/metric/histogram/HistogramBatches.h"
#include "engine/metric/histogram/HistogramPasses.h"
#include "engine/metric/histogram/HistogramProblem.h"
#include "engine/metric/MetricCore.h"
#include "engine/runtime/MemoryLedger.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace gpureg
{

/** Evaluates a metric that has a histogram: by itself, or for many candidates (HistogramBatches).
 *  \tparam TArguments the metric's kernels::…Arguments
 *  \tparam TSummaryArguments see HistogramPasses */
template <typename TArguments, typename TSummaryArguments = TArguments>
class HistogramEvaluation : public HistogramBatches<TArguments, TSummaryArguments>
{
  using Superclass = HistogramBatches<TArguments, TSummaryArguments>;
  using Superclass::m_Arguments;
  using Superclass::m_Arrays;
  using Superclass::m_Core;
  using Superclass::m_Maps;
  using Superclass::m_Passes;

public:
  using typename Superclass::Passes;

  HistogramEvaluation(MetricCore & core, std::unique_ptr<Passes> passes)
    : Superclass(core, std::move(passes))
  {}

  virtual ~HistogramEvaluation() = default;

  const Backend &
  GetBackend() const
  {
    return m_Core.GetBackend();
  }

  /** Evaluates the metric along a mapping.
   *  \param needs the metric's requirements. mostSamplesOfChunk samples with the largest weight, in units of 2^-18, must fit into 32 bits
   *  \param setArguments sets the metric's own arguments, such as rows, columns and table columns of the histogram, and adds the metric's
   *  flags to the variant */
  template <typename TSetArguments>
  HistogramResult
  Evaluate(const SampleMapping &  mapping,
           Forces                 forces,
           const HistogramNeeds & needs,
           const ParallelFor &    parallelFor,
           const TSetArguments &  setArguments)
  {
    return m_Core.Evaluate(
      parallelFor,
      [&] { this->Prepare(mapping, forces, needs, setArguments); },
      [&] { this->EnqueuePasses(forces); },
      [&] { return this->MakeResult(forces); });
  }

  /** Makes the arguments of evaluations along a mapping, and reserves their memory. For a method that enqueues evaluations itself. */
  template <typename TSetArguments>
  void
  Prepare(const SampleMapping &  mapping,
          Forces                 forces,
          const HistogramNeeds & needs,
          const TSetArguments &  setArguments)
  {
    this->DescribeEvaluation(mapping, forces, needs, setArguments);
    if (m_Core.parts != nullptr)
    {
      // The coarsest unit of all parts, so that their histograms can be added up.
      float & unit = m_Arguments.histogram.countUnit;
      unit = -static_cast<float>(m_Core.parts->FindLargest(-unit));
    }
    m_Passes->Prepare(m_Arguments.histogram.samples.variant);
    this->ReserveArrays(mapping, forces);
    this->PrepareFirstPass();
  }

  /** Writes down the arrays that Prepare() reserves, for samples that SampleSet::Plan() has described.
   *  \param name what their names begin with */
  template <typename TSetArguments>
  void
  Plan(const SampleMapping &  mapping,
       Forces                 forces,
       const HistogramNeeds & needs,
       const TSetArguments &  setArguments,
       const std::string &    name,
       MemoryLedger &         ledger)
  {
    this->DescribeEvaluation(mapping, forces, needs, setArguments);
    m_Core.samples.PlanMapping(mapping, forces, name, ledger);
    ledger.ReserveExactly(name + "histograms", this->GetChunkHistogramBytes());
    ledger.Reserve(name + "sums", m_Extent.GetSumBytes());
    if (forces != Forces::None)
    {
      ledger.ReserveExactly(name + "table", this->GetTableBytes());
    }
  }

  /** Enqueues the passes that Prepare() prepared; the samples must have been moved. */
  void
  EnqueuePasses(Forces forces)
  {
    if (forces == Forces::None)
    {
      m_Core.samples.CheckAreMoved();
      this->EnqueueFirstPass();
      return;
    }
    this->EnqueueTable();
    m_Core.samples.GetForces().Write(forces, m_Arrays.forces, [this] { this->EnqueueForces(); });
  }

  /** Enqueues the passes up to the table. The value is stored behind the table. */
  void
  EnqueueTable()
  {
    m_Core.samples.CheckAreMoved();
    this->EnqueueFirstPass();
    if (m_Core.parts != nullptr)
    {
      this->JoinHistograms(*m_Core.parts);
    }
    m_Passes->Table(m_Arguments, m_Arrays);
  }

  /** Returns the forces of each sample that the last passes computed. Other work may overwrite them. */
  Memory &
  GetForces() const
  {
    return m_Core.samples.GetForces().Get();
  }

  /** Returns the table of the last passes, followed by kernels::NumbersBehindTable numbers. */
  const Memory &
  GetEvaluated() const
  {
    return *m_Arrays.table;
  }

  /** Returns the size of the table's entries in floats. */
  std::int64_t
  GetTableFloats() const
  {
    const kernels::HistogramArguments & a = m_Arguments.histogram;
    return std::int64_t{ a.rows } * a.tableColumns * kernels::TableEntryBytes(a.samples.variant) /
           static_cast<std::int64_t>(sizeof(float));
  }

  /** Returns the unit of the histogram's counts. */
  double
  GetCountUnit() const
  {
    return m_Arguments.histogram.countUnit;
  }

protected:
  /** Prepares a metric's own first pass; the arguments and the arrays are ready. */
  virtual void
  PrepareFirstPass()
  {}

  /** Enqueues the work that computes the histogram. */
  virtual void
  EnqueueFirstPass()
  {
    this->EnqueueChunks(
      [this](int first, int count) { m_Passes->Histogram(m_Arguments, m_Maps, m_Arrays, first, count); });
  }

  /** Enqueues the work that computes the forces from the table. */
  virtual void
  EnqueueForces()
  {
    m_Passes->ComputeForces(m_Arguments, m_Maps, m_Arrays);
  }

  /** Returns the number of chunks of the first pass. */
  virtual int
  CountChunks() const
  {
    return kernels::ChunkCount(&m_Arguments.histogram.samples);
  }

  /** Returns true if the first pass stores a histogram of each chunk. */
  virtual bool
  StoresChunkHistograms() const
  {
    return true;
  }

  /** Calls count(first, number) for as many chunks as are stored at once, which must enqueue the counting of these chunks' histograms; and
   *  adds the histograms up. */
  template <typename TCount>
  void
  EnqueueChunks(const TCount & count)
  {
    for (int first = 0; first < m_Extent.chunks; first += m_Extent.chunksPerLaunch)
    {
      const int now = std::min(m_Extent.chunksPerLaunch, m_Extent.chunks - first);
      count(first, now);
      m_Passes->SumHistograms(m_Arguments, m_Arrays, now, first > 0);
    }
  }

  const HistogramExtent &
  GetExtent() const
  {
    return m_Extent;
  }

private:
  /** Makes the arguments of evaluations along a mapping, and the sizes of their arrays. */
  template <typename TSetArguments>
  void
  DescribeEvaluation(const SampleMapping &  mapping,
                     Forces                 forces,
                     const HistogramNeeds & needs,
                     const TSetArguments &  setArguments)
  {
    this->SetProblem(m_Core.samples.MakeProblem(mapping, forces, this->GetGrain(), GetSampleNeeds(needs)),
                     needs,
                     setArguments);
    m_Extent = MakeExtent(m_Arguments.histogram, this->CountChunks(), forces);
  }

  std::size_t
  GetChunkHistogramBytes() const
  {
    return this->StoresChunkHistograms() ? static_cast<std::size_t>(m_Extent.chunksPerLaunch) * m_Extent.histogramBytes
                                         : 0;
  }

  std::size_t
  GetTableBytes() const
  {
    const kernels::HistogramArguments & a = m_Arguments.histogram;
    return static_cast<std::size_t>(a.rows) * a.tableColumns * kernels::TableEntryBytes(a.samples.variant) +
           kernels::NumbersBehindTable * sizeof(float);
  }

  void
  ReserveArrays(const SampleMapping & mapping, Forces forces)
  {
    Queue & queue = *m_Core.queue;
    m_Core.samples.UploadMapping(mapping, forces);
    ReserveExactly(queue, m_Arrays.chunkHistograms, this->GetChunkHistogramBytes());
    Reserve(queue, m_Arrays.sums, m_Extent.GetSumBytes());
    if (forces != Forces::None)
    {
      ReserveExactly(queue, m_Arrays.table, this->GetTableBytes());
    }
    if (forces == Forces::OfEachSample)
    {
      m_Core.samples.GetForces().Reserve();
    }
  }

  /** Waits for the device, and replaces the histogram by the sum of all parts' histograms. */
  void
  JoinHistograms(SampleParts & parts)
  {
    // A double holds each half of a sum exactly.
    constexpr int             Bits = 32;
    constexpr kernels::u64    Low = (kernels::u64{ 1 } << Bits) - 1;
    Queue &                   queue = *m_Core.queue;
    const std::size_t         bytes = m_Extent.entries * sizeof(kernels::u64);
    std::vector<kernels::u64> histogram(m_Extent.entries);
    queue.Download(histogram.data(), *m_Arrays.sums, bytes);
    std::vector<double> halves;
    halves.reserve(2 * histogram.size());
    for (const kernels::u64 count : histogram)
    {
      halves.push_back(static_cast<double>(count >> Bits));
      halves.push_back(static_cast<double>(count & Low));
    }
    halves = parts.Sum(halves);
    for (std::size_t n = 0; n < histogram.size(); ++n)
    {
      histogram[n] = (static_cast<kernels::u64>(halves[2 * n]) << Bits) + static_cast<kernels::u64>(halves[2 * n + 1]);
    }
    queue.Upload(*m_Arrays.sums, 0, histogram.data(), bytes);
    queue.Finish();
  }

  HistogramResult
  MakeResult(Forces forces)
  {
    Queue &           queue = *m_Core.queue;
    HistogramResult   result;
    const std::size_t histogramBytes = m_Extent.entries * sizeof(kernels::u64);
    char * const      staging = static_cast<char *>(queue.GetStaging(Direction::Down, 0, m_Extent.GetSumBytes()));
    queue.Download(staging, *m_Arrays.sums, m_Extent.GetSumBytes());
    if (forces == Forces::Summed)
    {
      const auto * partials = reinterpret_cast<const float *>(staging + histogramBytes);
      static_cast<ForceResult &>(result) =
        m_Core.samples.SumPartials(m_Arguments.histogram.samples, partials, m_Extent.partials);
    }
    result.histogram.resize(m_Extent.entries);
    std::memcpy(result.histogram.data(), staging, histogramBytes);
    result.countUnit = m_Arguments.histogram.countUnit;
    if (forces == Forces::OfEachSample)
    {
      m_Core.StoreForces(this->GetForces());
    }
    return result;
  }

  HistogramExtent m_Extent;
};

} // namespace gpureg

#endif
