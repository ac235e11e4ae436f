// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_JointDensity_h
#define gpureg_JointDensity_h

#include "GPURegistrationExport.h"

#include <cstddef>
#include <vector>

namespace gpureg
{

/** What a joint histogram says, of one of many candidates. */
struct MutualInformation
{
  /** Of valid samples. */
  double count = 0;
  double mutualInformation = 0;
  double normalized = 0;
};

/** The joint density p(i, k) of fixed bin i and moving bin k, its marginals, and the similarities that
 *  follow from it, in double precision. */
class GPURegistration_EXPORT JointDensity
{
public:
  /** \param counts bins × bins, moving bins fastest, of any scale; their sum must not be 0. */
  JointDensity(std::vector<double> counts, std::size_t bins);

  /** Σ p ln(p / (p_f p_m)): itk::MattesMutualInformationImageToImageMetricv4's value, negated. */
  double
  GetMutualInformation() const;

  /** (H_f + H_m) / H_j (Studholme 1999; Modat 2010, section 2.2). */
  double
  GetNormalizedMutualInformation() const;

  /** The derivative of either by each p(i, k), up to what cancels: see kernels::TableEntry. */
  std::vector<double>
  GetDerivativeTable(bool normalized) const;

  /** Of the counts that were given. */
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
