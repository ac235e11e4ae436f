// SPDX-License-Identifier: Apache-2.0
// Operations on the vector of a control point, a float4 whose last component is not used.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_ControlVector_h
#define gpureg_kernels_ControlVector_h

GPUREG_NAMESPACE_BEGIN

GPUREG_FUNCTION float4
ZeroFloat4(void)
{
  return MakeFloat4(0.0f, 0.0f, 0.0f, 0.0f);
}

/** Returns the inner product of two vectors. */
GPUREG_FUNCTION float
Dot3(float4 a, float4 b)
{
  return MultiplyAdd(a.x, b.x, MultiplyAdd(a.y, b.y, a.z * b.z));
}

GPUREG_NAMESPACE_END

#endif
