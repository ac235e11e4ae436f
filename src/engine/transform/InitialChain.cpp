// SPDX-License-Identifier: Apache-2.0
#include "engine/transform/InitialChain.h"

#include "gpureg/core/Error.h"

#include <cstddef>

namespace gpureg
{

void
CheckMapsPoints(const TransformChain & chain)
{
  for (const ChainStep & step : chain.steps)
  {
    if (step.grid.kind == GridKind::OfOutput)
    {
      throw UnsupportedError(
        "an initial transform that is sampled at an image's voxels says nothing of the points between; give it "
        "as a displacement field, or by its parts");
    }
  }
}

void
MarkAsOneSource(TransformChain & chain, std::uintptr_t registration)
{
  for (std::size_t k = 0; k < chain.steps.size(); ++k)
  {
    chain.steps[k].grid.source = {};
    chain.steps[k].grid.source.key = { registration, k };
  }
}

std::size_t
CountVectors(const TransformChain & chain)
{
  std::size_t vectors = 0;
  for (const ChainStep & step : chain.steps)
  {
    vectors += static_cast<std::size_t>(CountOf(step.grid.size));
  }
  return vectors;
}

} // namespace gpureg
