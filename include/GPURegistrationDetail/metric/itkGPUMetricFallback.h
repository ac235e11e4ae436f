// SPDX-License-Identifier: Apache-2.0
// Decides whether the parent class of an override computes, after bad input or a device's error.
#ifndef itkGPUMetricFallback_h
#define itkGPUMetricFallback_h

#include "GPURegistrationDetail/core/itkGPUDeviceUse.h"

#include "gpureg/core/Error.h"

#include <functional>
#include <new>
#include <string>

namespace itk
{
namespace GPURegistrationDetail
{

/** Leaves a metric that replaces ITK's class to its parent class, from an error until the next Initialize(). The metric names this class a
 *  friend. */
template <typename TMetric>
class MetricFallback
{
public:
  /** Makes the fallback of a metric.
   *  \param metric the metric.
   *  \param forget destroys what the metric has on its device. */
  MetricFallback(const TMetric & metric, const std::function<void()> & forget)
    : m_Metric(metric)
    , m_Forget(forget)
  {}

  /** Lets the device compute again. */
  void
  Begin()
  {
    m_Reason.clear();
  }

  /** Returns true if the parent class of an override computes, until the next Initialize(). */
  bool
  IsLeftToParent() const
  {
    return !m_Reason.empty();
  }

  /** Returns why the parent class computes; empty if it does not. */
  const std::string &
  GetReason() const
  {
    return m_Reason;
  }

  /** Returns true if the metric is part of another one that is left to ITK's class, and has warned of that. */
  bool
  IsWithinITKs() const
  {
    return m_Metric.m_Use.OverridesParent() && IsWithoutDevices();
  }

  /** Calls check(). If it throws because of bad input, an override uses its parent class. */
  template <typename TCheck>
  void
  CheckInput(const TCheck & check)
  {
    try
    {
      check();
    }
    catch (const GPUBadInputError & error)
    {
      this->LeaveToParent(error);
    }
  }

  /** Calls work(), unless the parent class of an override computes.
   *  \throws the itk::GPUError for what work() throws; an override throws only that there is no overlap, as its parent class would: see
   *  LeaveToParent(). */
  template <typename TWork>
  void
  OnDevice(const TWork & work)
  {
    if (!m_Reason.empty())
    {
      return;
    }
    try
    {
      try
      {
        work();
      }
      catch (const gpureg::Error & error)
      {
        ThrowGPUError(error, NameObject(m_Metric) + error.what());
      }
      catch (const std::bad_alloc &)
      {
        ThrowGPUError(gpureg::OutOfMemoryError(""),
                      NameObject(m_Metric) +
                        "Out of host memory. Use smaller images, fewer bins or a sampled point set.");
      }
    }
    catch (const GPUNoOverlapError &)
    {
      throw;
    }
    catch (const GPUError & error)
    {
      this->LeaveToParent(error);
    }
  }

private:
  /** Lets the parent class compute until the next Initialize(), after a warning. Called where an error is caught.
   *  \throws the caught error again if the metric is no override. */
  void
  LeaveToParent(const GPUError & error)
  {
    if (!m_Metric.m_Use.OverridesParent())
    {
      throw;
    }
    m_Reason = error.GetDescription();
    m_Forget();
    const_cast<TMetric &>(m_Metric).m_Use.WarnOfFailure(m_Metric,
                                                        m_Reason + " Computed by itk::" + m_Metric.GetNameOfClass() +
                                                          " on the host.");
  }

  const TMetric &             m_Metric;
  const std::function<void()> m_Forget;
  std::string                 m_Reason;
};

} // namespace GPURegistrationDetail
} // namespace itk

#endif
