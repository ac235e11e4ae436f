// SPDX-License-Identifier: Apache-2.0
// The meaning of the shared kernel subset in plain C++: the host's dialect.
// cuda/Prelude.h and opencl/Prelude.h give the same names their meaning there.
// A kernel source includes none of the three: whoever compiles it comes with its own.
#ifndef gpureg_kernels_Prelude_h
#define gpureg_kernels_Prelude_h

#include <cmath>
#include <cstdint>

#define GPUREG_NAMESPACE_BEGIN \
  namespace gpureg             \
  {                            \
  namespace kernels            \
  {
#define GPUREG_NAMESPACE_END \
  }                          \
  }

#define GPUREG_FUNCTION inline
#define GPUREG_GLOBAL
#define GPUREG_UNROLL

GPUREG_NAMESPACE_BEGIN

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i64 = std::int64_t;

struct float4
{
  float x, y, z, w;
};

inline float4
MakeFloat4(float x, float y, float z, float w)
{
  return { x, y, z, w };
}

/** a·b + c; rounded once where the compiler has the instruction, twice elsewhere. */
inline float
MultiplyAdd(float a, float b, float c)
{
  return a * b + c;
}

inline float
FloorOf(float x)
{
  return std::floor(x);
}

inline float
LogOf(float x)
{
  return std::log(x);
}

GPUREG_NAMESPACE_END

#endif
