// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_RecursiveGaussian_h
#define gpureg_RecursiveGaussian_h

#include "GPURegistrationExport.h"

#include <array>

namespace gpureg
{

/** Holds the weights of a recursive Gaussian, or of one of its derivatives, under the names of itk::RecursiveSeparableImageFilter
 *  (Deriche 1993):
 *  y+(i) = N0·x(i) + … + N3·x(i - 3) - D1·y+(i - 1) - … - D4·y+(i - 4),
 *  y-(i) = M1·x(i + 1) + … + M4·x(i + 4) - D1·y-(i + 1) - … - D4·y-(i + 4), and y = y+ + y-. */
struct RecursiveGaussian
{
  std::array<double, 4> n{};
  std::array<double, 4> d{};
  std::array<double, 4> m{};
};

/** Returns the weights of a Gaussian whose sum is 1.
 *  \param sigma the standard deviation in voxels.
 *  \throws BadInputError unless sigma is greater than 0 and finite. */
GPURegistration_EXPORT
RecursiveGaussian
MakeRecursiveGaussian(double sigma);

} // namespace gpureg

#endif
