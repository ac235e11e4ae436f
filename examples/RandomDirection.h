// SPDX-License-Identifier: Apache-2.0
#ifndef RandomDirection_h
#define RandomDirection_h

#include "itkMersenneTwisterRandomVariateGenerator.h"
#include "itkVector.h"

namespace example
{

/** ITK's own generator, which gives the same numbers with every compiler. */
using Random = itk::Statistics::MersenneTwisterRandomVariateGenerator;

/** Returns a random vector of length 1. */
inline itk::Vector<double, 3>
DrawDirection(Random * random)
{
  itk::Vector<double, 3> direction;
  for (double & component : direction)
  {
    component = random->GetNormalVariate();
  }
  direction.Normalize();
  return direction;
}

} // namespace example

#endif
