// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_SortedByCell_h
#define gpureg_SortedByCell_h

#include "gpureg/transform/TransformChain.h"

#include "engine/metric/samples/SampleArrays.h"

#include "kernels/metric/samples/ControlGrid.h"

#include <cstdint>

namespace gpureg
{

/** The samples that control points displace: the voxels of a virtual grid, or points in it. */
struct MovedSamples
{
  Size         virtualSize{};
  std::int64_t pointCount = 0;
  /** i64[3], one per point: its virtual index in units of 2^-32. Null for voxels. */
  const Memory * points = nullptr;
  /** A number that changes whenever the points change. */
  std::uint64_t stamp = 0;

  std::int64_t
  GetCount() const
  {
    return pointCount > 0 ? pointCount : CountOf(virtualSize);
  }
};

/** Samples sorted by cell, for a control grid in general position. */
struct SortedByCell
{
  /** Describes how the cells lie. The caller sets the matrix, which the passes read, too. */
  kernels::SampleCells cells{};
  /** u32: the numbers of the samples. */
  MemoryPointer order;
  /** u32: the index in order where each cell's samples begin, and the index behind the last. */
  MemoryPointer begins;
};

/** Sorts the samples by the cell of a control grid in which they lie, on the host, once for all evaluations.
 *  \throws UnsupportedError if there are more samples than 32-bit numbers can sort */
void
SortByCell(Queue & queue, const kernels::ChainPart & part, const MovedSamples & samples, SortedByCell & sorted);

} // namespace gpureg

#endif
