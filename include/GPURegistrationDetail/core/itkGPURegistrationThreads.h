// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPURegistrationThreads_h
#define itkGPURegistrationThreads_h

#include "gpureg/core/ParallelFor.h"

#include "itkMultiThreaderBase.h"

#include <algorithm>
#include <atomic>
#include <exception>

namespace itk
{
namespace GPURegistrationDetail
{

/** Returns a ParallelFor that uses a number of ITK's threads. The threads take tasks one by one, since tasks differ in length. As long
 * as threads advance equally, each takes tasks from a range of its own, since threads that write to neighbouring memory wait for each
 * other's page faults. If tasks throw, the caller gets the first exception, and further tasks may be left out; ITK's thread pool loses
 * exceptions of its threads. */
inline gpureg::ParallelFor
MakeParallelFor(ThreadIdType threads)
{
  return [threads](std::int64_t count, const std::function<void(std::int64_t)> & body) {
    const std::int64_t workers = std::min<std::int64_t>(threads, count);
    if (workers <= 1)
    {
      for (std::int64_t task = 0; task < count; ++task)
      {
        body(task);
      }
      return;
    }
    const std::int64_t        range = (count + workers - 1) / workers;
    std::atomic<std::int64_t> next{ 0 };
    std::atomic<bool>         hasFailed{ false };
    std::exception_ptr        failure;
    const auto                threader = MultiThreaderBase::New();
    threader->SetNumberOfWorkUnits(static_cast<ThreadIdType>(workers));
    threader->ParallelizeArray(
      0,
      static_cast<SizeValueType>(workers),
      [&](SizeValueType) {
        try
        {
          for (std::int64_t n = next++; n < workers * range && !hasFailed; n = next++)
          {
            const std::int64_t task = n % workers * range + n / workers;
            if (task < count)
            {
              body(task);
            }
          }
        }
        catch (...)
        {
          if (!hasFailed.exchange(true))
          {
            failure = std::current_exception();
          }
        }
      },
      nullptr);
    if (failure)
    {
      std::rethrow_exception(failure);
    }
  };
}

} // namespace GPURegistrationDetail
} // namespace itk

#endif
