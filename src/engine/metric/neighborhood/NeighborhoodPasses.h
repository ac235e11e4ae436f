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

/** The arrays of an evaluation; kernels::NeighborhoodVolumes documents them. An array that is not needed is null. */
struct NeighborhoodArrays
{
  const SampleArrays * samples = nullptr;
  MemoryPointer        moved;
  MemoryPointer        sums;
  MemoryPointer        centres;
  MemoryPointer        forces;
  /** float[3], one per voxel; the terms that are summed over neighborhoods. */
  MemoryPointer terms;
  /** double[groups][length][NeighborhoodSumCount][lanes]: the circular buffers of the longest running sums. */
  MemoryPointer circularBuffers;
  /** float[groups of all slabs][NeighborhoodPartialCount]. */
  MemoryPointer partials;
};

/** Returns the arrays as kernels read them. \param addressOf returns the address of a MemoryPointer, or null if there is no memory */
template <typename TAddressOf>
kernels::NeighborhoodVolumes
MakeNeighborhoodVolumes(const NeighborhoodArrays & arrays, const TAddressOf & addressOf)
{
  return { static_cast<kernels::i64 *>(addressOf(arrays.moved)),
           static_cast<double *>(addressOf(arrays.sums)),
           static_cast<const kernels::i64 *>(addressOf(arrays.centres)),
           static_cast<float *>(addressOf(arrays.forces)) };
}

/** Describes how a device processes lines of voxels. */
struct NeighborhoodGrain
{
  /** The number of lines that a group processes side by side. */
  int lanes;
  /** The number of groups that keeps the device busy. With more lines, a group processes several, one after another. */
  int mostGroups;
  /** The lanes, and the bytes of local memory, of a group that computes sums in a tile; 0 where there is no such kernel. */
  int         tileLanes;
  std::size_t localBytes;
};

/** The most bytes of the circular buffers of all groups. */
constexpr std::size_t MostCircularBufferBytes = std::size_t{ 256 } << 20;

/** Returns the bytes of local memory of a group that computes sums in a tile and then adds up what its centres contribute. */
inline std::size_t
GetTileBytes(const kernels::NeighborhoodArguments & a, int tileRows, int lanes)
{
  const auto tile = static_cast<std::size_t>(SumStrideOfTile(&a, tileRows, lanes));
  return std::max(sizeof(double) * kernels::NeighborhoodSumCount * tile,
                  sizeof(float) * 2 * kernels::ForceSumCount * static_cast<std::size_t>(lanes));
}

/** The cost of sums in a tile grows with their length; the cost of running sums does not. */
constexpr int LongestSumsInTiles = 33;

/** Returns the rows of the largest tile that fits into local memory: larger tiles read fewer neighbours per centre. Returns 0 if none fits,
 *  or if running sums are faster. */
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
  for (int rows = kernels::LargestTileRows; rows >= kernels::WindowsAtOnce; rows /= 2)
  {
    if (rows * kernels::TileWidth >= grain.tileLanes && GetTileBytes(a, rows, grain.tileLanes) <= grain.localBytes)
    {
      return rows;
    }
  }
  return 0;
}

/** Returns how many groups process the given number of lines, or of centres. */
inline int
CountGroups(std::int64_t lines, const NeighborhoodGrain & grain)
{
  return static_cast<int>(std::clamp<std::int64_t>((lines + grain.lanes - 1) / grain.lanes, 1, grain.mostGroups));
}

/** Returns how many groups process the lines along an axis, within MostCircularBufferBytes. */
inline int
CountNeighborhoodGroups(const kernels::NeighborhoodArguments & a, int axis, const NeighborhoodGrain & grain)
{
  const std::size_t bufferBytes =
    sizeof(double) * kernels::NeighborhoodSumCount * LengthOfWindow(&a, axis) * static_cast<std::size_t>(grain.lanes);
  const auto most = static_cast<int>(std::max<std::size_t>(1, MostCircularBufferBytes / bufferBytes));
  return std::min(most, CountGroups(CountNeighborhoodLines(&a, axis), grain));
}

/** The passes of the neighborhood correlation on one device. src/host, cuda and opencl each implement them in a file of this name. */
class NeighborhoodPasses
{
public:
  virtual ~NeighborhoodPasses() = default;

  virtual NeighborhoodGrain
  GetGrain() const = 0;

  /** Returns true if running sums of the given length need NeighborhoodArrays::circularBuffers, because local memory does not hold them. */
  virtual bool
  NeedsCircularBuffers(int length) const = 0;

  /** Compiles or loads the kernels of a variant, so that evaluations do not. */
  virtual void
  Prepare(int variant) = 0;

  /** Computes the moving values of the stored planes. */
  virtual void
  MovePlanes(const kernels::NeighborhoodArguments & a,
             const kernels::SampleMaps &            maps,
             const NeighborhoodArrays &             arrays) = 0;

  /** Computes sums along x of voxels, or sums along y of the sums along x. */
  virtual void
  SumAlong(int                                    axis,
           const kernels::NeighborhoodArguments & a,
           const kernels::SampleMaps &            maps,
           const NeighborhoodArrays &             arrays) = 0;

  /** Computes sums along z, and what the centres contribute: partials and forces. */
  virtual void
  CorrelatePlanes(const kernels::NeighborhoodArguments & a,
                  const kernels::SampleMaps &            maps,
                  const NeighborhoodArrays &             arrays) = 0;

  /** Computes in tiles of local memory what SumAlong() and CorrelatePlanes() compute; begins with sums along z, of voxels. */
  virtual void
  CorrelateTiles(const kernels::NeighborhoodArguments & a,
                 const kernels::SampleMaps &            maps,
                 const NeighborhoodArrays &             arrays) = 0;

  /** Computes what the listed centres contribute, without stored sums. */
  virtual void
  CorrelateList(const kernels::NeighborhoodArguments & a,
                const kernels::SampleMaps &            maps,
                const NeighborhoodArrays &             arrays) = 0;

  /** Returns true if the device has CorrelateBatch(). */
  virtual bool
  HasBatches() const
  {
    return false;
  }

  /** Computes, for a range of candidates and without forces, what MovePlanes() and CorrelateTiles(), or CorrelateList(), compute. Writes
   *  the partials of one candidate after another, and uses one array of stored voxels per candidate in the range. */
  virtual void
  CorrelateBatch(const kernels::NeighborhoodArguments &, BatchRange, const NeighborhoodArrays &, const BatchArrays &)
  {}

  /** Sums terms, float[3] per voxel, over all neighborhoods along x or y. */
  virtual void
  SumTerms(int axis, const kernels::NeighborhoodArguments & a, const Memory & terms, Memory & summed) = 0;

  /** Sums terms along z, and computes the forces that follow, float[3] per voxel. */
  virtual void
  ComputeForcesOfTerms(const kernels::NeighborhoodArguments & a,
                       const kernels::SampleMaps &            maps,
                       const NeighborhoodArrays &             arrays,
                       const Memory &                         terms,
                       Memory &                               forces) = 0;
};

GPUREG_DECLARE_PASSES(NeighborhoodPasses);

} // namespace gpureg

#endif
