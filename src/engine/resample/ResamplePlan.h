// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_ResamplePlan_h
#define gpureg_ResamplePlan_h

#include "engine/transform/PlaneRange.h"

#include "gpureg/core/Geometry.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

namespace gpureg
{

/** How an input is cut along its slowest axis: slab n owns so many planes, and holds a margin of others around them
 *  that interpolation reads. */
struct SlabCut
{
  int axis = 2;
  int planes = 1; // of the input
  int owned = 1;  // by a slab, but for the last one
  int margin = 0;

  int
  GetCount() const
  {
    return (planes + owned - 1) / owned;
  }

  PlaneRange
  GetOwned(int slab) const
  {
    return { slab * owned, std::min(planes, (slab + 1) * owned) };
  }

  PlaneRange
  GetHeld(int slab) const
  {
    const PlaneRange range = GetOwned(slab);
    return { std::max(0, range.first - margin), std::min(planes, range.end + margin) };
  }

  /** The slabs first … end - 1 that own some planes. */
  PlaneRange
  FindSlabs(const PlaneRange & range) const
  {
    return range.GetCount() > 0 ? PlaneRange{ range.first / owned, (range.end - 1) / owned + 1 } : PlaneRange();
  }
};

/** Which slabs are in an input's buffers, of which there are one or two. */
class LoadedSlabs
{
public:
  explicit LoadedSlabs(std::size_t buffers = 1)
    : m_Buffers(buffers)
  {}

  bool
  Has(int slab) const
  {
    return m_Slabs[0] == slab || m_Slabs[1] == slab;
  }

  /** The buffer that was used last. */
  std::size_t
  GetLast() const
  {
    return m_Last;
  }

  /** If a slab is there, its buffer has been used last; otherwise false. */
  bool
  Use(int slab)
  {
    if (Has(slab))
    {
      m_Last = m_Slabs[0] == slab ? 0 : 1;
      return true;
    }
    return false;
  }

  /** The buffer for another slab, of which Put says when it is there: not the one used last, if there is a choice. */
  std::size_t
  MakeRoom()
  {
    m_Last = (m_Last + 1) % m_Buffers;
    m_Slabs[m_Last] = -1;
    return m_Last;
  }
  void
  Put(int slab)
  {
    m_Slabs[m_Last] = slab;
  }

  /** Calls work(slab) for those of a range, beginning at the end that is there. */
  template <typename TWork>
  void
  ForEachOf(const PlaneRange & slabs, const TWork & work) const
  {
    const bool isBackwards = Has(slabs.end - 1) && !Has(slabs.first);
    for (int k = 0; k < slabs.GetCount(); ++k)
    {
      work(isBackwards ? slabs.end - 1 - k : slabs.first + k);
    }
  }

private:
  std::size_t m_Buffers;
  std::size_t m_Last = 0;
  int         m_Slabs[2] = { -1, -1 };
};

/** What a resampling is of, in bytes, planes and rows. */
struct ResampleSizes
{
  /** Of slabs, and of pieces: two, where copies overlap what is made. */
  std::size_t mostBuffers = 2;

  SlabCut     input;          // owned: all planes
  std::size_t planeBytes = 0; // 0 where the device reads the input's own memory
  /** What a cut input takes in any case, however thin its slabs are. */
  std::size_t leastSlabBytes = 0;

  std::int64_t rows = 0; // of the output
  std::int64_t rowsOfPlane = 1;
  std::size_t  rowBytes = 0;
  /** The planes of the input that rows of the output meet, as far as is known without looking at vectors. */
  std::function<PlaneRange(const RowRange & rows)> findPlanes;
  /** What a launch makes of an output at most, where the input is not cut. */
  std::size_t mostPieceBytes = 0;

  /** The chain's first grid of vectors may be sent in parts: so many planes for so many rows of the output. */
  int                                   gridPlanes = 0;
  std::size_t                           gridPlaneBytes = 0;
  std::function<int(std::int64_t rows)> countGridPlanes;
  /** Of the other grids, whose vectors lie behind its own; of what B-spline coefficients are made in; and of all else:
   *  nothing of it can be cut. */
  std::size_t otherVectorBytes = 0;
  std::size_t stateBytes = 0;
  std::size_t otherBytes = 0;
};

/** How it is cut, and what that takes. */
struct ResamplePlan
{
  SlabCut      slabs;
  std::int64_t pieceRows = 1;
  int          gridPlanes = 0;

  std::size_t inputBytes = 0; // of each buffer
  /** Two where one slab goes up while the one before is read. */
  std::size_t inputBuffers = 1;
  std::size_t pieceBytes = 0; // of each buffer
  /** Two where one piece is copied down while the next is made. */
  std::size_t outputBuffers = 1;
  std::size_t gridBytes = 0;
  std::size_t stateBytes = 0;
};

/** Bytes of device memory, in all and in one array. */
struct Room
{
  std::size_t free;
  std::size_t largestAllocation;
};

/** Of the plans that there is room for, the one that brings up least. Nothing if there is no room for the least. */
std::optional<ResamplePlan>
PlanResampling(const ResampleSizes & sizes, const Room & room);

/** What the least plan takes: one plane of the input and one row of the output at a time. */
std::size_t
GetLeastBytes(const ResampleSizes & sizes);

} // namespace gpureg

#endif
