// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_EvaluationStatistics_h
#define gpureg_EvaluationStatistics_h

#include <cstdint>

namespace gpureg
{

/** Counts what an operation needed: launches, copies, memory and time. Kernel times are measured by the device's own events. */
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
  /** Bytes of the largest array that the object holds on its device. */
  std::int64_t largestArrayBytes = 0;
  /** 0 unless SetTiming(true) was called. */
  double kernelMilliseconds = 0;
  /** Host wall time of the whole operation, including copies, launches and waiting. */
  double evaluateMilliseconds = 0;
};

/** Returns the statistics of two operations together. */
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
