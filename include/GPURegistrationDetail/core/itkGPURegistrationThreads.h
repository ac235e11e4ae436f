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

/** So many of ITK's threads. They take the tasks one by one, since some are done sooner than others; each from a range
 * of its own as long as they keep pace, since threads that write side by side wait for each other's pages. What a task
 * throws, the caller gets, the first of them; then tasks may be left out. ITK's pool loses what its own threads throw. */
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
