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
  /** A group counts its samples in a histogram of its own in global memory; these are added up. */
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
