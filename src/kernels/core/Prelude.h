// SPDX-License-Identifier: Apache-2.0
// Defines the names of the shared kernel subset in plain C++, for the host. cuda/core/CudaPrelude.h and opencl/core/Prelude.cl define the
// same names for their devices. A kernel header includes none of the three: the source that compiles it includes one of them first.
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
// Marks a function that few samples call. A device does not inline it, so that it takes no registers from the other code.
#define GPUREG_SELDOM_FUNCTION inline
// Marks a function of so much code that OpenCL's compiler for a processor is to compile it once, not at each of its calls.
#define GPUREG_LARGE_FUNCTION GPUREG_FUNCTION
// Marks a function over `real`, which is float or double: here a template; in OpenCL C the program is compiled for one of the two.
#define GPUREG_REAL_FUNCTION \
  template <typename real>   \
  inline
#define GPUREG_LARGE_REAL_FUNCTION GPUREG_REAL_FUNCTION
// Marks a function that all lanes of a group call on a device; GPUREG_METRIC_GROUP_FUNCTION, one that also has MetricArguments, the
// arguments of a metric.
#define GPUREG_GROUP_FUNCTION inline
#define GPUREG_METRIC_GROUP_FUNCTION  \
  template <typename MetricArguments> \
  inline
#define GPUREG_REAL_GROUP_FUNCTION GPUREG_REAL_FUNCTION
#define GPUREG_UNROLL_8
#define GPUREG_MEMBER_FUNCTION static inline
#define GPUREG_GROUP_MEMBER_FUNCTION static inline
#define GPUREG_GLOBAL
#define GPUREG_LOCAL

#include "kernels/core/GroupKernel.h"
#include "kernels/core/ItemKernel.h"

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

/** Returns a·b + c; rounded once if the compiler has the instruction, twice otherwise. */
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

/** Returns a·b + c, rounded once on every device. */
inline float
MultiplyAddOnce(float a, float b, float c)
{
  return std::fma(a, b, c);
}

/** Returns the exclusive-or of both halves of the 128-bit product a·b. */
inline u64
MixProduct(u64 a, u64 b)
{
  __extension__ using Product = unsigned __int128;
  const Product product = static_cast<Product>(a) * b;
  return static_cast<u64>(product) ^ static_cast<u64>(product >> 64);
}

#define GPUREG_HAS_WIDE_PRODUCT
/** Returns (a·b + addend)/2^32, rounded down. */
inline i64
MultiplyWide(i64 a, i64 b, i64 addend)
{
  __extension__ using Product = __int128;
  return static_cast<i64>((static_cast<Product>(a) * b + addend) >> 32);
}

/** Loads four floats from p on, which need not be aligned. */
inline float4
LoadFloat4(const float * p)
{
  float4 a;
  std::memcpy(&a, p, sizeof(a));
  return a;
}

#if defined(__GNUC__)
// If this is written component by component, GCC makes four instructions of one, and the interpolation of four components takes up to twice
// as long.
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

/** Returns a·b + c by components. */
inline float4
MultiplyAdd4(float a, float4 b, float4 c)
{
  return FromVector(a * ToVector(b) + ToVector(c));
}

/** Returns a - b by components. */
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

/** Rounds x to the nearest integer; halves are rounded away from 0. */
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

/** Clamps x to [0, 1]. */
inline float
SaturateOf(float x)
{
  return SmallerOf(LargerOf(x, 0.0f), 1.0f);
}

/** Returns the largest integer that is neither above x nor above last, for 0 <= x < 2^22. */
inline float
WholeBelow(float x, float last, int * index)
{
  const int floor = static_cast<int>(x);
  const int end = static_cast<int>(last);
  *index = floor < end ? floor : end;
  return static_cast<float>(*index);
}

/** Returns x >= 0 in units of 1/one, rounded to the nearest integer, halves to the even one; x * one < 2^22. Half of all floats whose
 *  last binary digit is worth half a unit are halves: rounding these up would make sums too large by a relative 1e-7. */
inline u32
ToCount(float x, float one)
{
  // The floats between 2^23 and 2^24 are integers, and their bits are in the same order.
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

/** Returns ln(1 + x), exact to a float's digits for small x, too. */
inline float
LogOfOnePlus(float x)
{
  return std::log1p(x);
}

/** Returns the bits of a double: sign, exponent and fraction. */
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

/** Adds weight to histogram[entry·stride]. */
inline void
AddToEntry(u32 * histogram, int entry, int stride, u32 weight)
{
  histogram[entry * stride] += weight;
}

/** Adds weight to histogram[entry·stride], an entry to which neighbouring lanes of a device often add at the same time. */
inline void
AddToSharedEntry(u32 * histogram, int entry, int stride, u32 weight)
{
  AddToEntry(histogram, entry, stride, weight);
}

/** Adds weights[k] to histogram[(entry + k)·stride], 0 <= k < entries. */
inline void
AddWindow(u32 * histogram, int entry, int stride, int entries, const u32 * weights)
{
  for (int k = 0; k < entries; ++k)
  {
    histogram[(entry + k) * stride] += weights[k];
  }
}

// The functions that lanes of a group call. Only devices with groups define them; here they let a compiler read group kernels
// (GroupKernel.h), so that LaunchGroups() knows their parameters. The host runs none of them.
int
LaneIndex();
int
LaneCount();
int
GroupIndex();
int
GroupIndexY();
int
GroupIndexZ();
void
LocalBarrier();
void
RowBarrier();

/** *sum += value, which several threads may do at once. */
inline void
AddGlobally(u64 * sum, u64 value)
{
  __atomic_fetch_add(sum, value, __ATOMIC_RELAXED);
}

GPUREG_NAMESPACE_END

#endif
