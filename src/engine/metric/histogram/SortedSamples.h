// SPDX-License-Identifier: Apache-2.0
// Samples sorted by their fixed bin, and cut into workloads of one bin each (Li 2015, section 3.6).
#ifndef gpureg_SortedSamples_h
#define gpureg_SortedSamples_h

#include "engine/metric/histogram/CorrelationRatioPasses.h"

#include "engine/runtime/Queue.h"

#include <cstddef>
#include <vector>

namespace gpureg
{

/** The order of the samples, on a device. */
struct SortedSamples
{
  /** u32, the samples' indices by fixed bin; within a bin as they were. Those that are not valid are last. */
  MemoryPointer indices;
  /** Where each bin begins, and where the last one ends. */
  std::vector<kernels::u32> firstOfBin;
};

/** Sorts on the host, for devices that do not. \param indices count of them. \return SortedSamples::firstOfBin. */
std::vector<kernels::u32>
SortByFixedBin(const kernels::u16 * fixedBins, std::size_t count, int bins, kernels::u32 * indices);

/** What groups go through, and where each bin's workloads begin, and the last one's end. */
struct Workloads
{
  std::vector<kernels::Workload> workloads;
  std::vector<kernels::u32>      firstWorkloads;
};

/** Cuts each bin into workloads of so many samples at most (Li 2015, listing 4). */
Workloads
CutIntoWorkloads(const std::vector<kernels::u32> & firstOfBin, kernels::u32 workloadLimit);

} // namespace gpureg

#endif
