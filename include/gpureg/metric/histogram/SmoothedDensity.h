// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_SmoothedDensity_h
#define gpureg_SmoothedDensity_h

#include "gpureg/metric/histogram/JointHistogramMetric.h"

#include <cstdint>
#include <vector>

namespace gpureg
{

/** The joint density of nearest bins, smoothed by a Gaussian along both axes, an edge's value repeated beyond it. Not
 *  normalised again: what the Gaussian carries across an edge is lost, as it is to
 *  itk::JointHistogramMutualInformationImageToImageMetricv4. */
class GPURegistration_EXPORT SmoothedDensity
{
public:
  /** \param counts bins × bins, a row for each fixed bin.
   *  \throws Error if the Gaussian has too many weights. */
  SmoothedDensity(const std::vector<std::uint64_t> & counts, int bins, const JointHistogramOptions & options);

  /** Σ p ln(p/(p_f p_m)) in bits, of the cells that are above the least density. */
  double
  GetMutualInformation() const
  {
    return m_MutualInformation;
  }

  /** [fixed bin][moving bin]. */
  const std::vector<double> &
  GetJoint() const
  {
    return m_Joint;
  }

private:
  std::vector<double> m_Joint;
  double              m_MutualInformation;
};

} // namespace gpureg

#endif
