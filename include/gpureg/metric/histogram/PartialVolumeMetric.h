// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_PartialVolumeMetric_h
#define gpureg_PartialVolumeMetric_h

#include "gpureg/metric/histogram/JointDensity.h"
#include "gpureg/metric/Metric.h"

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
  /** Joint histogram, fixed bins × moving bins, moving fastest, in units of 1/countUnit. */
  std::vector<std::uint64_t> histogram;
  double                     countUnit = 1;
};

/** Mutual information of two images by partial volume (Maes 1997; Sun 2010). The moving image is that of its voxels' bins. The
 *  derivative of the mutual information, or of the normalised one, by where the samples map to is Σ force by the number of
 *  samples. */
class GPURegistration_EXPORT PartialVolumeMetric : public Metric
{
public:
  static constexpr int LeastBins = 2;
  static constexpr int MostBins = 256;

  /** \throws Error if there is no such device; the message lists those there are. */
  PartialVolumeMetric(const std::string & deviceName, int bins);
  ~PartialVolumeMetric();

  int
  GetNumberOfBins() const
  {
    return m_Bins;
  }

  /** \param normalized which table weighs the forces: normalised MI or MI.
   *  \param indexByMm the derivative of a moving index by where it is in space, by rows. */
  PartialVolumeResult
  Evaluate(const SampleMapping &         mapping,
           Forces                        forces,
           bool                          normalized,
           const std::array<double, 9> & indexByMm,
           const ParallelFor &           parallelFor);

  /** Of many candidates together, known to 1e-6. */
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
