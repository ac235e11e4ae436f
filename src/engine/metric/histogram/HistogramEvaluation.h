// SPDX-License-Identifier: Apache-2.0
// An evaluation of a metric that has a histogram: the arrays, the passes in their order, and what they bring.
#ifndef gpureg_HistogramEvaluation_h
#define gpureg_HistogramEvaluation_h

#include "gpureg/core/Error.h"

#include "engine/metric/Batch.h"
#include "engine/metric/histogram/HistogramPasses.h"
#include "engine/metric/MetricCore.h"
#include "engine/runtime/Transfer.h"

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

/** How large an evaluation's arrays are, and how many launches pass 1 takes. */
struct HistogramExtent
{
  int         chunks = 0;
  int         chunksPerLaunch = 0;
  std::size_t cells = 0;
  std::size_t histogramBytes = 0; // of a chunk
  std::size_t partials = 0;       // floats: the chunks' sums of forces

  std::size_t
  GetSumBytes() const
  {
    return cells * sizeof(kernels::u64) + partials * sizeof(float);
  }
};

/** What a metric wants of them. */
struct HistogramNeeds
{
  int mostSamplesOfChunk;
  /** What the moving image's range is scaled to. */
  double scaledRange;
};

/** \throws Error unless a metric of this name may have so many bins. */
inline int
CheckedBins(const char * metric, int bins, int least, int most)
{
  if (bins < least || bins > most)
  {
    throw BadInputError(std::string(metric) + " has " + std::to_string(least) + " to " + std::to_string(most) +
                        " bins, not " + std::to_string(bins) + "; set another number of bins");
  }
  return bins;
}

/** The sums, as they come from a device. */
struct HistogramResult : ForceResult
{
  /** [rows][columns], in units of 1/countUnit. */
  std::vector<std::uint64_t> histogram;
  double                     countUnit = 1;
};

/** What the values of a batch's candidates follow from: see a metric's SummaryGroup(). */
struct HistogramSummaries
{
  std::vector<std::array<std::int64_t, kernels::SummaryCount>> sums;
  /** Of the histogram. */
  double countUnit = 1;
};

/** \tparam TArguments the metric's, kernels::…Arguments.
 *  \tparam TSummaryArguments see HistogramPasses. */
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

  /** \param needs the metric's. So many samples of a chunk, each of the largest weight, fit into 32 bits in units of 2^-18.
   *  \param setArguments sets what is the metric's own: rows, columns and table columns of the histogram, and the rest; and
   *  adds to the variant what is the metric's. */
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

  /** Finds out what evaluations along a mapping take, and makes room for them: for a method that enqueues them itself. */
  template <typename TSetArguments>
  void
  Prepare(const SampleMapping &  mapping,
          Forces                 forces,
          const HistogramNeeds & needs,
          const TSetArguments &  setArguments)
  {
    this->SetProblem(m_Core.samples.MakeProblem(mapping, forces, this->GetGrain(), GetSampleNeeds(needs)),
                     needs,
                     setArguments);
    m_Passes->Prepare(m_Arguments.histogram.samples.variant);
    this->SetExtent(forces);
    this->ReserveArrays(mapping, forces);
    this->PrepareFirstPass();
  }

  /** Enqueues what it has been prepared for; the samples are where they have been moved. */
  void
  EnqueuePasses(Forces forces)
  {
    if (forces == Forces::None)
    {
      this->EnqueueFirstPass();
      return;
    }
    this->EnqueueTable();
    m_Passes->FindForces(m_Arguments, m_Maps, m_Arrays);
  }

  /** The same up to the table, behind which the value is. */
  void
  EnqueueTable()
  {
    this->EnqueueFirstPass();
    m_Passes->Table(m_Arguments, m_Arrays);
  }

  /** Forces of each sample that the last passes found. */
  const Memory &
  GetForces() const
  {
    return *m_Arrays.forces;
  }

  /** The table of the last passes, and behind its entries kernels::NumbersBehindTable. */
  const Memory &
  GetEvaluated() const
  {
    return *m_Arrays.table;
  }

  /** The floats that its entries take. */
  std::int64_t
  GetTableFloats() const
  {
    const kernels::HistogramArguments & a = m_Arguments.histogram;
    return std::int64_t{ a.rows } * a.tableColumns * kernels::TableEntryBytes(a.samples.variant) /
           static_cast<std::int64_t>(sizeof(float));
  }

  /** Of the histogram. */
  double
  GetCountUnit() const
  {
    return m_Arguments.histogram.countUnit;
  }

  /** Sums candidates up together, by the scheme of all metrics; nothing where the device does not, or their histograms take
   *  too much memory.
   *  \throws UnsupportedError if there are more than 32 bits count. */
  template <typename TSetArguments>
  std::optional<HistogramSummaries>
  Summarize(const CandidateMaps &  candidates,
            const HistogramNeeds & needs,
            const ParallelFor &    parallelFor,
            const TSetArguments &  setArguments)
  {
    return this->Summarize(candidates, needs, parallelFor, setArguments, [](const TArguments & a) { return a; });
  }

  /** \param makeSummaryArguments makes those of SummaryGroup() of the metric's. */
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
    const auto        send = [&](const BatchRange & range) { this->UploadMapsOf(candidates, range, needs); };
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
          send({ 0, static_cast<int>(subBatch) });
        }
      },
      [&] {
        if (atOnce > 0)
        {
          EnqueueSubBatches(*m_Core.queue, count, subBatch, send, [&](const BatchRange & subBatch) {
            ForEachRange(subBatch, atOnce, [&](const BatchRange & range) {
              m_Passes->SumBatch(m_Arguments, range, m_Arrays, *m_Batch.maps, *m_Batch.histograms[0]);
              m_Passes->Summarize(summaryArguments, range, *m_Batch.histograms[0], *m_Batch.summaries);
            });
          });
        }
      },
      [&] { return atOnce > 0 ? this->DownloadSummaries(static_cast<std::size_t>(count)) : std::nullopt; });
  }

  /** Counts candidates together, by the scheme of all metrics, and calls take(candidate, histogram) for each, u64
   *  [rows][columns] in units of 1/countUnit; from several threads at once, while the device counts those behind.
   *  \return false, and nothing is taken, where the device does not, or their histograms take too much memory.
   *  \throws UnsupportedError if there are more than 32 bits count. */
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
  /** What a metric's own first pass needs besides; the arguments and the arrays are there. */
  virtual void
  PrepareFirstPass()
  {}

  /** Enqueues what makes the histogram. */
  virtual void
  EnqueueFirstPass()
  {
    this->EnqueueChunks(
      [this](int first, int count) { m_Passes->Histogram(m_Arguments, m_Maps, m_Arrays, first, count); });
  }

  /** How many chunks it goes through. */
  virtual int
  CountChunks() const
  {
    return kernels::ChunkCount(&m_Arguments.histogram.samples);
  }

  /** Whether it keeps a histogram of each chunk. */
  virtual bool
  KeepsChunkHistograms() const
  {
    return true;
  }

  /** Calls count(first, number), which is to enqueue what makes the histograms of these chunks, for as many as are kept at
   *  once; and adds them up. */
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
  // With fewer, a chunk's histogram costs more to clear, keep and sum than its samples to count. No more, since up to here
  // the histogram's unit is the finest: in units of 2^-20, sparse histograms miss ITK's derivative by more than 1e-4.
  static constexpr int LeastSamplesOfChunk = 1024;
  // So many copies of a group's histogram, as long as they leave local memory for other groups.
  static constexpr int         MaximumCopies = 4;
  static constexpr std::size_t CopiesBytes = std::size_t{ 48 } << 10;
  // What the chunks' histograms of one launch may take; larger problems are launched in several goes.
  static constexpr std::size_t MaximumHistogramBytes = std::size_t{ 64 } << 20;

  /** A weight of 1: as fine as a chunk's 32-bit sums allow; beyond 2^22 a float's own rounding is coarser. */
  static float
  FindCountUnit(const kernels::SampleArguments & a, int lanes, int mostSamples)
  {
    if (kernels::CountsHalves(a.variant))
    {
      return GPUREG_PRECISE_COUNT_UNIT;
    }
    float unit = 1 << 18;
    for (int samples = lanes * a.tileDepth; 2 * samples <= mostSamples + 1 && unit < 1 << 22; samples *= 2)
    {
      unit *= 2;
    }
    return unit;
  }

  static SampleNeeds
  GetSampleNeeds(const HistogramNeeds & needs)
  {
    return { LeastSamplesOfChunk, needs.mostSamplesOfChunk, needs.scaledRange };
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
    this->SetBands();
  }

  /** Finds out what the candidates have in common. */
  template <typename TSetArguments>
  void
  SetBatchProblem(const CandidateMaps & candidates, const HistogramNeeds & needs, const TSetArguments & setArguments)
  {
    const SampleGrain grain = MakeBatchGrain(this->GetGrain(), static_cast<std::size_t>(candidates.count));
    this->SetProblem(PrepareBatch(m_Core, candidates, grain, GetSampleNeeds(needs), m_Batch), needs, setArguments);
  }

  /** Makes room for the histograms of as many candidates as can be dealt with at once, in so many buffers.
   *  \return how many they are, at most `most`; 0 where one takes too much memory. */
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

  /** Makes the histograms of so many candidates at a time, and hands them out. */
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
    histograms.tileCount = atOnce;
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
    queue.GiveStagingBack();
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
    queue.GiveStagingBack();
    return result;
  }

  void
  SetBands()
  {
    kernels::HistogramArguments & a = m_Arguments.histogram;
    const SampleGrain             grain = m_Passes->GetGrain();
    const std::size_t rowBytes = static_cast<std::size_t>(a.columns) * kernels::CellBytes(a.samples.variant);
    const std::size_t tableBytes =
      static_cast<std::size_t>(a.tableColumns) * kernels::TableEntryBytes(a.samples.variant);
    a.bandRows = FindBandRows(a.rows, std::max(rowBytes, tableBytes), grain.localBytes);
    a.histogramCopies = MaximumCopies;
    while (a.histogramCopies > 1 && rowBytes * a.histogramCopies * a.bandRows > std::min(grain.localBytes, CopiesBytes))
    {
      a.histogramCopies /= 2;
    }
  }

  void
  SetExtent(Forces forces)
  {
    const kernels::HistogramArguments & a = m_Arguments.histogram;
    m_Extent = {};
    m_Extent.chunks = this->CountChunks();
    m_Extent.cells = CountCells(a);
    m_Extent.histogramBytes = m_Extent.cells * kernels::CellBytes(a.samples.variant);
    m_Extent.chunksPerLaunch =
      static_cast<int>(std::clamp<std::size_t>(MaximumHistogramBytes / m_Extent.histogramBytes, 1, m_Extent.chunks));
    if (forces == Forces::Summed)
    {
      m_Extent.partials = SampleSet::CountPartials(a.samples, CountBands(a));
    }
  }

  void
  ReserveArrays(const SampleMapping & mapping, Forces forces)
  {
    Queue &                             queue = *m_Core.queue;
    const kernels::HistogramArguments & a = m_Arguments.histogram;
    m_Core.samples.UploadMapping(mapping, forces);
    ReserveExactly(queue,
                   m_Arrays.chunkHistograms,
                   this->KeepsChunkHistograms()
                     ? static_cast<std::size_t>(m_Extent.chunksPerLaunch) * m_Extent.histogramBytes
                     : 0);
    Reserve(queue, m_Arrays.sums, m_Extent.GetSumBytes());
    if (forces != Forces::None)
    {
      ReserveExactly(queue,
                     m_Arrays.table,
                     static_cast<std::size_t>(a.rows) * a.tableColumns * kernels::TableEntryBytes(a.samples.variant) +
                       kernels::NumbersBehindTable * sizeof(float));
    }
    m_Arrays.forces = forces == Forces::OfEachSample ? &m_Core.samples.ReserveForces() : nullptr;
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
    queue.GiveStagingBack();
    m_Core.forces = forces == Forces::OfEachSample ? m_Arrays.forces : nullptr;
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
