// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/global/GlobalPlan.h"

#include "engine/filter/LevelGeometry.h"
#include "engine/filter/LevelImage.h"
#include "engine/image/WideValues.h"
#include "engine/metric/neighborhood/NeighborhoodEvaluation.h"
#include "engine/metric/samples/MovingVolumes.h"
#include "engine/metric/samples/SampleLoader.h"
#include "engine/registration/Agreement.h"
#include "engine/registration/LevelSamples.h"
#include "engine/registration/MemoryPlanning.h"
#include "engine/registration/global/GlobalPairs.h"
#include "engine/registration/global/GlobalStages.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace gpureg
{

namespace
{
/** The images of a level, of which each has scratch of its own. */
struct PlannedSides
{
  explicit PlannedSides(Queue & queue)
    : fixed(queue, "")
    , fixedMask(queue, "")
    , moving(queue, "")
    , movingMask(queue, "")
  {}

  ImageLevel fixed;
  ImageLevel fixedMask;
  ImageLevel moving;
  ImageLevel movingMask;
  LevelImage ofFixed;
  LevelImage ofMoving;
};

/** Writes down the images of a level. */
void
PlanLevel(Queue &                 queue,
          const RegisteredImage & fixed,
          const RegisteredImage & moving,
          int                     dimension,
          double                  edge,
          const std::string &     level,
          PlannedSides &          sides,
          MemoryLedger &          ledger)
{
  const auto plan = [&](const RegisteredImage & image, const char * which, ImageLevel & made, ImageLevel & mask) {
    const std::string name = level + which;
    return PlanLevelImage(queue,
                          image,
                          ComputeFactors(image, dimension, edge, GlobalPairLevel::LeastVoxels),
                          false,
                          "levels of images: " + name,
                          "scratch: shrunk image of " + name,
                          made,
                          mask,
                          ledger);
  };
  sides.ofFixed = plan(fixed, "fixed", sides.fixed, sides.fixedMask);
  sides.ofMoving = plan(moving, "moving", sides.moving, sides.movingMask);
}

/** Writes down the samples of a level, and what a metric needs for each of them. */
void
PlanSearch(Queue &                    queue,
           const PlannedSides &       sides,
           int                        dimension,
           const SimilaritySettings & cost,
           const std::string &        name,
           MemoryLedger &             ledger)
{
  FixedSamples samples = MakeLevelSamples(sides.ofFixed);
  MovingImage  image = MakeLevelMoving(sides.ofMoving, dimension, true);
  DescribeValues(cost, sides.ofFixed, sides.ofMoving, samples, image);
  const SimilarityDescription & description = Describe(cost.kind);
  MovingVolumes::Plan(image, queue.GetKind() == DeviceKind::Cuda, name, ledger);
  SampleLoader::Plan(samples, name, ledger);
  const auto voxels = static_cast<std::size_t>(CountOf(samples.virtualSize));
  if (description.HasNeighborhoods())
  {
    // Forces, their terms, and a slab.
    constexpr std::size_t bytesOfSlab = sizeof(double) + kernels::NeighborhoodSumCount * sizeof(double);
    ledger.Reserve(name + "forces", 6 * sizeof(float) * voxels);
    ledger.Reserve(name + "slab", std::min(NeighborhoodCorrelationMetric::DefaultSlabBytes, bytesOfSlab * voxels));
  }
}

/** Returns what names of a pair's arrays at a level begin with. */
std::string
NameLevel(std::size_t number, std::size_t level)
{
  return "level " + std::to_string(level) + (number == 0 ? " " : " pair " + std::to_string(number + 1) + " ");
}
} // namespace

MemoryPlan
PlanGlobal(Queue & queue, const GlobalProblem & problem, const GlobalSettings & settings)
{
  MemoryLedger             ledger(false);
  std::vector<FurtherPair> pairs = ListPairs(problem, settings);
  const std::size_t        images = PlanPairs(pairs, ledger);
  // Where values are looked through, one image after the other.
  for (const FurtherPair & pair : pairs)
  {
    for (const RegisteredImage * image : { &pair.fixed, &pair.moving })
    {
      ledger.Touch("scratch: widened image", IsNarrow(*image->image) ? CountWideBytes(*image->image) : 0);
    }
  }
  PlannedCopies copies;
  pairs = copies.Make(std::move(pairs));
  const double          finest = ComputeFinestEdge(pairs, problem.dimension, settings);
  constexpr std::size_t levels = std::tuple_size<GlobalLevels>::value;
  // sides[level][number] describes the images of pair number at a level.
  std::vector<std::vector<std::unique_ptr<PlannedSides>>> sides(levels);
  std::vector<PlannedLevel>                               planned;
  for (std::size_t level = 0; level < levels; ++level)
  {
    ledger.BeginLevel();
    const double edge = std::ldexp(finest, static_cast<int>(level));
    for (std::size_t number = 0; number < pairs.size(); ++number)
    {
      FurtherPair & pair = pairs[number];
      sides[level].push_back(std::make_unique<PlannedSides>(queue));
      PlannedSides & made = *sides[level].back();
      PlanLevel(queue, pair.fixed, pair.moving, problem.dimension, edge, NameLevel(number, level), made, ledger);
      if (level == 0)
      {
        pair.fixed = AsRegistered(made.ofFixed);
        pair.moving = AsRegistered(made.ofMoving);
      }
    }
    planned.push_back({ sides[level].front()->fixed.GetSize(), ledger.GetMostOfLevel() });
  }
  for (std::size_t level = levels; level-- > 0;)
  {
    for (std::size_t number = 0; number < pairs.size(); ++number)
    {
      SimilaritySettings cost = pairs[number].similarity;
      cost.bins = cost.bins > 0 ? cost.bins : Describe(cost.kind).bins.usual;
      PlanSearch(
        queue, *sides[level][number], problem.dimension, cost, "searches: " + NameLevel(number, level), ledger);
    }
  }
  const PlannedSides & checked = *sides[At2mm].front();
  AgreementCheck       check(queue, "");
  check.Plan(AsRegistered(checked.ofFixed), AsRegistered(checked.ofMoving), problem.dimension, 0, ledger);
  planned.back().bytes = ledger.GetMostOfLevel();
  MemoryPlan plan = MakePlan(ledger);
  plan.levels = std::move(planned);
  plan.images = images;
  return plan;
}

MemoryPlan
PlanGlobalWithChanges(Queue & queue, const GlobalProblem & problem, const GlobalSettings & settings)
{
  MemoryPlan   plan = PlanGlobal(queue, problem, settings);
  const double finest = ComputeFinestEdge(ListPairs(problem, settings), problem.dimension, settings);
  const auto   consider = [&](const std::string & what, const GlobalProblem & its, const GlobalSettings & changed) {
    AddChangeIfLess(plan, what, PlanGlobal(queue, its, changed).bytes);
  };
  ConsiderNoOutliers(ListPairs(problem, settings), problem, settings, consider);
  GlobalSettings changed = settings;
  changed.finestEdge = 2 * finest;
  consider("a finest level of voxels twice as long", problem, changed);
  ForEachChangeOfImages(problem, [&](const char * what, GlobalProblem its, const auto & change) {
    ChangeFurther(its.further, change);
    consider(what, its, settings);
  });
  return plan;
}

} // namespace gpureg
