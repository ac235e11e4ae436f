// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_ControlGridPasses_h
#define gpureg_ControlGridPasses_h

#include "engine/metric/samples/SortedByCell.h"

#include "kernels/metric/samples/ControlGrid.h"

#include "engine/runtime/MakePasses.h"

namespace gpureg
{

/** The tables of a control grid whose axes are parallel to those of the virtual grid. */
struct ControlTables
{
  /** kernels::ControlWeights, for x, then y, then z. */
  MemoryPointer weights;
  /** float4 and int, one per index along x; see kernels::MoveRowsGroup. */
  MemoryPointer rowWeights;
  MemoryPointer rowFirsts;
  /** kernels::ControlTile, the tiles of control points along x, then y, then z. */
  MemoryPointer tiles;
  /** int[2], one per segment of a row; see kernels::MoveRowsGroup. */
  MemoryPointer segmentColumns;
};

/** Interpolates between control points at voxels, and computes the adjoint, on one device. Control points are float4[z][y][x], in mm. Files
 *  of this name implement it: src/host for the host, src/engine for all other devices. Every member throws Error where the device reports a
 *  failure. */
class ControlGridPasses
{
public:
  virtual ~ControlGridPasses() = default;

  /** Interpolates displacements at the voxels of the virtual grid. expanded: see kernels::ExpandAlongZ; displacement: float[3], one per
   *  voxel. */
  virtual void
  MoveRows(const kernels::ControlGridArguments & a,
           const ControlTables &                 tables,
           const Memory &                        expanded,
           Memory &                              displacement) = 0;

  /** Computes the adjoint interpolation along one axis. in: float[outer][length][inner]; out: float[outer][controls][inner]. */
  virtual void
  ApplyAdjointAlong(const kernels::AdjointArguments & a,
                    const ControlTables &             tables,
                    const Memory &                    in,
                    Memory &                          out) = 0;

  /** Computes the adjoint interpolation along x. in: float[outer][length][3]; out: float4[outer][controls]. */
  virtual void
  ApplyAdjointAlongX(const kernels::AdjointArguments & a,
                     const ControlTables &             tables,
                     const Memory &                    in,
                     Memory &                          out) = 0;

  /** Computes the adjoint interpolation of forces at samples, for a control grid in general position. out: float4, one per control
   *  point. */
  virtual void
  ApplyAdjointAtSamples(const kernels::ChainPart &   part,
                        const kernels::VolumeShape & shape,
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
