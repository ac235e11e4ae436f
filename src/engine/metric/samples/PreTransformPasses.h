// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_PreTransformPasses_h
#define gpureg_PreTransformPasses_h

#include "engine/metric/samples/SampleArrays.h"

#include "kernels/metric/samples/PreTransformMoves.h"

#include "engine/runtime/MakePasses.h"

#include <cstdint>

namespace gpureg
{

/** Grids before a linear transform that is optimised, on one device. src/host, cuda and opencl each have it in a file of this name.
 *  Every member throws Error where the device reports a failure. */
class PreTransformPasses
{
public:
  virtual ~PreTransformPasses() = default;

  /** So many groups, of one set of sums each, pay for so many samples. */
  virtual int
  CountGroups(std::int64_t count) const = 0;

  /** points: i64[3], one a sample; null for voxels. displacement: float[3] a sample, in mm. */
  virtual void
  Move(const kernels::PreTransformArguments & a,
       std::int64_t                           count,
       const Memory *                         points,
       const ChainArrays &                    grids,
       Memory &                               displacement) = 0;

  /** The same of vectors in fixed point: precise, i64[3] a sample, in units of 2^-32 mm, beside displacement. */
  virtual void
  MovePrecisely(const kernels::PreTransformArguments & a,
                std::int64_t                           count,
                const Memory *                         points,
                const ChainArrays &                    grids,
                Memory &                               precise,
                Memory &                               displacement) = 0;

  /** moves: i64[3] a sample, carry·precise: see src/kernels/metric/samples/PreciseGrid.h. */
  virtual void
  Carry(const kernels::PreTransformCarry & carry, std::int64_t count, const Memory & precise, Memory & moves) = 0;

  /** forces: float[3] a sample; partials: float [a.groupCount][2·ForceSumCount]. */
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
