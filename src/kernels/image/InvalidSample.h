// SPDX-License-Identifier: Apache-2.0
// What marks a sample that is not valid: it lies outside of the fixed image or its mask.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_InvalidSample_h
#define gpureg_kernels_InvalidSample_h

GPUREG_NAMESPACE_BEGIN

enum
{
  /** Its fixed bin. */
  InvalidBin = 0xFFFF
};

/** Its fixed value; gpureg::NoFixedValue is the same. */
#define GPUREG_NO_VALUE (-1e30)

GPUREG_NAMESPACE_END

#endif
