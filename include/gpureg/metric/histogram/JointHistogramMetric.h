// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_JointHistogramMetric_h
#define gpureg_JointHistogramMetric_h

#include "gpureg/metric/Metric.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace gpureg
{

namespace kernels
{
struct JointHistogramArguments;
}

/** What a joint histogram's evaluation depends on besides the images. */
struct JointHistogramOptions
{
  /** The Gaussian's weights from its centre on, 33 at most; they and their mirrored ones sum to 1. */
  std::vector<double> smoothing{ 1.0 };
  /** The value and the derivative divide by the fixed bins' marginal, at the moving bin, instead of the moving bins'; the value
   *  by the moving bins' at the fixed bin, too. */
  bool usesMarginalOfFixed = false;
  /** The value is of cells where the marginals' product, and the joint density by that, are above it. */
  double leastDensity = 0;
  /** Of each moving bin, whether a value half-way between the bin before it and it is counted in the one before. */
  std::vector<bool> tiesGoDown;
};

struct JointHistogramResult : ForceResult
{
  /** Samples, fixed bins × moving bins, moving fastest. */
  std::vector<std::uint64_t> histogram;
  /** All of them, … */
  std::uint64_t count = 0;
  /** … and those that have a force. */
  std::uint64_t countOfForces = 0;
  /** The derivative is -Σ force by this, and by the number of forces where it is a mean. */
  double divisor = 1;
};

/** Of a candidate. */
struct JointHistogramValue
{
  /** Samples. */
  std::uint64_t count = 0;
  /** In bits. */
  double mutualInformation = 0;
};

/** Mutual information of the joint histogram of nearest bins, as itk::JointHistogramMutualInformationImageToImageMetricv4 has
 *  it: the counts are smoothed by a Gaussian. Moving values are scaled to bins above the minimum, in [0, bins - 5]; of a sample's
 *  fixed value the samples give its bin, and its place between that bin and the next, in (-1/2, 1/2].
 *
 *  Two passes: whole samples are counted; then each sample looks the smoothed counts around it up and gives a force. */
class GPURegistration_EXPORT JointHistogramMetric : public Metric
{
public:
  static constexpr int LeastBins = 6;
  static constexpr int MostBins = 1024;

  /** \throws Error if there is no such device; the message lists those there are. */
  JointHistogramMetric(const std::string & deviceName, int bins);
  ~JointHistogramMetric();

  int
  GetNumberOfBins() const
  {
    return m_Bins;
  }

  JointHistogramResult
  Evaluate(const SampleMapping &         mapping,
           Forces                        forces,
           const JointHistogramOptions & options,
           const ParallelFor &           parallelFor);

  /** Of many candidates, to the bit what each one's SmoothedDensity says: found by the device, together, where it has doubles
   *  and local memory for the densities; else from histograms that it counts together, and hands out while it counts others. */
  std::vector<JointHistogramValue>
  EvaluateBatch(const CandidateMaps &         candidates,
                const JointHistogramOptions & options,
                const ParallelFor &           parallelFor);

private:
  class Implementation;
  void
  SetArguments(const JointHistogramOptions & options, kernels::JointHistogramArguments & arguments) const;
  JointHistogramResult
  ReadCounts(const std::uint64_t * counts) const;
  JointHistogramValue
  FindValue(const JointHistogramResult & result, const JointHistogramOptions & options) const;

  int                             m_Bins;
  std::unique_ptr<Implementation> m_Implementation;
};

} // namespace gpureg

#endif
