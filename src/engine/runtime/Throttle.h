// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_Throttle_h
#define gpureg_Throttle_h

#include "engine/core/Elapsed.h"
#include "engine/runtime/Queue.h"

#include <algorithm>
#include <utility>

namespace gpureg
{

/** Limits how many steps the host enqueues ahead of the device, so that the host knows the device's progress and can stop it. The device
 *  never runs out of work, because the host waits for a batch only after it has enqueued the next one.
 *
 *  At most two batches of steps are enqueued at a time. A batch takes the device about BatchMilliseconds, or has MostSteps steps: a wait
 *  for each of many short steps would slow them down. */
class Throttle
{
public:
  static constexpr double BatchMilliseconds = 20;
  static constexpr int    MostSteps = 16;

  explicit Throttle(Queue & queue)
    : m_Queue(queue)
  {}

  /** Counts a step; to be called after the step's work is enqueued. May wait. \throws Error where the device reports a failure. */
  void
  EndStep()
  {
    if (++m_Steps < m_BatchSteps)
    {
      return;
    }
    m_Queue.SetFence(m_Fence);
    m_Fence = 1 - m_Fence;
    m_Queue.WaitForFence(m_Fence);
    // Between two waits the device has finished the batch before the one that was just enqueued.
    const int    done = std::exchange(m_StepsAhead, std::exchange(m_Steps, 0));
    const double milliseconds = MillisecondsSince(std::exchange(m_Waited, Clock::now()));
    if (done > 0)
    {
      m_BatchSteps = CountBatchSteps(milliseconds / done);
    }
  }

  /** Returns the number of steps in a batch. \param milliseconds the time of one step, at least 0 */
  static int
  CountBatchSteps(double milliseconds)
  {
    return static_cast<int>(
      std::clamp(BatchMilliseconds / std::max(milliseconds, 1e-6), 1.0, static_cast<double>(MostSteps)));
  }

private:
  Queue &           m_Queue;
  int               m_Steps = 0;      // of the batch that is being enqueued
  int               m_StepsAhead = 0; // of the batch before
  int               m_BatchSteps = 1;
  int               m_Fence = 0;
  Clock::time_point m_Waited = Clock::now();
};

} // namespace gpureg

#endif
