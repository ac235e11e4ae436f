// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/diffeomorphic/PairForces.h"

#include "engine/filter/LevelGeometry.h"
#include "engine/registration/diffeomorphic/DiffeomorphicPairs.h"

#include "gpureg/core/Error.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

namespace gpureg
{

/** One pair of images, and its similarity. */
struct PairForces::Term
{
  explicit Term(SchemeWorkspace & workspace)
    : fixed(*workspace.queue, workspace.deviceName, &workspace.imageScratch)
    , moving(*workspace.queue, workspace.deviceName, &workspace.imageScratch)
    , fixedMask(*workspace.queue, workspace.deviceName, &workspace.imageScratch)
    , movingMask(*workspace.queue, workspace.deviceName, &workspace.imageScratch)
  {}

  ImageLevel                   fixed;
  ImageLevel                   moving;
  ImageLevel                   fixedMask;
  ImageLevel                   movingMask;
  std::unique_ptr<FieldForces> forces;
  SimilaritySettings           similarity; // of the forces
  double                       noise = 0;  // of the forces
  double                       weight = 1;
  std::size_t                  number = 0; // of the pair
};

PairForces::PairForces(SchemeWorkspace & workspace)
  : m_Workspace(workspace)
  , m_Start(*workspace.queue)
  , m_Sum(*workspace.queue)
{}

PairForces::~PairForces() = default;

LevelGrid
PairForces::BeginLevel(const DiffeomorphicProblem & problem, const DiffeomorphicSettings & settings, int number)
{
  Queue &                        queue = *m_Workspace.queue;
  const std::vector<WeighedPair> pairs = ListWeighedPairs(problem, settings);
  const LevelMaker               maker{ queue, m_Workspace.lines, true };
  const int                      coarser = static_cast<int>(settings.iterations.size()) - 1 - number;
  const double                   edge = std::ldexp(ComputeShortestEdge(problem.fixed, problem.dimension), coarser);
  LevelGrid                      level;
  ResizeItems(m_Terms, pairs.size(), [this] { return std::make_unique<Term>(m_Workspace); });
  for (std::size_t n = 0; n < pairs.size(); ++n)
  {
    const FurtherPair & pair = pairs[n].pair;
    Term &              term = *m_Terms[n];
    term.weight = pair.weight;
    term.number = pairs[n].number;
    WithPairNamed(term.number, [&] {
      const auto make = [&](const RegisteredImage & image,
                            const char *            which,
                            ImageLevel &            values,
                            ImageLevel &            weights) {
        // All fixed images have the grid of the first one, but for roundings of their geometry.
        const RegisteredImage & measured = &image == &pair.fixed ? problem.fixed : image;
        return MakeLevelImage(maker, image, which, ComputeFactors(measured, problem.dimension, edge), values, weights);
      };
      const LevelImage fixed = make(pair.fixed, "fixed", term.fixed, term.fixedMask);
      const LevelImage moving = make(pair.moving, "moving", term.moving, term.movingMask);
      if (coarser == 0)
      {
        m_Workspace.FreeImageScratch();
      }
      if (n == 0)
      {
        const LevelGrid whole = MakeLevelGrid(problem.dimension, fixed.image->GetSize(), fixed.toPoint);
        level = CutLevel(whole, m_Workspace.team.slabs, problem, settings);
        m_Start.Set(problem.initial, level.grid, GetMapOfGrid(level));
      }
      this->MakeForces(pair.similarity, settings.noise, term);
      term.forces->SetImages(
        level, GetMemberOf(m_Workspace, level), fixed, moving, m_Start.GetMap(), number, queue.GetParallelFor());
    });
  }
  m_BeginsDeformed = BeginsDeformed(problem, settings, number);
  m_Sum.SetLevel(level, GetMemberOf(m_Workspace, level));
  const std::size_t bytes = CountBytes(level.grid);
  ReserveIf(m_Terms.size() > 1, queue, m_OfTerm, bytes);
  ReserveIf(!m_Start.IsLinear(), queue, m_Moved, bytes);
  const int iterations = std::max(1, settings.iterations[static_cast<std::size_t>(number)]);
  Reserve(queue, m_Values, sizeof(float) * m_Terms.size() * static_cast<std::size_t>(iterations));
  return level;
}

void
PairForces::Release()
{
  m_Terms.clear();
  m_Moved.reset();
  m_OfTerm.reset();
}

kernels::FieldGrid
PairForces::PlanLevel(const DiffeomorphicProblem &  problem,
                      const DiffeomorphicSettings & settings,
                      int                           number,
                      MemoryLedger &                ledger)
{
  Queue &                        queue = *m_Workspace.queue;
  const std::vector<WeighedPair> pairs = ListWeighedPairs(problem, settings);
  const int                      coarser = static_cast<int>(settings.iterations.size()) - 1 - number;
  const double                   edge = std::ldexp(ComputeShortestEdge(problem.fixed, problem.dimension), coarser);
  LevelGrid                      level;
  ResizeItems(m_Terms, pairs.size(), [this] { return std::make_unique<Term>(m_Workspace); });
  for (std::size_t n = 0; n < pairs.size(); ++n)
  {
    const FurtherPair & pair = pairs[n].pair;
    Term &              term = *m_Terms[n];
    const std::string   name = "pair " + std::to_string(pairs[n].number + 1) + " ";
    const auto          plan =
      [&](const RegisteredImage & image, const char * which, ImageLevel & values, ImageLevel & weights) {
        const RegisteredImage & measured = &image == &pair.fixed ? problem.fixed : image;
        return PlanLevelImage(queue,
                              image,
                              ComputeFactors(measured, problem.dimension, edge),
                              true,
                              "levels of images: " + name + which,
                              "scratch: shrunk image",
                              values,
                              weights,
                              ledger);
      };
    const LevelImage fixed = plan(pair.fixed, "fixed", term.fixed, term.fixedMask);
    const LevelImage moving = plan(pair.moving, "moving", term.moving, term.movingMask);
    if (coarser == 0)
    {
      SchemeWorkspace::PlanNoImageScratch(ledger);
    }
    if (n == 0)
    {
      const LevelGrid whole = MakeLevelGrid(problem.dimension, fixed.image->GetSize(), fixed.toPoint);
      level = CutLevel(whole, m_Workspace.team.slabs, problem, settings);
    }
    this->MakeForces(pair.similarity, settings.noise, term);
    term.forces->Plan(level, fixed, moving, "similarity: " + name, ledger);
  }
  const int iterations = std::max(1, settings.iterations[static_cast<std::size_t>(number)]);
  ledger.Reserve("scratch: field behind the initial transform",
                 problem.initial.steps.empty() ? 0 : CountBytes(level.grid));
  if (pairs.size() > 1)
  {
    ledger.Reserve("scratch: forces of a pair", CountBytes(level.grid));
    ForceSum::Plan(3 * kernels::CountFieldVoxels(&level.grid), ledger);
  }
  ledger.Reserve("scratch: costs", sizeof(float) * pairs.size() * static_cast<std::size_t>(iterations));
  return level.grid;
}

void
PairForces::MakeForces(const SimilaritySettings & similarity, double noise, Term & term)
{
  if (!term.forces || !(term.similarity == similarity) || term.noise != noise)
  {
    term.forces.reset();
    term.forces = MakeFieldForces(m_Workspace.backend, m_Workspace.queue, similarity, noise);
    term.similarity = similarity;
    term.noise = noise;
  }
}

void
PairForces::Enqueue(const Memory & field, Memory & scratch, Memory & forces, int t)
{
  FieldReducer & reducer = m_Workspace.reducer;
  const bool     areSeveral = m_Terms.size() > 1;
  const Memory & moved = m_Start.Move(field, m_Moved.get()).memory;
  for (std::size_t n = 0; n < m_Terms.size(); ++n)
  {
    const auto slot = static_cast<std::int64_t>(m_Terms.size()) * t + static_cast<std::int64_t>(n);
    Memory &   its = n == 0 ? forces : *m_OfTerm;
    m_Terms[n]->forces->Enqueue(reducer, moved, scratch, its, *m_Values, slot);
    m_Start.PullForces(field, its);
    if (areSeveral)
    {
      m_Sum.Add(reducer, its, m_Terms[n]->weight, n == 0, forces);
    }
  }
}

std::vector<double>
PairForces::DownloadCosts(int count) const
{
  std::vector<float> values(m_Terms.size() * static_cast<std::size_t>(count));
  if (count == 0)
  {
    return {};
  }
  m_Workspace.queue->Download(values.data(), *m_Values, sizeof(float) * values.size());
  std::vector<double> costs(static_cast<std::size_t>(count));
  for (std::size_t n = 0; n < m_Terms.size(); ++n)
  {
    const Term & term = *m_Terms[n];
    bool         hasVoxels = false;
    for (std::size_t t = 0; t < costs.size(); ++t)
    {
      const float value = values[m_Terms.size() * t + n];
      if (!std::isfinite(value))
      {
        throw BadInputError(
          "the deformation has grown beyond all numbers: take a shorter step, or smooth the field more");
      }
      const std::optional<double> cost = term.forces->ComputeCost(value);
      hasVoxels = hasVoxels || cost;
      costs[t] += term.weight * cost.value_or(0.0);
    }
    if (!hasVoxels)
    {
      ThrowNoOverlap(term.number, m_BeginsDeformed);
    }
  }
  return costs;
}

std::size_t
PairForces::GetDeviceBytes() const
{
  std::size_t bytes =
    m_Start.GetDeviceBytes() + m_Sum.GetDeviceBytes() + SizeOf(m_Moved) + SizeOf(m_OfTerm) + SizeOf(m_Values);
  for (const auto & term : m_Terms)
  {
    bytes += term->forces ? term->forces->GetDeviceBytes() : 0;
    for (const ImageLevel * image : { &term->fixed, &term->moving, &term->fixedMask, &term->movingMask })
    {
      bytes += image->GetDeviceBytes();
    }
  }
  return bytes;
}

} // namespace gpureg
