// SPDX-License-Identifier: Apache-2.0
#ifndef TestThreads_h
#define TestThreads_h

#include "itkMultiThreaderBase.h"

#include <gtest/gtest.h>

namespace gpuregtest
{

/** As long as it lives, ITK's objects that are made take threads of the platform, of which a metric may have fewer than ITK's pool has:
 *  that grows, and never shrinks. */
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

  /** Of a metric that was made meanwhile. */
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
