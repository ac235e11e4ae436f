// SPDX-License-Identifier: Apache-2.0
// What every metric has on its device, and how an evaluation runs.
#ifndef gpureg_MetricCore_h
#define gpureg_MetricCore_h

#include "gpureg/metric/Metric.h"

#include "engine/runtime/Backend.h"
#include "engine/core/Elapsed.h"
#include "engine/metric/samples/SampleSet.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace gpureg
{

class MetricCore
{
public:
  /** With a queue of its own. */
  explicit MetricCore(const std::string & deviceName)
    : MetricCore(gpureg::GetBackend(deviceName), nullptr)
  {}

  /** On another's queue, whose work runs in order with its own. \param shared null for one of its own. */
  MetricCore(std::shared_ptr<Backend> itsBackend, std::shared_ptr<Queue> shared)
    : backend(std::move(itsBackend))
    , queue(shared ? std::move(shared) : std::shared_ptr<Queue>(backend->CreateQueue()))
    , samples(*queue)
  {}

  const Backend &
  GetBackend() const
  {
    return *backend;
  }

  /** Runs an evaluation: prepare() finds out what it takes, and makes room; enqueue() is what is timed; download() gives the
   *  result. */
  template <typename TPrepare, typename TEnqueue, typename TDownload>
  auto
  Evaluate(const ParallelFor & parallelFor,
           const TPrepare &    prepare,
           const TEnqueue &    enqueue,
           const TDownload &   download)
  {
    return this->Run(parallelFor, [&] {
      prepare();
      if (isTimed)
      {
        queue->StartTimer();
      }
      samples.Move();
      enqueue();
      if (isTimed)
      {
        queue->StopTimer();
      }
      const auto result = download();
      if (isTimed)
      {
        queue->statistics.kernelMilliseconds = queue->ReadTimer();
      }
      return result;
    });
  }

  /** Runs one that times itself, if it is to be timed: work() gives the result. */
  template <typename TWork>
  auto
  Run(const ParallelFor & parallelFor, const TWork & work)
  {
    const auto started = Clock::now();
    samples.CheckIsComplete(readsFixedValues);
    queue->CheckIsUsable();
    queue->parallelFor = parallelFor;
    queue->statistics = {};
    forces = nullptr;
    const auto result = work();
    queue->statistics.evaluateMilliseconds = MillisecondsSince(started);
    return result;
  }

  std::shared_ptr<Backend> backend;
  std::shared_ptr<Queue>   queue;
  SampleSet                samples;
  bool                     readsQuads = false;
  bool                     readsFixedValues = false;
  bool                     isTimed = false;
  /** Those of each sample that the last evaluation kept; null if none. */
  const Memory * forces = nullptr;
  /** They, gathered by control points. */
  MemoryPointer gathered;
  /** What the metric itself has on the device, for the statistics. */
  std::vector<const MemoryPointer *> ownArrays;
};

} // namespace gpureg

#endif
