// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_ControlPoints_h
#define gpureg_ControlPoints_h

#include "gpureg/transform/TransformChain.h"

#include "engine/metric/samples/ControlGridPasses.h"
#include "engine/core/Matrix3.h"
#include "engine/runtime/MemoryLedger.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace gpureg
{

/** Stores the control points of the optimised B-spline on a device, interpolates displacements at samples, and computes the adjoint. */
class ControlPoints
{
public:
  /** queue must outlive this object.
   *  \param passes the passes to run; null for the queue's own */
  explicit ControlPoints(Queue & queue, std::unique_ptr<ControlGridPasses> passes = nullptr);
  ~ControlPoints();

  /** Prepares the tables that depend on the position of the grid, unless they are up to date. grid.toGrid maps virtual indices to the grid;
   *  its order is 1 to 3.
   *  \throws UnsupportedError for another order, BadInputError for fewer control points along an axis than the order needs */
  void
  SetGeometry(const DisplacementGrid & grid, int dimension, const MovedSamples & samples);

  /** Writes down the arrays that SetGeometry() makes, and those of ApplyAdjoint(), for a grid whose axes are parallel to the samples'; its
   *  tables, which are as long as the grid's axes, are left out.
   *  \param name what the arrays' names begin with */
  static void
  Plan(const DisplacementGrid & grid,
       int                      dimension,
       const MovedSamples &     samples,
       const std::string &      name,
       MemoryLedger &           ledger);

  /** Uploads the control points grid.vectors. */
  void
  UploadPoints(const DisplacementGrid & grid);

  /** Uploads the control points in fixed point, for MoveInFixedPoint(). \param toIndex maps vectors in mm to the units of the
   *  displacements */
  void
  UploadPointsInFixedPoint(const DisplacementGrid & grid, const Matrix3 & toIndex);

  /** Returns the control points: float4[z][y][x], with x, y and z in mm. */
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

  /** Enqueues the interpolation of displacements at the samples. displacement: float[3], one per sample. */
  void
  Move(Memory & displacement);

  /** Enqueues the interpolation in fixed point. displacement: i64[3], one per sample; see src/kernels/metric/samples/FixedPointGrid.h. */
  void
  MoveInFixedPoint(Memory & displacement);

  /** Enqueues the adjoint interpolation of forces. forces: float[3], one per sample; gradient: float4, one per control point, the product
   *  of matrix and the sum of the weighted forces. */
  void
  ApplyAdjoint(const Memory & forces, const Matrix3 & matrix, Memory & gradient);

  /** Returns the intermediate arrays of the adjoint interpolation. Other work on the queue may use them between two calls. */
  std::array<MemoryPointer, 2> &
  GetScratch()
  {
    return m_AlongAxes;
  }

  std::int64_t
  GetDeviceBytes() const;

private:
  /** The weights and tiles of control points along one axis, computed from the positions of the virtual grid's voxels. */
  struct Axis
  {
    std::vector<kernels::ControlWeights> weights;
    std::vector<kernels::ControlTile>    tiles;
  };

  bool
  IsAlongAxes() const;
  Axis
  MakeAxis(int axis) const;
  /** Returns how many control points a tile has. */
  int
  CountTileControls(int axis) const;
  std::vector<std::array<int, 2>>
  CountSegmentColumns(const std::vector<kernels::ControlWeights> & weights) const;
  /** Makes the tables. Returns false if a segment of a row needs too many columns of control points. */
  bool
  MakeTables();
  kernels::SampleMoves
  MakeMoves() const;
  void
  ApplyAdjointAlongAxes(const Memory & forces, const Matrix3 & matrix, Memory & gradient);

  Queue &                            m_Queue;
  std::unique_ptr<ControlGridPasses> m_Passes;
  kernels::ChainPart                 m_Part{};
  MovedSamples                       m_Samples;
  MemoryPointer                      m_Points;
  MemoryPointer                      m_PointsInFixedPoint; // i64[3], one per control point
  bool                               m_HasTables = false;
  kernels::ControlGridArguments      m_Arguments{};
  std::array<int, 3>                 m_FirstTiles{};
  std::array<int, 3>                 m_TileCounts{};
  MemoryPointer                      m_Expanded; // see kernels::ExpandAlongZ; null in two dimensions
  ControlTables                      m_Tables;
  SortedByCell                       m_Sorted;
  std::array<MemoryPointer, 2>       m_AlongAxes; // the forces interpolated along z, and these along y
};

} // namespace gpureg

#endif
