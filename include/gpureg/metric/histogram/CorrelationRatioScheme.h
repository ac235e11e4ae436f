// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_CorrelationRatioScheme_h
#define gpureg_CorrelationRatioScheme_h

#include "GPURegistrationExport.h"

#include <cstdint>
#include <iosfwd>

namespace gpureg
{

/** How a device sums N, Σ Y and Σ Y² of each fixed bin (Li 2015, table 1). The sums are integers, the same to the bit of every
 *  scheme. The host has one plain loop for all of them. */
enum class CorrelationRatioScheme : std::uint8_t
{
  /** Every sample adds to the one histogram in global memory. */
  GlobalAtomic,
  /** A group counts its samples in a histogram of its own in global memory; these are added up. In the paper each thread has
   *  one. Of 1024 blocks of 256 threads these take 0.8 GB, more counters to clear and to add up than there are samples, and two
   *  of the paper's three GPUs run out of memory (figures 6, 9 and 11). What is measured here is a bound of what that could be:
   *  it would have no conflicts, but as many histograms more as a group has threads. */
  GlobalMerge,
  /** A group counts in shared memory, and adds that to the one histogram in global memory. */
  SharedAtomic,
  /** A group counts in shared memory and writes that out; these histograms are added up. */
  SharedMerge,
  /** Each warp counts in a histogram of its own in shared memory; then as SharedMerge. */
  SharedWarp,
  /** The samples are sorted by their fixed bin once, so that a thread counts in registers, without atomics. The sort is kept
   *  until there are other samples. */
  ConflictFree
};

constexpr int NumberOfCorrelationRatioSchemes = 6;

/** How many groups a scheme is launched with, and how many lanes each has (Li 2015, section 4.2: thread blocks and threads).
 *  It changes the time alone. */
struct LaunchShape
{
  /** Groups that share the samples' chunks, each taking several in turn; as many again for each further band of bins.
   *  0: one for each chunk. ConflictFree takes no number: its bins and its workload limit make it. */
  int groups = 0;
  /** Of a group: a power of two from LeastLanes to MostLanes. 0: what the device has been found to be fastest with. */
  int lanes = 0;

  static constexpr int LeastLanes = 32;
  static constexpr int MostLanes = 1024;

  /** Whether there can be such a launch. */
  constexpr bool
  IsValid() const
  {
    return groups >= 0 && (lanes == 0 || (lanes >= LeastLanes && lanes <= MostLanes && (lanes & (lanes - 1)) == 0));
  }
};

/** Whether it is one of them. */
constexpr bool
IsCorrelationRatioScheme(CorrelationRatioScheme scheme)
{
  return static_cast<int>(scheme) < NumberOfCorrelationRatioSchemes;
}

/** Such as "ConflictFree"; empty if it is none of them. */
GPURegistration_EXPORT
const char *
GetName(CorrelationRatioScheme scheme);

/** Its name with the enumeration's, or that it has none. */
GPURegistration_EXPORT
std::ostream &
operator<<(std::ostream & out, CorrelationRatioScheme scheme);

} // namespace gpureg

#endif
