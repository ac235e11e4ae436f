// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_ControlPoints_h
#define gpureg_ControlPoints_h

#include "gpureg/transform/TransformChain.h"

#include "engine/metric/samples/ControlGridPasses.h"
#include "engine/core/Matrix3.h"

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace gpureg
{

/** The samples that control points move: the voxels of a virtual grid, or points in it. */
struct MovedSamples
{
  Size         virtualSize{};
  std::int64_t pointCount = 0;
  /** i64[3], one a point: its virtual index in units of 2^-32. Null for voxels. */
  const Memory * points = nullptr;
  /** Another one for other points. */
  std::uint64_t stamp = 0;

  std::int64_t
  GetCount() const
  {
    return pointCount > 0 ? pointCount : CountOf(virtualSize);
  }
};

/** The control points of the B-spline that is optimised, on a device, and what leads from them to samples and back. */
class ControlPoints
{
public:
  /** queue must outlive it. */
  /** \param passes those that carry its work out; null for the queue's own. */
  explicit ControlPoints(Queue & queue, std::unique_ptr<ControlGridPasses> passes = nullptr);
  ~ControlPoints();

  /** Makes what depends on where the grid lies, unless it is there. grid.toGrid leads from virtual indices; its order is 1 to 3.
   *  \throws BadInputError for another order, or fewer control points along an axis than the order has. */
  void
  SetGeometry(const DisplacementGrid & grid, int dimension, const MovedSamples & samples);

  /** Copies the control points up: grid.vectors. */
  void
  UploadPoints(const DisplacementGrid & grid);

  /** The same in fixed point, for MovePrecisely(). \param toIndex from mm to the units of what they move. */
  void
  UploadPointsPrecisely(const DisplacementGrid & grid, const Matrix3 & toIndex);

  /** The control points: float4 [z][y][x], x, y and z in mm. */
  Memory &
  GetPoints()
  {
    return *m_Points;
  }

  std::int64_t
  GetPointCount() const
  {
    return CountControlPoints(m_Part);
  }

  /** Enqueues what makes displacement, float[3] a sample, of the control points. */
  void
  Move(Memory & displacement);

  /** The same in fixed point: i64[3] a sample, see src/kernels/metric/samples/PreciseGrid.h. */
  void
  MovePrecisely(Memory & displacement);

  /** Enqueues what gathers forces, float[3] a sample: gradient, float4 a control point, is the matrix times their sum. */
  void
  Gather(const Memory & forces, const Matrix3 & matrix, Memory & gradient);

  /** What gathering needs beside its result: anyone's on the queue in between. */
  std::array<MemoryPointer, 2> &
  GetScratch()
  {
    return m_Gathered;
  }

  std::int64_t
  GetDeviceBytes() const;

private:
  /** How an axis of the control grid meets the same axis of the virtual grid. */
  struct Axis
  {
    std::vector<kernels::ControlWeights> weights;
    std::vector<kernels::ControlStretch> stretches;
  };

  bool
  IsAlongAxes() const;
  Axis
  MakeAxis(int axis) const;
  /** Control points of a stretch. */
  int
  FindStretchControls(int axis) const;
  std::vector<std::array<int, 2>>
  FindSegmentColumns(const std::vector<kernels::ControlWeights> & weights) const;
  /** False where segments meet too many columns. */
  bool
  MakeTables();
  void
  SortSamples();
  std::vector<std::int64_t>
  DownloadSamplePoints() const;
  void
  GatherAlongAxes(const Memory & forces, const Matrix3 & matrix, Memory & gradient);

  Queue &                            m_Queue;
  std::unique_ptr<ControlGridPasses> m_Passes;
  kernels::ChainPart                 m_Part{};
  MovedSamples                       m_Samples;
  MemoryPointer                      m_Points;
  MemoryPointer                      m_PrecisePoints; // i64[3] each
  bool                               m_HasTables = false;
  kernels::ControlGridArguments      m_Arguments{};
  std::array<int, 3>                 m_FirstStretches{};
  std::array<int, 3>                 m_StretchCounts{};
  MemoryPointer                      m_Expanded; // see kernels::ExpandAlongZ; null in two dimensions
  ControlTables                      m_Tables;
  kernels::SampleCells               m_Cells{};
  SortedByCell                       m_Sorted;
  std::array<MemoryPointer, 2>       m_Gathered; // along z, and along y of these
};

} // namespace gpureg

#endif
