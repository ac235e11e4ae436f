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

/** Returns the standard deviations of a level's smoothing, in an image's voxels. */
std::array<double, 3>
GetSigmas(const RegisteredImage & image, int dimension, const DiffeomorphicSettings & settings, int number)
{
  const auto &                given = settings.syn.smoothingSigmas;
  const int                   coarser = static_cast<int>(settings.iterations.size()) - 1 - number;
  const double                sigma = given.empty() ? coarser : given[static_cast<std::size_t>(number)];
  const std::array<double, 3> spacing = GetSpacing(image);
  std::array<double, 3>       sigmas{};
  for (std::size_t d = 0; d < static_cast<std::size_t>(dimension); ++d)
  {
    sigmas[d] = settings.syn.sigmasAreInMillimetres && !given.empty() ? sigma / spacing[d] : sigma;
  }
  return sigmas;
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
  , m_Fixed(workspace)
  , m_Moving(workspace)
{}

void
SyNScheme::BeginLevel(const DiffeomorphicProblem & problem, const DiffeomorphicSettings & settings, int number)
{
  Queue &         queue = *m_Workspace.queue;
  const LevelGrid level = MakeShrunkGrid(problem, settings, GetFactors(problem, settings, number));
  const auto beginSide = [&](Side & side, const RegisteredImage & image, const char * which, const IndexMap & initial) {
    const std::array<double, 3> sigmas = GetSigmas(image, problem.dimension, settings, number);
    side.image.BeginLevel(m_Filter, image, which, sigmas, level, initial);
  };
  beginSide(m_Fixed, problem.fixed, "fixed", problem.fixedInitial.first);
  beginSide(m_Moving, problem.moving, "moving", problem.initial.first);
  m_Filter.Release();
  this->BeginFields(level);
  this->SetSmoothing(settings);
  m_Number = number;
  if (!m_Similarity || !(m_SimilaritySettings == settings.similarity))
  {
    m_Similarity.reset();
    m_Core = std::make_unique<MetricCore>(m_Workspace.backend, m_Workspace.queue);
    m_Similarity = MakeLevelSimilarity(*m_Core, settings.similarity, {}, LevelForces::OfITK);
    m_SimilaritySettings = settings.similarity;
  }
  const ImageSummary & fixed = m_Fixed.image.GetResampled().summary;
  const ImageSummary & moving = m_Moving.image.GetResampled().summary;
  const double         range = std::max(fixed.maximum, moving.maximum) - std::min(fixed.minimum, moving.minimum);
  const auto &         description = m_Similarity->GetDescription();
  m_CostUnit = description.sign * (description.values == ValueForm::OneUnit ? range * range : 1.0);
  m_Window.reset();
  if (settings.syn.convergenceWindow > 0)
  {
    m_Window.emplace(static_cast<std::size_t>(settings.syn.convergenceWindow));
  }
  const int iterations = std::max(1, settings.iterations[static_cast<std::size_t>(number)]);
  Reserve(queue, m_Values, 2 * sizeof(float) * static_cast<std::size_t>(iterations));
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
  m_Fixed.image.Resample(*m_Fixed.fromMiddle);
  m_Moving.image.Resample(*m_Moving.fromMiddle);
  this->MeasureImages(t == 0);
  const std::int64_t slot = 2 * std::int64_t{ t };
  if (settings.syn.averagesGradients)
  {
    this->MoveByAverages(settings, slot);
  }
  else
  {
    Memory & update = *m_Workspace.first;
    this->MakeUpdate(settings, m_Fixed.image.GetResampled(), m_Moving.image.GetResampled(), slot, update);
    this->Move(m_Fixed, *m_Factors, update);
    this->MakeUpdate(settings, m_Moving.image.GetResampled(), m_Fixed.image.GetResampled(), slot + 1, update);
    this->Move(m_Moving, *m_Factors, update);
  }
  m_Inverter.Finish(m_Workspace.reducer, *m_Workspace.first);
  return !m_Window || m_Window->Add(this->DownloadCosts(t + 1).back()) >= settings.syn.convergenceThreshold;
}

void
SyNScheme::MeasureImages(bool isFirst)
{
  const bool hasBins = m_Similarity->GetDescription().HasJointHistogram();
  for (Side * side : { &m_Fixed, &m_Moving })
  {
    if (hasBins || isFirst)
    {
      const ImageSummary range = side->image.MeasureRange();
      if (hasBins)
      {
        side->image.SetRange(range);
      }
    }
  }
}

void
SyNScheme::MoveByAverages(const DiffeomorphicSettings & settings, std::int64_t slot)
{
  Queue &            queue = *m_Workspace.queue;
  const std::int64_t elements = 3 * kernels::CountFieldVoxels(&m_Level.grid);
  Reserve(queue, m_OtherUpdate, sizeof(float) * static_cast<std::size_t>(elements));
  Memory &   average = *m_OtherUpdate;
  const auto make = [&](const LevelImage & fixed, const LevelImage & moving, std::int64_t its, Memory & update) {
    this->MakeUpdate(settings, fixed, moving, its, update);
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
  make(m_Fixed.image.GetResampled(), m_Moving.image.GetResampled(), slot, average);
  make(m_Moving.image.GetResampled(), m_Fixed.image.GetResampled(), slot + 1, *m_Workspace.first);
  add(MakeWeights(1, -1), *m_Workspace.first, average);
  this->Move(m_Fixed, *m_Ones, average);
  add(MakeWeights(-1, 0), average, *m_Workspace.first);
  this->Move(m_Moving, *m_Ones, *m_Workspace.first);
}

void
SyNScheme::MakeUpdate(const DiffeomorphicSettings & settings,
                      const LevelImage &            fixed,
                      const LevelImage &            moving,
                      std::int64_t                  slot,
                      Memory &                      update)
{
  Queue &        queue = *m_Workspace.queue;
  FieldReducer & reducer = m_Workspace.reducer;
  m_Similarity->SetImages(fixed, moving, m_Level.grid.dimension, m_Number, queue.GetParallelFor());
  m_Similarity->Prepare(m_Mapping);
  m_Core->samples.Move();
  m_Similarity->EnqueueForces();
  reducer.Sum(
    m_Similarity->GetEvaluated(), m_Similarity->GetEvaluatedPlace() + kernels::EvaluatedValue, 1, *m_Values, slot);
  const Memory * derivative = &m_Similarity->GetForces();
  if (HasWeights(settings))
  {
    const std::int64_t elements = 3 * kernels::CountFieldVoxels(&m_Level.grid);
    Reserve(queue, m_Weighted, sizeof(float) * static_cast<std::size_t>(elements));
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
  m_UpdateSmoother.SmoothAndMeasure(*derivative, update, *m_Workspace.second, update, reducer, *m_Longest);
  kernels::LongestVector longest{};
  // Forces point to where the cost grows, or falls.
  longest.length = static_cast<float>(m_Similarity->GetForceUnit() > 0 ? -settings.step : settings.step);
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
  std::vector<float> values(2 * static_cast<std::size_t>(count));
  if (count > 0)
  {
    m_Workspace.queue->Download(values.data(), *m_Values, sizeof(float) * values.size());
  }
  std::vector<double> costs;
  for (std::size_t n = 0; n < values.size(); n += 2)
  {
    const double both = static_cast<double>(values[n]) + values[n + 1];
    if (!std::isfinite(both))
    {
      throw BadInputError("the deformation has grown beyond all numbers: take a shorter step, or a larger updateSigma");
    }
    if (values[n] <= GPUREG_NO_EVALUATED_VALUE || values[n + 1] <= GPUREG_NO_EVALUATED_VALUE)
    {
      throw BadInputError("no voxel of the fixed image lies in the moving image, or all of them are outside of a mask: "
                          "begin with a transform that brings them together");
    }
    costs.push_back(0.5 * m_CostUnit * both);
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
                      m_Inverter.GetDeviceBytes() + m_Fixed.image.GetDeviceBytes() + m_Moving.image.GetDeviceBytes();
  if (m_Core)
  {
    bytes += static_cast<std::size_t>(m_Core->samples.GetDeviceBytes());
    for (const MemoryPointer * array : m_Core->ownArrays)
    {
      bytes += SizeOf(*array);
    }
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
