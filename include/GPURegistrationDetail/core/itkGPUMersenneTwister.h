// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPUMersenneTwister_h
#define itkGPUMersenneTwister_h

#include "GPURegistrationExport.h"

#include "gpureg/core/ParallelFor.h"

#include <cstdint>
#include <functional>

namespace itk
{
namespace GPURegistrationDetail
{

/** Draws the integers that itk::Statistics::MersenneTwisterRandomVariateGenerator draws one after the other (Matsumoto and Nishimura,
 *  "Mersenne Twister: A 623-Dimensionally Equidistributed Uniform Pseudo-Random Number Generator", ACM TOMACS 8(1), 1998), in blocks
 *  that several threads take. The generator's state goes from one thread to the next, each of which then draws its block by itself.
 *  \param seed the seed.
 *  \param blockSize the number of integers in a block.
 *  \param blocks the number of blocks.
 *  \param parallelFor the threads to use.
 *  \param visit is called once for each block, by any thread, with the block's number and its integers: the integers number * blockSize
 *  to (number + 1) * blockSize - 1 of the sequence. */
GPURegistration_EXPORT
void
DrawIntegers(std::uint32_t                                                    seed,
             std::int64_t                                                     blockSize,
             std::int64_t                                                     blocks,
             const gpureg::ParallelFor &                                      parallelFor,
             const std::function<void(std::int64_t, const std::uint32_t *)> & visit);

/** Computes from two integers the number that GetNormalVariate() of the same generator returns: of mean 0 and variance 1, by the method of
 *  Box and Muller.
 *  \param radius, angle the first and the second integer. */
GPURegistration_EXPORT
double
ComputeNormalVariate(std::uint32_t radius, std::uint32_t angle);

} // namespace GPURegistrationDetail
} // namespace itk

#endif
