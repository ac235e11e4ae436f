// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/diffeomorphic/DiffeomorphicPlan.h"

#include "engine/field/JacobianMeasure.h"
#include "engine/registration/MemoryPlanning.h"
#include "engine/registration/diffeomorphic/DiffeomorphicPairs.h"
#include "engine/registration/diffeomorphic/SyNLevel.h"
#include "engine/transform/InitialChain.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace gpureg
{

namespace
{
/** Writes down the vectors of an initial transform. */
void
PlanStart(const TransformChain & chain, const char * which, MemoryLedger & ledger)
{
  ledger.Reserve(std::string("initial transform: ") + which, sizeof(kernels::float4) * CountVectors(chain));
}

/** Returns factors by which no axis has fewer voxels than SyN needs, twice as large where that is possible. */
Size
DoubleFactors(const DiffeomorphicProblem & problem, Size factors)
{
  for (std::size_t d = 0; d < static_cast<std::size_t>(problem.dimension); ++d)
  {
    factors[d] = problem.fixed.size[d] / (2 * factors[d]) >= 8 ? 2 * factors[d] : factors[d];
  }
  return factors;
}
} // namespace

MemoryPlan
PlanScheme(const DiffeomorphicProblem &  given,
           const DiffeomorphicSettings & settings,
           const MakeSchemeSteps &       makeSteps)
{
  MemoryLedger                       ledger(true);
  const std::unique_ptr<SchemeSteps> steps = makeSteps(settings.scheme);
  const std::vector<FurtherPair>     pairs = ListPairs(given, settings);
  const std::size_t                  images = PlanPairs(pairs, ledger);
  PlannedCopies                      copies;
  DiffeomorphicProblem               problem = given;
  SetPairs(copies.Make(pairs), problem);
  // The vectors of transforms that are not linear stay on the device from the first level on.
  PlanStart(problem.initial, "moving", ledger);
  PlanStart(problem.fixedInitial, "fixed", ledger);
  std::vector<PlannedLevel> levels;
  std::int64_t              voxels = 0;
  for (int number = 0; number < static_cast<int>(settings.iterations.size()); ++number)
  {
    ledger.BeginLevel();
    const kernels::FieldGrid grid = steps->PlanLevel(problem, settings, number, ledger);
    voxels = kernels::CountFieldVoxels(&grid);
    levels.push_back({ { grid.size[0], grid.size[1], grid.size[2] }, ledger.GetMostOfLevel() });
  }
  if (steps->HasDeformation())
  {
    ledger.Reserve("scratch: second field", JacobianMeasure::CountScratchBytes(voxels));
  }
  levels.back().bytes = ledger.GetMostOfLevel();
  MemoryPlan plan = MakePlan(ledger);
  plan.levels = std::move(levels);
  plan.images = images;
  return plan;
}

MemoryPlan
PlanDiffeomorphic(const DiffeomorphicProblem &  problem,
                  const DiffeomorphicSettings & settings,
                  const MakeSchemeSteps &       makeSteps)
{
  MemoryPlan plan = PlanScheme(problem, settings, makeSteps);
  const auto considerProblem =
    [&](const std::string & what, const DiffeomorphicProblem & its, const DiffeomorphicSettings & changed) {
      AddChangeIfLess(plan, what, PlanScheme(its, changed, makeSteps).bytes);
    };
  const auto consider = [&](const std::string & what, const DiffeomorphicSettings & changed) {
    considerProblem(what, problem, changed);
  };
  ConsiderNoOutliers(ListPairs(problem, settings), problem, settings, considerProblem);
  DiffeomorphicSettings changed = settings;
  if (settings.optimizer == DiffeomorphicOptimizer::Adam)
  {
    changed.optimizer = DiffeomorphicOptimizer::LongestVector;
    consider("steps of the longest vector, and not of Adam,", changed);
  }
  if (settings.scheme == DiffeomorphicScheme::SyN && settings.syn.averagesGradients)
  {
    changed = settings;
    changed.syn.averagesGradients = false;
    consider("updates that are not averaged", changed);
  }
  if (settings.scheme != DiffeomorphicScheme::Greedy && problem.further.empty() &&
      makeSteps(DiffeomorphicScheme::Greedy) != nullptr)
  {
    changed = settings;
    changed.scheme = DiffeomorphicScheme::Greedy;
    changed.syn = {};
    consider("the greedy scheme, which finds no inverse,", changed);
  }
  if (settings.scheme == DiffeomorphicScheme::SyN)
  {
    changed = settings;
    changed.syn.shrinkFactors.clear();
    for (int number = 0; number < static_cast<int>(settings.iterations.size()); ++number)
    {
      changed.syn.shrinkFactors.push_back(GetShrinkFactors(problem, settings, number));
    }
    changed.syn.shrinkFactors.back() = DoubleFactors(problem, changed.syn.shrinkFactors.back());
    consider("a last level shrunk by twice the factor", changed);
  }
  ForEachChangeOfImages(problem, [&](const char * what, DiffeomorphicProblem its, const auto & change) {
    ChangeFurther(its.further, change);
    considerProblem(what, its, settings);
  });
  return plan;
}

} // namespace gpureg
