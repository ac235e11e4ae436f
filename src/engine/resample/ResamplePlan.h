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

/** Describes how an input is cut into slabs along its slowest axis. A slab owns some planes, and stores a margin of further planes around
 *  them, which interpolation reads. */
struct SlabCut
{
  int axis = 2;
  int planes = 1; // of the input
  int owned = 1;  // by each slab; the last one may own fewer
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

  /** Returns the slabs first … end - 1 that own planes of the range. */
  PlaneRange
  FindSlabs(const PlaneRange & range) const
  {
    return range.GetCount() > 0 ? PlaneRange{ range.first / owned, (range.end - 1) / owned + 1 } : PlaneRange();
  }
};

/** Records which slabs are in the one or two buffers of an input. */
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

  /** Returns the buffer that was used last. */
  std::size_t
  GetLast() const
  {
    return m_Last;
  }

  /** If a slab is in a buffer, makes that buffer the one used last and returns true. Otherwise returns false. */
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

  /** Returns the buffer for another slab, and marks it as empty until Put(). With two buffers it is not the one used last. */
  std::size_t
  TakeBuffer()
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

  /** Calls work(slab) for each slab of a range. Begins at the end of the range whose slab is in a buffer. */
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

/** The sizes of a resampling in bytes, planes and rows, from which PlanResampling() makes a plan. */
struct ResampleSizes
{
  /** The largest number of buffers for slabs and for output tiles: two where copies overlap kernels. */
  std::size_t mostBuffers = 2;

  SlabCut     input;          // owned: all planes
  std::size_t planeBytes = 0; // 0 where the device reads the input's own memory
  /** The least number of bytes of a slab of a cut input, however few planes it has. */
  std::size_t leastSlabBytes = 0;

  std::int64_t rows = 0; // of the output
  std::int64_t rowsOfPlane = 1;
  std::size_t  rowBytes = 0;
  /** Returns the planes of the input that rows of the output read, without regard to displacement vectors. */
  std::function<PlaneRange(const RowRange & rows)> findPlanes;
  /** The most bytes of output that one launch makes if the input is not cut. */
  std::size_t mostTileBytes = 0;

  /** The first grid of the chain may be uploaded in part: countGridPlanes returns how many planes of it the given number of rows needs. */
  int                                   gridPlanes = 0;
  std::size_t                           gridPlaneBytes = 0;
  std::function<int(std::int64_t rows)> countGridPlanes;
  /** Bytes that do not depend on the slabs: the other grids' vectors, the recursion's states for B-spline coefficients, and fixed
   *  arrays. */
  std::size_t otherVectorBytes = 0;
  std::size_t stateBytes = 0;
  std::size_t otherBytes = 0;
};

/** The cut of a resampling, and the bytes that it needs. */
struct ResamplePlan
{
  SlabCut      slabs;
  std::int64_t tileRows = 1;
  int          gridPlanes = 0;

  std::size_t inputBytes = 0; // of each buffer
  /** 2 if a slab is uploaded while the slab before is read; else 1. */
  std::size_t inputBuffers = 1;
  std::size_t tileBytes = 0; // of each buffer
  /** 2 if an output tile is downloaded while the next one is made; else 1. */
  std::size_t outputBuffers = 1;
  std::size_t gridBytes = 0;
  std::size_t stateBytes = 0;
};

/** The free bytes of device memory, in all and in one array. */
struct AvailableMemory
{
  std::size_t free;
  std::size_t largestAllocation;
};

/** Returns the plan with the smallest cost, chiefly of uploads, among those that fit into the memory. Returns nothing if none fits. */
std::optional<ResamplePlan>
PlanResampling(const ResampleSizes & sizes, const AvailableMemory & memory);

/** Returns how many bytes the smallest plan needs: one plane of the input and one row of the output at a time. */
std::size_t
GetLeastBytes(const ResampleSizes & sizes);

} // namespace gpureg

#endif
