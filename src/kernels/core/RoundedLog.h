// SPDX-License-Identifier: Apache-2.0
// A logarithm in doubles that every compiler rounds alike: those of their libraries differ in the last digit.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_RoundedLog_h
#define gpureg_kernels_RoundedLog_h

GPUREG_NAMESPACE_BEGIN

/** ln x of a normal number x > 0, to 3.4e-16 of it or of 1. With x = m·2^e and m between 1/2^(1/2) and 2^(1/2), it is e ln 2 +
 *  2 atanh((m - 1)/(m + 1)); of that series, z + z^3/3 + …, what is behind z^19 is less than a double's last digit. */
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
