// SPDX-License-Identifier: Apache-2.0
#include "gpureg/registration/diffeomorphic/DiffeomorphicChoices.h"

#include "engine/core/Choices.h"

#include <cstddef>
#include <ostream>

namespace gpureg
{

namespace
{
constexpr const char * SchemeNames[] = { "Greedy", "SyN", "Velocity" };
} // namespace

const char *
GetName(DiffeomorphicScheme scheme)
{
  return NameOfChoice("scheme", SchemeNames, static_cast<std::size_t>(scheme));
}

DiffeomorphicScheme
GetDiffeomorphicScheme(const std::string & name)
{
  return static_cast<DiffeomorphicScheme>(NumberOfChoice("scheme", SchemeNames, name));
}

std::ostream &
operator<<(std::ostream & out, DiffeomorphicScheme scheme)
{
  return out << "gpureg::DiffeomorphicScheme::" << GetName(scheme);
}

} // namespace gpureg
