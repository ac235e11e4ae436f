// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_JointHistogramMetric_h
#define gpureg_JointHistogramMetric_h

#include "gpureg/metric/Metric.h"
#include "gpureg/metric/Similarity.h"

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

/** Holds the settings of an evaluation. */
struct JointHistogramOptions
{
  /** Weights of the smoothing Gaussian from its centre on, at most 33; these and their mirror images sum to 1. */
  std::vector<double> smoothing{ 1.0 };
  /** True to reproduce ITK's releases that swap the marginals: value and derivative divide by the fixed bins' marginal, at the moving
   *  bin, in place of the moving bins'; and the value by the moving bins' marginal, at the fixed bin, in place of the fixed bins'. */
  bool usesMarginalOfFixed = false;
  /** The value sums over entries for which the marginals' product, and the joint density divided by that product, are above this
   *  number. */
  double leastDensity = 0;
  /** For each moving bin, true if a value half-way between the bin before it and itself is counted in the bin before. */
  std::vector<bool> tiesGoDown;
};

struct JointHistogramResult : ForceResult
{
  /** Number of samples in each entry: fixed bins × moving bins, moving bins fastest. */
  std::vector<std::uint64_t> histogram;
  /** Number of samples in the histogram. */
  std::uint64_t count = 0;
  /** Number of samples that have a force. */
  std::uint64_t countOfForces = 0;
  /** The derivative is -Σ force divided by this number, and by the number of forces if it is a mean. */
  double divisor = 1;
};

/** Result of one of many candidates. */
struct JointHistogramValue
{
  /** Number of samples in the histogram. */
  std::uint64_t count = 0;
  /** Mutual information in bits. */
  double mutualInformation = 0;
};

/** Computes mutual information from a joint histogram of nearest bins whose counts are smoothed by a Gaussian, as
 *  itk::JointHistogramMutualInformationImageToImageMetricv4 does. Moving values are scaled to bins above the minimum, in [0, bins - 5].
 *  For a fixed value the samples hold its bin, and its offset from the bin's middle, in (-1/2, 1/2].
 *
 *  An evaluation takes two passes: the first counts whole samples; in the second each sample looks up the smoothed counts around it,
 *  and computes its force. */
class GPURegistration_EXPORT JointHistogramMetric : public Metric
{
public:
  static constexpr int LeastBins = Describe(SimilarityKind::JointHistogramMutualInformation).bins.least;
  static constexpr int MostBins = Describe(SimilarityKind::JointHistogramMutualInformation).bins.most;

  /** Makes a metric with bins bins for each image, from LeastBins to MostBins.
   *  \throws Error if there is no such device; the message lists the devices. */
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

  /** Evaluates many candidates in batches, with values that equal those of each one's SmoothedDensity to the bit. A device computes the
   *  values together if it has double precision, and local memory for the densities. Otherwise it counts histograms in batches, and
   *  downloads one batch while it counts the next. */
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
  ComputeValue(const JointHistogramResult & result, const JointHistogramOptions & options) const;

  int                             m_Bins;
  std::unique_ptr<Implementation> m_Implementation;
};

} // namespace gpureg

#endif
