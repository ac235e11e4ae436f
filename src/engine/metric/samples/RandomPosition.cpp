// SPDX-License-Identifier: Apache-2.0
#include "gpureg/metric/samples/RandomPosition.h"

#include "kernels/core/Prelude.h"
#include "kernels/core/CounterRandom.h"

#include <cmath>
#include <cstddef>

namespace gpureg
{

std::array<double, 3>
DrawPosition(const RandomKey & key, const std::array<int, 3> & size)
{
  const kernels::RandomWords counter{ { key.sample, key.iteration, key.series, 0 } };
  const kernels::RandomWords random =
    kernels::Philox4x32(counter, static_cast<kernels::u32>(key.seed), static_cast<kernels::u32>(key.seed >> 32));
  std::array<double, 3> position;
  for (std::size_t d = 0; d < 3; ++d)
  {
    position[d] = std::ldexp(static_cast<double>(kernels::RandomPosition(random.word[d], size[d])), -32);
  }
  return position;
}

} // namespace gpureg
