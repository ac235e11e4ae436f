// SPDX-License-Identifier: Apache-2.0
#include "engine/runtime/Operation.h"

#include <utility>

namespace gpureg
{

Operation::Operation(Queue & queue, const ParallelFor & parallelFor, Counting counting)
  : m_Queue(queue)
  , m_Before(parallelFor)
  , m_IsOuter(!queue.m_IsOperating)
  , m_ResetsStatistics(m_IsOuter && counting == Counting::Reset)
{
  queue.CheckIsUsable();
  if (m_ResetsStatistics)
  {
    queue.m_Statistics = {};
  }
  std::swap(queue.m_ParallelFor, m_Before);
  queue.m_IsOperating = true;
}

Operation::~Operation()
{
  std::swap(m_Queue.m_ParallelFor, m_Before);
  m_Queue.m_IsOperating = !m_IsOuter;
}

void
Operation::GiveStagingBack()
{
  if (m_IsOuter)
  {
    m_Queue.GiveStagingBack();
  }
}

void
Operation::CountTime()
{
  if (m_ResetsStatistics)
  {
    m_Queue.m_Statistics.evaluateMilliseconds = MillisecondsSince(m_Start);
  }
}

} // namespace gpureg
