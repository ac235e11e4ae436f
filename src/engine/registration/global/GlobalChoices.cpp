// SPDX-License-Identifier: Apache-2.0
#include "gpureg/registration/global/GlobalChoices.h"

#include "engine/core/Choices.h"
#include "engine/metric/SimilarityChoices.h"

#include <ostream>

namespace gpureg
{

namespace
{
constexpr const char * OptimizerNames[] = { "QuasiNewton", "Lines" };
} // namespace

const char *
GetName(GlobalOptimizer optimizer)
{
  return NameOfChoice("optimizer", OptimizerNames, static_cast<std::size_t>(optimizer));
}

GlobalCost
GetGlobalCost(const std::string & name)
{
  return FindSimilarity("cost", name, &SimilarityDescription::isForGlobal);
}

GlobalOptimizer
GetGlobalOptimizer(const std::string & name)
{
  return static_cast<GlobalOptimizer>(NumberOfChoice("optimizer", OptimizerNames, name));
}

std::ostream &
operator<<(std::ostream & out, GlobalOptimizer optimizer)
{
  return out << "gpureg::GlobalOptimizer::" << GetName(optimizer);
}

} // namespace gpureg
