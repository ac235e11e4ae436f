// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_JointDensity_h
#define gpureg_JointDensity_h

#include "GPURegistrationExport.h"

#include <cstddef>
#include <vector>

namespace gpureg
{

/** Results from the joint histogram of one of many candidates. */
struct MutualInformation
{
  /** Number of valid samples. */
  double count = 0;
  double mutualInformation = 0;
  double normalized = 0;
};

/** Holds the joint density p(i, k) of fixed bin i and moving bin k and its marginals, and computes similarities from them, in double
 *  precision. */
class GPURegistration_EXPORT JointDensity
{
public:
  /** Normalises counts to a density.
   *  \param counts bins × bins numbers, moving bins fastest, on any scale; their sum must not be 0.
   *  \param bins the number of bins of each image. */
  JointDensity(std::vector<double> counts, std::size_t bins);

  /** Returns Σ p ln(p / (p_f p_m)), the negative value of itk::MattesMutualInformationImageToImageMetricv4. */
  double
  GetMutualInformation() const;

  /** Returns (H_f + H_m) / H_j (Studholme 1999; Modat 2010, section 2.2). */
  double
  GetNormalizedMutualInformation() const;

  /** Returns the derivative of the mutual information, or of its normalised form, with respect to each p(i, k), without terms that
   *  cancel: see kernels::TableEntry. */
  std::vector<double>
  GetDerivativeTable(bool normalized) const;

  /** Returns the sum of the counts that the constructor was given. */
  double
  GetCountSum() const
  {
    return m_CountSum;
  }

  const std::vector<double> &
  GetJoint() const
  {
    return m_Joint;
  }

  const std::vector<double> &
  GetFixedMarginal() const
  {
    return m_FixedMarginal;
  }

  const std::vector<double> &
  GetMovingMarginal() const
  {
    return m_MovingMarginal;
  }

private:
  std::size_t         m_Bins;
  double              m_CountSum = 0;
  std::vector<double> m_Joint;
  std::vector<double> m_FixedMarginal;
  std::vector<double> m_MovingMarginal;
};

} // namespace gpureg

#endif
