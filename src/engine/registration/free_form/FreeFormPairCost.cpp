// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/free_form/FreeFormPairCost.h"

#include "engine/core/Matrix3.h"
#include "engine/registration/Information.h"
#include "engine/registration/free_form/ControlSteps.h"

namespace gpureg
{

FreeFormPairCost::FreeFormPairCost(const FreeFormProblem & problem,
                                   const WeighedPair &     pair,
                                   const FreeFormGrid &    grid,
                                   bool                    isOfSeveral,
                                   FreeFormPairLevel &     level)
  : m_Level(level)
  , m_Weight(pair.pair.weight)
  , m_IsOfSeveral(isOfSeveral)
{
  this->ComputeMaps(problem, pair.pair, grid);
  this->Prepare();
  if (m_IsOfSeveral)
  {
    ReserveExactly(*level.core.queue, level.informed, sizeof(float) * kernels::EvaluatedNumbers);
  }
}

void
FreeFormPairCost::ComputeMaps(const FreeFormProblem & problem, const FurtherPair & pair, const FreeFormGrid & grid)
{
  const bool     isByIndex = !m_Level.similarity->GetDescription().HasNeighborhoods();
  const IndexMap movingToPoint = Compose(pair.moving.indexToPoint, m_Level.moving.GetToImage());
  const auto &   initial = problem.initial;
  ChainedGrid &  chain = m_Mapping.chain;
  chain.pointToInput = InvertMap(movingToPoint);
  m_VoxelToPoint = Compose(pair.fixed.indexToPoint, m_Level.fixed.GetToImage());
  IndexMap affine = Compose(initial.first, m_VoxelToPoint);
  for (const ChainStep & step : initial.steps)
  {
    affine = Compose(step.map, affine);
  }
  m_VoxelToMoving = Compose(chain.pointToInput, affine);
  m_VoxelToGrid = Compose(MakeImageToGrid(problem, pair.fixed, grid), m_Level.fixed.GetToImage());
  const IndexMap & next = initial.steps.empty() ? chain.pointToInput : initial.steps.front().grid.toGrid;
  m_Mapping.displacementToIndex = Compose(next, initial.first).matrix;
  m_Mapping.forcesFollowChain = m_Mapping.derivesChain = !initial.steps.empty();
  m_Mapping.movingIndexToPoint = isByIndex ? IndexMap().matrix : movingToPoint.matrix;
  m_ForcesToGradient =
    Transpose(isByIndex || m_Mapping.forcesFollowChain ? m_Mapping.displacementToIndex : initial.first.matrix);
  chain.transform = MakeLevelChain(problem, pair.moving);
  m_Mapping.spline.emplace();
  m_Mapping.spline->dimension = problem.dimension;
  m_Mapping.spline->grid.order = FreeFormOrder;
  m_Mapping.spline->grid.size = grid.size;
}

void
FreeFormPairCost::Prepare()
{
  const IndexMap & toVoxel = m_Level.similarity->GetSampleToVoxel();
  m_Mapping.toMoving = Compose(m_VoxelToMoving, toVoxel);
  m_Mapping.spline->grid.toGrid = Compose(m_VoxelToGrid, toVoxel);
  m_Mapping.chain.size = m_Level.core.samples.GetFixed().virtualSize;
  m_Mapping.chain.outputToPoint = Compose(m_VoxelToPoint, toVoxel);
  m_Level.similarity->Prepare(m_Mapping);
}

void
FreeFormPairCost::EnqueueForces(Memory & controlForces)
{
  m_Level.core.samples.Move();
  m_Level.similarity->EnqueueForces();
  m_Level.core.samples.GetControlPoints().ApplyAdjoint(m_Level.similarity->GetForces(),
                                                       m_ForcesToGradient,
                                                       controlForces);
  this->Inform();
}

void
FreeFormPairCost::EnqueueValue()
{
  m_Level.core.samples.Move();
  m_Level.similarity->EnqueueValue();
  this->Inform();
}

void
FreeFormPairCost::Inform()
{
  if (!m_IsOfSeveral)
  {
    return;
  }
  const SimilarityDescription & description = m_Level.similarity->GetDescription();
  const InformationTerms        terms = GetInformationTerms(description.kind, this->FindUnrelatedCost());
  kernels::PairInformation      a{};
  a.hasLogarithm = terms.hasLogarithm;
  a.multiple = static_cast<float>(m_Weight * terms.multiple / terms.unit);
  a.scale = static_cast<float>(description.sign / terms.unit);
  a.rest = static_cast<float>(terms.base + terms.rest);
  InformEvaluated(*m_Level.core.queue,
                  a,
                  m_Level.similarity->GetEvaluated(),
                  m_Level.similarity->GetEvaluatedPlace(),
                  *m_Level.informed);
}

const Memory &
FreeFormPairCost::GetEvaluated() const
{
  return m_IsOfSeveral ? *m_Level.informed : m_Level.similarity->GetEvaluated();
}

std::int64_t
FreeFormPairCost::GetEvaluatedPlace() const
{
  return m_IsOfSeveral ? 0 : m_Level.similarity->GetEvaluatedPlace();
}

double
FreeFormPairCost::ComputeCost(double value) const
{
  const SimilarityDescription & description = m_Level.similarity->GetDescription();
  const double                  cost = description.sign * value;
  return m_IsOfSeveral ? m_Weight * ComputeInformation(description.kind, cost, this->FindUnrelatedCost()).nats : cost;
}

double
FreeFormPairCost::FindUnrelatedCost() const
{
  const SimilarityDescription & description = m_Level.similarity->GetDescription();
  if (description.kind != SimilarityKind::MeanSquares)
  {
    return description.unrelatedCost;
  }
  const double range = m_Level.core.samples.GetMoving().scale.range;
  return m_Level.unrelatedSquare / (range * range);
}

} // namespace gpureg
