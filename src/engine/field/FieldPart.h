// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_FieldPart_h
#define gpureg_FieldPart_h

#include "engine/runtime/KernelArguments.h"

#include <cstdint>

namespace gpureg
{

/** Names the voxels of a field, float[3] each, from one of them on. */
struct FieldPart
{
  FieldPart(const Memory & field, std::int64_t firstVoxel = 0)
    : memory(field)
    , first(firstVoxel)
  {}

  const Memory & memory;
  std::int64_t   first; // voxel
};

/** Returns the part's vectors as a kernel reads them. \tparam T float, or RealNumber */
template <typename T>
Elements<const T>
Input(const FieldPart & part)
{
  return { &part.memory, 3 * part.first };
}

} // namespace gpureg

#endif
