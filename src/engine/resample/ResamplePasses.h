// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_ResamplePasses_h
#define gpureg_ResamplePasses_h

#include "kernels/core/Prelude.h"
#include "kernels/transform/BSpline.h"
#include "kernels/transform/FixedMap.h"
#include "kernels/transform/TransformChain.h"
#include "kernels/resample/ResampleArguments.h"
#include "kernels/resample/ResampleInterpolation.h"
#include "kernels/resample/Resample.h"
#include "kernels/resample/ResampleCut.h"

#include "engine/runtime/MakePasses.h"
#include "gpureg/core/Precision.h"

namespace gpureg
{

/** The arrays that a launch of the resampler reads. real is float or double, by the precision. */
struct ResampleArrays
{
  /** real[voxels of the slab][components]: values, or coefficients. */
  const Memory & input;
  /** kernels::ChainPart[parts]; null if there are none. */
  const MemoryPointer & parts;
  /** float4[control points of all parts]; null if there are none. */
  const MemoryPointer & vectors;
  /** real[components]: the value outside of the input. */
  const MemoryPointer & outside;
};

/** Resamples on one device. Files of this name implement it: src/host for the host, src/engine for all other devices. */
class ResamplePasses
{
public:
  virtual ~ResamplePasses() = default;

  /** Makes rows a.cut.firstRow … a.cut.firstRow + a.cut.rowCount - 1 of the output. output: real[rowCount][size[0]][components]. */
  virtual void
  Resample(const kernels::ResampleArguments & a,
           Precision                          precision,
           const ResampleArrays &             arrays,
           Memory &                           output) = 0;
};

GPUREG_DECLARE_PASSES(ResamplePasses);

} // namespace gpureg

#endif
