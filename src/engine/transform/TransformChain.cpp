// SPDX-License-Identifier: Apache-2.0
#include "gpureg/transform/TransformChain.h"

#include "engine/core/Matrix3.h"

#include <utility>

namespace gpureg
{

IndexMap
Compose(const IndexMap & outer, const IndexMap & inner)
{
  IndexMap result;
  result.matrix = Multiply(outer.matrix, inner.matrix);
  result.offset = Multiply(outer.matrix, inner.offset);
  for (std::size_t r = 0; r < 3; ++r)
  {
    result.offset[r] += outer.offset[r];
  }
  return result;
}

void
TransformChain::Append(const IndexMap & map)
{
  if (steps.empty())
  {
    first = Compose(map, first);
  }
  else
  {
    ChainStep & last = steps.back();
    last.map = Compose(map, last.map);
    last.vectorMatrix = Multiply(map.matrix, last.vectorMatrix);
  }
}

void
TransformChain::Append(DisplacementGrid grid)
{
  steps.emplace_back();
  steps.back().grid = std::move(grid);
}

} // namespace gpureg
