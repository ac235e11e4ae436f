// SPDX-License-Identifier: Apache-2.0
// The state on a device that all metrics share, and the course of an evaluation.
#ifndef gpureg_MetricCore_h
#define gpureg_MetricCore_h

#include "gpureg/metric/Metric.h"

#include "engine/metric/SampleParts.h"
#include "engine/metric/samples/SampleSet.h"
#include "engine/runtime/Backend.h"
#include "engine/runtime/Operation.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace gpureg
{

class MetricCore
{
public:
  /** Makes a queue of its own. */
  explicit MetricCore(const std::string & deviceName)
    : MetricCore(gpureg::GetBackend(deviceName), nullptr)
  {}

  /** Uses another object's queue, on which the work of both runs in order. \param shared null for a queue of its own */
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

  /** Runs an evaluation: prepare() makes the arguments and reserves memory, enqueue() enqueues the work that is timed, and download()
   *  returns the result. */
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
        queue->CountKernelTime(queue->ReadTimer());
      }
      return result;
    });
  }

  /** Runs an evaluation whose work() measures its own time, if it is to be timed, and returns the result. */
  template <typename TWork>
  auto
  Run(const ParallelFor & parallelFor, const TWork & work)
  {
    samples.CheckIsComplete(readsFixedValues);
    return Operate(*queue, parallelFor, [&] {
      m_Forces = nullptr;
      return work();
    });
  }

  /** Runs work() on the results of the last evaluation, counts it in that evaluation's statistics, and returns its result. */
  template <typename TWork>
  auto
  Continue(const ParallelFor & parallelFor, const TWork & work)
  {
    return Operate(*queue, parallelFor, work, Counting::Continue);
  }

  /** Notes that the evaluation that runs has stored the force of each sample. The memory must keep the forces until the next evaluation. */
  void
  StoreForces(const Memory & forces)
  {
    m_Forces = &forces;
  }

  /** Returns the forces of each sample that the last evaluation stored, or null. Valid until the next evaluation. */
  const Memory *
  ComputeForces() const
  {
    return m_Forces;
  }

  std::shared_ptr<Backend> backend;
  std::shared_ptr<Queue>   queue;
  SampleSet                samples;
  bool                     readsQuads = false;
  bool                     readsFixedValues = false;
  bool                     isTimed = false;
  /** The forces after the adjoint interpolation to control points. */
  MemoryPointer controlForces;
  /** Joins evaluations of which this is one, by what enqueues evaluations with forces itself. Null: the samples are all that there are. */
  SampleParts * parts = nullptr;
  /** The arrays that the metric itself owns on the device, for the statistics. */
  std::vector<const MemoryPointer *> ownArrays;

private:
  const Memory * m_Forces = nullptr; // of the last evaluation
};

} // namespace gpureg

#endif
