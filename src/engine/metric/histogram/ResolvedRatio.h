// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_ResolvedRatio_h
#define gpureg_ResolvedRatio_h

#include "gpureg/metric/histogram/CorrelationRatioMetric.h"

#include <cmath>

namespace gpureg
{

/** Returns whether a correlation ratio of fixed-point sums hardly ever errs by more than a tolerance. Each sample's square is rounded by at
 *  most half a unit. The error of a sum is thus about that times the root of the number of samples; one sum in three exceeds it at most.
 *  Three times that bound is hardly ever exceeded.
 *  \param known the number of steps between 0 and 1 to which each square is known */
inline bool
IsRatioResolved(const CorrelationRatioResult & result, double known, double tolerance)
{
  return result.all > 1.5 / tolerance / known * std::sqrt(result.count);
}

} // namespace gpureg

#endif
