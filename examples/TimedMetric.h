// SPDX-License-Identifier: Apache-2.0
#ifndef TimedMetric_h
#define TimedMetric_h

#include "Stopwatch.h"

#include "itkObjectFactory.h"

namespace example
{

/** What a metric's calls took, in seconds of wall time. */
struct MetricTimes
{
  double       initialization = 0;
  double       evaluation = 0;
  unsigned int evaluations = 0;
};

/** Any of ITK's metrics, and a clock around it: to see which share of a registration is the metric's and which is
 * ITK's own. */
template <typename TMetric>
class TimedMetric : public TMetric
{
public:
  using Self = TimedMetric;
  using Superclass = TMetric;
  using Pointer = itk::SmartPointer<Self>;
  using ConstPointer = itk::SmartPointer<const Self>;
  itkNewMacro(Self);

  /** Where the times are added up; it outlives the metric. */
  void
  SetTimes(MetricTimes * times)
  {
    m_Times = times;
  }

  void
  Initialize() override
  {
    const Stopwatch watch;
    Superclass::Initialize();
    m_Times->initialization += watch.GetSeconds();
  }

  typename Superclass::MeasureType
  GetValue() const override
  {
    const Stopwatch watch;
    const auto      value = Superclass::GetValue();
    this->AddEvaluation(watch);
    return value;
  }

  void
  GetValueAndDerivative(typename Superclass::MeasureType &    value,
                        typename Superclass::DerivativeType & derivative) const override
  {
    const Stopwatch watch;
    Superclass::GetValueAndDerivative(value, derivative);
    this->AddEvaluation(watch);
  }

protected:
  TimedMetric() = default;
  ~TimedMetric() override = default;

private:
  void
  AddEvaluation(const Stopwatch & watch) const
  {
    m_Times->evaluation += watch.GetSeconds();
    ++m_Times->evaluations;
  }

  MetricTimes * m_Times = nullptr;
};

} // namespace example

#endif
