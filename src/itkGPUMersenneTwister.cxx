// SPDX-License-Identifier: Apache-2.0
#include "GPURegistrationDetail/core/itkGPUMersenneTwister.h"

#include "itkMath.h"

#include <cmath>
#include <mutex>
#include <random>
#include <vector>

namespace itk
{
namespace GPURegistrationDetail
{

namespace
{
/** std::mt19937 with a state of 32 bits, where that of a library may be of 64. */
using Generator = std::mersenne_twister_engine<std::uint32_t,
                                               32,
                                               624,
                                               397,
                                               31,
                                               0x9908b0dfU,
                                               11,
                                               0xffffffffU,
                                               7,
                                               0x9d2c5680U,
                                               15,
                                               0xefc60000U,
                                               18,
                                               1812433253U>;
} // namespace

void
DrawIntegers(std::uint32_t                                                    seed,
             std::int64_t                                                     blockSize,
             std::int64_t                                                     blocks,
             const gpureg::ParallelFor &                                      parallelFor,
             const std::function<void(std::int64_t, const std::uint32_t *)> & visit)
{
  Generator    next(seed);
  std::int64_t drawn = 0;
  std::mutex   mutex;
  parallelFor(blocks, [&](std::int64_t) {
    std::vector<std::uint32_t> integers(static_cast<std::size_t>(blockSize));
    Generator                  generator;
    std::int64_t               block = 0;
    {
      const std::lock_guard<std::mutex> lock(mutex);
      block = drawn++;
      generator = next;
      next.discard(static_cast<unsigned long long>(blockSize));
    }
    for (std::uint32_t & integer : integers)
    {
      integer = generator();
    }
    visit(block, integers.data());
  });
}

double
ComputeNormalVariate(std::uint32_t radius, std::uint32_t angle)
{
  constexpr double ofInteger = 1.0 / 4294967296.0;
  const double     inside = (static_cast<double>(radius) + 0.5) * ofInteger;
  const double     r = std::sqrt(-2.0 * std::log(1.0 - inside));
  const double     phi = 2.0 * Math::pi * (static_cast<double>(angle) * ofInteger);
  // The sum turns -0 into 0, as ITK's addition of the mean does.
  return 0.0 + r * std::cos(phi);
}

} // namespace GPURegistrationDetail
} // namespace itk
