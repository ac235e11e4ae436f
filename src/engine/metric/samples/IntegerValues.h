// SPDX-License-Identifier: Apache-2.0
// Values as integers: what precise samples are computed of.
#ifndef gpureg_IntegerValues_h
#define gpureg_IntegerValues_h

#include "gpureg/metric/samples/Samples.h"

namespace gpureg
{

/** Values are integers in units of 2^-exponent. The range has 46 bits, but fewer, 31 at least, where values or coefficients
 *  lie far outside of it; or where values are rounded to float and it lies far from 0. */
int
FindValueExponent(const ValueScale & scale);

/** A filler of doubles as such integers; a NaN is as the least. */
Filler
MakeIntegerFiller(const Filler & values, int exponent);

} // namespace gpureg

#endif
