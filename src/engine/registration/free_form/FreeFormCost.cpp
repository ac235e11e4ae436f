// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/free_form/FreeFormCost.h"

#include "gpureg/core/Error.h"

#include "engine/registration/free_form/FreeFormChecks.h"
#include "engine/core/Matrix3.h"

#include <algorithm>
#include <limits>
#include <string>

namespace gpureg
{

FreeFormCost::FreeFormCost(const FreeFormProblem &  problem,
                           const FreeFormSettings & settings,
                           int                      slots,
                           FreeFormLevel &          level)
  : m_Settings(settings)
  , m_Level(level)
{
  this->ComputeMaps(problem);
  this->PrepareSimilarity();
  this->PreparePenalties(problem, slots);
  Queue & queue = *level.core.queue;
  for (MemoryPointer * array : { &level.controlForces, &level.penalty, &level.firstMeans, &level.secondMeans })
  {
    ReserveExactly(queue, *array, sizeof(kernels::float4) * static_cast<std::size_t>(CountOf(level.grid.size)));
  }
  ReserveExactly(queue, level.values, static_cast<std::size_t>(slots) * sizeof(float));
}

void
FreeFormCost::ComputeMaps(const FreeFormProblem & problem)
{
  const bool     isByIndex = !m_Level.similarity->GetDescription().HasNeighborhoods();
  const IndexMap movingToPoint = Compose(problem.moving.indexToPoint, m_Level.moving.GetToImage());
  const auto &   initial = problem.initial;
  ChainedGrid &  chain = m_Mapping.chain;
  chain.pointToInput = InvertMap(movingToPoint);
  m_VoxelToPoint = Compose(problem.fixed.indexToPoint, m_Level.fixed.GetToImage());
  IndexMap affine = Compose(initial.first, m_VoxelToPoint);
  for (const ChainStep & step : initial.steps)
  {
    affine = Compose(step.map, affine);
  }
  m_VoxelToMoving = Compose(chain.pointToInput, affine);
  m_VoxelToGrid = Compose(InvertMap(m_Level.grid.toImage), m_Level.fixed.GetToImage());
  const IndexMap & next = initial.steps.empty() ? chain.pointToInput : initial.steps.front().grid.toGrid;
  m_Mapping.displacementToIndex = Compose(next, initial.first).matrix;
  m_Mapping.forcesFollowChain = m_Mapping.derivesChain = !initial.steps.empty();
  m_Mapping.movingIndexToPoint = isByIndex ? IndexMap().matrix : movingToPoint.matrix;
  m_ForcesToGradient =
    Transpose(isByIndex || m_Mapping.forcesFollowChain ? m_Mapping.displacementToIndex : initial.first.matrix);
  chain.transform = MakeLevelChain(problem);
  m_Mapping.spline.emplace();
  m_Mapping.spline->dimension = problem.dimension;
  m_Mapping.spline->grid.order = FreeFormOrder;
  m_Mapping.spline->grid.size = m_Level.grid.size;
}

void
FreeFormCost::PrepareSimilarity()
{
  const IndexMap & toVoxel = m_Level.similarity->GetSampleToVoxel();
  m_Mapping.toMoving = Compose(m_VoxelToMoving, toVoxel);
  m_Mapping.spline->grid.toGrid = Compose(m_VoxelToGrid, toVoxel);
  m_Mapping.chain.size = m_Level.core.samples.GetFixed().virtualSize;
  m_Mapping.chain.outputToPoint = Compose(m_VoxelToPoint, toVoxel);
  m_Level.similarity->Prepare(m_Mapping);
}

void
FreeFormCost::Draw(std::uint32_t iteration)
{
  if (m_Level.similarity->DrawsSamples())
  {
    m_Level.similarity->Draw(iteration);
    this->PrepareSimilarity();
  }
}

void
FreeFormCost::TakeAllVoxels()
{
  if (m_Level.similarity->DrawsSamples())
  {
    m_Level.similarity->TakeAllVoxels();
    this->PrepareSimilarity();
  }
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
FreeFormCost::MakeArrays(int slot)
{
  StepArrays arrays;
  arrays.evaluated = &m_Level.similarity->GetEvaluated();
  arrays.evaluatedPlace = m_Level.similarity->GetEvaluatedPlace();
  arrays.values = m_Level.values.get();
  arrays.valuePlace = slot;
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
  ControlPoints & points = m_Level.core.samples.GetControlPoints();
  m_Level.core.samples.Move();
  m_Level.similarity->EnqueueForces();
  points.ApplyAdjoint(m_Level.similarity->GetForces(), m_ForcesToGradient, *m_Level.controlForces);
  StepArrays arrays = this->MakeArrays(slot);
  this->ForEachPenalty(slot,
                       [&](const WeightedPenalty & penalty, ControlPenaltyTerm & term, double unit, std::int64_t its) {
                         term.ComputeValueAndGradient(penalty.kind,
                                                      points.GetPoints(),
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
  m_Level.core.samples.Move();
  m_Level.similarity->EnqueueValue();
  CopyValue(*m_Level.core.queue, this->MakeArrays(slot));
  this->ForEachPenalty(slot, [&](const WeightedPenalty & penalty, ControlPenaltyTerm & term, double, std::int64_t its) {
    term.ComputeValue(penalty.kind, m_Level.core.samples.GetControlPoints().GetPoints(), *m_Level.penaltyValues, its);
  });
}

std::vector<double>
FreeFormCost::Download(int count)
{
  std::vector<float> values(static_cast<std::size_t>(count));
  m_Level.core.queue->Download(values.data(), *m_Level.values, sizeof(float) * values.size());
  // Without samples the value may also be not a number.
  const auto hasSamples = [](float value) { return value > GPUREG_NO_EVALUATED_VALUE; };
  const bool areDrawn = m_Settings.samples > 0;
  if (areDrawn ? std::none_of(values.begin(), values.end(), hasSamples)
               : !std::all_of(values.begin(), values.end(), hasSamples))
  {
    throw BadInputError(std::string("no ") + (areDrawn ? "sample" : "voxel") +
                        " of the fixed image is mapped into the moving image, or all of them are outside of a mask: "
                        "begin with a transform "
                        "that brings them together" +
                        (areDrawn ? ", or take more samples" : "") + "; of images of few voxels, take fewer levels");
  }
  // If samples are drawn in each iteration, some draws may miss a small mask. Such an iteration has no cost and no forces.
  std::vector<double> costs;
  for (const float value : values)
  {
    costs.push_back(hasSamples(value)
                      ? GetSimilarityWeight(m_Settings) * m_Level.similarity->GetDescription().sign * value
                      : std::numeric_limits<double>::quiet_NaN());
  }
  this->AddPenalties(costs);
  return costs;
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
