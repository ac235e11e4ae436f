// SPDX-License-Identifier: Apache-2.0
#ifndef LoadedMetrics_h
#define LoadedMetrics_h

#include "MattesCases.h"

#include <limits>
#include <string>

namespace bench
{

enum class Quantity
{
  Value,
  ValueAndDerivative
};

/** The result of a metric, kept from one evaluation to the next: a displacement field's derivative is as large as the field. */
struct MetricResult
{
  double             value = 0;
  itk::Array<double> derivative;

  template <typename TMetric>
  void
  Evaluate(const TMetric & metric, Quantity quantity)
  {
    if (quantity == Quantity::Value)
    {
      value = metric.GetValue();
    }
    else
    {
      metric.GetValueAndDerivative(value, derivative);
    }
  }

  /** Returns the relative difference of derivatives, in norm. */
  double
  GetDerivativeDifference(const MetricResult & reference) const
  {
    return derivative.size() == reference.derivative.size()
             ? (derivative - reference.derivative).two_norm() / reference.derivative.two_norm()
             : std::numeric_limits<double>::infinity();
  }
};

/** ITK's metric and ours for a case whose images are in memory, shared by its rows. */
template <unsigned int VDimension, typename TITK, typename TOurs>
class LoadedMetrics
{
public:
  using ITKMetricType = TITK;
  using OurMetricType = TOurs;

  LoadedMetrics(const MattesCase<VDimension> & itsInput, unsigned int threads)
    : input(itsInput)
    , m_Threads(threads)
  {}

  /** Returns ITK's metric, not yet initialized. */
  typename ITKMetricType::Pointer
  MakeITK() const
  {
    const auto metric = ITKMetricType::New();
    input.Configure(*metric, m_Threads);
    return metric;
  }

  /** Returns our metric with ITK's formula, not yet initialized. */
  typename OurMetricType::Pointer
  MakeOurs(const itk::GPUDevice & device) const
  {
    const auto metric = OurMetricType::New();
    metric->SetDevice(device);
    if constexpr (std::is_base_of<typename MattesCase<VDimension>::MetricType, TOurs>::value)
    {
      metric->NormalizedOff();
    }
    input.Configure(*metric, m_Threads);
    return metric;
  }

  /** Returns ITK's metric, evaluated once. */
  const ITKMetricType &
  GetITK()
  {
    if (m_ITK.IsNull())
    {
      const auto metric = this->MakeITK();
      metric->Initialize();
      m_Reference.Evaluate(*metric, Quantity::ValueAndDerivative);
      m_ITK = metric;
    }
    return *m_ITK;
  }

  /** Returns ITK's result. */
  const MetricResult &
  GetReference()
  {
    this->GetITK();
    return m_Reference;
  }

  /** Returns our metric on a device, evaluated once. Releases that of another device. */
  OurMetricType &
  GetOurs(const itk::GPUDevice & device)
  {
    if (m_Ours.IsNull() || m_Ours->GetDevice().GetName() != device.GetName())
    {
      m_Ours = nullptr;
      const auto metric = this->MakeOurs(device);
      metric->Initialize();
      result.Evaluate(*metric, Quantity::ValueAndDerivative);
      m_Ours = metric;
    }
    return *m_Ours;
  }

  const MattesCase<VDimension> input;
  MetricResult                 result;

private:
  unsigned int                    m_Threads;
  typename ITKMetricType::Pointer m_ITK;
  MetricResult                    m_Reference;
  typename OurMetricType::Pointer m_Ours;
};

template <unsigned int VDimension>
using LoadedMattesMetrics =
  LoadedMetrics<VDimension,
                typename MattesCase<VDimension>::MetricType,
                itk::CudaMattesNMI<itk::Image<float, VDimension>, itk::Image<float, VDimension>>>;

} // namespace bench

#endif
