// SPDX-License-Identifier: Apache-2.0
// The histograms of many candidate transforms at once, and what a single evaluation shares with them: passes, arrays and arguments.
#ifndef gpureg_HistogramBatches_h
#define gpureg_HistogramBatches_h

#include "engine/metric/Batch.h"
#include "engine/metric/histogram/HistogramPasses.h"
#include "engine/metric/histogram/HistogramProblem.h"
#include "engine/metric/MetricCore.h"
#include "engine/runtime/Transfer.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

namespace gpureg
{

/** Computes the histograms of candidates. HistogramEvaluation derives from it, since both have the same arrays and arguments.
 *  \tparam TArguments the metric's kernels::…Arguments
 *  \tparam TSummaryArguments see HistogramPasses */
template <typename TArguments, typename TSummaryArguments = TArguments>
class HistogramBatches
{
public:
  using Passes = HistogramPasses<TArguments, TSummaryArguments>;

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
  HistogramBatches(MetricCore & core, std::unique_ptr<Passes> passes)
    : m_Core(core)
    , m_Passes(std::move(passes))
  {
    m_Arrays.samples = &core.samples.GetArrays();
    core.readsQuads = m_Passes->GetGrain().readsQuads;
    core.ownArrays = { &m_Arrays.chunkHistograms, &m_Arrays.sums,         &m_Arrays.table,   &m_Batch.maps,
                       &m_Batch.histograms[0],    &m_Batch.histograms[1], &m_Batch.summaries };
  }

  ~HistogramBatches() = default;

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

  /** Sets the arguments of a problem's passes. needs, setArguments: see HistogramEvaluation::Evaluate() */
  template <typename TSetArguments>
  void
  SetProblem(const SampleProblem & problem, const HistogramNeeds & needs, const TSetArguments & setArguments)
  {
    m_Maps = problem.maps;
    m_Arguments = {};
    m_Arguments.histogram.samples = problem.arguments;
    setArguments(m_Arguments);
    m_Arguments.histogram.countUnit =
      ComputeCountUnit(m_Arguments.histogram.samples, this->GetGrain().lanes, needs.mostSamplesOfChunk);
    SetBands(this->GetGrain(), m_Arguments.histogram);
  }

  MetricCore &            m_Core;
  std::unique_ptr<Passes> m_Passes;
  HistogramArrays         m_Arrays;
  TArguments              m_Arguments{};
  kernels::SampleMaps     m_Maps{};

private:
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
    const std::size_t chunkBytes = static_cast<std::size_t>(kernels::ChunkCount(&a.samples)) * CountEntries(a) *
                                   static_cast<std::size_t>(kernels::EntryBytes(a.samples.variant));
    const std::size_t sumBytes = CountEntries(a) * sizeof(kernels::u64);
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
    const std::size_t entries = CountEntries(m_Arguments.histogram);
    TiledArray        histograms;
    histograms.elementSize = entries * sizeof(kernels::u64);
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
      for (std::int64_t n = 0; n < count; ++n, histogram += entries)
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

  BatchArrays m_Batch;
};

} // namespace gpureg

#endif
