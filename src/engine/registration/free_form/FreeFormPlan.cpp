// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/free_form/FreeFormPlan.h"

#include "engine/registration/Agreement.h"
#include "engine/registration/MemoryPlanning.h"
#include "engine/registration/free_form/FreeFormChecks.h"
#include "engine/registration/free_form/FreeFormDescent.h"
#include "engine/registration/free_form/FreeFormGeometry.h"
#include "engine/registration/free_form/FreeFormLevel.h"
#include "engine/registration/free_form/FreeFormPairs.h"
#include "engine/runtime/Backend.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace gpureg
{

namespace
{
/** Plans the levels of a registration, whose settings are complete. */
class Planner
{
public:
  Planner(const std::shared_ptr<Backend> & backend,
          const std::shared_ptr<Queue> &   queue,
          const FreeFormProblem &          problem,
          const FreeFormSettings &         settings)
    : m_Given(problem)
    , m_Settings(settings)
    , m_Problem(this->CopyImages())
    , m_Queue(queue)
    , m_Pairs(ListWeighedPairs(m_Problem, settings))
    , m_Level(settings, ListFurtherSimilarities(problem, settings), backend, queue)
    , m_All(settings, {}, backend, queue)
    , m_Check(*queue, backend->GetDescription().name)
  {}

  MemoryPlan
  Plan()
  {
    const std::size_t         images = PlanPairs(ListPairs(m_Given, m_Settings), m_Ledger);
    std::vector<PlannedLevel> levels;
    for (int halvings = m_Settings.levels - 1; halvings >= 0; --halvings)
    {
      m_Ledger.BeginLevel();
      this->PlanLevel(halvings);
      if (halvings == 0)
      {
        std::int64_t vectors = CountOf(m_Level.grid.size);
        for (const ChainStep & step : m_Problem.initial.steps)
        {
          vectors += CountOf(step.grid.size);
        }
        m_Check.Plan(m_Problem.fixed, m_Problem.moving, m_Problem.dimension, vectors, m_Ledger);
      }
      levels.push_back({ m_Level.fixed.GetSize(), m_Ledger.GetMostOfLevel() });
    }
    MemoryPlan plan = MakePlan(m_Ledger);
    plan.levels = std::move(levels);
    plan.images = images;
    return plan;
  }

private:
  /** Returns the problem with the images that levels are made of. */
  FreeFormProblem
  CopyImages()
  {
    FreeFormProblem copied = m_Given;
    SetPairs(m_Copies.Make(ListPairs(m_Given, m_Settings)), copied);
    return copied;
  }

  void
  PlanLevel(int halvings)
  {
    m_Level.grid = MakeFreeFormGrid(m_Problem, m_Settings, halvings);
    for (std::size_t place = 0; place < m_Pairs.size(); ++place)
    {
      this->PlanPair(m_Pairs[place], m_Level.GetPair(place), halvings);
    }
    this->PlanControls(halvings);
  }

  void
  PlanPair(const WeighedPair & pair, FreeFormPairLevel & level, int halvings)
  {
    const std::string name = pair.number == 0 ? "" : "pair " + std::to_string(pair.number + 1) + " ";
    const auto plan = [&](const RegisteredImage & image, const char * which, ImageLevel & made, ImageLevel & mask) {
      return PlanLevelImage(*m_Queue,
                            image,
                            ComputeLevelFactors(m_Problem, image, halvings),
                            true,
                            "levels of images: " + name + which,
                            name + "similarity: scratch",
                            made,
                            mask,
                            m_Ledger);
    };
    const LevelImage fixed = plan(pair.pair.fixed, "fixed", level.fixed, level.fixedMask);
    const LevelImage moving = plan(pair.pair.moving, "moving", level.moving, level.movingMask);
    this->PlanSimilarity(pair.pair, *level.similarity, fixed, moving, name);
    if (m_Pairs.size() > 1)
    {
      m_Ledger.ReserveExactly("pair " + std::to_string(pair.number + 1) + " share",
                              sizeof(float) * kernels::EvaluatedNumbers);
    }
    if (halvings == 0 && m_Settings.samples > 0)
    {
      // The displacements of the result are computed at all voxels.
      const auto similarity = MakeLevelSimilarity(m_All.core, pair.pair.similarity, {});
      this->PlanSimilarity(pair.pair, *similarity, fixed, moving, name);
    }
  }

  void
  PlanSimilarity(const FurtherPair & pair,
                 LevelSimilarity &   similarity,
                 const LevelImage &  fixed,
                 const LevelImage &  moving,
                 const std::string & name)
  {
    SampleMapping mapping;
    mapping.chain.transform = MakeLevelChain(m_Problem, pair.moving);
    mapping.derivesChain = !m_Problem.initial.steps.empty();
    mapping.spline.emplace();
    mapping.spline->dimension = m_Problem.dimension;
    mapping.spline->grid.order = FreeFormOrder;
    mapping.spline->grid.size = m_Level.grid.size;
    similarity.PlanImages(fixed, moving, m_Problem.dimension, name + "similarity: ", m_Ledger);
    similarity.PlanEvaluation(mapping, name + "similarity: ", m_Ledger);
  }

  /** Plans the arrays of control points, and of penalties. */
  void
  PlanControls(int halvings)
  {
    const std::size_t points = sizeof(kernels::float4) * static_cast<std::size_t>(CountOf(m_Level.grid.size));
    const int         slots = CountFreeFormSlots(m_Settings);
    ControlGrid       grid;
    grid.size = m_Level.grid.size;
    grid.dimension = m_Problem.dimension;
    grid.indexToPhysical = Compose(m_Problem.fixed.indexToPoint, m_Level.grid.toImage).matrix;
    m_Ledger.Reserve("control points: derivatives of penalties", m_Level.penalties.Plan(grid));
    m_Ledger.ReserveExactly("control points: values of penalties",
                            m_Level.penalties.GetValueBytes() *
                              static_cast<std::size_t>(
                                std::max<std::int64_t>(1, slots * CountWeightedPenalties(m_Settings))));
    for (const char * name : { "forces", "penalty", "first means", "second means" })
    {
      m_Ledger.ReserveExactly(std::string("control points: ") + name, points);
    }
    m_Ledger.ReserveExactly("control points: costs", static_cast<std::size_t>(slots) * m_Pairs.size() * sizeof(float));
    if (halvings > 0)
    {
      m_Ledger.Reserve("control points: of the level before", points);
    }
  }

  const FreeFormProblem &  m_Given;
  const FreeFormSettings & m_Settings;
  PlannedCopies            m_Copies;
  FreeFormProblem          m_Problem;
  std::shared_ptr<Queue>   m_Queue;
  MemoryLedger             m_Ledger{ true };
  std::vector<WeighedPair> m_Pairs;
  FreeFormLevel            m_Level;
  FreeFormLevel            m_All; // whose core describes all voxels
  AgreementCheck           m_Check;
};
} // namespace

MemoryPlan
PlanFreeForm(const std::shared_ptr<Backend> & backend,
             const std::shared_ptr<Queue> &   queue,
             const FreeFormProblem &          problem,
             const FreeFormSettings &         settings)
{
  const FreeFormSettings complete = CompleteSettings(problem, settings, MaskShares{ 1, 1 });
  return Planner(backend, queue, problem, complete).Plan();
}

MemoryPlan
PlanFreeFormWithChanges(const std::shared_ptr<Backend> & backend,
                        const std::shared_ptr<Queue> &   queue,
                        const FreeFormProblem &          problem,
                        const FreeFormSettings &         settings)
{
  MemoryPlan plan = PlanFreeForm(backend, queue, problem, settings);
  const auto considerProblem =
    [&](const std::string & what, const FreeFormProblem & its, const FreeFormSettings & changed) {
      AddChangeIfLess(plan, what, PlanFreeForm(backend, queue, its, changed).bytes);
    };
  const auto consider = [&](const std::string & what, const FreeFormSettings & changed) {
    considerProblem(what, problem, changed);
  };
  ConsiderNoOutliers(ListPairs(problem, settings), problem, settings, considerProblem);
  const FreeFormSettings complete = CompleteSettings(problem, settings, MaskShares{ 1, 1 });
  FreeFormSettings       changed = settings;
  for (std::size_t d = 0; d < static_cast<std::size_t>(problem.dimension); ++d)
  {
    changed.spacing[d] = 2 * complete.spacing[d];
  }
  consider("control points twice as far apart", changed);
  if (Describe(settings.similarity).HasNeighborhoods())
  {
    changed = settings;
    changed.similarity = SimilarityKind::NormalizedMutualInformation;
    consider("normalized mutual information", changed);
    changed.similarity = SimilarityKind::MeanSquares;
    consider("mean squares", changed);
  }
  ForEachChangeOfImages(problem, [&](const char * what, FreeFormProblem its, const auto & change) {
    ChangeFurther(its.further, change);
    considerProblem(what, its, settings);
  });
  return plan;
}

} // namespace gpureg
