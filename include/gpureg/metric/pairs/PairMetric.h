// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_PairMetric_h
#define gpureg_PairMetric_h

#include "gpureg/metric/Metric.h"

#include <memory>
#include <string>
#include <vector>

namespace gpureg
{

/** What a metric sums over the pairs of a sample's fixed value f and moving value m. */
enum class PairMeasure
{
  /** (f - m)². A force is (f - m)·∇m. */
  MeanSquares,
  /** |f - m|. A force is sign(f - m)·∇m. */
  MeanAbsoluteDifferences,
  /** (f - m)². A force is (f - m)·∇/((f - m)²/K + |∇|²), for fields of displacements only (Thirion 1998). */
  Demons,
  /** With f₁ and m₁, the values less their means: a force is (f₁ - (Σ f₁m₁/Σ m₁²)·m₁)·∇m. Those of each sample along a
   *  spline, or behind fixed pre-transforms, alone. */
  Correlation
};

/** Of PairMeasure::Demons, in scaled values. */
struct DemonsTerms
{
  /** K, mm². */
  double normalizer = 1;
  /** A smaller |f - m| gives no force, nor does a smaller denominator. */
  double leastDifference = 0;
  double leastDenominator = 0;
};

/** What an evaluation gives, of scaled values. */
struct PairResult : ForceResult
{
  /** Of valid samples. */
  double count = 0;
  /** Σ (f - m)², or Σ |f - m|. */
  double differences = 0;
  /** Of a correlation the means, Σ f₁², Σ m₁² and Σ f₁m₁. */
  double fixedMean = 0;
  double movingMean = 0;
  double fixedSquares = 0;
  double movingSquares = 0;
  double products = 0;
};

/** The metrics that are sums over pairs of values. The fixed samples need values, counted as the moving image's are: in one
 *  unit, but for a correlation. One pass gives sums and forces. */
class GPURegistration_EXPORT PairMetric : public Metric
{
public:
  /** \throws Error if there is no such device. */
  PairMetric(const std::string & deviceName, PairMeasure measure);
  ~PairMetric();

  void
  SetDemonsTerms(const DemonsTerms & terms)
  {
    m_DemonsTerms = terms;
  }

  /** \throws Error for forces that the measure does not have. */
  PairResult
  Evaluate(const SampleMapping & mapping, Forces forces, const ParallelFor & parallelFor);

  /** Of many candidates together, without forces. */
  std::vector<PairResult>
  EvaluateBatch(const CandidateMaps & candidates, const ParallelFor & parallelFor);

private:
  class Implementation;
  DemonsTerms                     m_DemonsTerms;
  std::unique_ptr<Implementation> m_Implementation;
};

} // namespace gpureg

#endif
