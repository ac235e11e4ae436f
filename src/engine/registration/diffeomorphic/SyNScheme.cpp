// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/diffeomorphic/SyNScheme.h"

#include "engine/field/FieldGeometry.h"
#include "engine/filter/LevelGeometry.h"
#include "engine/runtime/ForEachItem.h"

#include "kernels/core/Evaluated.h"

#include "gpureg/core/Error.h"
#include "gpureg/transform/TransformChain.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace gpureg
{

namespace
{
/** Returns how many voxels along each axis one of a level's grid stands for. */
Size
GetFactors(const DiffeomorphicProblem & problem, const DiffeomorphicSettings & settings, int number)
{
  const auto & given = settings.syn.shrinkFactors;
  if (!given.empty())
  {
    return given[static_cast<std::size_t>(number)];
  }
  const int coarser = static_cast<int>(settings.iterations.size()) - 1 - number;
  return FindFactors(problem.fixed,
                     problem.dimension,
                     std::ldexp(FindShortestEdge(problem.fixed, problem.dimension), coarser));
}

/** Returns the grid of itk::ShrinkImageFilter. */
LevelGrid
MakeShrunkGrid(const DiffeomorphicProblem & problem, const DiffeomorphicSettings & settings, const Size & factors)
{
  Size     size{};
  IndexMap toImage;
  for (std::size_t d = 0; d < 3; ++d)
  {
    size[d] = std::max(1, problem.fixed.size[d] / factors[d]);
    toImage.matrix[4 * d] = factors[d];
    toImage.offset[d] = 0.5 * (problem.fixed.size[d] - 1 - factors[d] * (size[d] - 1));
  }
  LevelGrid level = MakeLevelGrid(problem.dimension, size, Compose(problem.fixed.indexToPoint, toImage));
  for (std::size_t d = 0; d < 3; ++d)
  {
    // See MakeFieldGrid() of a FieldGeometry.
    const double first = std::ceil(static_cast<double>(settings.syn.firstIndex[d]) / factors[d]);
    level.grid.upperBorder[d] -= 2 * static_cast<int>(first);
  }
  return level;
}

bool
HasWeights(const DiffeomorphicSettings & settings)
{
  const auto & weights = settings.syn.weights;
  return std::any_of(weights.begin(), weights.end(), [](double weight) { return weight != 1; });
}

/** Returns a weighted sum's arguments; every component has the same weight. */
kernels::FieldWeights
MakeWeights(float first, float second)
{
  kernels::FieldWeights weights{};
  std::fill_n(weights.first, 3, first);
  std::fill_n(weights.second, 3, second);
  weights.hasSecond = second != 0;
  return weights;
}
} // namespace

SyNScheme::SyNScheme(SchemeWorkspace & workspace)
  : m_Workspace(workspace)
  , m_Filter(*workspace.queue)
  , m_UpdateSmoother(*workspace.queue)
  , m_FieldSmoother(*workspace.queue)
  , m_Inverter(*workspace.queue)
  , m_Sum(*workspace.queue)
{}

void
SyNScheme::BeginLevel(const DiffeomorphicProblem & problem, const DiffeomorphicSettings & settings, int number)
{
  Queue &         queue = *m_Workspace.queue;
  const LevelGrid level = MakeShrunkGrid(problem, settings, GetFactors(problem, settings, number));
  // ITK's cost is the first pair's, whatever its weight.
  const std::vector<WeighedPair> pairs = ListWeighedPairs(problem, settings, FirstPair::IsKept);
  m_Pairs.resize(pairs.size());
  for (std::size_t n = 0; n < pairs.size(); ++n)
  {
    if (!m_Pairs[n])
    {
      m_Pairs[n] = std::make_unique<MiddlePair>(m_Workspace);
    }
    WithPairNamed(pairs[n].number,
                  [&] { m_Pairs[n]->BeginLevel(m_Filter, pairs[n], problem, settings, number, level); });
  }
  m_Filter.Release();
  this->BeginFields(level);
  this->SetSmoothing(settings);
  m_Window.reset();
  if (settings.syn.convergenceWindow > 0)
  {
    m_Window.emplace(static_cast<std::size_t>(settings.syn.convergenceWindow));
  }
  const int iterations = std::max(1, settings.iterations[static_cast<std::size_t>(number)]);
  Reserve(queue, m_Values, 2 * sizeof(float) * m_Pairs.size() * static_cast<std::size_t>(iterations));
}

void
SyNScheme::BeginFields(const LevelGrid & level)
{
  const LevelGrid before = std::exchange(m_Level, level);
  m_Inverter.BeginLevel(m_Level.grid);
  ReserveFields(m_Workspace, m_Level);
  Reserve(*m_Workspace.queue, m_Longest, sizeof(float));
  ReserveFactors(*m_Workspace.queue, m_Factors);
  ReserveFactors(*m_Workspace.queue, m_Ones);
  for (MemoryPointer * field : { &m_Fixed.toMiddle, &m_Fixed.fromMiddle, &m_Moving.toMiddle, &m_Moving.fromMiddle })
  {
    CarryField(m_Workspace, before, m_Level, *field);
  }
}

void
SyNScheme::SetSmoothing(const DiffeomorphicSettings & settings)
{
  m_UpdateSmoother.Set(settings.updateSigma, m_Level.grid, FieldBorder::Zero);
  m_FieldSmoother.Set(settings.fieldSigma, m_Level.grid, FieldBorder::Zero);
  m_UpdateSigma = settings.updateSigma;
  m_FieldSigma = settings.fieldSigma;
}

bool
SyNScheme::Iterate(const DiffeomorphicSettings & settings, int t)
{
  if (settings.updateSigma != m_UpdateSigma || settings.fieldSigma != m_FieldSigma)
  {
    this->SetSmoothing(settings);
  }
  for (const auto & pair : m_Pairs)
  {
    WithPairNamed(pair->GetNumber(), [&] {
      pair->Resample(*m_Fixed.fromMiddle, *m_Moving.fromMiddle);
      pair->MeasureRanges(t == 0);
    });
  }
  if (settings.syn.averagesGradients)
  {
    this->MoveByAverages(settings, t);
  }
  else
  {
    Memory & update = *m_Workspace.first;
    this->MakeUpdate(settings, MiddleRole::AsGiven, t, update);
    this->Move(m_Fixed, *m_Factors, update);
    this->MakeUpdate(settings, MiddleRole::Exchanged, t, update);
    this->Move(m_Moving, *m_Factors, update);
  }
  m_Inverter.Finish(m_Workspace.reducer, *m_Workspace.first);
  return !m_Window || m_Window->Add(this->DownloadCosts(t + 1).back()) >= settings.syn.convergenceThreshold;
}

void
SyNScheme::MoveByAverages(const DiffeomorphicSettings & settings, int t)
{
  Queue &            queue = *m_Workspace.queue;
  const std::int64_t elements = 3 * kernels::CountFieldVoxels(&m_Level.grid);
  Reserve(queue, m_OtherUpdate, sizeof(float) * static_cast<std::size_t>(elements));
  Memory &   average = *m_OtherUpdate;
  const auto make = [&](MiddleRole role, Memory & update) {
    this->MakeUpdate(settings, role, t, update);
    ForEachItem<kernels::ScaleFieldKernel>(queue,
                                           elements,
                                           Precision::Single,
                                           Input<float>(*m_Factors),
                                           Input<RealNumber>(update),
                                           Output<RealNumber>(update));
  };
  const auto add = [&](const kernels::FieldWeights & weights, const Memory & second, Memory & sum) {
    ForEachItem<kernels::AddFieldsKernel>(queue,
                                          elements,
                                          Precision::Single,
                                          weights,
                                          Input<RealNumber>(average),
                                          Input<RealNumber>(second),
                                          Output<RealNumber>(sum));
  };
  make(MiddleRole::AsGiven, average);
  make(MiddleRole::Exchanged, *m_Workspace.first);
  add(MakeWeights(1, -1), *m_Workspace.first, average);
  this->Move(m_Fixed, *m_Ones, average);
  add(MakeWeights(-1, 0), average, *m_Workspace.first);
  this->Move(m_Moving, *m_Ones, *m_Workspace.first);
}

const Memory &
SyNScheme::MakeDerivative(const DiffeomorphicSettings & settings, MiddleRole role, int t, int & sign)
{
  Queue &            queue = *m_Workspace.queue;
  const std::int64_t elements = 3 * kernels::CountFieldVoxels(&m_Level.grid);
  const bool         areSeveral = m_Pairs.size() > 1;
  const bool         hasWeights = HasWeights(settings);
  if (areSeveral || hasWeights)
  {
    Reserve(queue, m_Weighted, sizeof(float) * static_cast<std::size_t>(elements));
  }
  for (std::size_t n = 0; n < m_Pairs.size(); ++n)
  {
    MiddlePair & pair = *m_Pairs[n];
    pair.EnqueueForces(role, *m_Values, this->FindSlot(t, role, n));
    sign = areSeveral ? 1 : pair.GetSign();
    if (areSeveral)
    {
      m_Sum.Add(
        m_Workspace.reducer, elements, pair.GetForces(), pair.GetSign() * pair.GetWeight(), n == 0, *m_Weighted);
    }
  }
  const Memory * derivative = areSeveral ? m_Weighted.get() : &m_Pairs.front()->GetForces();
  if (hasWeights)
  {
    kernels::FieldWeights weights{};
    std::copy(settings.syn.weights.begin(), settings.syn.weights.end(), weights.first);
    ForEachItem<kernels::AddFieldsKernel>(queue,
                                          elements,
                                          Precision::Single,
                                          weights,
                                          Input<RealNumber>(*derivative),
                                          Input<RealNumber>(nullptr),
                                          Output<RealNumber>(*m_Weighted));
    derivative = m_Weighted.get();
  }
  return *derivative;
}

std::int64_t
SyNScheme::FindSlot(int t, MiddleRole role, std::size_t pair) const
{
  const auto pairs = static_cast<std::int64_t>(m_Pairs.size());
  return (2 * std::int64_t{ t } + (role == MiddleRole::Exchanged ? 1 : 0)) * pairs + static_cast<std::int64_t>(pair);
}

void
SyNScheme::MakeUpdate(const DiffeomorphicSettings & settings, MiddleRole role, int t, Memory & update)
{
  Queue &        queue = *m_Workspace.queue;
  FieldReducer & reducer = m_Workspace.reducer;
  int            sign = 1;
  const Memory & derivative = this->MakeDerivative(settings, role, t, sign);
  m_UpdateSmoother.SmoothAndMeasure(derivative, update, *m_Workspace.second, update, reducer, *m_Longest);
  kernels::LongestVector longest{};
  longest.length = static_cast<float>(sign * settings.step);
  longest.slot = kernels::FactorOfOuter;
  ForEachItem<kernels::FindScaleFactorKernel>(queue, 1, longest, Input<float>(*m_Longest), Output<float>(*m_Factors));
}

void
SyNScheme::Move(Side & side, const Memory & factors, const Memory & update)
{
  Queue &                    queue = *m_Workspace.queue;
  const kernels::FieldGrid & grid = m_Level.grid;
  ForEachItem<kernels::ComposeFieldsKernel>(queue,
                                            kernels::CountFieldVoxels(&grid),
                                            Precision::Single,
                                            grid,
                                            Input<float>(factors),
                                            Input<RealNumber>(update),
                                            Input<RealNumber>(*side.toMiddle),
                                            Output<RealNumber>(*side.toMiddle));
  if (m_FieldSigma > 0)
  {
    m_FieldSmoother.Smooth(*side.toMiddle, *m_Workspace.first, *m_Workspace.second, *side.toMiddle);
  }
  m_Inverter.Enqueue(
    &side == &m_Fixed ? 0 : 1, *side.toMiddle, *side.fromMiddle, m_Workspace.reducer, *m_Workspace.first);
}

std::vector<double>
SyNScheme::DownloadCosts(int count)
{
  std::vector<float> values(2 * m_Pairs.size() * static_cast<std::size_t>(count));
  if (count > 0)
  {
    m_Workspace.queue->Download(values.data(), *m_Values, sizeof(float) * values.size());
  }
  std::vector<double> costs;
  for (int t = 0; t < count; ++t)
  {
    for (std::size_t n = 0; n < m_Pairs.size(); ++n)
    {
      const float  asGiven = values[static_cast<std::size_t>(this->FindSlot(t, MiddleRole::AsGiven, n))];
      const float  exchanged = values[static_cast<std::size_t>(this->FindSlot(t, MiddleRole::Exchanged, n))];
      const double both = static_cast<double>(asGiven) + exchanged;
      if (!std::isfinite(both))
      {
        throw BadInputError(
          "the deformation has grown beyond all numbers: take a shorter step, or a larger updateSigma");
      }
      if (asGiven <= GPUREG_NO_EVALUATED_VALUE || exchanged <= GPUREG_NO_EVALUATED_VALUE)
      {
        throw BadInputError(NamePair(m_Pairs[n]->GetNumber()) +
                            "no voxel of the fixed image lies in the moving image, or all of them are outside of a "
                            "mask: begin with a transform that brings them together");
      }
      if (n == 0)
      {
        costs.push_back(0.5 * m_Pairs[n]->GetCostUnit() * both);
      }
    }
  }
  return costs;
}

const Memory &
SyNScheme::MakeField(DeformationField field)
{
  Side * const outer = field == DeformationField::Forward ? &m_Moving : &m_Fixed;
  Side * const inner = field == DeformationField::Forward ? &m_Fixed : &m_Moving;
  switch (field)
  {
    case DeformationField::FixedToMiddle:
      return *m_Fixed.toMiddle;
    case DeformationField::MiddleToFixed:
      return *m_Fixed.fromMiddle;
    case DeformationField::MovingToMiddle:
      return *m_Moving.toMiddle;
    case DeformationField::MiddleToMoving:
      return *m_Moving.fromMiddle;
    default:
      ForEachItem<kernels::ComposeFieldsKernel>(*m_Workspace.queue,
                                                kernels::CountFieldVoxels(&m_Level.grid),
                                                Precision::Single,
                                                m_Level.grid,
                                                Input<float>(*m_Ones),
                                                Input<RealNumber>(*outer->fromMiddle),
                                                Input<RealNumber>(*inner->toMiddle),
                                                Output<RealNumber>(*m_Workspace.first));
      return *m_Workspace.first;
  }
}

std::size_t
SyNScheme::GetDeviceBytes() const
{
  std::size_t bytes = m_Filter.GetSize() + m_UpdateSmoother.GetDeviceBytes() + m_FieldSmoother.GetDeviceBytes() +
                      m_Inverter.GetDeviceBytes() + m_Sum.GetDeviceBytes();
  for (const auto & pair : m_Pairs)
  {
    bytes += pair->GetDeviceBytes();
  }
  for (const MemoryPointer * array : { &m_Fixed.toMiddle,
                                       &m_Fixed.fromMiddle,
                                       &m_Moving.toMiddle,
                                       &m_Moving.fromMiddle,
                                       &m_OtherUpdate,
                                       &m_Weighted,
                                       &m_Factors,
                                       &m_Ones,
                                       &m_Longest,
                                       &m_Values })
  {
    bytes += SizeOf(*array);
  }
  return bytes;
}

} // namespace gpureg
