// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_CorrelationRatioScheme_h
#define gpureg_CorrelationRatioScheme_h

#include "GPURegistrationExport.h"

#include <cstdint>
#include <iosfwd>

namespace gpureg
{

/** Schemes by which a device sums N, Σ Y and Σ Y² of each fixed bin (Li 2015, table 1). The sums are integers, and bitwise the same by
 *  every scheme. The host has one plain loop. */
enum class CorrelationRatioScheme : std::uint8_t
{
  /** Every sample adds to one histogram in global memory. */
  GlobalAtomic,
  /** Each group adds its samples to a histogram of its own in global memory; a second kernel adds the histograms up. In the paper each
   *  thread has a histogram. For 1024 blocks of 256 threads, these histograms take 0.8 GB, have more counters to clear and add up than
   *  there are samples, and two of the paper's three GPUs run out of memory (figures 6, 9 and 11). The scheme here gives a bound for
   *  the paper's: that would have no conflicts, but more histograms, by a factor of the threads in a group. */
  GlobalMerge,
  /** Each group counts in shared memory, and adds its counts to one histogram in global memory. */
  SharedAtomic,
  /** Each group counts in shared memory, and writes its histogram to global memory; a second kernel adds the histograms up. */
  SharedMerge,
  /** Each warp counts in a histogram of its own in shared memory; the rest is as for SharedMerge. */
  SharedWarp,
  /** The samples are sorted by their fixed bin once, so that a thread counts in registers, without atomics. The sorted samples are
   *  stored until the samples change. */
  ConflictFree
};

constexpr int NumberOfCorrelationRatioSchemes = 6;

/** Number of groups that a scheme launches, and of lanes in a group (Li 2015, section 4.2: thread blocks and threads). It changes only
 *  the time. */
struct LaunchShape
{
  /** Number of groups that share the samples' chunks, each taking several in turn; each further band of bins has as many groups again.
   *  0: one group per chunk. ConflictFree ignores the number, which follows from its bins and its workload limit. */
  int groups = 0;
  /** Number of lanes of a group: a power of two from LeastLanes to MostLanes. 0: the fastest number that was measured for the device. */
  int lanes = 0;

  static constexpr int LeastLanes = 32;
  static constexpr int MostLanes = 1024;

  /** Returns true if a launch can have this shape. */
  constexpr bool
  IsValid() const
  {
    return groups >= 0 && (lanes == 0 || (lanes >= LeastLanes && lanes <= MostLanes && (lanes & (lanes - 1)) == 0));
  }
};

/** Returns true if scheme is in the enumeration. */
constexpr bool
IsCorrelationRatioScheme(CorrelationRatioScheme scheme)
{
  return static_cast<int>(scheme) < NumberOfCorrelationRatioSchemes;
}

/** Returns a name, such as "ConflictFree"; empty if scheme is not in the enumeration. */
GPURegistration_EXPORT
const char *
GetName(CorrelationRatioScheme scheme);

/** Writes the scheme's name with that of the enumeration, or that the scheme has no name. */
GPURegistration_EXPORT
std::ostream &
operator<<(std::ostream & out, CorrelationRatioScheme scheme);

} // namespace gpureg

#endif
