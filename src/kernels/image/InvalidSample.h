// SPDX-License-Identifier: Apache-2.0
// The marks of a sample that is not valid, since it lies outside of the fixed image or its mask.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_InvalidSample_h
#define gpureg_kernels_InvalidSample_h

GPUREG_NAMESPACE_BEGIN

enum
{
  /** The fixed bin of a sample that is not valid. */
  InvalidBin = 0xFFFF
};

/** The fixed value of a sample that is not valid; equal to gpureg::NoFixedValue. */
#define GPUREG_NO_VALUE (-1e30)

GPUREG_NAMESPACE_END

#endif
