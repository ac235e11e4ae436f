// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_DisplacementPasses_h
#define gpureg_DisplacementPasses_h

#include "kernels/core/Prelude.h"
#include "kernels/resample/Displacement.h"

#include "engine/runtime/MakePasses.h"

#include <cstdint>

namespace gpureg
{

/** Converts places in a box to displacements, on one device that computes in double precision. src/host, cuda and opencl each implement the
 *  pass in a file of this name. */
class DisplacementPasses
{
public:
  virtual ~DisplacementPasses() = default;

  /** Converts count places to displacements, in place; see kernels::FindDisplacement. places: double[count][components]. */
  virtual void
  Displace(const kernels::DisplacementArguments & a, std::int64_t count, Memory & places) = 0;
};

GPUREG_DECLARE_PASSES(DisplacementPasses);

} // namespace gpureg

#endif
