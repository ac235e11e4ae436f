// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_Throttle_h
#define gpureg_Throttle_h

#include "engine/core/Elapsed.h"
#include "engine/runtime/Queue.h"

#include <algorithm>
#include <utility>

namespace gpureg
{

/** Keeps the host from enqueuing steps far ahead of the device, so that it knows how far that is, and can stop. The device never runs
 *  out of work, for what is waited for has as many steps behind it.
 *
 *  Steps go in batches, of which two are on their way at most. A batch takes the device BatchMilliseconds, or has MostSteps: where
 *  steps are short, waiting for each would show in their time. */
class Throttle
{
public:
  static constexpr double BatchMilliseconds = 20;
  static constexpr int    MostSteps = 16;

  explicit Throttle(Queue & queue)
    : m_Queue(queue)
  {}

  /** To be called after each step's work is enqueued. \throws Error where the device reports a failure. */
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
    // Between two waits the device has done the batch that the second one is for.
    const int    done = std::exchange(m_StepsAhead, std::exchange(m_Steps, 0));
    const double milliseconds = MillisecondsSince(std::exchange(m_Waited, Clock::now()));
    if (done > 0)
    {
      m_BatchSteps = CountBatchSteps(milliseconds / done);
    }
  }

  /** How many steps a batch has. \param milliseconds that one takes; at least 0. */
  static int
  CountBatchSteps(double milliseconds)
  {
    return static_cast<int>(
      std::clamp(BatchMilliseconds / std::max(milliseconds, 1e-6), 1.0, static_cast<double>(MostSteps)));
  }

private:
  Queue &           m_Queue;
  int               m_Steps = 0;      // of the batch that is being enqueued, …
  int               m_StepsAhead = 0; // … and of the one before
  int               m_BatchSteps = 1;
  int               m_Fence = 0;
  Clock::time_point m_Waited = Clock::now();
};

} // namespace gpureg

#endif
