// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/free_form/FreeFormCost.h"

#include "gpureg/core/Error.h"

#include "engine/registration/free_form/FreeFormChecks.h"
#include "engine/registration/free_form/FreeFormPairs.h"

#include <algorithm>
#include <limits>
#include <string>

namespace gpureg
{

namespace
{
/** Returns true if a similarity's value is one of samples. Without samples it may also be not a number. */
bool
HasSamples(float value)
{
  return value > GPUREG_NO_EVALUATED_VALUE;
}
} // namespace

FreeFormCost::FreeFormCost(const FreeFormProblem &  problem,
                           const FreeFormSettings & settings,
                           int                      slots,
                           FreeFormLevel &          level)
  : m_Settings(settings)
  , m_Level(level)
{
  const std::vector<WeighedPair> pairs = ListWeighedPairs(problem, settings);
  for (std::size_t place = 0; place < pairs.size(); ++place)
  {
    m_Numbers.push_back(pairs[place].number);
    m_Pairs.emplace_back(problem, pairs[place], level.grid, pairs.size() > 1, level.GetPair(place));
  }
  this->PreparePenalties(problem, slots);
  Queue & queue = *level.core.queue;
  for (MemoryPointer * array : { &level.controlForces, &level.penalty, &level.firstMeans, &level.secondMeans })
  {
    ReserveExactly(queue, *array, sizeof(kernels::float4) * static_cast<std::size_t>(CountOf(level.grid.size)));
  }
  ReserveExactly(queue, level.values, static_cast<std::size_t>(slots) * m_Pairs.size() * sizeof(float));
}

void
FreeFormCost::Draw(std::uint32_t iteration)
{
  if (m_Level.similarity->DrawsSamples())
  {
    m_Level.similarity->Draw(iteration);
    this->GetFirst().Prepare();
  }
}

void
FreeFormCost::TakeAllVoxels()
{
  if (m_Level.similarity->DrawsSamples())
  {
    m_Level.similarity->TakeAllVoxels();
    this->GetFirst().Prepare();
  }
}

void
FreeFormCost::SharePoints(FreeFormPairCost & pair)
{
  Memory & points = m_Level.core.samples.GetControlPoints().GetPoints();
  m_Level.core.queue->Copy(pair.GetLevel().core.samples.GetControlPoints().GetPoints(),
                           points,
                           sizeof(kernels::float4) * static_cast<std::size_t>(CountOf(m_Level.grid.size)));
}

void
FreeFormCost::PreparePenalties(const FreeFormProblem & problem, int slots)
{
  ControlGrid grid;
  grid.size = m_Level.grid.size;
  grid.dimension = problem.dimension;
  grid.indexToPhysical = Compose(problem.fixed.indexToPoint, m_Level.grid.toImage).matrix;
  m_Level.penalties.SetGrid(grid);
  // The grid of the bending energy has steps of length 1.
  for (std::size_t c = 0; c < 3; ++c)
  {
    const double step = m_Level.grid.toImage.matrix[4 * c] * GetSpacing(problem.fixed)[c];
    for (std::size_t row = 0; row < 3; ++row)
    {
      grid.indexToPhysical[3 * row + c] /= step;
    }
  }
  m_Level.bending.SetGrid(grid);
  // At least one slot, for the Jacobian of the result.
  ReserveExactly(*m_Level.core.queue,
                 m_Level.penaltyValues,
                 m_Level.penalties.GetValueBytes() *
                   static_cast<std::size_t>(std::max<std::int64_t>(1, slots * CountWeightedPenalties(m_Settings))));
}

template <typename TWork>
void
FreeFormCost::ForEachPenalty(int slot, const TWork & work)
{
  // The penalties of a slot lie side by side, so that the penalties of the first slots come first.
  std::int64_t place = slot * CountWeightedPenalties(m_Settings);
  for (const WeightedPenalty & penalty : GetPenalties(m_Settings))
  {
    if (penalty.weight > 0)
    {
      work(penalty, m_Level.GetTerm(penalty.kind), m_Level.GetUnit(penalty.kind), place++);
    }
  }
}

StepArrays
FreeFormCost::MakeArrays(int slot, std::size_t place)
{
  StepArrays arrays;
  arrays.evaluated = &m_Pairs[place].GetEvaluated();
  arrays.evaluatedPlace = m_Pairs[place].GetEvaluatedPlace();
  arrays.values = m_Level.values.get();
  arrays.valuePlace = static_cast<std::int64_t>(static_cast<std::size_t>(slot) * m_Pairs.size() + place);
  arrays.controlForces = m_Level.controlForces.get();
  arrays.firstMeans = m_Level.firstMeans.get();
  arrays.secondMeans = m_Level.secondMeans.get();
  arrays.points = &m_Level.core.samples.GetControlPoints().GetPoints();
  return arrays;
}

StepArrays
FreeFormCost::EnqueueGradient(int slot)
{
  using Use = ControlPenaltyTerm::GradientUse;
  Queue &        queue = *m_Level.core.queue;
  const Memory * sum = nullptr;
  // The gradients of further pairs are added up where the penalties' gradient follows; that of the first one is added in the step.
  for (std::size_t place = 1; place < m_Pairs.size(); ++place)
  {
    FreeFormPairCost & pair = m_Pairs[place];
    this->SharePoints(pair);
    pair.EnqueueForces(*m_Level.controlForces);
    StepArrays arrays = this->MakeArrays(slot, place);
    arrays.penalty = sum;
    CopyValue(queue, arrays);
    const auto unit = static_cast<float>(GetSimilarityWeight(m_Settings) * pair.GetLevel().similarity->GetForceUnit());
    EnqueueCostGradient(queue, unit, CountOf(m_Level.grid.size), arrays, *m_Level.penalty);
    sum = m_Level.penalty.get();
  }
  this->GetFirst().EnqueueForces(*m_Level.controlForces);
  StepArrays arrays = this->MakeArrays(slot);
  arrays.penalty = sum;
  this->ForEachPenalty(slot,
                       [&](const WeightedPenalty & penalty, ControlPenaltyTerm & term, double unit, std::int64_t its) {
                         term.ComputeValueAndGradient(penalty.kind,
                                                      m_Level.core.samples.GetControlPoints().GetPoints(),
                                                      *m_Level.penaltyValues,
                                                      its,
                                                      penalty.weight * unit,
                                                      arrays.penalty == nullptr ? Use::Replaces : Use::Adds,
                                                      *m_Level.penalty);
                         arrays.penalty = m_Level.penalty.get();
                       });
  return arrays;
}

double
FreeFormCost::GetSimilarityUnit() const
{
  return GetSimilarityWeight(m_Settings) * m_Level.similarity->GetForceUnit();
}

void
FreeFormCost::EnqueueValue(int slot)
{
  for (std::size_t place = 0; place < m_Pairs.size(); ++place)
  {
    if (place > 0)
    {
      this->SharePoints(m_Pairs[place]);
    }
    m_Pairs[place].EnqueueValue();
    CopyValue(*m_Level.core.queue, this->MakeArrays(slot, place));
  }
  this->ForEachPenalty(slot, [&](const WeightedPenalty & penalty, ControlPenaltyTerm & term, double, std::int64_t its) {
    term.ComputeValue(penalty.kind, m_Level.core.samples.GetControlPoints().GetPoints(), *m_Level.penaltyValues, its);
  });
}

std::vector<double>
FreeFormCost::Download(int count)
{
  const std::size_t  pairs = m_Pairs.size();
  std::vector<float> values(static_cast<std::size_t>(count) * pairs);
  m_Level.core.queue->Download(values.data(), *m_Level.values, sizeof(float) * values.size());
  this->CheckHaveSamples(values);
  // If samples are drawn in each iteration, some draws may miss a small mask. Such an iteration has no cost and no forces.
  std::vector<double> costs;
  for (auto value = values.begin(); value != values.end();)
  {
    double cost = 0;
    for (const FreeFormPairCost & pair : m_Pairs)
    {
      cost += HasSamples(*value) ? GetSimilarityWeight(m_Settings) * pair.ComputeCost(*value)
                                 : std::numeric_limits<double>::quiet_NaN();
      ++value;
    }
    costs.push_back(cost);
  }
  this->AddPenalties(costs);
  return costs;
}

void
FreeFormCost::CheckHaveSamples(const std::vector<float> & values) const
{
  const bool areDrawn = m_Settings.samples > 0;
  const auto missing = std::find_if_not(values.begin(), values.end(), HasSamples);
  if (areDrawn ? std::none_of(values.begin(), values.end(), HasSamples) : missing != values.end())
  {
    const auto place = static_cast<std::size_t>(missing - values.begin()) % m_Pairs.size();
    throw BadInputError(NamePair(m_Numbers[place]) + "no " + (areDrawn ? "sample" : "voxel") +
                        " of the fixed image is mapped into the moving image, or all of them are outside of a mask: "
                        "begin with a transform "
                        "that brings them together" +
                        (areDrawn ? ", or take more samples" : "") + "; of images of few voxels, take fewer levels");
  }
}

void
FreeFormCost::AddPenalties(std::vector<double> & costs)
{
  const std::size_t slotBytes =
    m_Level.penalties.GetValueBytes() * static_cast<std::size_t>(CountWeightedPenalties(m_Settings));
  if (slotBytes == 0 || costs.empty())
  {
    return;
  }
  std::vector<char> values(slotBytes * costs.size());
  m_Level.core.queue->Download(values.data(), *m_Level.penaltyValues, values.size());
  for (std::size_t slot = 0; slot < costs.size(); ++slot)
  {
    this->ForEachPenalty(
      static_cast<int>(slot),
      [&](const WeightedPenalty & penalty, ControlPenaltyTerm & term, double unit, std::int64_t place) {
        const char * const value = values.data() + term.GetValueBytes() * static_cast<std::size_t>(place);
        costs[slot] += penalty.weight * unit * term.ReadValue(value).value;
      });
  }
}

} // namespace gpureg
