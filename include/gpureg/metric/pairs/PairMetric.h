// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_PairMetric_h
#define gpureg_PairMetric_h

#include "gpureg/metric/Metric.h"

#include <memory>
#include <string>
#include <vector>

namespace gpureg
{

/** Measures that sum over pairs of a sample's fixed value f and moving value m. */
enum class PairMeasure
{
  /** (f - m)². A force is (f - m)·∇m. */
  MeanSquares,
  /** f - m|. A force is sign(f - m)·∇m. */
  MeanAbsoluteDifferences,
  /** (f - m)². A force is (f - m)·∇/((f - m)²/K + |∇|²). Only for displacement fields (Thirion 1998). */
  Demons,
  /** Products of f₁ and m₁, the values minus their means. A force is (f₁ - (Σ f₁m₁/Σ m₁²)·m₁)·∇m; forces of each sample exist only
   *  along a spline, or behind fixed pre-transforms. */
  Correlation
};

/** Holds the settings of PairMeasure::Demons, in terms of scaled values. */
struct DemonsTerms
{
  /** K, in mm². */
  double normalizer = 1;
  /** The force is 0 if |f - m| is below leastDifference, or the denominator below leastDenominator. */
  double leastDifference = 0;
  double leastDenominator = 0;
};

/** Result of an evaluation, in terms of scaled values. */
struct PairResult : ForceResult
{
  /** Number of valid samples. */
  double count = 0;
  /** Σ (f - m)², or Σ |f - m|. */
  double differences = 0;
  /** For a correlation: the means, Σ f₁², Σ m₁² and Σ f₁m₁. */
  double fixedMean = 0;
  double movingMean = 0;
  double fixedSquares = 0;
  double movingSquares = 0;
  double products = 0;
};

/** Computes the metrics that are sums over pairs of values, in one pass for sums and forces. The fixed samples need values, in the unit
 *  of the moving image's values, except for a correlation. */
class GPURegistration_EXPORT PairMetric : public Metric
{
public:
  /** Makes a metric on one device.
   *  \throws Error if there is no such device. */
  PairMetric(const std::string & deviceName, PairMeasure measure);
  ~PairMetric();

  void
  SetDemonsTerms(const DemonsTerms & terms)
  {
    m_DemonsTerms = terms;
  }

  /** Computes the sums, and the forces.
   *  \throws Error if the measure has no such forces. */
  PairResult
  Evaluate(const SampleMapping & mapping, Forces forces, const ParallelFor & parallelFor);

  /** Evaluates many candidates in batches, without forces. */
  std::vector<PairResult>
  EvaluateBatch(const CandidateMaps & candidates, const ParallelFor & parallelFor);

private:
  class Implementation;
  DemonsTerms                     m_DemonsTerms;
  std::unique_ptr<Implementation> m_Implementation;
};

} // namespace gpureg

#endif
