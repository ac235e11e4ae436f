// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_ControlGridPasses_h
#define gpureg_ControlGridPasses_h

#include "engine/metric/samples/SampleArrays.h"

#include "kernels/metric/samples/ControlGrid.h"

#include "engine/runtime/MakePasses.h"

namespace gpureg
{

/** The tables of a control grid whose axes are those of the virtual grid. */
struct ControlTables
{
  /** kernels::ControlWeights, those of x, y and z behind each other. */
  MemoryPointer weights;
  /** float4 and int, one an index along x: see kernels::MoveRowsGroup. */
  MemoryPointer rowWeights;
  MemoryPointer rowFirsts;
  /** kernels::ControlStretch, those of x, y and z behind each other. */
  MemoryPointer stretches;
  /** int[2], one a segment of a row: see kernels::MoveRowsGroup. */
  MemoryPointer segmentColumns;
};

/** Samples sorted by cell, for a control grid that lies anyhow. */
struct SortedByCell
{
  /** u32: the samples. */
  MemoryPointer order;
  /** u32: where each cell's samples begin, and one more. */
  MemoryPointer begins;
};

/** Between control points and samples, on one device. Control points are float4 [z][y][x], in mm. src/host, cuda and opencl each
 *  have it in a file of this name. Every member throws Error where the device reports a failure. */
class ControlGridPasses
{
public:
  virtual ~ControlGridPasses() = default;

  /** expanded: float4 [planes of the virtual grid][y][x]. */
  virtual void
  Expand(const kernels::ControlGridArguments & a,
         const ControlTables &                 tables,
         const Memory &                        points,
         Memory &                              expanded) = 0;

  /** displacement: float[3], one a voxel of the virtual grid. */
  virtual void
  MoveRows(const kernels::ControlGridArguments & a,
           const ControlTables &                 tables,
           const Memory &                        expanded,
           Memory &                              displacement) = 0;

  /** in: float [outer][length][inner]; out: float [outer][controls][inner]. */
  virtual void
  GatherAlong(const kernels::GatherArguments & a, const ControlTables & tables, const Memory & in, Memory & out) = 0;

  /** in: float [outer][length][3]; out: float4 [outer][controls]. */
  virtual void
  GatherRows(const kernels::GatherArguments & a, const ControlTables & tables, const Memory & in, Memory & out) = 0;

  /** The same wherever the grid lies. \param samplePoints i64[3], one a sample; null for voxels. */
  virtual void
  MoveSamples(const kernels::ChainPart &   part,
              const kernels::VolumeShape & shape,
              std::int64_t                 count,
              const Memory *               samplePoints,
              const Memory &               points,
              Memory &                     displacement) = 0;

  /** The same in fixed point. points: i64[3], one a control point, in the units of what they move; displacement: i64[3]. */
  virtual void
  MoveSamplesPrecisely(const kernels::ChainPart &   part,
                       const kernels::VolumeShape & shape,
                       std::int64_t                 count,
                       const Memory *               samplePoints,
                       const Memory &               points,
                       Memory &                     displacement) = 0;

  /** out: float4, one a control point. */
  virtual void
  GatherSamples(const kernels::ChainPart &   part,
                const kernels::VolumeShape & shape,
                const kernels::SampleCells & cells,
                const SortedByCell &         sorted,
                const Memory *               samplePoints,
                const Memory &               forces,
                Memory &                     out) = 0;
};

inline std::int64_t
CountExpanded(const kernels::ControlGridArguments & a)
{
  return std::int64_t{ a.virtualSize[2] } * a.size[1] * a.size[0];
}

inline std::int64_t
CountControlPoints(const kernels::ChainPart & part)
{
  return std::int64_t{ part.size[0] } * part.size[1] * part.size[2];
}

GPUREG_DECLARE_PASSES(ControlGridPasses);

} // namespace gpureg

#endif
