// SPDX-License-Identifier: Apache-2.0
#ifndef TestThreads_h
#define TestThreads_h

#include "itkMultiThreaderBase.h"

#include <gtest/gtest.h>

namespace gpuregtest
{

/** As long as it lives, new objects of ITK use the platform's threads. A metric may then have fewer threads than ITK's pool, which grows
 *  and never shrinks. */
class PlatformThreads
{
public:
  PlatformThreads()
  {
    itk::MultiThreaderBase::SetGlobalDefaultThreader(itk::MultiThreaderBase::ThreaderEnum::Platform);
  }
  ~PlatformThreads()
  {
    itk::MultiThreaderBase::SetGlobalDefaultThreader(m_Before);
  }
  PlatformThreads(const PlatformThreads &) = delete;
  PlatformThreads &
  operator=(const PlatformThreads &) = delete;

  /** Sets the number of threads of a metric that was made meanwhile. */
  template <typename TMetric>
  static void
  Set(TMetric & metric, unsigned int threads)
  {
    metric.SetMaximumNumberOfWorkUnits(threads);
    ASSERT_EQ(metric.GetMaximumNumberOfWorkUnits(), threads);
  }

private:
  const itk::MultiThreaderBase::ThreaderEnum m_Before = itk::MultiThreaderBase::GetGlobalDefaultThreader();
};

} // namespace gpuregtest

#endif
