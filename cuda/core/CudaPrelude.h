// SPDX-License-Identifier: Apache-2.0
// Defines the names of the shared kernel subset in CUDA C++: those of src/kernels/core/Prelude.h, and those that work-groups need. Include
// it before any header of src/kernels, which then does not include src/kernels/core/Prelude.h.
#ifndef gpureg_CudaPrelude_h
#define gpureg_CudaPrelude_h
#define gpureg_kernels_Prelude_h

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector_functions.h>
#include <vector_types.h>

#define GPUREG_NAMESPACE_BEGIN \
  namespace gpureg             \
  {                            \
  namespace kernels            \
  {
#define GPUREG_NAMESPACE_END \
  }                          \
  }

// Internal linkage, since the host's own versions of these functions have the same names.
#define GPUREG_FUNCTION static __host__ __device__ __forceinline__
#define GPUREG_SELDOM_FUNCTION static inline __host__ __device__ __noinline__
#define GPUREG_LARGE_FUNCTION GPUREG_FUNCTION
#define GPUREG_REAL_FUNCTION \
  template <typename real>   \
  GPUREG_FUNCTION
#define GPUREG_LARGE_REAL_FUNCTION GPUREG_REAL_FUNCTION
#define GPUREG_GROUP_FUNCTION static __device__ __forceinline__
// Marks a group's function over a metric's arguments: here a template; in OpenCL C the program is compiled for one metric.
#define GPUREG_METRIC_GROUP_FUNCTION  \
  template <typename MetricArguments> \
  GPUREG_GROUP_FUNCTION
#define GPUREG_REAL_GROUP_FUNCTION \
  template <typename real>         \
  GPUREG_GROUP_FUNCTION
// Keeps eight loads in flight at a time.
#define GPUREG_UNROLL_8 _Pragma("unroll 8")
// Is defined where neighbouring items are computed by neighbouring lanes, and not one after the other.
#define GPUREG_HAS_LANES
#define GPUREG_MEMBER_FUNCTION GPUREG_FUNCTION
#define GPUREG_GROUP_MEMBER_FUNCTION GPUREG_GROUP_FUNCTION
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
using ::float4;

GPUREG_FUNCTION float4
MakeFloat4(float x, float y, float z, float w)
{
  return make_float4(x, y, z, w);
}

GPUREG_FUNCTION float
MultiplyAdd(float a, float b, float c)
{
  return fmaf(a, b, c);
}

GPUREG_FUNCTION double
MultiplyAdd(double a, double b, double c)
{
  return fma(a, b, c);
}

GPUREG_FUNCTION float
MultiplyAddOnce(float a, float b, float c)
{
  return fmaf(a, b, c);
}

GPUREG_FUNCTION u64
MixProduct(u64 a, u64 b)
{
#ifdef __CUDA_ARCH__
  return a * b ^ __umul64hi(a, b);
#else
  __extension__ using Product = unsigned __int128;
  const Product product = static_cast<Product>(a) * b;
  return static_cast<u64>(product) ^ static_cast<u64>(product >> 64);
#endif
}

GPUREG_FUNCTION float4
LoadFloat4(const float * p)
{
  return make_float4(p[0], p[1], p[2], p[3]);
}

GPUREG_FUNCTION float4
MultiplyAdd4(float a, float4 b, float4 c)
{
  return make_float4(fmaf(a, b.x, c.x), fmaf(a, b.y, c.y), fmaf(a, b.z, c.z), fmaf(a, b.w, c.w));
}

GPUREG_FUNCTION float4
Subtract4(float4 a, float4 b)
{
  return make_float4(a.x - b.x, a.y - b.y, a.z - b.z, a.w - b.w);
}

GPUREG_FUNCTION float
FloorOf(float x)
{
  return floorf(x);
}

GPUREG_FUNCTION double
FloorOf(double x)
{
  return floor(x);
}

GPUREG_FUNCTION double
RoundOf(double x)
{
  return round(x);
}

GPUREG_FUNCTION float
SmallerOf(float a, float b)
{
  return fminf(a, b);
}

GPUREG_FUNCTION float
LargerOf(float a, float b)
{
  return fmaxf(a, b);
}

GPUREG_FUNCTION float
SaturateOf(float x)
{
#ifdef __CUDA_ARCH__
  return __saturatef(x);
#else
  return fminf(fmaxf(x, 0.0f), 1.0f);
#endif
}

// Conversions run at an eighth of the rate of additions. The sum of 2^23 and a float below 2^22 has the float's integer part in its last
// bits.
#define GPUREG_TWO_TO_23 8388608.0f

GPUREG_FUNCTION float
WholeBelow(float x, float last, int * index)
{
#ifdef __CUDA_ARCH__
  const float shifted = fminf(__fadd_rd(x, GPUREG_TWO_TO_23), last + GPUREG_TWO_TO_23);
  *index = __float_as_int(shifted) - __float_as_int(GPUREG_TWO_TO_23);
  return shifted - GPUREG_TWO_TO_23;
#else
  const float whole = fminf(floorf(x), last);
  *index = static_cast<int>(whole);
  return whole;
#endif
}

GPUREG_FUNCTION u32
ToCount(float x, float one)
{
#ifdef __CUDA_ARCH__
  return __float_as_uint(fmaf(x, one, GPUREG_TWO_TO_23)) - __float_as_uint(GPUREG_TWO_TO_23);
#else
  return static_cast<u32>(lrintf(x * one));
#endif
}

GPUREG_FUNCTION float
SqrtOf(float x)
{
  return sqrtf(x);
}

GPUREG_FUNCTION float
LogOf(float x)
{
  return logf(x);
}

GPUREG_FUNCTION float
LogOfOnePlus(float x)
{
  return log1pf(x);
}

GPUREG_FUNCTION i64
BitsOfDouble(double x)
{
  i64 bits;
  memcpy(&bits, &x, sizeof(bits));
  return bits;
}

GPUREG_FUNCTION double
DoubleOfBits(i64 bits)
{
  double x;
  memcpy(&x, &bits, sizeof(x));
  return x;
}

#ifdef __CUDACC__
static __device__ __forceinline__ int
LaneIndex()
{
  return static_cast<int>(threadIdx.x);
}

static __device__ __forceinline__ int
LaneCount()
{
  return static_cast<int>(blockDim.x);
}

static __device__ __forceinline__ int
GroupIndex()
{
  return static_cast<int>(blockIdx.x);
}

static __device__ __forceinline__ int
GroupCount()
{
  return static_cast<int>(gridDim.x);
}

static __device__ __forceinline__ int
GroupIndexY()
{
  return static_cast<int>(blockIdx.y);
}

static __device__ __forceinline__ int
GroupCountY()
{
  return static_cast<int>(gridDim.y);
}

static __device__ __forceinline__ int
GroupIndexZ()
{
  return static_cast<int>(blockIdx.z);
}

static __device__ __forceinline__ void
LocalBarrier()
{
  __syncthreads();
}

/** Waits for the 32 lanes of a tile's row, which are a warp. */
static __device__ __forceinline__ void
RowBarrier()
{
  __syncwarp();
}

/** Adds weights[k] to histogram[(entry + k)·stride], 0 <= k < entries <= 4. If all lanes of a warp add to one window, as in the background
 *  of a skull-stripped head, one lane adds the warp's sum: 32 atomics on one address would be serialized. */
static __device__ __forceinline__ void
AddWindow(u32 * histogram, int entry, int stride, int entries, const u32 * weights)
{
  u32 * const window = histogram + entry * stride;
#  if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  const unsigned int active = __activemask();
  int                isOneWindow;
  __match_all_sync(active, entry, &isOneWindow);
  if (isOneWindow)
  {
    u32 sums[4];
    for (int k = 0; k < entries; ++k)
    {
      sums[k] = __reduce_add_sync(active, weights[k]);
    }
    if (static_cast<int>(threadIdx.x & 31u) == __ffs(static_cast<int>(active)) - 1)
    {
      for (int k = 0; k < entries; ++k)
      {
        atomicAdd(window + k * stride, sums[k]);
      }
    }
    return;
  }
#  endif
  for (int k = 0; k < entries; ++k)
  {
    atomicAdd(window + k * stride, weights[k]);
  }
}

/** Adds weight to histogram[entry·stride]. */
static __device__ __forceinline__ void
AddToEntry(u32 * histogram, int entry, int stride, u32 weight)
{
  atomicAdd(histogram + entry * stride, weight);
}

/** Adds weight to an entry to which neighbouring lanes often add at the same time: then one lane adds the warp's sum. */
static __device__ __forceinline__ void
AddToSharedEntry(u32 * histogram, int entry, int stride, u32 weight)
{
#  if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  const unsigned int active = __activemask();
  int                isOneEntry;
  __match_all_sync(active, entry, &isOneEntry);
  if (isOneEntry)
  {
    const u32 sum = __reduce_add_sync(active, weight);
    if (static_cast<int>(threadIdx.x & 31u) == __ffs(static_cast<int>(active)) - 1)
    {
      atomicAdd(histogram + entry * stride, sum);
    }
    return;
  }
#  endif
  atomicAdd(histogram + entry * stride, weight);
}

/** Waits for all lanes of a group, and makes their writes to global memory visible, too. */
static __device__ __forceinline__ void
GlobalBarrier()
{
  __syncthreads();
}

/** Adds weights[k] to window[k], 0 <= k < entries, in global memory. */
static __device__ __forceinline__ void
AddWindowGlobally(u32 * window, int entries, const u32 * weights)
{
  for (int k = 0; k < entries; ++k)
  {
    atomicAdd(window + k, weights[k]);
  }
}

/** Adds value to *sum, in global memory. */
static __device__ __forceinline__ void
AddGlobally(u64 * sum, u64 value)
{
  atomicAdd(reinterpret_cast<unsigned long long *>(sum), static_cast<unsigned long long>(value));
}

#  define GPUREG_HAS_SUM_OVER_LANES
/** Returns the sum of all lanes' values, the same in all lanes: by shuffles within a warp, then over the warps. */
static __device__ __forceinline__ float
SumOverLanes(float value, float * scratch)
{
  constexpr unsigned int all = 0xFFFFFFFFu;
  const int              lane = static_cast<int>(threadIdx.x & 31u);
  const int              warps = static_cast<int>(blockDim.x / 32u);
  for (int width = 16; width > 0; width /= 2)
  {
    value += __shfl_xor_sync(all, value, width);
  }
  __syncthreads();
  if (lane == 0)
  {
    scratch[threadIdx.x / 32u] = value;
  }
  __syncthreads();
  float sum = lane < warps ? scratch[lane] : 0.0f;
  for (int width = 16; width > 0; width /= 2)
  {
    sum += __shfl_xor_sync(all, sum, width);
  }
  return sum;
}

#  define GPUREG_HAS_STORE_VECTOR
/** Stores a lane's vector, float[3]; those of neighbouring lanes are adjacent. A whole warp stores its 96 floats in three rows of 32
 *  adjacent floats; otherwise each lane would store every third float in each of three writes. The lanes exchange their x, y and z in
 *  turn. Since 32 = 3·10 + 2, a lane's floats of x, y and z come from three different rows. */
static __device__ __forceinline__ void
StoreVector(const float * vector, float * out)
{
  constexpr unsigned int all = 0xFFFFFFFFu;
  const int              lane = static_cast<int>(threadIdx.x & 31u);
  if (__activemask() != all)
  {
    out[0] = vector[0];
    out[1] = vector[1];
    out[2] = vector[2];
    return;
  }
  float * const ofLane = out - 2 * lane;
  int           row = 2 * (33 - lane) % 3;
  for (int c = 0; c < 3; ++c)
  {
    ofLane[32 * row] = __shfl_sync(all, vector[c], (lane + 32 * row) / 3);
    row = row == 0 ? 2 : row - 1;
  }
}
#endif

GPUREG_NAMESPACE_END

#endif
