// SPDX-License-Identifier: Apache-2.0
// What filters on voxels compute in a way of their own: products that are rounded, indices that are divided.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_Arithmetic_h
#define gpureg_kernels_Arithmetic_h

GPUREG_NAMESPACE_BEGIN

/** a·b, rounded before anything is added to it: a compiler may make one instruction of a product and a sum, but
 *  not of this. Sums are then ITK's to the bit on every device, and so are the integers that they are cut off
 *  to: a flat image of 100 becomes 99 on all of them, or on none. */
GPUREG_FUNCTION double
RoundedProduct(double a, double b)
{
  return MultiplyAdd(a, b, 0.0);
}

/** index / divisor, of what is not negative: divisions of 64 bits would cost more than the rest of a small kernel. */
GPUREG_FUNCTION i64
DivideIndex(i64 index, i64 divisor)
{
  return (index | divisor) <= 0x7FFFFFFF ? (i64)((u32)index / (u32)divisor) : index / divisor;
}

GPUREG_NAMESPACE_END

#endif
