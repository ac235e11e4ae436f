// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_CorrelationRatioMetric_h
#define gpureg_CorrelationRatioMetric_h

#include "gpureg/metric/histogram/CorrelationRatioScheme.h"
#include "gpureg/core/Error.h"
#include "gpureg/metric/Metric.h"

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace gpureg
{

/** How much less a sample weighs near the edge of the moving image's buffer (FLIRT; Li 2015, section 5.3): along each axis its
 *  distance from the edge in voxels times perVoxel, but no more than 1; the product of these. All 0: it weighs 1. */
struct BorderWeight
{
  /** 1/(the distance in voxels) along each of the moving image's axes; 0 for an axis that does not matter. */
  std::array<double, 3> perVoxel{};
  /** By rows: the gradient of the weight along each of these axes, along the physical ones, 1/mm. */
  std::array<double, 9> perMillimetre{};

  bool
  IsOn() const
  {
    return perVoxel[0] > 0 || perVoxel[1] > 0 || perVoxel[2] > 0;
  }
};

/** What an evaluation gives, of moving values scaled to [0, 1]. */
struct CorrelationRatioResult : ForceResult
{
  /** Of valid samples, whatever they weigh. */
  double count = 0;
  /** A = Σ_i Σ (Y - m_i)², of the deviations from their bins' means, … */
  double within = 0;
  /** … and B = Σ (Y - m)², from the mean of all. The value is A/B; and the derivative (2/B)·forces. */
  double all = 0;
  /** Whether A/B is known to 1e-6: not where the values hardly vary against their range, for the sums are in fixed point. */
  bool isResolved = true;
};

struct HistogramResult;

namespace kernels
{
struct CorrelationRatioArguments;
}

/** 1 - η(moving | fixed): how little of the moving values' variance their fixed bins explain (Roche 1998; Li 2015). A force
 *  is f = gradient·[(Y - m_i) - (A/B)(Y - m)].
 *
 *  Two passes, as gpureg::MattesMetric's: N, Σ Y and Σ Y² of each fixed bin, in fixed point, by a scheme; then the forces. */
class GPURegistration_EXPORT CorrelationRatioMetric : public Metric
{
public:
  static constexpr int LeastBins = 2;
  static constexpr int MostBins = 4096;
  /** The fastest on an H200, of two heads of 256×256×160 voxels. */
  static constexpr int DefaultWorkloadLimit = 768;

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

  /** From the next evaluation on; off unless it is set. */
  void
  SetBorderWeight(const BorderWeight & weight)
  {
    m_BorderWeight = weight;
  }

  /** Of ConflictFree: so many samples of one bin are one group's at most (Li 2015, section 5.1).
   *  \throws Error if it is less than 1. */
  void
  SetWorkloadLimit(int samples);

  /** How a scheme's groups are launched, from the next evaluation on; the host has none.
   *  \throws BadInputError unless it is valid; UnsupportedError for lanes that the device does not have. */
  void
  SetLaunchShape(const LaunchShape & shape);
  /** What the last evaluation's first pass was launched with: fewer groups than were set where there are fewer chunks, or where
   *  these are launched in several goes; fewer lanes where a chunk of one sample each would be more than its sums can hold. Zeros
   *  on the host. */
  LaunchShape
  GetUsedLaunchShape() const;

  CorrelationRatioResult
  Evaluate(const SampleMapping & mapping, Forces forces, const ParallelFor & parallelFor);

  /** Of many candidates together, without forces, by the scheme SharedMerge; known to 1e-6 where they are resolved. */
  std::vector<CorrelationRatioResult>
  EvaluateBatch(const CandidateMaps & candidates, const ParallelFor & parallelFor);

private:
  class Implementation;

  void
  SetArguments(kernels::CorrelationRatioArguments & arguments) const;
  CorrelationRatioResult
  MakeResult(const HistogramResult & sums) const;
  /** What a count of 1 is in the sums' unit. */
  double
  GetSumUnit(double countUnit) const;
  bool
  IsResolved(const CorrelationRatioResult & result, double unit) const;

  int                             m_Bins;
  BorderWeight                    m_BorderWeight;
  std::unique_ptr<Implementation> m_Implementation;
};

} // namespace gpureg

#endif
