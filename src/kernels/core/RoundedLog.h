// SPDX-License-Identifier: Apache-2.0
// A logarithm in double precision that every compiler rounds identically; the logarithms of their libraries differ in the last digit.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_RoundedLog_h
#define gpureg_kernels_RoundedLog_h

GPUREG_NAMESPACE_BEGIN

/** Returns ln x of a normal number x > 0, with an absolute or relative error of at most 3.4e-16, whichever is larger. With x = m·2^e and
 *  1/√2 <= m <= √2, ln x = e ln 2 + 2 atanh((m - 1)/(m + 1)). The series of atanh, z + z^3/3 + …, is used up to z^19; the rest is less
 *  than the last digit of a double. */
GPUREG_FUNCTION double
RoundedLogOf(double x)
{
  const i64    bits = BitsOfDouble(x);
  const i64    fraction = bits & (((i64)1 << 52) - 1);
  const int    isLarge = fraction > 0x6A09E667F3BCD; /* 2^(1/2)'s */
  const int    exponent = (int)(bits >> 52) - 1023 + isLarge;
  const double m = DoubleOfBits(((i64)(1023 - isLarge) << 52) | fraction);
  const double z = (m - 1.0) / (m + 1.0);
  const double square = RoundedProduct(z, z);
  double       series = 0.0;
  for (int odd = 19; odd > 0; odd -= 2)
  {
    series = 1.0 / odd + RoundedProduct(series, square);
  }
  return RoundedProduct(exponent, 0.6931471805599453) + RoundedProduct(2.0 * z, series);
}

GPUREG_NAMESPACE_END

#endif
