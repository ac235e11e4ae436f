// SPDX-License-Identifier: Apache-2.0
// Conversion of double-precision numbers to the kernels' fixed point (src/kernels/transform/FixedMap.h).
#ifndef gpureg_FixedPoint_h
#define gpureg_FixedPoint_h

#include "kernels/core/Prelude.h"
#include "kernels/transform/FixedMap.h"

#include "gpureg/core/Geometry.h"

#include <cmath>
#include <cstddef>

namespace gpureg
{

/** Returns value in units of 2^-bits, rounded to the nearest. */
inline kernels::i64
ToFixedPoint(double value, int bits = 32)
{
  return static_cast<kernels::i64>(std::llround(std::ldexp(value, bits)));
}

/** Returns a map in fixed point with units of 2^-bits. Its entries must fit into 64 bits. */
inline kernels::FixedMap
ToFixedMap(const IndexMap & map, int bits = 32)
{
  kernels::FixedMap fixed;
  for (std::size_t r = 0; r < 3; ++r)
  {
    for (std::size_t c = 0; c < 3; ++c)
    {
      fixed.row[4 * r + c] = ToFixedPoint(map.matrix[3 * r + c], bits);
    }
    fixed.row[4 * r + 3] = ToFixedPoint(map.offset[r], bits);
  }
  return fixed;
}

} // namespace gpureg

#endif
