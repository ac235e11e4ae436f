// SPDX-License-Identifier: Apache-2.0
#include "gpureg/registration/global/GlobalChoices.h"

#include "engine/registration/Choices.h"

#include <ostream>

namespace gpureg
{

namespace
{
constexpr const char * CostNames[] = {
  "CorrelationRatio", "MattesMutualInformation", "NormalizedMutualInformation", "Correlation",
  "MeanSquares",      "MeanAbsoluteDifferences"
};
constexpr const char * OptimizerNames[] = { "QuasiNewton", "Lines" };
} // namespace

const char *
GetName(GlobalCost cost)
{
  return NameOfChoice("cost", CostNames, static_cast<std::size_t>(cost));
}

const char *
GetName(GlobalOptimizer optimizer)
{
  return NameOfChoice("optimizer", OptimizerNames, static_cast<std::size_t>(optimizer));
}

GlobalCost
GetGlobalCost(const std::string & name)
{
  return static_cast<GlobalCost>(NumberOfChoice("cost", CostNames, name));
}

GlobalOptimizer
GetGlobalOptimizer(const std::string & name)
{
  return static_cast<GlobalOptimizer>(NumberOfChoice("optimizer", OptimizerNames, name));
}

std::ostream &
operator<<(std::ostream & out, GlobalCost cost)
{
  return out << "gpureg::GlobalCost::" << GetName(cost);
}

std::ostream &
operator<<(std::ostream & out, GlobalOptimizer optimizer)
{
  return out << "gpureg::GlobalOptimizer::" << GetName(optimizer);
}

} // namespace gpureg
