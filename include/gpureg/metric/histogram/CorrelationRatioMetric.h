// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_CorrelationRatioMetric_h
#define gpureg_CorrelationRatioMetric_h

#include "gpureg/metric/histogram/CorrelationRatioScheme.h"
#include "gpureg/core/Error.h"
#include "gpureg/metric/Metric.h"
#include "gpureg/metric/Similarity.h"

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace gpureg
{

/** Describes how samples lose weight near the edge of the moving image's buffer (FLIRT; Li 2015, section 5.3). Along each axis the
 *  weight is the distance from the edge in voxels times perVoxel, but at most 1; a sample's weight is the product over the axes. With
 *  all perVoxel 0, every sample has the weight 1. */
struct BorderWeight
{
  /** 1/(distance in voxels over which the weight falls) along each of the moving image's axes; 0 for an axis without influence. */
  std::array<double, 3> perVoxel{};
  /** Gradient of the weight along each axis of the image, in physical coordinates, stored row by row, in 1/mm. */
  std::array<double, 9> perMillimetre{};

  bool
  IsOn() const
  {
    return perVoxel[0] > 0 || perVoxel[1] > 0 || perVoxel[2] > 0;
  }
};

/** Result of an evaluation, for moving values scaled to [0, 1]. */
struct CorrelationRatioResult : ForceResult
{
  /** Number of valid samples, whatever their weights. */
  double count = 0;
  /** A = Σ_i Σ (Y - m_i)², the squared deviations from the means of the bins. */
  double within = 0;
  /** B = Σ (Y - m)², the squared deviations from the mean of all values. The value is A/B, and its derivative (2/B)·forces. */
  double all = 0;
  /** False if fixed-point sums do not give A/B to 1e-6, because the values hardly vary compared with their range. */
  bool isResolved = true;
};

struct HistogramResult;

namespace kernels
{
struct CorrelationRatioArguments;
}

/** Computes 1 - η(moving | fixed), the share of the moving values' variance that their fixed bins do not explain (Roche 1998; Li 2015).
 *  A force is f = gradient·[(Y - m_i) - (A/B)(Y - m)].
 *
 *  An evaluation takes two passes, as in gpureg::MattesMetric: the first sums N, Σ Y and Σ Y² of each fixed bin, in fixed point, by a
 *  scheme; the second computes the forces. */
class GPURegistration_EXPORT CorrelationRatioMetric : public Metric
{
public:
  static constexpr int LeastBins = Describe(SimilarityKind::CorrelationRatio).bins.least;
  static constexpr int MostBins = Describe(SimilarityKind::CorrelationRatio).bins.most;
  /** The default of SetWorkloadLimit(): the fastest limit on an H200, for two heads of 256×256×160 voxels. */
  static constexpr int DefaultWorkloadLimit = 768;

  /** Makes a metric with bins fixed bins, from LeastBins to MostBins.
   *  \throws Error if there is no such device, or the number of bins is out of range. */
  CorrelationRatioMetric(const std::string & deviceName, int bins);
  ~CorrelationRatioMetric();

  int
  GetNumberOfBins() const
  {
    return m_Bins;
  }

  /** Sets how a device does the first pass, from the next evaluation on. Default: SharedMerge.
   *  \throws Error if scheme is not in the enumeration. */
  void
  SetScheme(CorrelationRatioScheme scheme);
  CorrelationRatioScheme
  GetScheme() const;

  /** Sets the border weight, from the next evaluation on. Default: off. */
  void
  SetBorderWeight(const BorderWeight & weight)
  {
    m_BorderWeight = weight;
  }

  /** Sets how many samples of one bin a group of ConflictFree sums at most (Li 2015, section 5.1).
   *  \throws Error if samples is less than 1. */
  void
  SetWorkloadLimit(int samples);

  /** Sets how many groups and lanes a scheme launches, from the next evaluation on. The host has no groups.
   *  \throws BadInputError if shape is not valid; UnsupportedError for a number of lanes that the device does not have. */
  void
  SetLaunchShape(const LaunchShape & shape);
  /** Returns the launch shape of the last evaluation's first pass. It has fewer groups than were set if there are fewer chunks, or if
   *  the chunks take several launches; fewer lanes if a chunk of one sample per lane would overflow its sums. Zeros on the host. */
  LaunchShape
  GetUsedLaunchShape() const;

  CorrelationRatioResult
  Evaluate(const SampleMapping & mapping, Forces forces, const ParallelFor & parallelFor);

  /** Evaluates many candidates in batches, without forces, by the scheme SharedMerge. A value is good to 1e-6 if its isResolved is
   *  true. */
  std::vector<CorrelationRatioResult>
  EvaluateBatch(const CandidateMaps & candidates, const ParallelFor & parallelFor);

private:
  class Implementation;

  void
  SetArguments(kernels::CorrelationRatioArguments & arguments) const;
  CorrelationRatioResult
  MakeResult(const HistogramResult & sums) const;
  /** Returns the count of one sample in units of the sums. */
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
