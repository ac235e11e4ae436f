// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_NeighborhoodPasses_h
#define gpureg_NeighborhoodPasses_h

#include "engine/metric/Batch.h"
#include "engine/metric/samples/SampleArrays.h"

#include "kernels/metric/ValuePairs.h"
#include "kernels/core/RoundedProduct.h"
#include "kernels/metric/neighborhood/NeighborhoodCorrelation.h"
#include "kernels/metric/neighborhood/NeighborhoodWalks.h"
#include "kernels/metric/neighborhood/NeighborhoodTiles.h"
#include "kernels/metric/neighborhood/NeighborhoodTerms.h"
#include "engine/runtime/MakePasses.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace gpureg
{

/** The arrays of an evaluation; null where there are none. kernels::NeighborhoodVolumes says what they hold. */
struct NeighborhoodArrays
{
  const SampleArrays * samples = nullptr;
  MemoryPointer        moved;
  MemoryPointer        sums;
  MemoryPointer        centres;
  MemoryPointer        forces;
  /** float[3], one a voxel: where terms are summed. */
  MemoryPointer terms;
  /** double [groups][length][NeighborhoodSumCount][lanes], for the longest sliding sums. */
  MemoryPointer rings;
  /** float [groups of all slabs][NeighborhoodPartialCount]. */
  MemoryPointer partials;
};

/** They as kernels see them. \param addressOf from a MemoryPointer to its address, null if there is none. */
template <typename TAddressOf>
kernels::NeighborhoodVolumes
MakeNeighborhoodVolumes(const NeighborhoodArrays & arrays, const TAddressOf & addressOf)
{
  return { static_cast<kernels::i64 *>(addressOf(arrays.moved)),
           static_cast<double *>(addressOf(arrays.sums)),
           static_cast<const kernels::i64 *>(addressOf(arrays.centres)),
           static_cast<float *>(addressOf(arrays.forces)) };
}

/** How a device wants its lines. */
struct NeighborhoodGrain
{
  /** Lines side by side. */
  int lanes;
  /** So many groups keep the device busy; more go through several lines, one after the other. */
  int mostGroups;
  /** Of a group that makes sums in a tile, and what local memory it may have; 0 where there is none. */
  int         tileLanes;
  std::size_t localBytes;
};

/** What the rings of all groups take, at most. */
constexpr std::size_t MostRingBytes = std::size_t{ 256 } << 20;

/** The local memory of a group that makes sums in a tile, and after that adds up what the centres gave. */
inline std::size_t
GetTileBytes(const kernels::NeighborhoodArguments & a, int tileRows, int lanes)
{
  const auto tile = static_cast<std::size_t>(SumStrideOfTile(&a, tileRows, lanes));
  return std::max(sizeof(double) * kernels::NeighborhoodSumCount * tile,
                  sizeof(float) * 2 * kernels::ForceSumCount * static_cast<std::size_t>(lanes));
}

/** A tile's sums cost the more the longer they are, sliding ones do not. */
constexpr int LongestSumsInTiles = 33;

/** The rows of the largest tile that there is room for: the more, the fewer neighbours are read for a centre. 0 if there is
 *  none, or where sliding sums do better. */
inline int
ChooseTileRows(const kernels::NeighborhoodArguments & a, const NeighborhoodGrain & grain)
{
  for (int axis = 0; axis < 3; ++axis)
  {
    if (a.radius[axis] > LongestSumsInTiles / 2)
    {
      return 0;
    }
  }
  for (int rows = kernels::LargestTileRows; rows >= kernels::SpanCount; rows /= 2)
  {
    if (rows * kernels::TileWidth >= grain.tileLanes && GetTileBytes(a, rows, grain.tileLanes) <= grain.localBytes)
    {
      return rows;
    }
  }
  return 0;
}

/** Groups that go through so many lines, or centres. */
inline int
CountGroups(std::int64_t lines, const NeighborhoodGrain & grain)
{
  return static_cast<int>(std::clamp<std::int64_t>((lines + grain.lanes - 1) / grain.lanes, 1, grain.mostGroups));
}

/** The same of the lines along an axis. */
inline int
CountNeighborhoodGroups(const kernels::NeighborhoodArguments & a, int axis, const NeighborhoodGrain & grain)
{
  const std::size_t ring = sizeof(double) * kernels::NeighborhoodSumCount * LengthOfSlidingSums(&a, axis) *
                           static_cast<std::size_t>(grain.lanes);
  const auto most = static_cast<int>(std::max<std::size_t>(1, MostRingBytes / ring));
  return std::min(most, CountGroups(CountNeighborhoodLines(&a, axis), grain));
}

/** The passes of the neighborhood correlation on one device. src/host, cuda and opencl each have them in a file of this
 *  name. */
class NeighborhoodPasses
{
public:
  virtual ~NeighborhoodPasses() = default;

  virtual NeighborhoodGrain
  GetGrain() const = 0;

  /** Whether sliding sums of so many elements need Arrays::rings: not where local memory holds them. */
  virtual bool
  NeedsRings(int length) const = 0;

  /** Compiles or loads what a variant needs, so that no evaluation does. */
  virtual void
  Prepare(int variant) = 0;

  /** The moving values of the kept planes. */
  virtual void
  MovePlanes(const kernels::NeighborhoodArguments & a,
             const kernels::SampleMaps &            maps,
             const NeighborhoodArrays &             arrays) = 0;

  /** Sums along x, of voxels, or y, of those sums. */
  virtual void
  SumAlong(int                                    axis,
           const kernels::NeighborhoodArguments & a,
           const kernels::SampleMaps &            maps,
           const NeighborhoodArrays &             arrays) = 0;

  /** Sums along z, and what the centres give: partials, and forces. */
  virtual void
  CorrelatePlanes(const kernels::NeighborhoodArguments & a,
                  const kernels::SampleMaps &            maps,
                  const NeighborhoodArrays &             arrays) = 0;

  /** What SumAlong() and CorrelatePlanes() do, where local memory has room for tiles: sums along z first, of voxels. */
  virtual void
  CorrelateTiles(const kernels::NeighborhoodArguments & a,
                 const kernels::SampleMaps &            maps,
                 const NeighborhoodArrays &             arrays) = 0;

  /** The same of the centres in a list, without sums that are kept. */
  virtual void
  CorrelateList(const kernels::NeighborhoodArguments & a,
                const kernels::SampleMaps &            maps,
                const NeighborhoodArrays &             arrays) = 0;

  /** Whether there is CorrelateBatch. */
  virtual bool
  HasBatches() const
  {
    return false;
  }

  /** What MovePlanes() and CorrelateTiles(), or CorrelateList(), do for some of a batch's candidates, without forces: partials of one
   *  after the other, and as many kept arrays as there are candidates in the range. */
  virtual void
  CorrelateBatch(const kernels::NeighborhoodArguments &, BatchRange, const NeighborhoodArrays &, const BatchArrays &)
  {}

  /** Sums terms, float[3] a voxel, over all neighborhoods along x or y. */
  virtual void
  SumTerms(int axis, const kernels::NeighborhoodArguments & a, const Memory & terms, Memory & summed) = 0;

  /** Sums them along z, and finds the forces that follow, float[3] a voxel. */
  virtual void
  FindForcesOfTerms(const kernels::NeighborhoodArguments & a,
                    const kernels::SampleMaps &            maps,
                    const NeighborhoodArrays &             arrays,
                    const Memory &                         terms,
                    Memory &                               forces) = 0;
};

GPUREG_DECLARE_PASSES(NeighborhoodPasses);

} // namespace gpureg

#endif
