// SPDX-License-Identifier: Apache-2.0
#include "engine/metric/samples/RegularSubsample.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace gpureg
{

RegularSubsample::RegularSubsample(const Size & size, const std::array<double, 3> & spacing, std::int64_t count)
  : m_Size(size)
{
  while (CountOf(m_Size) > std::max<std::int64_t>(1, count))
  {
    // Enlarges the step along the axis where samples are closest, and where there is more than one.
    std::size_t axis = 0;
    double      nearest = HUGE_VAL;
    for (std::size_t d = 0; d < 3; ++d)
    {
      const double distance = m_Steps[d] * spacing[d];
      if (m_Size[d] > 1 && distance < nearest)
      {
        nearest = distance;
        axis = d;
      }
    }
    ++m_Steps[axis];
    m_Size[axis] = (size[axis] + m_Steps[axis] - 1) / m_Steps[axis];
  }
}

IndexMap
RegularSubsample::Place(const RandomKey & key) const
{
  // A Kronecker sequence with the inverse powers of the root of x⁴ = x + 1.
  constexpr std::array<double, 3> ratios{ 0.8191725133961645, 0.6710436067037893, 0.5497004779019703 };
  // The sequence begins at a random position.
  const std::array<double, 3> begin = DrawPosition({ key.seed, key.series, 0, key.sample }, m_Steps);
  IndexMap                    map;
  for (std::size_t d = 0; d < 3; ++d)
  {
    const double turns = (begin[d] + 0.5) / m_Steps[d] + key.iteration * ratios[d];
    map.matrix[4 * d] = m_Steps[d];
    map.offset[d] = std::clamp<double>(std::floor((turns - std::floor(turns)) * m_Steps[d]), 0, m_Steps[d] - 1);
  }
  return map;
}

} // namespace gpureg
