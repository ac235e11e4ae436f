// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_EvaluationStatistics_h
#define gpureg_EvaluationStatistics_h

#include <cstdint>

namespace gpureg
{

/** What an evaluation cost. Kernel times are the device's own, by its events. */
struct EvaluationStatistics
{
  int          launches = 0;
  int          copiesUp = 0;
  int          copiesDown = 0;
  int          allocations = 0;
  int          synchronizations = 0;
  std::int64_t bytesUp = 0;
  std::int64_t bytesDown = 0;
  /** Bytes that the object holds on its device. */
  std::int64_t deviceBytes = 0;
  /** The largest array of them. */
  std::int64_t largestArrayBytes = 0;
  /** 0 unless SetTiming(true). */
  double kernelMilliseconds = 0;
  /** Host wall time of the whole operation: copies, launches and waiting included. */
  double evaluateMilliseconds = 0;
};

/** What two operations cost together. */
inline EvaluationStatistics
Add(const EvaluationStatistics & a, const EvaluationStatistics & b)
{
  EvaluationStatistics sum = a;
  sum.launches += b.launches;
  sum.copiesUp += b.copiesUp;
  sum.copiesDown += b.copiesDown;
  sum.allocations += b.allocations;
  sum.synchronizations += b.synchronizations;
  sum.bytesUp += b.bytesUp;
  sum.bytesDown += b.bytesDown;
  sum.deviceBytes += b.deviceBytes;
  sum.largestArrayBytes = a.largestArrayBytes > b.largestArrayBytes ? a.largestArrayBytes : b.largestArrayBytes;
  sum.kernelMilliseconds += b.kernelMilliseconds;
  sum.evaluateMilliseconds += b.evaluateMilliseconds;
  return sum;
}

} // namespace gpureg

#endif
