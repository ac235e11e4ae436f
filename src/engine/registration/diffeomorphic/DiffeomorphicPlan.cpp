// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/diffeomorphic/DiffeomorphicPlan.h"

#include "engine/field/JacobianMeasure.h"
#include "engine/registration/MemoryPlanning.h"
#include "engine/registration/diffeomorphic/ImagePairs.h"
#include "engine/registration/diffeomorphic/SyNScheme.h"
#include "engine/transform/InitialChain.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace gpureg
{

namespace
{
/** Writes the images of all pairs down, each once, and returns their bytes. */
std::size_t
PlanImages(const DiffeomorphicProblem & problem, const DiffeomorphicSettings & settings, MemoryLedger & ledger)
{
  std::size_t                    bytes = 0;
  std::set<const DeviceImage *>  known;
  const std::vector<FurtherPair> pairs = ListPairs(problem, settings);
  for (std::size_t number = 0; number < pairs.size(); ++number)
  {
    const auto plan = [&](const RegisteredImage & image, const std::optional<ValueRange> & range, const char * which) {
      RegisteredImage its = image;
      // Several pairs may have the same images, and masks.
      const std::string name = "pair " + std::to_string(number + 1) + " " + which;
      const bool        isNew = known.insert(image.image).second;
      const bool        hasNewMask = image.mask != nullptr && known.insert(image.mask).second;
      its.mask = hasNewMask ? image.mask : nullptr;
      bytes += PlanRegisteredImage(its, range, name, ledger);
      if (!isNew)
      {
        ledger.Free("images: " + name);
        bytes -= image.image->GetAccountBytes();
      }
    };
    plan(pairs[number].fixed, pairs[number].fixedRange, "fixed");
    plan(pairs[number].moving, pairs[number].movingRange, "moving");
  }
  return bytes;
}

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
PlanScheme(const DiffeomorphicProblem &  problem,
           const DiffeomorphicSettings & settings,
           const MakeSchemeSteps &       makeSteps)
{
  MemoryLedger                       ledger(true);
  const std::unique_ptr<SchemeSteps> steps = makeSteps(settings.scheme);
  const std::size_t                  images = PlanImages(problem, settings, ledger);
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
  ledger.Reserve("scratch: second field", JacobianMeasure::CountScratchBytes(voxels));
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
  const bool isForFields = Describe(settings.similarity.kind).isForFields;
  if (settings.scheme != DiffeomorphicScheme::Greedy && isForFields && problem.further.empty())
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
    for (FurtherPair & pair : its.further)
    {
      pair.fixed = change(pair.fixed);
      pair.moving = change(pair.moving);
    }
    considerProblem(what, its, settings);
  });
  return plan;
}

} // namespace gpureg
