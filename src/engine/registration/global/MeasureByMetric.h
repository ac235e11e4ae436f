// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_MeasureByMetric_h
#define gpureg_MeasureByMetric_h

#include "engine/registration/global/GlobalMeasure.h"

#include <utility>
#include <vector>

namespace gpureg
{

/** A measure that evaluates a metric. */
template <typename TMetric>
class MeasureByMetric : public GlobalMeasure
{
public:
  template <typename... TArguments>
  explicit MeasureByMetric(TArguments &&... arguments)
    : m_Metric(std::forward<TArguments>(arguments)...)
  {}

  void
  SetImages(const LevelImage &  fixed,
            const LevelImage &  moving,
            FixedSamples        samples,
            MovingImage         image,
            const ParallelFor & parallelFor) override
  {
    this->Describe(fixed, moving, samples, image);
    m_Metric.SetMovingImage(image, parallelFor);
    m_Metric.SetFixedSamples(samples, parallelFor);
    m_Fixed = fixed;
    m_Moving = moving;
  }

  void
  SetSamples(FixedSamples samples, const ParallelFor & parallelFor) override
  {
    MovingImage unchanged;
    this->Describe(m_Fixed, m_Moving, samples, unchanged);
    m_Metric.SetFixedSamples(samples, parallelFor);
  }

  EvaluationStatistics
  GetStatistics() const override
  {
    return m_Metric.GetStatistics();
  }

  void
  SetTiming(bool on) override
  {
    m_Metric.SetTiming(on);
  }

protected:
  /** Sets how values are scaled. */
  virtual void
  Describe(const LevelImage & fixed, const LevelImage & moving, FixedSamples & samples, MovingImage & image) const = 0;

  TMetric &
  GetMetric()
  {
    return m_Metric;
  }

  const LevelImage &
  GetFixed() const
  {
    return m_Fixed;
  }

  static MeasuredForces
  MakeForces(const MeasuredValue & value, const ForceResult & forces, double factor)
  {
    MeasuredForces result;
    static_cast<MeasuredValue &>(result) = value;
    result.forces = forces;
    result.factor = value.isKnown ? factor : 0.0;
    return result;
  }

private:
  TMetric    m_Metric;
  LevelImage m_Fixed;
  LevelImage m_Moving;
};

/** A measure whose metric evaluates batches of maps. */
template <typename TMetric>
class MeasureByBatches : public MeasureByMetric<TMetric>
{
public:
  using MeasureByMetric<TMetric>::MeasureByMetric;

  std::vector<MeasuredValue>
  FindValues(const CandidateMaps & candidates, const ParallelFor & parallelFor) override
  {
    std::vector<MeasuredValue> values;
    for (const auto & result : this->GetMetric().EvaluateBatch(candidates, parallelFor))
    {
      values.push_back(this->MakeValue(result));
    }
    return values;
  }

protected:
  using ResultType =
    typename decltype(std::declval<TMetric &>().EvaluateBatch(std::declval<CandidateMaps>(),
                                                              std::declval<ParallelFor>()))::value_type;

  virtual MeasuredValue
  MakeValue(const ResultType & result) const = 0;
};

} // namespace gpureg

#endif
