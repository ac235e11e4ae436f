// SPDX-License-Identifier: Apache-2.0
#include "engine/metric/histogram/SortedSamples.h"

#include <algorithm>

namespace gpureg
{

std::vector<kernels::u32>
SortByFixedBin(const kernels::u16 * fixedBins, std::size_t count, int bins, kernels::u32 * indices)
{
  const auto last = static_cast<std::size_t>(bins); // the bin of invalid samples
  const auto binOf = [&](std::size_t n) { return std::min<std::size_t>(fixedBins[n], last); };

  std::vector<kernels::u32> firstOfBin(last + 2);
  for (std::size_t n = 0; n < count; ++n)
  {
    ++firstOfBin[binOf(n) + 1];
  }
  for (std::size_t bin = 0; bin <= last; ++bin)
  {
    firstOfBin[bin + 1] += firstOfBin[bin];
  }
  firstOfBin.pop_back();
  std::vector<kernels::u32> next(firstOfBin);
  for (std::size_t n = 0; n < count; ++n)
  {
    indices[next[binOf(n)]++] = static_cast<kernels::u32>(n);
  }
  return firstOfBin;
}

Workloads
CutIntoWorkloads(const std::vector<kernels::u32> & firstOfBin, kernels::u32 workloadLimit)
{
  Workloads cut;
  for (std::size_t bin = 0; bin + 1 < firstOfBin.size(); ++bin)
  {
    cut.firstWorkloads.push_back(static_cast<kernels::u32>(cut.workloads.size()));
    const kernels::u32 end = firstOfBin[bin + 1];
    for (kernels::u32 first = firstOfBin[bin]; first < end;)
    {
      const kernels::u32 count = std::min(workloadLimit, end - first);
      cut.workloads.push_back({ first, count });
      first += count;
    }
  }
  cut.firstWorkloads.push_back(static_cast<kernels::u32>(cut.workloads.size()));
  return cut;
}

} // namespace gpureg
