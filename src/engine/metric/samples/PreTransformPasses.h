// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_PreTransformPasses_h
#define gpureg_PreTransformPasses_h

#include "engine/metric/samples/SampleArrays.h"

#include "kernels/metric/samples/PreTransformMoves.h"

#include "engine/runtime/MakePasses.h"

#include <cstdint>

namespace gpureg
{

/** Sums the forces by which a linear transform is optimised, also behind grids, on one device. Files of this name implement it: src/host
 *  for the host, src/engine for all other devices. Every member throws Error where the device reports a failure. */
class PreTransformPasses
{
public:
  virtual ~PreTransformPasses() = default;

  /** Returns how many groups, each with its own set of sums, are worthwhile for count samples. */
  virtual int
  CountGroups(std::int64_t count) const = 0;

  /** Sums forces. displacement: null if samples are not moved; forces: float[3], one per sample; partials:
   *  float[a.groupCount][2·ForceSumCount]. */
  virtual void
  SumForces(const kernels::PreTransformArguments & a,
            std::int64_t                           count,
            const Memory *                         points,
            const Memory *                         displacement,
            const Memory &                         forces,
            Memory &                               partials) = 0;
};

GPUREG_DECLARE_PASSES(PreTransformPasses);

} // namespace gpureg

#endif
