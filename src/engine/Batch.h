// SPDX-License-Identifier: Apache-2.0
// Candidates whose values a device finds together: where each one's samples map to, and what its value follows from.
#ifndef gpureg_Batch_h
#define gpureg_Batch_h

#include "MetricCore.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gpureg
{

/** The arrays of a batch; null where the metric has none. */
struct BatchArrays
{
  /** kernels::SampleMaps, one a candidate. */
  MemoryPointer maps;
  /** u64 [candidates at once][rows][columns]. */
  MemoryPointer histograms;
  /** i64 [candidates][kernels::SummaryCount]. */
  MemoryPointer summaries;
};

/** Those that are dealt with at once. */
struct BatchRange
{
  int first;
  int count;
};

// What the histograms of the candidates that are dealt with at once may take, or their sums.
constexpr std::size_t MostBatchBytes = std::size_t{ 128 } << 20;

/** Of a batch, whose candidates keep a device busy together: no more chunks of each than that takes. */
inline SampleGrain
MakeBatchGrain(SampleGrain grain, std::size_t candidates)
{
  grain.targetChunks = static_cast<int>(static_cast<std::size_t>(grain.targetChunks) * 4 / candidates);
  return grain;
}

/** Sends where the candidates' samples map to, and gives what they have in common.
 *  \param maps one or more. */
inline SampleProblem
SendBatch(MetricCore &                  core,
          const std::vector<IndexMap> & maps,
          const SampleGrain &           grain,
          const SampleNeeds &           needs,
          BatchArrays &                 batch)
{
  const SampleProblem problem = core.samples.MakeProblem(MakeLinearMapping(maps.front()), Forces::None, grain, needs);
  FillExactly(*core.queue,
              batch.maps,
              sizeof(kernels::SampleMaps),
              static_cast<std::int64_t>(maps.size()),
              [&](std::int64_t first, std::int64_t count, void * out) {
                std::transform(maps.begin() + first,
                               maps.begin() + first + count,
                               static_cast<kernels::SampleMaps *>(out),
                               [&](const IndexMap & map) {
                                 return core.samples.MakeMaps(map, problem.arguments, needs.scaledRange);
                               });
              });
  return problem;
}

/** Calls work(range) with ranges of at most so many. */
template <typename TWork>
void
ForEachRange(std::size_t candidates, std::size_t atOnce, const TWork & work)
{
  for (std::size_t first = 0; first < candidates; first += atOnce)
  {
    work(BatchRange{ static_cast<int>(first), static_cast<int>(std::min(atOnce, candidates - first)) });
  }
}

} // namespace gpureg

#endif
