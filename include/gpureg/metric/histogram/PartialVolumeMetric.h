// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_PartialVolumeMetric_h
#define gpureg_PartialVolumeMetric_h

#include "gpureg/metric/histogram/JointDensity.h"
#include "gpureg/metric/Metric.h"
#include "gpureg/metric/Similarity.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace gpureg
{

namespace kernels
{
struct PartialVolumeArguments;
}

struct PartialVolumeResult : ForceResult
{
  /** Joint histogram, fixed bins × moving bins, moving bins fastest, in units of 1/countUnit. */
  std::vector<std::uint64_t> histogram;
  double                     countUnit = 1;
};

/** Computes mutual information of two images by partial-volume interpolation (Maes 1997; Sun 2010). The moving image consists of its
 *  voxels' bins. The derivative of the mutual information, or of its normalised form, with respect to the samples' positions is Σ force
 *  divided by the number of samples. */
class GPURegistration_EXPORT PartialVolumeMetric : public Metric
{
public:
  static constexpr int LeastBins = Describe(SimilarityKind::PartialVolumeMutualInformation).bins.least;
  static constexpr int MostBins = Describe(SimilarityKind::PartialVolumeMutualInformation).bins.most;

  /** Makes a metric with bins bins for each image, from LeastBins to MostBins.
   *  \throws Error if there is no such device; the message lists the devices. */
  PartialVolumeMetric(const std::string & deviceName, int bins);
  ~PartialVolumeMetric();

  int
  GetNumberOfBins() const
  {
    return m_Bins;
  }

  /** Computes the joint histogram, and the forces.
   *  \param mapping where the samples map to.
   *  \param forces what to do with the forces.
   *  \param normalized true for forces of normalised mutual information, false for those of mutual information.
   *  \param indexByMm the derivative of a moving index with respect to its position in mm, stored row by row.
   *  \param parallelFor the threads to use. */
  PartialVolumeResult
  Evaluate(const SampleMapping &         mapping,
           Forces                        forces,
           bool                          normalized,
           const std::array<double, 9> & indexByMm,
           const ParallelFor &           parallelFor);

  /** Evaluates many candidates in batches, with values good to 1e-6. */
  std::vector<MutualInformation>
  EvaluateBatch(const CandidateMaps & candidates, const ParallelFor & parallelFor);

private:
  class Implementation;
  void
  CheckHasBins() const;
  void
  SetArguments(kernels::PartialVolumeArguments & arguments) const;

  int                             m_Bins;
  std::unique_ptr<Implementation> m_Implementation;
};

} // namespace gpureg

#endif
