// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_Operation_h
#define gpureg_Operation_h

#include "engine/core/Elapsed.h"
#include "engine/runtime/Queue.h"

#include <type_traits>

namespace gpureg
{

/** Says whether an operation resets the statistics of its queue, or adds its launches, copies and kernel times to those of the operation
 *  before. The host's time stays that of the operation before. */
enum class Counting
{
  Reset,
  Continue
};

/** Runs an operation on a queue for as long as the object lives. The constructor checks that the device works in this process, resets the
 *  statistics, and gives the queue its host threads. An operation that begins while another one runs on the same queue joins it: it
 *  counts in the outer one's statistics and leaves staging memory to it.
 *
 *  Use Operate() for an operation that one call begins and ends. */
class Operation
{
public:
  /** queue must outlive this object. \throws DeviceLostError if the process was forked and the device does not work in a child */
  Operation(Queue & queue, const ParallelFor & parallelFor, Counting counting = Counting::Reset);
  /** Ends the operation. Staging memory stays with the queue, for the next operation, unless GiveStagingBack() has returned it. */
  ~Operation();
  Operation(const Operation &) = delete;
  Operation &
  operator=(const Operation &) = delete;

  /** Waits for copies from and to staging memory, and returns that memory. Does nothing in an operation that joined another one. */
  void
  GiveStagingBack();

  /** Sets the host's time in the statistics to the time since the operation began. Does nothing in an operation that joined another one, or
   *  that adds to the statistics. */
  void
  CountTime();

private:
  Queue &           m_Queue;
  ParallelFor       m_Before; // the host threads of the outer operation
  bool              m_IsOuter;
  bool              m_ResetsStatistics;
  Clock::time_point m_Start = Clock::now();
};

/** Runs work() as an operation and returns its result. If work throws, the staging memory stays with the queue.
 *  \throws DeviceLostError if the process was forked and the device does not work in a child, and what work throws */
template <typename TWork>
auto
Operate(Queue & queue, const ParallelFor & parallelFor, const TWork & work, Counting counting = Counting::Reset)
{
  Operation operation(queue, parallelFor, counting);
  if constexpr (std::is_void_v<decltype(work())>)
  {
    work();
    operation.GiveStagingBack();
    operation.CountTime();
  }
  else
  {
    auto result = work();
    operation.GiveStagingBack();
    operation.CountTime();
    return result;
  }
}

} // namespace gpureg

#endif
