// SPDX-License-Identifier: Apache-2.0
// The discrete Gaussian by which itk::SyNImageRegistrationMethod smooths fields.
#ifndef gpureg_FieldGaussian_h
#define gpureg_FieldGaussian_h

#include "engine/filter/DiscreteGaussian.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace gpureg
{

/** Returns the weights for kernels::FieldSmoothing along an axis of `size` voxels. They equal the weights of itk::GaussianOperator with a
 *  MaximumError of 0.001 and a MaximumKernelWidth of `size` to 4e-7 for variances up to 12; ITK's relative error is 3e-4 for a variance of
 *  80.
 *  \param variance in voxels squared
 *  \throws BadInputError if the variance is not between 0 and 600 */
inline std::vector<float>
MakeFieldGaussian(double variance, int size)
{
  constexpr double          missing = 0.001;
  const auto                most = static_cast<std::size_t>(std::max(3, size + 1));
  const std::vector<double> weights = MakeDiscreteGaussian(variance, missing, 2, most);
  return { weights.begin(), weights.end() };
}

/** Returns the part of the unsmoothed field in the result: ITK's smoothing does not reach its full strength before a variance of 0.5. */
inline float
ComputeUnsmoothedShare(double variance)
{
  return variance < 0.5 ? static_cast<float>(2.0 * variance) : 0.0F;
}

} // namespace gpureg

#endif
