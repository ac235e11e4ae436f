// SPDX-License-Identifier: Apache-2.0
// Products and mixtures in doubles that every compiler rounds alike.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_RoundedProduct_h
#define gpureg_kernels_RoundedProduct_h

GPUREG_NAMESPACE_BEGIN

/** a·b, rounded before anything is added to it: a compiler may make one instruction of a product and a sum, but
 *  not of this. Sums are then ITK's to the bit on every device, and so are the integers that they are cut off
 *  to: a flat image of 100 becomes 99 on all of them, or on none. */
GPUREG_FUNCTION double
RoundedProduct(double a, double b)
{
  return MultiplyAdd(a, b, 0.0);
}

/** From a to b, as itk::LinearInterpolateImageFunction goes, and rounded as its. */
GPUREG_FUNCTION double
MixSamples(double a, double b, double fraction)
{
  return fraction > 0.0 ? a + RoundedProduct(b - a, fraction) : a;
}

GPUREG_NAMESPACE_END

#endif
