// SPDX-License-Identifier: Apache-2.0
// What the faces of metrics that are sums over pairs of values share.
#ifndef itkGPUPairFace_h
#define itkGPUPairFace_h

#include "GPURegistrationDetail/metric/itkGPUMetricFace.h"

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
class PairFace
{
public:
  PairFace(const TMetric & metric, gpureg::PairMeasure measure)
    : m_Metric(metric)
    , m_Measure(measure)
    , m_Face(metric, measure == gpureg::PairMeasure::Demons)
  {}

  /** \param initialize the parent's Initialize(). */
  template <typename TInitialize>
  void
  Initialize(const TInitialize & initialize)
  {
    m_Face.Initialize(initialize, [this] { this->UpdateEngine(true); });
  }

  /** Calls store(result, scales of the values) with what the device gives; where no sample is valid, sets what ITK does; or
   *  calls throughITK(). store() returns the divisor of the derivative: see MetricFace::StoreDerivative. */
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
    m_Face.Evaluate(
      [&](MetricRoute route) {
        const gpureg::Forces forces = m_Face.ChooseForces(route);
        if (m_Measure == gpureg::PairMeasure::Correlation && route == MetricRoute::DisplacementField &&
            forces == gpureg::Forces::OfEachSample)
        {
          m_Metric.m_Use.WarnOnce(
            m_Metric, "The derivative of a correlation by a displacement field is computed by ITK's own class.");
          m_Face.CallITK(throughITK);
          return;
        }
        this->UpdateEngine(false);
        gpureg::SampleMapping mapping = MetricMapping<TMetric>(m_Metric).MakeMapping(route);
        // ITK's demons' forces are along the moving image's gradient, whatever follows the field.
        mapping.forcesFollowChain = mapping.forcesFollowChain && m_Measure != gpureg::PairMeasure::Demons;
        prepare(m_Face.GetEngine(), m_Face.GetScales());
        const gpureg::PairResult result = m_Face.GetEngine().Evaluate(mapping, forces, m_Face.GetParallelFor());
        // ITK's own threaders write to these through a const_cast: an evaluation is const, its results are not.
        auto & self = const_cast<TMetric &>(m_Metric);
        self.m_NumberOfValidPoints = static_cast<SizeValueType>(result.count + 0.5);
        if (!self.VerifyNumberOfValidPoints(self.m_Value, *self.m_DerivativeResult))
        {
          return;
        }
        const double divisor = store(result, m_Face.GetScales());
        if (m_Measure == gpureg::PairMeasure::Demons)
        {
          m_Face.StoreForces(forces, divisor);
        }
        else
        {
          m_Face.StoreDerivative(forces, result, mapping, divisor);
        }
      },
      throughITK);
  }

  /** The values of candidates: see MetricFace. \param valueOf(result, scales) gives one's. */
  template <typename TValueOf>
  auto
  EvaluateCandidates(const std::vector<typename TMetric::MovingTransformType::ParametersType> & candidates,
                     const TValueOf &                                                           valueOf)
  {
    return m_Face.EvaluateResults(
      candidates,
      [&](const gpureg::CandidateMaps & maps) {
        this->UpdateEngine(false);
        return m_Face.GetEngine().EvaluateBatch(maps, m_Face.GetParallelFor());
      },
      [&](const gpureg::PairResult & result) { return valueOf(result, m_Face.GetScales()); });
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

  /** See MetricFace. */
  void
  InitializeForIteration() const
  {
    m_Face.InitializeForIteration();
  }

  /** See MetricFace. */
  void
  MakeGradientImages() const
  {
    m_Face.MakeGradientImages();
  }

  gpureg::EvaluationStatistics
  GetStatistics() const
  {
    return m_Face.GetStatistics();
  }

  /** For PrintSelf. */
  void
  Print(std::ostream & os, Indent indent) const
  {
    m_Face.Print(os, indent);
  }

private:
  void
  UpdateEngine(bool isInitializing)
  {
    m_Face.UpdateEngine([](const gpureg::PairMetric &) { return false; },
                        [this](const std::string & device) {
                          return std::make_unique<gpureg::PairMetric>(device, m_Measure);
                        },
                        [this] {
                          const MetricImages<TMetric> & images = m_Face.GetImages();
                          return m_Measure == gpureg::PairMeasure::Correlation ? images.ComputeSeparateScales()
                                                                               : images.ComputeCommonScales();
                        },
                        DescribeByValues(),
                        isInitializing);
  }

  const TMetric &                         m_Metric;
  const gpureg::PairMeasure               m_Measure;
  MetricFace<TMetric, gpureg::PairMetric> m_Face;
};

} // namespace GPURegistrationDetail
} // namespace itk

/** In a metric that has a PairFace. */
#define itkGPUPairFriendsMacro()                      \
  friend class GPURegistrationDetail::PairFace<Self>; \
  itkGPUMetricFriendsMacro(gpureg::PairMetric)

#endif
