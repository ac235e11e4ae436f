// SPDX-License-Identifier: Apache-2.0
// The host's loops over a metric's samples.
#ifndef gpureg_HostSamples_h
#define gpureg_HostSamples_h

#include "host/runtime/HostQueue.h"

#include "engine/metric/samples/SampleArrays.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <type_traits>

namespace gpureg
{

using namespace kernels;

inline SampleVolumes
GetVolumes(const SampleArrays & arrays)
{
  return MakeSampleVolumes(arrays, [](const MemoryPointer & memory) { return AddressOf<void>(memory); });
}

// The number of samples of a chunk that lie side by side: a tile of 32 × 8 voxels.
constexpr int HostLanes = 256;

/** Calls visit(walk) at each sample of a chunk of a grid, row by row. A walk moves along its row in registers. It reaches the positions
 *  that lanes moving along z reach, because positions are integers. */
template <typename TVariant, typename TVisitor>
void
ForEachVoxel(TVariant variant, const SampleArguments & a, const SampleMaps & maps, int chunk, const TVisitor & visit)
{
  std::array<LaneWalk, HostLanes / TileWidth> rows;
  for (std::size_t row = 0; row < rows.size(); ++row)
  {
    rows[row] = StartLaneWalk(variant, &a, &maps, chunk, HostLanes, static_cast<int>(row) * TileWidth);
  }
  const int width = std::min<int>(TileWidth, a.virtualShape.size[0] - chunk % a.tileCount[0] * TileWidth);
  for (int step = 0; step < a.tileDepth; ++step)
  {
    for (LaneWalk & row : rows)
    {
      if (step >= row.count)
      {
        continue;
      }
      LaneWalk walk = row;
      for (int n = 1;; ++n)
      {
        visit(walk);
        if (n == width)
        {
          break;
        }
        ++walk.sample;
        walk.x[0] += 1.0f;
        for (int r = 0; r < 3; ++r)
        {
          walk.mapped[r] += maps.toMoving.row[4 * r];
        }
      }
      AdvanceLaneWalk(variant, &maps, &row);
    }
  }
}

/** Calls visit(walk) at each sample of a chunk, one after another. */
template <typename TVariant, typename TVisitor>
void
ForEachSample(TVariant variant, const SampleArguments & a, const SampleMaps & maps, int chunk, const TVisitor & visit)
{
  if (!VariantHas(variant, SamplesArePoints))
  {
    ForEachVoxel(variant, a, maps, chunk, visit);
    return;
  }
  LaneWalk  walk = StartLaneWalk(variant, &a, &maps, chunk, HostLanes, 0);
  const i64 end = std::min<i64>(a.pointCount, walk.sample + i64{ a.tileDepth } * HostLanes);
  for (; walk.sample < end; ++walk.sample)
  {
    visit(walk);
  }
}

/** Compiles work for the plain variants separately, so that they do not pay for the others: values, and what registration methods need. */
template <typename TWork>
void
WithVariant(int variant, const TWork & work)
{
  if (variant == 0)
  {
    work(std::integral_constant<int, 0>{});
  }
  else if (variant == GradientOfInterpolation)
  {
    work(std::integral_constant<int, GradientOfInterpolation>{});
  }
  else
  {
    work(variant);
  }
}

} // namespace gpureg

#endif
