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

/** Kept from one evaluation to the next: a displacement field's derivative is as large as the field. */
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

  /** Relative, in norm. */
  double
  GetDerivativeDifference(const MetricResult & reference) const
  {
    return derivative.size() == reference.derivative.size()
             ? (derivative - reference.derivative).two_norm() / reference.derivative.two_norm()
             : std::numeric_limits<double>::infinity();
  }
};

/** ITK's metric and ours of a case whose images are in memory: what its rows share. */
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

  /** Not initialised yet. */
  typename ITKMetricType::Pointer
  MakeITK() const
  {
    const auto metric = ITKMetricType::New();
    input.Configure(*metric, m_Threads);
    return metric;
  }

  /** Not initialised yet; computes what ITK's does. */
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

  /** Has been evaluated once. */
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

  /** What ITK computes. */
  const MetricResult &
  GetReference()
  {
    this->GetITK();
    return m_Reference;
  }

  /** Has been evaluated once. Another device's is let go of. */
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
