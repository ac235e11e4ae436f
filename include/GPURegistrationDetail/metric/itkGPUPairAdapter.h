// SPDX-License-Identifier: Apache-2.0
// What the adapters of metrics that are sums over pairs of values share.
#ifndef itkGPUPairAdapter_h
#define itkGPUPairAdapter_h

#include "GPURegistrationDetail/metric/itkGPUMetricAdapter.h"
#include "GPURegistrationDetail/metric/itkGPUMetricMacros.h"

#include "gpureg/metric/pairs/PairMetric.h"

#include <memory>
#include <string>
#include <vector>

namespace itk
{
namespace GPURegistrationDetail
{

/** A member of a metric that names it, and the other classes of these headers, friends: see itkGPUPairFriendsMacro. */
template <typename TMetric>
class PairAdapter
{
public:
  PairAdapter(const TMetric & metric, gpureg::PairMeasure measure)
    : m_Metric(metric)
    , m_Measure(measure)
    , m_Adapter(metric, measure == gpureg::PairMeasure::Demons)
  {}

  /** \param initialize the parent's Initialize(). */
  template <typename TInitialize>
  void
  Initialize(const TInitialize & initialize)
  {
    m_Adapter.Initialize(initialize, [this] { this->UpdateEngine(true); });
  }

  /** Calls store(result, scales of the values) with what the device gives; where no sample is valid, sets what ITK does; or
   *  calls throughITK(). store() returns the divisor of the derivative: see MetricAdapter::StoreDerivative. */
  template <typename TStore, typename TThroughITK>
  void
  Evaluate(const TStore & store, const TThroughITK & throughITK)
  {
    this->Evaluate([](gpureg::PairMetric &, const MetricScales &) {}, store, throughITK);
  }

  /** The same; before, prepare(engine, scales) says what else the engine is to know. */
  template <typename TPrepare, typename TStore, typename TThroughITK>
  void
  Evaluate(const TPrepare & prepare, const TStore & store, const TThroughITK & throughITK)
  {
    m_Adapter.Evaluate(
      [&](MetricRoute route) {
        const gpureg::Forces forces = m_Adapter.ChooseForces(route);
        if (m_Measure == gpureg::PairMeasure::Correlation && route == MetricRoute::DisplacementField &&
            forces == gpureg::Forces::OfEachSample)
        {
          m_Metric.m_Use.WarnOnce(
            m_Metric, "The derivative of a correlation by a displacement field is computed by ITK's own class.");
          m_Adapter.CallITK(throughITK);
          return;
        }
        this->UpdateEngine(false);
        gpureg::SampleMapping mapping = MetricMapping<TMetric>(m_Metric).MakeMapping(route);
        // ITK's demons' forces are along the moving image's gradient, whatever follows the field.
        mapping.forcesFollowChain = mapping.forcesFollowChain && m_Measure != gpureg::PairMeasure::Demons;
        prepare(m_Adapter.GetEngine(), m_Adapter.GetScales());
        const gpureg::PairResult result = m_Adapter.GetEngine().Evaluate(mapping, forces, m_Adapter.GetParallelFor());
        // ITK's own threaders write to these through a const_cast: an evaluation is const, its results are not.
        auto & self = const_cast<TMetric &>(m_Metric);
        self.m_NumberOfValidPoints = static_cast<SizeValueType>(result.count + 0.5);
        if (!self.VerifyNumberOfValidPoints(self.m_Value, *self.m_DerivativeResult))
        {
          return;
        }
        const double divisor = store(result, m_Adapter.GetScales());
        if (m_Measure == gpureg::PairMeasure::Demons)
        {
          m_Adapter.StoreForces(forces, divisor);
        }
        else
        {
          m_Adapter.StoreDerivative(forces, result, mapping, divisor);
        }
      },
      throughITK);
  }

  /** The values of candidates: see MetricAdapter. \param valueOf(result, scales) gives one's. */
  template <typename TValueOf>
  auto
  EvaluateCandidates(const std::vector<typename TMetric::MovingTransformType::ParametersType> & candidates,
                     const TValueOf &                                                           valueOf)
  {
    return m_Adapter.EvaluateResults(
      candidates,
      [&](const gpureg::CandidateMaps & maps) {
        this->UpdateEngine(false);
        return m_Adapter.GetEngine().EvaluateBatch(maps, m_Adapter.GetParallelFor());
      },
      [&](const gpureg::PairResult & result) { return valueOf(result, m_Adapter.GetScales()); });
  }

  /** The value of a metric that is the mean of (f - m)². */
  static typename TMetric::MeasureType
  MakeMeanSquare(const gpureg::PairResult & result, const MetricScales & scales)
  {
    return static_cast<typename TMetric::MeasureType>(result.differences / result.count * scales.unit * scales.unit);
  }

  /** What a derivative is divided by, of a mean over so many samples: one by a displacement is not. */
  double
  GetMeanDivisor(const gpureg::PairResult & result) const
  {
    return m_Metric.HasLocalSupport() ? 1.0 : result.count;
  }

  /** See MetricAdapter. */
  void
  InitializeForIteration() const
  {
    m_Adapter.InitializeForIteration();
  }

  /** See MetricAdapter. */
  void
  MakeGradientImages() const
  {
    m_Adapter.MakeGradientImages();
  }

  gpureg::EvaluationStatistics
  GetStatistics() const
  {
    return m_Adapter.GetStatistics();
  }

  /** For PrintSelf. */
  void
  Print(std::ostream & os, Indent indent) const
  {
    m_Adapter.Print(os, indent);
  }

private:
  void
  UpdateEngine(bool isInitializing)
  {
    m_Adapter.UpdateEngine([](const gpureg::PairMetric &) { return false; },
                           [this](const std::string & device) {
                             return std::make_unique<gpureg::PairMetric>(device, m_Measure);
                           },
                           [this] {
                             const MetricImages<TMetric> & images = m_Adapter.GetImages();
                             return m_Measure == gpureg::PairMeasure::Correlation ? images.ComputeSeparateScales()
                                                                                  : images.ComputeCommonScales();
                           },
                           DescribeByValues(),
                           isInitializing);
  }

  const TMetric &                            m_Metric;
  const gpureg::PairMeasure                  m_Measure;
  MetricAdapter<TMetric, gpureg::PairMetric> m_Adapter;
};

} // namespace GPURegistrationDetail
} // namespace itk

/** In a metric that has a PairAdapter. */
#define itkGPUPairFriendsMacro()                         \
  friend class GPURegistrationDetail::PairAdapter<Self>; \
  itkGPUMetricFriendsMacro(gpureg::PairMetric)

#endif
