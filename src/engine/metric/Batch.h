// SPDX-License-Identifier: Apache-2.0
// Batches: candidate transforms whose values a device computes together, the maps of their samples, and the sums that their values follow
// from.
#ifndef gpureg_Batch_h
#define gpureg_Batch_h

#include "gpureg/core/Error.h"

#include "engine/metric/MetricCore.h"
#include "engine/runtime/Transfer.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace gpureg
{

/** The arrays of a batch. An array that the metric does not need is null. */
struct BatchArrays
{
  /** kernels::SampleMaps, one per candidate. */
  MemoryPointer maps;
  /** u64[candidates at once][rows][columns]. There are two if histograms are downloaded: one is copied while the other is computed. */
  std::array<MemoryPointer, 2> histograms;
  /** i64[candidates][kernels::SummaryCount]. */
  MemoryPointer summaries;
};

/** A range of candidates that is evaluated at once. */
struct BatchRange
{
  int first;
  int count;
};

/** Returns the number of candidates. \throws UnsupportedError if there are more than 32 bits count */
inline int
CountCandidates(const CandidateMaps & candidates)
{
  if (candidates.count > std::numeric_limits<int>::max())
  {
    throw UnsupportedError("there may be 2147483647 candidates in a batch, not " + std::to_string(candidates.count));
  }
  return static_cast<int>(candidates.count);
}

// The most bytes of the histograms, or of the sums, of all candidates that are evaluated at once.
constexpr std::size_t MostBatchBytes = std::size_t{ 128 } << 20;

/** Returns the grain of a batch. All candidates together keep the device busy, so each one needs fewer chunks. */
inline SampleGrain
MakeBatchGrain(SampleGrain grain, std::size_t candidates)
{
  grain.targetChunks = static_cast<int>(static_cast<std::size_t>(grain.targetChunks) * 4 / candidates);
  return grain;
}

/** Returns the mapping of one candidate's samples. */
inline SampleMapping
MakeMapping(const CandidateMaps & candidates, std::int64_t candidate)
{
  IndexMap map;
  candidates.make(candidate, 1, &map);
  return MakeLinearMapping(map);
}

/** Calls work(n) for all candidates n below count, on several threads. */
template <typename TWork>
void
ForEachCandidate(const ParallelFor & parallelFor, std::int64_t count, const TWork & work)
{
  constexpr std::int64_t perTask = 256;
  parallelFor((count + perTask - 1) / perTask, [&](std::int64_t task) {
    for (std::int64_t n = task * perTask; n < std::min(count, (task + 1) * perTask); ++n)
    {
      work(n);
    }
  });
}

/** Returns candidates first … first + count - 1. The given candidates must outlive the result. */
inline CandidateMaps
TakeCandidates(const CandidateMaps & candidates, std::int64_t first, std::int64_t count)
{
  return { count, [&candidates, first](std::int64_t begin, std::int64_t number, IndexMap * maps) {
            candidates.make(first + begin, number, maps);
          } };
}

/** Calls evaluate(mapping) for each candidate in turn, and returns the results. */
template <typename TEvaluate>
auto
EvaluateEach(const CandidateMaps & candidates, const TEvaluate & evaluate)
{
  std::vector<decltype(evaluate(SampleMapping()))> results;
  for (std::int64_t n = 0; n < candidates.count; ++n)
  {
    results.push_back(evaluate(MakeMapping(candidates, n)));
  }
  return results;
}

/** Calls evaluate(candidates, results) for successive ranges of at most most candidates, and returns all results. */
template <typename TResult, typename TEvaluate>
std::vector<TResult>
EvaluateInBatches(const CandidateMaps & candidates, std::int64_t most, const TEvaluate & evaluate)
{
  std::vector<TResult> results(static_cast<std::size_t>(candidates.count));
  for (std::int64_t first = 0; first < candidates.count; first += most)
  {
    evaluate(TakeCandidates(candidates, first, std::min(most, candidates.count - first)),
             &results[static_cast<std::size_t>(first)]);
  }
  return results;
}

/** Reserves memory for the candidates' maps, and returns the problem that the candidates share.
 *  \param candidates one or more */
inline SampleProblem
PrepareBatch(MetricCore &          core,
             const CandidateMaps & candidates,
             const SampleGrain &   grain,
             const SampleNeeds &   needs,
             BatchArrays &         batch)
{
  Reserve(*core.queue, batch.maps, sizeof(kernels::SampleMaps) * static_cast<std::size_t>(candidates.count));
  return core.samples.MakeProblem(MakeMapping(candidates, 0), Forces::None, grain, needs);
}

/** Uploads the maps of a range of candidates. */
inline void
UploadMaps(MetricCore &                     core,
           const CandidateMaps &            candidates,
           const BatchRange &               range,
           const kernels::SampleArguments & arguments,
           double                           scaledRange,
           const BatchArrays &              batch)
{
  constexpr std::size_t size = sizeof(kernels::SampleMaps);
  UploadArray(*core.queue,
              *batch.maps,
              size * static_cast<std::size_t>(range.first),
              size,
              range.count,
              [&](std::int64_t first, std::int64_t count, void * out) {
                std::vector<IndexMap> maps(static_cast<std::size_t>(count));
                candidates.make(range.first + first, count, maps.data());
                std::transform(maps.begin(),
                               maps.end(),
                               static_cast<kernels::SampleMaps *>(out),
                               [&](const IndexMap & map) {
                                 return core.samples.MakeMaps(map, arguments, scaledRange);
                               });
              });
}

/** Calls work(range) for successive ranges of at most atOnce candidates. */
template <typename TWork>
void
ForEachRange(const BatchRange & all, std::size_t atOnce, const TWork & work)
{
  const auto most = static_cast<int>(std::min<std::size_t>(atOnce, std::numeric_limits<int>::max()));
  for (int first = 0; first < all.count; first += std::min(most, all.count - first))
  {
    work(BatchRange{ all.first + first, std::min(most, all.count - first) });
  }
}

// The device evaluates a sub-batch of the candidates while the host makes the maps of the next one. A few candidates are one sub-batch.
constexpr std::int64_t SubBatches = 4;
constexpr std::int64_t LeastSubBatch = 256;

/** Returns the number of candidates of a sub-batch. If kernels are timed, there is one sub-batch, because otherwise the host's time would
 *  be counted. */
inline std::size_t
GetSubBatchSize(const MetricCore & core, std::int64_t candidates)
{
  const std::int64_t subBatch = std::max(LeastSubBatch, (candidates + SubBatches - 1) / SubBatches);
  return static_cast<std::size_t>(core.isTimed ? candidates : std::min(candidates, subBatch));
}

/** Calls upload(range) and then enqueue(range) for each sub-batch of at most subBatch candidates. The caller has uploaded the first one. */
template <typename TUpload, typename TEnqueue>
void
EnqueueSubBatches(Queue & queue, int candidates, std::size_t subBatch, const TUpload & upload, const TEnqueue & enqueue)
{
  BatchRange uploaded{ 0, 0 };
  ForEachRange({ 0, candidates }, subBatch, [&](const BatchRange & range) {
    if (uploaded.count > 0)
    {
      enqueue(uploaded);
      queue.Flush();
      upload(range);
    }
    uploaded = range;
  });
  enqueue(uploaded);
}

} // namespace gpureg

#endif
