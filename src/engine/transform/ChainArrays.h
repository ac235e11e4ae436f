// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_ChainArrays_h
#define gpureg_ChainArrays_h

#include "engine/runtime/Queue.h"

namespace gpureg
{

/** The arrays of a merged chain on a device. An array that the chain does not need is null. */
struct ChainArrays
{
  /** kernels::ChainPart, one per part. */
  MemoryPointer parts;
  /** kernels::float4, one per vector of all parts' grids. */
  MemoryPointer vectors;
  /** float[9], one per vector, for metrics that propagate forces backwards through a chain; see
   *  src/kernels/metric/samples/SampleChain.h. */
  MemoryPointer jacobians;
};

} // namespace gpureg

#endif
