// SPDX-License-Identifier: Apache-2.0
// Defines the names of the shared kernel subset in OpenCL C 1.2: those of src/kernels/core/Prelude.h, and those that work-groups need.
// Every program begins with it, before the headers of src/kernels (see EmbedKernels.cmake). It needs only the full profile of OpenCL 1.2:
// no 64-bit atomics, and doubles only if real is double.
//
// The host defines GPUREG_REAL (float or double), GPUREG_LANES (the work-group's size), GPUREG_IS_GPU (0 or 1) and the macros that the
// program's entry points need, when it compiles a program.

#define GPUREG_NAMESPACE_BEGIN
#define GPUREG_NAMESPACE_END
#define GPUREG_FUNCTION static inline
// A processor calls large functions: PoCL, which optimizes all code of a kernel in one function, compiles Mattes' kernels in 8 s
// instead of 19, and a call takes little of the time of such a function.
#if GPUREG_IS_GPU
#  define GPUREG_LARGE_FUNCTION static inline
#else
#  define GPUREG_LARGE_FUNCTION static __attribute__((noinline))
#endif
#define GPUREG_SELDOM_FUNCTION GPUREG_LARGE_FUNCTION
#define GPUREG_REAL_FUNCTION static inline
#define GPUREG_LARGE_REAL_FUNCTION GPUREG_LARGE_FUNCTION
#define GPUREG_GROUP_FUNCTION static inline
#define GPUREG_REAL_GROUP_FUNCTION static inline
#define GPUREG_METRIC_GROUP_FUNCTION static inline
#define GPUREG_UNROLL_8
// Is defined where neighbouring items are computed by neighbouring lanes, and not one after the other.
#define GPUREG_HAS_LANES
#define GPUREG_KERNEL __kernel __attribute__((reqd_work_group_size(GPUREG_LANES, 1, 1)))
// EmbedKernels.cmake writes the entry points of the kernels that are declared by these macros. A macro itself only declares a type, so that
// the semicolon behind it has something to end.
#define GPUREG_ITEM_KERNEL(function, itemsOfTask, doing) struct function##Kernel
#define GPUREG_REAL_ITEM_KERNEL(function, itemsOfTask, doing) struct function##Kernel
#define GPUREG_GROUP_KERNEL(function, lanesOfGroup, elementsOfRow, doing) struct function##Kernel
#define GPUREG_VARIED_GROUP_KERNEL(function, variants, lanesOfGroup, elementsOfRow, doing) struct function##Kernel
#define GPUREG_REAL_GROUP_KERNEL(function, variants, lanesOfGroup, elementsOfRow, doing) struct function##Kernel
#define GPUREG_GLOBAL __global
#define GPUREG_LOCAL __local

typedef uchar       u8;
typedef ushort      u16;
typedef uint        u32;
typedef ulong       u64;
typedef long        i64;
typedef GPUREG_REAL real;

GPUREG_FUNCTION float4
MakeFloat4(float x, float y, float z, float w)
{
  return (float4)(x, y, z, w);
}

// In OpenCL C only built-in functions are overloaded, so these are macros.
#define MultiplyAdd(a, b, c) fma(a, b, c)
#define MultiplyAddOnce(a, b, c) fma(a, b, c)
#define FloorOf(x) floor(x)
#define RoundOf(x) round(x)
#define MixProduct(a, b) ((a) * (b) ^ mul_hi(a, b))
#define BitsOfDouble(x) as_long(x)
#define DoubleOfBits(bits) as_double(bits)

GPUREG_FUNCTION float4
LoadFloat4(__global const float * p)
{
  return vload4(0, p);
}

GPUREG_FUNCTION float4
MultiplyAdd4(float a, float4 b, float4 c)
{
  return fma((float4)(a), b, c);
}

GPUREG_FUNCTION float4
Subtract4(float4 a, float4 b)
{
  return a - b;
}

// Not fmin and fmax, which spend instructions on NaNs, which the callers exclude.
GPUREG_FUNCTION float
SmallerOf(float a, float b)
{
  return a < b ? a : b;
}

GPUREG_FUNCTION float
LargerOf(float a, float b)
{
  return a > b ? a : b;
}

GPUREG_FUNCTION float
SaturateOf(float x)
{
  return clamp(x, 0.0f, 1.0f);
}

GPUREG_FUNCTION float
WholeBelow(float x, float last, int * index)
{
  const float whole = SmallerOf(floor(x), last);
  *index = (int)whole;
  return whole;
}

GPUREG_FUNCTION u32
ToCount(float x, float one)
{
  const float twoTo23 = 8388608.0f;
  return as_uint(fma(x, one, twoTo23)) - as_uint(twoTo23);
}

GPUREG_FUNCTION float
SqrtOf(float x)
{
  return sqrt(x);
}

GPUREG_FUNCTION float
LogOf(float x)
{
  return log(x);
}

GPUREG_FUNCTION float
LogOfOnePlus(float x)
{
  return log1p(x);
}

GPUREG_FUNCTION int
LaneIndex(void)
{
  return (int)get_local_id(0);
}

// A constant: divisions by it, and loops up to it, compile to fewer instructions.
GPUREG_FUNCTION int
LaneCount(void)
{
  return GPUREG_LANES;
}

GPUREG_FUNCTION int
GroupIndex(void)
{
  return (int)get_group_id(0);
}

/** Returns the number of the work-item's element of an array; it may lie beyond the last element. */
GPUREG_FUNCTION i64
ComputeItem(void)
{
  return (i64)GroupIndex() * GPUREG_LANES + LaneIndex();
}

GPUREG_FUNCTION int
GroupCount(void)
{
  return (int)get_num_groups(0);
}

GPUREG_FUNCTION int
GroupIndexY(void)
{
  return (int)get_group_id(1);
}

GPUREG_FUNCTION int
GroupCountY(void)
{
  return (int)get_num_groups(1);
}

GPUREG_FUNCTION int
GroupIndexZ(void)
{
  return (int)get_group_id(2);
}

GPUREG_FUNCTION void
LocalBarrier(void)
{
  barrier(CLK_LOCAL_MEM_FENCE);
}

/** Waits for the 32 lanes of a tile's row. OpenCL 1.2 has a barrier for the whole group only. */
GPUREG_FUNCTION void
RowBarrier(void)
{
  barrier(CLK_LOCAL_MEM_FENCE);
}

/** Adds weights[k] to histogram[(entry + k)·stride], 0 <= k < entries. */
GPUREG_FUNCTION void
AddWindow(__local u32 * histogram, int entry, int stride, int entries, const u32 * weights)
{
  for (int k = 0; k < entries; ++k)
  {
    atomic_add(histogram + (entry + k) * stride, weights[k]);
  }
}

/** Adds weight to histogram[entry·stride]. */
GPUREG_FUNCTION void
AddToEntry(__local u32 * histogram, int entry, int stride, u32 weight)
{
  atomic_add(histogram + entry * stride, weight);
}

/** Adds weight to an entry to which neighbouring lanes often add at the same time. */
GPUREG_FUNCTION void
AddToSharedEntry(__local u32 * histogram, int entry, int stride, u32 weight)
{
  AddToEntry(histogram, entry, stride, weight);
}

/** Waits for all lanes of a group, and makes their writes to global memory visible, too. */
GPUREG_FUNCTION void
GlobalBarrier(void)
{
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
}

/** Adds weights[k] to window[k], 0 <= k < entries, in global memory. */
GPUREG_FUNCTION void
AddWindowGlobally(__global u32 * window, int entries, const u32 * weights)
{
  for (int k = 0; k < entries; ++k)
  {
    atomic_add(window + k, weights[k]);
  }
}

/** Adds value to *sum, in global memory, in 32-bit halves; the upper half takes the carry of the lower one. A sample's weights rarely
 *  have more than 32 bits, so this is usually one atomic, as many as a device with 64-bit atomics needs. */
GPUREG_FUNCTION void
AddGlobally(__global u64 * sum, u64 value)
{
  __global u32 * halves = (__global u32 *)sum;
  const u32      low = (u32)value;
  u32            high = (u32)(value >> 32);
  if (low != 0)
  {
    high += atomic_add(halves, low) > 0xFFFFFFFFu - low ? 1 : 0;
  }
  if (high != 0)
  {
    atomic_add(halves + 1, high);
  }
}
