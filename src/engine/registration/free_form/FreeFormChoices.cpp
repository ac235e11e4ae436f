// SPDX-License-Identifier: Apache-2.0
#include "gpureg/registration/free_form/FreeFormChoices.h"

#include "engine/registration/Choices.h"

#include <cstddef>
#include <ostream>

namespace gpureg
{

namespace
{
constexpr const char * SimilarityNames[] = {
  "NormalizedMutualInformation", "CorrelationRatio", "MeanSquares", "Correlation", "NeighborhoodCorrelation"
};
constexpr const char * OptimizerNames[] = { "Adam", "ConjugateGradient", "AdaptiveStochasticGradientDescent" };
} // namespace

const char *
GetName(SimilarityKind kind)
{
  return NameOfChoice("similarity", SimilarityNames, static_cast<std::size_t>(kind));
}

const char *
GetName(FreeFormOptimizer optimizer)
{
  return NameOfChoice("optimizer", OptimizerNames, static_cast<std::size_t>(optimizer));
}

SimilarityKind
GetSimilarityKind(const std::string & name)
{
  return static_cast<SimilarityKind>(NumberOfChoice("similarity", SimilarityNames, name));
}

FreeFormOptimizer
GetFreeFormOptimizer(const std::string & name)
{
  return static_cast<FreeFormOptimizer>(NumberOfChoice("optimizer", OptimizerNames, name));
}

std::ostream &
operator<<(std::ostream & out, SimilarityKind kind)
{
  return out << "gpureg::SimilarityKind::" << GetName(kind);
}

std::ostream &
operator<<(std::ostream & out, FreeFormOptimizer optimizer)
{
  return out << "gpureg::FreeFormOptimizer::" << GetName(optimizer);
}

} // namespace gpureg
