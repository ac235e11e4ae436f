// SPDX-License-Identifier: Apache-2.0
// Products and linear interpolation in double precision that every compiler rounds identically.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_RoundedProduct_h
#define gpureg_kernels_RoundedProduct_h

GPUREG_NAMESPACE_BEGIN

/** Returns a·b, rounded before anything is added to it: a compiler may fuse a product and a sum into one instruction, but not this. So
 *  sums are equal to ITK's to the bit on every device, and so are the integers that they are truncated to: a constant image of 100
 *  becomes 99 on all devices, or on none. */
GPUREG_FUNCTION double
RoundedProduct(double a, double b)
{
  return MultiplyAdd(a, b, 0.0);
}

/** Interpolates linearly from a to b, rounded as in itk::LinearInterpolateImageFunction. */
GPUREG_FUNCTION double
MixSamples(double a, double b, double fraction)
{
  return fraction > 0.0 ? a + RoundedProduct(b - a, fraction) : a;
}

GPUREG_NAMESPACE_END

#endif
