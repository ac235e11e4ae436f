// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_ChainArrays_h
#define gpureg_ChainArrays_h

#include "engine/runtime/Queue.h"

namespace gpureg
{

/** A folded chain on a device; null what it does not have. */
struct ChainArrays
{
  /** kernels::ChainPart, one a part. */
  MemoryPointer parts;
  /** kernels::float4, one a vector, of all parts' grids. */
  MemoryPointer vectors;
  /** float[9], one a vector, for metrics whose forces follow a chain back: see src/kernels/metric/samples/SampleChain.h. */
  MemoryPointer jacobians;
};

} // namespace gpureg

#endif
