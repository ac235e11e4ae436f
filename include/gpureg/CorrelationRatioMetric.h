// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_CorrelationRatioMetric_h
#define gpureg_CorrelationRatioMetric_h

#include "gpureg/CorrelationRatioScheme.h"
#include "gpureg/Error.h"
#include "gpureg/Metric.h"

#include <memory>
#include <string>

namespace gpureg
{

/** What an evaluation gives, of moving values scaled to [0, 1]. */
struct CorrelationRatioResult : ForceResult
{
  /** Of valid samples. */
  double count = 0;
  /** A = Σ_i Σ (Y - m_i)², of the deviations from their bins' means, … */
  double within = 0;
  /** … and B = Σ (Y - m)², from the mean of all. The value is A/B; and the derivative (2/B)·forces. */
  double all = 0;
  /** Whether A/B is known to 1e-6: not where the values hardly vary against their range, for the sums are in fixed point. */
  bool isResolved = true;
};

/** 1 - η(moving | fixed): how little of the moving values' variance their fixed bins explain (Roche 1998; Li 2015). A force
 *  is f = gradient·[(Y - m_i) - (A/B)(Y - m)].
 *
 *  Two passes, as gpureg::MattesMetric's: N, Σ Y and Σ Y² of each fixed bin, in fixed point, by a scheme; then the forces. */
class GPURegistration_EXPORT CorrelationRatioMetric : public Metric
{
public:
  static constexpr int LeastBins = 2;
  static constexpr int MostBins = 4096;

  /** \throws Error if there is no such device, or if there are less bins, or more. */
  CorrelationRatioMetric(const std::string & deviceName, int bins);
  ~CorrelationRatioMetric();

  int
  GetNumberOfBins() const
  {
    return m_Bins;
  }

  /** How a device does the first pass, from the next evaluation on; SharedMerge unless it is set.
   *  \throws Error if it is none of the schemes. */
  void
  SetScheme(CorrelationRatioScheme scheme);
  CorrelationRatioScheme
  GetScheme() const;

  /** Of ConflictFree: so many samples of one bin are one group's at most (Li 2015, section 5.1).
   *  \throws Error if it is less than 1. */
  void
  SetWorkloadLimit(int samples);

  CorrelationRatioResult
  Evaluate(const SampleMapping & mapping, Forces forces, const ParallelFor & parallelFor);

private:
  class Implementation;
  int                             m_Bins;
  std::unique_ptr<Implementation> m_Implementation;
};

} // namespace gpureg

#endif
