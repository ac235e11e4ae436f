// SPDX-License-Identifier: Apache-2.0
#include "gpureg/registration/free_form/FreeFormChoices.h"

#include "engine/core/Choices.h"
#include "engine/metric/SimilarityChoices.h"

#include <cstddef>
#include <ostream>

namespace gpureg
{

namespace
{
constexpr const char * OptimizerNames[] = { "Adam", "ConjugateGradient", "AdaptiveStochasticGradientDescent" };
} // namespace

const char *
GetName(FreeFormOptimizer optimizer)
{
  return NameOfChoice("optimizer", OptimizerNames, static_cast<std::size_t>(optimizer));
}

SimilarityKind
GetSimilarityKind(const std::string & name)
{
  return FindSimilarity("similarity", name, &SimilarityDescription::isForFreeForm);
}

FreeFormOptimizer
GetFreeFormOptimizer(const std::string & name)
{
  return static_cast<FreeFormOptimizer>(NumberOfChoice("optimizer", OptimizerNames, name));
}

std::ostream &
operator<<(std::ostream & out, FreeFormOptimizer optimizer)
{
  return out << "gpureg::FreeFormOptimizer::" << GetName(optimizer);
}

} // namespace gpureg
