// SPDX-License-Identifier: Apache-2.0
// The discrete Gaussian.
#ifndef gpureg_DiscreteGaussian_h
#define gpureg_DiscreteGaussian_h

#include <cstddef>
#include <vector>

namespace gpureg
{

/** Returns the weights of a discrete Gaussian, e^-t I_n(t) with t = variance, samples squared, from its centre on (Lindeberg 1990): as many
 *  as leave out the part `missing` of their sum, but no fewer than least and no more than most. They are then normalised to a sum of 1.
 *  itk::GaussianOperator has 2 weights at least, and at most one more than its MaximumKernelWidth, or 3.
 *  \throws BadInputError if the variance is not between 0 and 600, beyond which doubles have no e^-t I_n(t) */
std::vector<double>
MakeDiscreteGaussian(double variance, double missing, std::size_t least, std::size_t most);

} // namespace gpureg

#endif
