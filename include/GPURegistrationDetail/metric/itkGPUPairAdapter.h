// SPDX-License-Identifier: Apache-2.0
// Holds what the adapters of metrics that are sums over pairs of values have in common.
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

/** Connects an ITK metric with a gpureg::PairMetric. It is a member of the metric, which names it and the other classes of these headers
 * friends: see itkGPUPairFriendsMacro. */
template <typename TMetric>
class PairAdapter
{
public:
  PairAdapter(const TMetric & metric, gpureg::PairMeasure measure)
    : m_Metric(metric)
    , m_Measure(measure)
    , m_Adapter(metric, measure == gpureg::PairMeasure::Demons)
  {}

  /** Initialises the metric.
   * \param initialize calls the parent's Initialize(). */
  template <typename TInitialize>
  void
  Initialize(const TInitialize & initialize)
  {
    m_Adapter.Initialize(initialize, [this] { this->UpdateEngine(true); });
  }

  /** Evaluates the metric.
   *  \param store a function (result, scales of the values) that stores the device's result, and returns the divisor of the derivative:
   *  see MetricAdapter::StoreDerivative(). If no sample is valid, the adapter sets the values that ITK's class sets instead.
   *  \param throughITK called if the device lacks something. */
  template <typename TStore, typename TThroughITK>
  void
  Evaluate(const TStore & store, const TThroughITK & throughITK)
  {
    this->Evaluate([](gpureg::PairMetric &, const MetricScales &) {}, store, throughITK);
  }

  /** Evaluates the metric, after prepare(engine, scales), which gives the engine further settings. */
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
        // The forces of ITK's demons metric follow the moving image's gradient, whatever follows the field.
        mapping.forcesFollowChain = mapping.forcesFollowChain && m_Measure != gpureg::PairMeasure::Demons;
        prepare(m_Adapter.GetEngine(), m_Adapter.GetScales());
        const gpureg::PairResult result = m_Adapter.GetEngine().Evaluate(mapping, forces, m_Adapter.GetParallelFor());
        // Write results through a const_cast, as ITK's threaders do: evaluations are const.
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

  /** Returns the values of candidates: see MetricAdapter::EvaluateCandidates().
   * \param candidates the parameters of each candidate.
   * \param valueOf a function (result, scales) that returns the value of a candidate. */
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

  /** Returns the value of a metric that is the mean of (f - m)². */
  static typename TMetric::MeasureType
  MakeMeanSquare(const gpureg::PairResult & result, const MetricScales & scales)
  {
    return static_cast<typename TMetric::MeasureType>(result.differences / result.count * scales.unit * scales.unit);
  }

  /** Returns the divisor of the derivative of a mean over the samples; a derivative by a displacement field is not divided. */
  double
  GetMeanDivisor(const gpureg::PairResult & result) const
  {
    return m_Metric.HasLocalSupport() ? 1.0 : result.count;
  }

  /** Clears the derivative: see MetricAdapter::InitializeForIteration(). */
  void
  InitializeForIteration() const
  {
    m_Adapter.InitializeForIteration();
  }

  /** Makes ITK's gradient images: see MetricAdapter::MakeGradientImages(). */
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

  /** Prints the device and its use, for PrintSelf(). */
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

/** Declares the friends of a metric that has a PairAdapter. */
#define itkGPUPairFriendsMacro()                         \
  friend class GPURegistrationDetail::PairAdapter<Self>; \
  itkGPUMetricFriendsMacro(gpureg::PairMetric)

#endif
