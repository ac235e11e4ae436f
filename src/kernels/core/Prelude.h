// SPDX-License-Identifier: Apache-2.0
// The meaning of the shared kernel subset in plain C++: the host's dialect.
// cuda/core/CudaPrelude.h and opencl/core/Prelude.cl give the same names their meaning there.
// A kernel source includes none of the three: whoever compiles it comes with its own.
#ifndef gpureg_kernels_Prelude_h
#define gpureg_kernels_Prelude_h

#include <cmath>
#include <cstdint>
#include <cstring>

#define GPUREG_NAMESPACE_BEGIN \
  namespace gpureg             \
  {                            \
  namespace kernels            \
  {
#define GPUREG_NAMESPACE_END \
  }                          \
  }

#define GPUREG_FUNCTION inline
// One that few samples come to, so that it takes no registers from the others.
#define GPUREG_SELDOM_FUNCTION inline
// A function over real, which is float or double: a template here; in OpenCL C the program is compiled for
// one of them.
#define GPUREG_REAL_FUNCTION \
  template <typename real>   \
  inline
// What a group's lanes call on a device, over a metric's arguments.
#define GPUREG_GROUP_FUNCTION inline
#define GPUREG_METRIC_GROUP_FUNCTION  \
  template <typename MetricArguments> \
  inline
#define GPUREG_REAL_GROUP_FUNCTION GPUREG_REAL_FUNCTION
#define GPUREG_UNROLL_8
#define GPUREG_GLOBAL
#define GPUREG_LOCAL

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

inline double
MultiplyAdd(double a, double b, double c)
{
  return a * b + c;
}

/** a·b + c, rounded once everywhere. */
inline float
MultiplyAddOnce(float a, float b, float c)
{
  return std::fma(a, b, c);
}

/** Both halves of a product of 128 bits, the one exclusive-or the other. */
inline u64
FoldProduct(u64 a, u64 b)
{
  __extension__ using Product = unsigned __int128;
  const Product product = static_cast<Product>(a) * b;
  return static_cast<u64>(product) ^ static_cast<u64>(product >> 64);
}

#define GPUREG_HAS_WIDE_PRODUCT
/** (a·b + addend)/2^32, rounded down. */
inline i64
MultiplyWide(i64 a, i64 b, i64 addend)
{
  __extension__ using Product = __int128;
  return static_cast<i64>((static_cast<Product>(a) * b + addend) >> 32);
}

/** The four floats from p on, which need not be aligned. */
inline float4
LoadFloat4(const float * p)
{
  float4 a;
  std::memcpy(&a, p, sizeof(a));
  return a;
}

#if defined(__GNUC__)
// Written by components, GCC makes four instructions of what is one, and the interpolation of four components
// takes up to twice as long.
using FourFloats = float __attribute__((vector_size(sizeof(float4))));

inline FourFloats
ToVector(float4 a)
{
  FourFloats v;
  std::memcpy(&v, &a, sizeof(v));
  return v;
}

inline float4
FromVector(FourFloats v)
{
  float4 a;
  std::memcpy(&a, &v, sizeof(a));
  return a;
}

/** a·b + c, by components. */
inline float4
MultiplyAdd4(float a, float4 b, float4 c)
{
  return FromVector(a * ToVector(b) + ToVector(c));
}

/** a - b, by components. */
inline float4
Subtract4(float4 a, float4 b)
{
  return FromVector(ToVector(a) - ToVector(b));
}
#else
inline float4
MultiplyAdd4(float a, float4 b, float4 c)
{
  return { MultiplyAdd(a, b.x, c.x), MultiplyAdd(a, b.y, c.y), MultiplyAdd(a, b.z, c.z), MultiplyAdd(a, b.w, c.w) };
}

inline float4
Subtract4(float4 a, float4 b)
{
  return { a.x - b.x, a.y - b.y, a.z - b.z, a.w - b.w };
}
#endif

inline float
FloorOf(float x)
{
  return std::floor(x);
}

inline double
FloorOf(double x)
{
  return std::floor(x);
}

/** To the nearest whole number; half-way between two, away from 0. */
inline double
RoundOf(double x)
{
  return std::round(x);
}

inline float
SmallerOf(float a, float b)
{
  return a < b ? a : b;
}

inline float
LargerOf(float a, float b)
{
  return a > b ? a : b;
}

/** x put into [0, 1]. */
inline float
SaturateOf(float x)
{
  return SmallerOf(LargerOf(x, 0.0f), 1.0f);
}

/** The largest whole number that is neither above x nor above last, for 0 <= x < 2^22. */
inline float
WholeBelow(float x, float last, int * index)
{
  const int floor = static_cast<int>(x);
  const int end = static_cast<int>(last);
  *index = floor < end ? floor : end;
  return static_cast<float>(*index);
}

/** x >= 0 in units of 1/one, to the nearest, halves to the even one; x * one < 2^22. Of floats just below a unit's digits, half are
 *  halves: rounded up, they would make sums too large by a part of 1e-7. */
inline u32
ToCount(float x, float one)
{
  // The floats between 2^23 and 2^24 are whole numbers, in the order of their bits.
  const float twoTo23 = 8388608.0f;
  const float shifted = MultiplyAdd(x, one, twoTo23);
  u32         bits, bitsOfZero;
  std::memcpy(&bits, &shifted, sizeof(bits));
  std::memcpy(&bitsOfZero, &twoTo23, sizeof(bitsOfZero));
  return bits - bitsOfZero;
}

inline float
SqrtOf(float x)
{
  return std::sqrt(x);
}

inline float
LogOf(float x)
{
  return std::log(x);
}

/** ln(1 + x), which loses nothing where x is small. */
inline float
LogOfOnePlus(float x)
{
  return std::log1p(x);
}

/** How a double is kept: sign, exponent and fraction. */
inline i64
BitsOfDouble(double x)
{
  i64 bits;
  std::memcpy(&bits, &x, sizeof(bits));
  return bits;
}

inline double
DoubleOfBits(i64 bits)
{
  double x;
  std::memcpy(&x, &bits, sizeof(x));
  return x;
}

/** histogram[cell·stride] += weight. */
inline void
AddToCell(u32 * histogram, int cell, int stride, u32 weight)
{
  histogram[cell * stride] += weight;
}

/** The same of a cell that a device's neighbouring lanes often have in common. */
inline void
AddToSharedCell(u32 * histogram, int cell, int stride, u32 weight)
{
  AddToCell(histogram, cell, stride, weight);
}

/** histogram[(cell + k)·stride] += weights[k], 0 <= k < cells. */
inline void
AddWindow(u32 * histogram, int cell, int stride, int cells, const u32 * weights)
{
  for (int k = 0; k < cells; ++k)
  {
    histogram[(cell + k) * stride] += weights[k];
  }
}

/** *sum += value, which several threads may do at once. */
inline void
AddGlobally(u64 * sum, u64 value)
{
  __atomic_fetch_add(sum, value, __ATOMIC_RELAXED);
}

GPUREG_NAMESPACE_END

#endif
