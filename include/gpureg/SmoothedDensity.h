// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_SmoothedDensity_h
#define gpureg_SmoothedDensity_h

#include "GPURegistrationExport.h"

#include <cstddef>
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
   *  \param smoothing the Gaussian's weights from its centre on; one, of 1, smooths nothing. */
  SmoothedDensity(const std::vector<std::uint64_t> & counts, std::size_t bins, const std::vector<double> & smoothing);

  /** Σ p ln(p/(p_f p_m)) in bits, of the cells where p_f p_m, and p by that, are above a least. \param swapsMarginals with the
   *  fixed bins' marginal at the moving bins and the other way round. */
  double
  GetMutualInformation(bool swapsMarginals, double least) const;

  /** [fixed bin][moving bin]. */
  const std::vector<double> &
  GetJoint() const
  {
    return m_Joint;
  }

private:
  std::size_t         m_Bins;
  std::vector<double> m_Joint;
  std::vector<double> m_FixedMarginal;
  std::vector<double> m_MovingMarginal;
};

} // namespace gpureg

#endif
