// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_JointHistogramMetric_h
#define gpureg_JointHistogramMetric_h

#include "gpureg/Metric.h"

#include <cstdint>
#include <functional>
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
  /** The derivative divides by the fixed bins' marginal, at the moving bin, instead of the moving bins'. */
  bool usesMarginalOfFixed = false;
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

  /** Takes what an evaluation of a candidate gives, but for forces; called for each, from several threads at once. */
  using CandidateTaker = std::function<void(std::int64_t candidate, const JointHistogramResult & result)>;

  /** Counts many candidates together, where the device does; hands some out while it counts others. */
  void
  EvaluateBatch(const CandidateMaps &         candidates,
                const JointHistogramOptions & options,
                const ParallelFor &           parallelFor,
                const CandidateTaker &        take);

private:
  class Implementation;
  void
  SetArguments(const JointHistogramOptions & options, kernels::JointHistogramArguments & arguments) const;
  JointHistogramResult
  ReadCounts(const std::uint64_t * counts) const;

  int                             m_Bins;
  std::unique_ptr<Implementation> m_Implementation;
};

} // namespace gpureg

#endif
