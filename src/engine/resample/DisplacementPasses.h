// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_DisplacementPasses_h
#define gpureg_DisplacementPasses_h

#include "kernels/core/Prelude.h"
#include "kernels/resample/Displacement.h"

#include "engine/runtime/MakePasses.h"

#include <cstdint>

namespace gpureg
{

/** From places to displacements, on one device, which has doubles. src/host, cuda and opencl each have it in a file of this name. */
class DisplacementPasses
{
public:
  virtual ~DisplacementPasses() = default;

  /** places: double [count][components]. See kernels::FindDisplacement. */
  virtual void
  Displace(const kernels::DisplacementArguments & a, std::int64_t count, Memory & places) = 0;
};

GPUREG_DECLARE_PASSES(DisplacementPasses);

} // namespace gpureg

#endif
