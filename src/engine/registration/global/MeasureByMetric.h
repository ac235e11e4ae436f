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
  /** Makes the metric.
   *  \param arguments the arguments of the metric's constructor */
  template <typename... TArguments>
  explicit MeasureByMetric(const SimilaritySettings & settings, TArguments &&... arguments)
    : m_Settings(settings)
    , m_Metric(std::forward<TArguments>(arguments)...)
  {}

  void
  SetImages(const LevelImage &  fixed,
            const LevelImage &  moving,
            FixedSamples        samples,
            MovingImage         image,
            const ParallelFor & parallelFor) override
  {
    DescribeValues(m_Settings, fixed, moving, samples, image);
    m_Metric.SetMovingImage(image, parallelFor);
    m_Metric.SetFixedSamples(samples, parallelFor);
    m_Fixed = fixed;
    m_Moving = moving;
  }

  void
  SetSamples(FixedSamples samples, const ParallelFor & parallelFor) override
  {
    MovingImage unchanged;
    DescribeValues(m_Settings, m_Fixed, m_Moving, samples, unchanged);
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
  const SimilaritySettings &
  GetSettings() const
  {
    return m_Settings;
  }

  TMetric &
  GetMetric()
  {
    return m_Metric;
  }

  /** Returns the cost of a value of the similarity. \param count the number of valid samples */
  MeasuredValue
  MakeCost(double count, double similarity, bool isKnown) const
  {
    return { count, isKnown ? Describe(m_Settings.kind).sign * similarity : 0.0, isKnown };
  }

  /** Returns a cost with its derivative. \param sumUnit the unit of the metric's sums */
  MeasuredForces
  MakeForces(const MeasuredValue & value, const ForceResult & forces, double sumUnit) const
  {
    MeasuredForces result;
    static_cast<MeasuredValue &>(result) = value;
    result.forces = forces;
    result.factor = value.isKnown ? Describe(m_Settings.kind).forceFactor * sumUnit : 0.0;
    return result;
  }

private:
  SimilaritySettings m_Settings;
  TMetric            m_Metric;
  LevelImage         m_Fixed;
  LevelImage         m_Moving;
};

/** A measure whose metric evaluates batches of maps. */
template <typename TMetric>
class MeasureByBatches : public MeasureByMetric<TMetric>
{
public:
  using MeasureByMetric<TMetric>::MeasureByMetric;

  std::vector<MeasuredValue>
  ComputeValues(const CandidateMaps & candidates, const ParallelFor & parallelFor) override
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
