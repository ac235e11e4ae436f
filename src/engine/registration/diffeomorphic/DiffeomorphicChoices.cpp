// SPDX-License-Identifier: Apache-2.0
#include "gpureg/registration/diffeomorphic/DiffeomorphicChoices.h"

#include "engine/core/Choices.h"
#include "engine/metric/SimilarityChoices.h"

#include <cstddef>
#include <ostream>

namespace gpureg
{

namespace
{
constexpr const char * SchemeNames[] = { "Greedy", "SyN", "Velocity" };
constexpr const char * OptimizerNames[] = { "LongestVector", "Adam" };
constexpr const char * SmoothingNames[] = { "Discrete", "Recursive" };
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

SimilarityKind
GetFieldSimilarityKind(const std::string & name)
{
  return FindSimilarity("similarity", name, &SimilarityDescription::isForFields);
}

const char *
GetName(DiffeomorphicOptimizer optimizer)
{
  return NameOfChoice("optimizer", OptimizerNames, static_cast<std::size_t>(optimizer));
}

DiffeomorphicOptimizer
GetDiffeomorphicOptimizer(const std::string & name)
{
  return static_cast<DiffeomorphicOptimizer>(NumberOfChoice("optimizer", OptimizerNames, name));
}

std::ostream &
operator<<(std::ostream & out, DiffeomorphicOptimizer optimizer)
{
  return out << "gpureg::DiffeomorphicOptimizer::" << GetName(optimizer);
}

const char *
GetName(DiffeomorphicSmoothing smoothing)
{
  return NameOfChoice("smoothing", SmoothingNames, static_cast<std::size_t>(smoothing));
}

DiffeomorphicSmoothing
GetDiffeomorphicSmoothing(const std::string & name)
{
  return static_cast<DiffeomorphicSmoothing>(NumberOfChoice("smoothing", SmoothingNames, name));
}

std::ostream &
operator<<(std::ostream & out, DiffeomorphicSmoothing smoothing)
{
  return out << "gpureg::DiffeomorphicSmoothing::" << GetName(smoothing);
}

} // namespace gpureg
