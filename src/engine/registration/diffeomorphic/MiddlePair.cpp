// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/diffeomorphic/MiddlePair.h"

#include "engine/filter/LevelGeometry.h"

#include "kernels/core/Evaluated.h"

#include <algorithm>
#include <array>

namespace gpureg
{

namespace
{
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
} // namespace

MiddlePair::MiddlePair(SchemeWorkspace & workspace)
  : m_Workspace(workspace)
  , m_Fixed(workspace)
  , m_Moving(workspace)
{}

void
MiddlePair::BeginLevel(RecursiveFilter &             filter,
                       const WeighedPair &           pair,
                       const DiffeomorphicProblem &  problem,
                       const DiffeomorphicSettings & settings,
                       int                           number,
                       const LevelGrid &             level)
{
  m_Weight = pair.pair.weight;
  m_PairNumber = pair.number;
  m_Dimension = problem.dimension;
  m_Level = number;
  const auto begin =
    [&](MiddleImage & made, const RegisteredImage & image, const char * which, const IndexMap & initial) {
      made.BeginLevel(filter, image, which, GetSigmas(image, problem.dimension, settings, number), level, initial);
    };
  begin(m_Fixed, pair.pair.fixed, "fixed", problem.fixedInitial.first);
  begin(m_Moving, pair.pair.moving, "moving", problem.initial.first);
  if (!m_Similarity || !(m_Settings == pair.pair.similarity))
  {
    m_Similarity.reset();
    m_Core = std::make_unique<MetricCore>(m_Workspace.backend, m_Workspace.queue);
    m_Similarity = MakeLevelSimilarity(*m_Core, pair.pair.similarity, {}, LevelForces::OfITK);
    m_Settings = pair.pair.similarity;
  }
  const ImageSummary & fixed = m_Fixed.GetResampled().summary;
  const ImageSummary & moving = m_Moving.GetResampled().summary;
  const double         range = std::max(fixed.maximum, moving.maximum) - std::min(fixed.minimum, moving.minimum);
  const auto &         description = m_Similarity->GetDescription();
  m_CostUnit = description.sign * (description.values == ValueForm::OneUnit ? range * range : 1.0);
}

void
MiddlePair::Resample(const Memory & toFixed, const Memory & toMoving)
{
  m_Fixed.Resample(toFixed);
  m_Moving.Resample(toMoving);
}

void
MiddlePair::MeasureRanges(bool isFirst)
{
  const bool hasBins = m_Similarity->GetDescription().HasJointHistogram();
  for (MiddleImage * image : { &m_Fixed, &m_Moving })
  {
    if (hasBins || isFirst)
    {
      const ImageSummary range = image->MeasureRange();
      if (hasBins)
      {
        image->SetRange(range);
      }
    }
  }
}

void
MiddlePair::EnqueueForces(MiddleRole role, Memory & values, std::int64_t slot)
{
  const LevelImage & fixed = m_Fixed.GetResampled();
  const LevelImage & moving = m_Moving.GetResampled();
  const bool         isExchanged = role == MiddleRole::Exchanged;
  m_Similarity->SetImages(isExchanged ? moving : fixed,
                          isExchanged ? fixed : moving,
                          m_Dimension,
                          m_Level,
                          m_Workspace.queue->GetParallelFor());
  m_Similarity->Prepare(m_Mapping);
  m_Core->samples.Move();
  m_Similarity->EnqueueForces();
  const std::int64_t place = m_Similarity->GetEvaluatedPlace() + kernels::EvaluatedValue;
  m_Workspace.reducer.Sum(m_Similarity->GetEvaluated(), place, 1, values, slot);
}

std::size_t
MiddlePair::GetDeviceBytes() const
{
  std::size_t bytes = m_Fixed.GetDeviceBytes() + m_Moving.GetDeviceBytes();
  if (m_Core)
  {
    bytes += static_cast<std::size_t>(m_Core->samples.GetDeviceBytes());
    for (const MemoryPointer * array : m_Core->ownArrays)
    {
      bytes += SizeOf(*array);
    }
  }
  return bytes;
}

} // namespace gpureg
