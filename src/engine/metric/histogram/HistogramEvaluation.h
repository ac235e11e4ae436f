// SPDX-License-Identifier: Apache-2.0
// An evaluation of a metric that has a histogram: its arrays, the order of its passes, and its results.
#ifndef gpureg_HistogramEvaluation_h
#define gpureg_HistogramEvaluation_h

#include "engine/metric/Batch.h"
#include "engine/metric/histogram/HistogramPasses.h"
#include "engine/metric/histogram/HistogramProblem.h"
#include "engine/metric/MetricCore.h"
#include "engine/metric/SimilarityChoices.h"
#include "engine/runtime/Transfer.h"
#include "engine/runtime/MemoryLedger.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gpureg
{

/** \tparam TArguments the metric's kernels::…Arguments
 *  \tparam TSummaryArguments see HistogramPasses */
template <typename TArguments, typename TSummaryArguments = TArguments>
class HistogramEvaluation
{
public:
  using Passes = HistogramPasses<TArguments, TSummaryArguments>;

  HistogramEvaluation(MetricCore & core, std::unique_ptr<Passes> passes)
    : m_Core(core)
    , m_Passes(std::move(passes))
  {
    m_Arrays.samples = &core.samples.GetArrays();
    core.readsQuads = m_Passes->GetGrain().readsQuads;
    core.ownArrays = { &m_Arrays.chunkHistograms, &m_Arrays.sums,         &m_Arrays.table,   &m_Batch.maps,
                       &m_Batch.histograms[0],    &m_Batch.histograms[1], &m_Batch.summaries };
  }

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

  /** Computes the sums of all candidates together, by the scheme that all metrics share. Returns nothing if the device has no batches, or
   *  if the histograms need too much memory.
   *  \throws UnsupportedError if there are more candidates than 32 bits count */
  template <typename TSetArguments>
  std::optional<HistogramSummaries>
  Summarize(const CandidateMaps &  candidates,
            const HistogramNeeds & needs,
            const ParallelFor &    parallelFor,
            const TSetArguments &  setArguments)
  {
    return this->Summarize(candidates, needs, parallelFor, setArguments, [](const TArguments & a) { return a; });
  }

  /** Computes the sums of all candidates together. \param makeSummaryArguments returns the arguments of SummaryGroup() for the metric's
   *  arguments */
  template <typename TSetArguments, typename TMakeSummaryArguments>
  std::optional<HistogramSummaries>
  Summarize(const CandidateMaps &         candidates,
            const HistogramNeeds &        needs,
            const ParallelFor &           parallelFor,
            const TSetArguments &         setArguments,
            const TMakeSummaryArguments & makeSummaryArguments)
  {
    if (candidates.count < 1 || !m_Passes->HasBatches())
    {
      return std::nullopt;
    }
    const int         count = CountCandidates(candidates);
    const auto        subBatch = GetSubBatchSize(m_Core, count);
    std::size_t       atOnce = 0;
    TSummaryArguments summaryArguments{};
    const auto        upload = [&](const BatchRange & range) { this->UploadMapsOf(candidates, range, needs); };
    return m_Core.Evaluate(
      parallelFor,
      [&] {
        this->SetBatchProblem(candidates, needs, setArguments);
        summaryArguments = makeSummaryArguments(m_Arguments);
        if (m_Passes->HasSummaries(summaryArguments))
        {
          atOnce = this->ReserveHistograms(static_cast<std::size_t>(count), 1);
        }
        if (atOnce > 0)
        {
          Reserve(*m_Core.queue,
                  m_Batch.summaries,
                  static_cast<std::size_t>(count) * kernels::SummaryCount * sizeof(std::int64_t));
          upload({ 0, static_cast<int>(subBatch) });
        }
      },
      [&] {
        if (atOnce > 0)
        {
          EnqueueSubBatches(*m_Core.queue, count, subBatch, upload, [&](const BatchRange & subBatch) {
            ForEachRange(subBatch, atOnce, [&](const BatchRange & range) {
              m_Passes->SumBatch(m_Arguments, range, m_Arrays, *m_Batch.maps, *m_Batch.histograms[0]);
              m_Passes->Summarize(summaryArguments, range, *m_Batch.histograms[0], *m_Batch.summaries);
            });
          });
        }
      },
      [&] { return atOnce > 0 ? this->DownloadSummaries(static_cast<std::size_t>(count)) : std::nullopt; });
  }

  /** Counts the histograms of all candidates together, by the scheme that all metrics share, and calls take(candidate, histogram) for each
   *  one: u64[rows][columns], in units of 1/countUnit. Calls come from several threads, while the device counts the next candidates.
   *  \return false, without a call of take, if the device has no batches, or if the histograms need too much memory
   *  \throws UnsupportedError if there are more candidates than 32 bits count */
  template <typename TSetArguments, typename TTake>
  bool
  TakeHistograms(const CandidateMaps &  candidates,
                 const HistogramNeeds & needs,
                 const ParallelFor &    parallelFor,
                 const TSetArguments &  setArguments,
                 const TTake &          take)
  {
    if (candidates.count < 1 || !m_Passes->HasBatches())
    {
      return false;
    }
    const auto subBatch = GetSubBatchSize(m_Core, CountCandidates(candidates));
    return m_Core.Run(parallelFor, [&] {
      this->SetBatchProblem(candidates, needs, setArguments);
      const std::size_t atOnce = this->ReserveHistograms(subBatch, m_Batch.histograms.size());
      if (atOnce > 0)
      {
        this->DrainHistograms(candidates, needs, static_cast<std::int64_t>(atOnce), take);
      }
      return atOnce > 0;
    });
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
    m_Passes->FindForces(m_Arguments, m_Maps, m_Arrays);
  }

  /** Returns the number of chunks of the first pass. */
  virtual int
  CountChunks() const
  {
    return kernels::ChunkCount(&m_Arguments.histogram.samples);
  }

  /** Returns true if the first pass stores a histogram of each chunk. */
  virtual bool
  KeepsChunkHistograms() const
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

  MetricCore &
  GetCore() const
  {
    return m_Core;
  }

  SampleGrain
  GetGrain() const
  {
    return m_Passes->GetGrain();
  }

  const TArguments &
  GetArguments() const
  {
    return m_Arguments;
  }

  const kernels::SampleMaps &
  GetMaps() const
  {
    return m_Maps;
  }

  const HistogramArrays &
  GetArrays() const
  {
    return m_Arrays;
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
    return this->KeepsChunkHistograms() ? static_cast<std::size_t>(m_Extent.chunksPerLaunch) * m_Extent.histogramBytes
                                        : 0;
  }

  std::size_t
  GetTableBytes() const
  {
    const kernels::HistogramArguments & a = m_Arguments.histogram;
    return static_cast<std::size_t>(a.rows) * a.tableColumns * kernels::TableEntryBytes(a.samples.variant) +
           kernels::NumbersBehindTable * sizeof(float);
  }

  template <typename TSetArguments>
  void
  SetProblem(const SampleProblem & problem, const HistogramNeeds & needs, const TSetArguments & setArguments)
  {
    m_Maps = problem.maps;
    m_Arguments = {};
    m_Arguments.histogram.samples = problem.arguments;
    setArguments(m_Arguments);
    m_Arguments.histogram.countUnit =
      FindCountUnit(m_Arguments.histogram.samples, this->GetGrain().lanes, needs.mostSamplesOfChunk);
    SetBands(this->GetGrain(), m_Arguments.histogram);
  }

  /** Makes the arguments that all candidates share. */
  template <typename TSetArguments>
  void
  SetBatchProblem(const CandidateMaps & candidates, const HistogramNeeds & needs, const TSetArguments & setArguments)
  {
    const SampleGrain grain = MakeBatchGrain(this->GetGrain(), static_cast<std::size_t>(candidates.count));
    this->SetProblem(PrepareBatch(m_Core, candidates, grain, GetSampleNeeds(needs), m_Batch), needs, setArguments);
  }

  /** Reserves the histograms of as many candidates as can be evaluated at once, in the given number of buffers.
   *  \return how many candidates that are, at most most; 0 if one candidate needs too much memory */
  std::size_t
  ReserveHistograms(std::size_t most, std::size_t buffers)
  {
    const kernels::HistogramArguments & a = m_Arguments.histogram;
    const std::size_t chunkBytes = static_cast<std::size_t>(kernels::ChunkCount(&a.samples)) * CountCells(a) *
                                   static_cast<std::size_t>(kernels::CellBytes(a.samples.variant));
    const std::size_t sumBytes = CountCells(a) * sizeof(kernels::u64);
    const std::size_t atOnce = std::min(most, MostBatchBytes / (chunkBytes + buffers * sumBytes));
    if (atOnce > 0)
    {
      Reserve(*m_Core.queue, m_Arrays.chunkHistograms, atOnce * chunkBytes);
      std::for_each_n(m_Batch.histograms.begin(), buffers, [&](MemoryPointer & histograms) {
        Reserve(*m_Core.queue, histograms, atOnce * sumBytes);
      });
    }
    return atOnce;
  }

  void
  UploadMapsOf(const CandidateMaps & candidates, const BatchRange & range, const HistogramNeeds & needs)
  {
    UploadMaps(m_Core, candidates, range, m_Arguments.histogram.samples, needs.scaledRange, m_Batch);
  }

  /** Computes the histograms of atOnce candidates at a time, and passes them to take. */
  template <typename TTake>
  void
  DrainHistograms(const CandidateMaps &  candidates,
                  const HistogramNeeds & needs,
                  std::int64_t           atOnce,
                  const TTake &          take)
  {
    Queue &           queue = *m_Core.queue;
    const std::size_t cells = CountCells(m_Arguments.histogram);
    TiledArray        histograms;
    histograms.elementSize = cells * sizeof(kernels::u64);
    histograms.count = candidates.count;
    histograms.tileElements = atOnce;
    histograms.bufferCount = m_Batch.histograms.size();
    histograms.make = [&](std::int64_t first, std::int64_t count, Memory & out) {
      const BatchRange range{ static_cast<int>(first), static_cast<int>(count) };
      this->UploadMapsOf(candidates, range, needs);
      Enqueue(queue, m_Core.isTimed, [&] { m_Passes->SumBatch(m_Arguments, range, m_Arrays, *m_Batch.maps, out); });
    };
    histograms.take = [&](std::int64_t first, std::int64_t count, const void * in) {
      const auto * histogram = static_cast<const kernels::u64 *>(in);
      for (std::int64_t n = 0; n < count; ++n, histogram += cells)
      {
        take(first + n, histogram);
      }
    };
    DownloadTiles(queue, m_Batch.histograms, histograms);
  }

  std::optional<HistogramSummaries>
  DownloadSummaries(std::size_t candidates)
  {
    Queue &            queue = *m_Core.queue;
    HistogramSummaries result;
    result.sums.resize(candidates);
    const std::size_t bytes = candidates * sizeof(result.sums.front());
    void * const      staging = queue.GetStaging(Direction::Down, 0, bytes);
    queue.Download(staging, *m_Batch.summaries, bytes);
    std::memcpy(result.sums.data(), staging, bytes);
    result.countUnit = m_Arguments.histogram.countUnit;
    return result;
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

  HistogramResult
  MakeResult(Forces forces)
  {
    Queue &           queue = *m_Core.queue;
    HistogramResult   result;
    const std::size_t histogramBytes = m_Extent.cells * sizeof(kernels::u64);
    char * const      staging = static_cast<char *>(queue.GetStaging(Direction::Down, 0, m_Extent.GetSumBytes()));
    queue.Download(staging, *m_Arrays.sums, m_Extent.GetSumBytes());
    if (forces == Forces::Summed)
    {
      const auto * partials = reinterpret_cast<const float *>(staging + histogramBytes);
      static_cast<ForceResult &>(result) =
        m_Core.samples.SumPartials(m_Arguments.histogram.samples, partials, m_Extent.partials);
    }
    result.histogram.resize(m_Extent.cells);
    std::memcpy(result.histogram.data(), staging, histogramBytes);
    result.countUnit = m_Arguments.histogram.countUnit;
    if (forces == Forces::OfEachSample)
    {
      m_Core.KeepForces(this->GetForces());
    }
    return result;
  }

  MetricCore &            m_Core;
  std::unique_ptr<Passes> m_Passes;
  HistogramArrays         m_Arrays;
  BatchArrays             m_Batch;
  TArguments              m_Arguments{};
  kernels::SampleMaps     m_Maps{};
  HistogramExtent         m_Extent;
};

} // namespace gpureg

#endif
