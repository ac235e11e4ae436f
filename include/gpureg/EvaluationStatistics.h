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

} // namespace gpureg

#endif
