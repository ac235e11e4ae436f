// SPDX-License-Identifier: Apache-2.0
// Values as integers, from which fixed-point samples are computed.
#ifndef gpureg_IntegerValues_h
#define gpureg_IntegerValues_h

#include "gpureg/metric/samples/Samples.h"

namespace gpureg
{

/** Returns the exponent of integer values, which are in units of 2^-exponent. The range of the values has 46 bits. It has fewer, but at
 *  least 31, if values or coefficients lie far outside of the range, or if values are rounded to float and the range lies far from 0. */
int
ComputeValueExponent(const ValueScale & scale);

/** Returns a filler that converts doubles to such integers. A NaN becomes the smallest integer. */
Filler
MakeIntegerFiller(const Filler & values, int exponent);

} // namespace gpureg

#endif
