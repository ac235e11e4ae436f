// SPDX-License-Identifier: Apache-2.0
// Determinants of 3 × 3 matrices by rows.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_Determinant_h
#define gpureg_kernels_Determinant_h

GPUREG_NAMESPACE_BEGIN

/** The minor of a matrix without this row and column, with its sign: the determinant's derivative by what stands there. */
GPUREG_REAL_FUNCTION real
ComputeCofactor(const real * m, int r, int c)
{
  const int r1 = (r + 1) % 3;
  const int r2 = (r + 2) % 3;
  const int c1 = (c + 1) % 3;
  const int c2 = (c + 2) % 3;
  return MultiplyAdd(m[3 * r1 + c1], m[3 * r2 + c2], -m[3 * r1 + c2] * m[3 * r2 + c1]);
}

/** det(I + F) - 1 = tr F + F's principal minors + det F, which loses nothing where F is small. */
GPUREG_REAL_FUNCTION real
ComputeDeterminantBeyondOne(const real * f)
{
  real beyond = 0.0f;
  for (int r = 0; r < 3; ++r)
  {
    beyond += f[4 * r] + MultiplyAdd(f[r], ComputeCofactor(f, 0, r), ComputeCofactor(f, r, r));
  }
  return beyond;
}

GPUREG_NAMESPACE_END

#endif
