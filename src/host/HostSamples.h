// SPDX-License-Identifier: Apache-2.0
// How the host goes through a metric's samples.
#ifndef gpureg_HostSamples_h
#define gpureg_HostSamples_h

#include "HostQueue.h"

#include "SampleArrays.h"

#include <array>
#include <type_traits>

namespace gpureg
{

using namespace kernels;

inline SampleVolumes
GetVolumes(const SampleArrays & arrays)
{
  return MakeSampleVolumes(arrays, [](const MemoryPointer & memory) { return AddressOf<void>(memory); });
}

// Samples side by side in a chunk: a tile 32 voxels wide and 8 high.
constexpr int HostLanes = 256;

/** Calls visit(walk) at each sample of a chunk, row by row. */
template <typename TVisitor>
void
ForEachSample(int variant, const SampleArguments & a, const SampleMaps & maps, int chunk, const TVisitor & visit)
{
  std::array<LaneWalk, HostLanes> walks;
  for (int lane = 0; lane < HostLanes; ++lane)
  {
    walks[lane] = StartLaneWalk(variant, &a, &maps, chunk, HostLanes, lane);
  }
  for (int step = 0; step < a.tileDepth; ++step)
  {
    for (LaneWalk & walk : walks)
    {
      if (step < walk.count)
      {
        visit(walk);
        AdvanceLaneWalk(variant, &maps, &walk);
      }
    }
  }
}

/** Compiles work for the plain case on its own, so that it pays for no other. */
template <typename TWork>
void
WithVariant(int variant, const TWork & work)
{
  if (variant == 0)
  {
    work(std::integral_constant<int, 0>{});
  }
  else
  {
    work(variant);
  }
}

} // namespace gpureg

#endif
