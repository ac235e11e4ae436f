// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_PreTransformPasses_h
#define gpureg_PreTransformPasses_h

#include "engine/metric/samples/SampleArrays.h"

#include "kernels/metric/samples/PreTransformMoves.h"

#include "engine/runtime/MakePasses.h"

#include <cstdint>

namespace gpureg
{

/** Displaces samples by grids before an optimised linear transform, on one device. src/host, cuda and opencl each implement the passes in a
 *  file of this name. Every member throws Error where the device reports a failure. */
class PreTransformPasses
{
public:
  virtual ~PreTransformPasses() = default;

  /** Returns how many groups, each with its own set of sums, are worthwhile for count samples. */
  virtual int
  CountGroups(std::int64_t count) const = 0;

  /** Computes the displacements of count samples. points: i64[3], one per sample; null for voxels. displacement: float[3], one per sample,
   *  in mm. */
  virtual void
  Move(const kernels::PreTransformArguments & a,
       std::int64_t                           count,
       const Memory *                         points,
       const ChainArrays &                    grids,
       Memory &                               displacement) = 0;

  /** Computes displacements by vectors in fixed point. precise: i64[3], one per sample, in units of 2^-32 mm; displacement: the rounded
   *  floats. */
  virtual void
  MovePrecisely(const kernels::PreTransformArguments & a,
                std::int64_t                           count,
                const Memory *                         points,
                const ChainArrays &                    grids,
                Memory &                               precise,
                Memory &                               displacement) = 0;

  /** Multiplies fixed-point displacements by a matrix. moves: i64[3], one per sample, carry·precise; see
   *  src/kernels/metric/samples/PreciseGrid.h. */
  virtual void
  Carry(const kernels::PreTransformCarry & carry, std::int64_t count, const Memory & precise, Memory & moves) = 0;

  /** Sums forces. forces: float[3], one per sample; partials: float[a.groupCount][2·ForceSumCount]. */
  virtual void
  SumForces(const kernels::PreTransformArguments & a,
            std::int64_t                           count,
            const Memory *                         points,
            const Memory &                         displacement,
            const Memory &                         forces,
            Memory &                               partials) = 0;
};

GPUREG_DECLARE_PASSES(PreTransformPasses);

} // namespace gpureg

#endif
