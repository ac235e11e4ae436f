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
  /** u32, the samples' indices, sorted by fixed bin. Samples of a bin stay in their order; invalid samples come last. */
  MemoryPointer indices;
  /** The index where each bin begins, and the index where the last one ends. */
  std::vector<kernels::u32> firstOfBin;
};

/** Sorts samples on the host, for devices that cannot. \param indices count elements, which receive the order. \return
 *  SortedSamples::firstOfBin */
std::vector<kernels::u32>
SortByFixedBin(const kernels::u16 * fixedBins, std::size_t count, int bins, kernels::u32 * indices);

/** The workloads, the index of each bin's first workload, and the index behind the last workload. */
struct Workloads
{
  std::vector<kernels::Workload> workloads;
  std::vector<kernels::u32>      firstWorkloads;
};

/** Cuts each bin into workloads of at most workloadLimit samples (Li 2015, listing 4). */
Workloads
CutIntoWorkloads(const std::vector<kernels::u32> & firstOfBin, kernels::u32 workloadLimit);

} // namespace gpureg

#endif
