// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_SmoothedDensity_h
#define gpureg_SmoothedDensity_h

#include "gpureg/metric/histogram/JointHistogramMetric.h"

#include <cstdint>
#include <vector>

namespace gpureg
{

/** Holds the joint density of nearest bins, smoothed by a Gaussian along both axes, with edge values repeated beyond the edges. It is
 *  not normalised again: as in itk::JointHistogramMutualInformationImageToImageMetricv4, what the Gaussian moves across an edge is
 *  lost. */
class GPURegistration_EXPORT SmoothedDensity
{
public:
  /** Smooths counts to a density.
   *  \param counts bins × bins numbers, a row for each fixed bin.
   *  \param bins the number of bins of each image.
   *  \param options the weights of the Gaussian, and how the value is summed.
   *  \throws Error if the Gaussian has too many weights. */
  SmoothedDensity(const std::vector<std::uint64_t> & counts, int bins, const JointHistogramOptions & options);

  /** Returns Σ p ln(p/(p_f p_m)) in bits, over the entries above JointHistogramOptions::leastDensity. */
  double
  GetMutualInformation() const
  {
    return m_MutualInformation;
  }

  /** Returns the density [fixed bin][moving bin]. */
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
