// SPDX-License-Identifier: Apache-2.0
#ifndef TimedMetric_h
#define TimedMetric_h

#include "Stopwatch.h"

#include "itkObjectFactory.h"

namespace example
{

/** The times of a metric's calls, in seconds of wall time. */
struct MetricTimes
{
  double       initialization = 0;
  double       evaluation = 0;
  unsigned int evaluations = 0;
};

/** A metric of ITK's interface that times its calls, to separate the metric's part of a registration from ITK's own. */
template <typename TMetric>
class TimedMetric : public TMetric
{
public:
  using Self = TimedMetric;
  using Superclass = TMetric;
  using Pointer = itk::SmartPointer<Self>;
  using ConstPointer = itk::SmartPointer<const Self>;
  itkNewMacro(Self);

  /** Sets where the times are added up; it must outlive the metric. */
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
