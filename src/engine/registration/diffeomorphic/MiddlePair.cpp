// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/diffeomorphic/MiddlePair.h"

#include "engine/registration/diffeomorphic/DeviceTeam.h"
#include "kernels/core/Evaluated.h"

#include "gpureg/core/Error.h"

#include <algorithm>
#include <optional>
#include <string>

namespace gpureg
{

MiddlePair::MiddlePair(SchemeWorkspace & workspace)
  : m_Workspace(workspace)
  , m_Fixed(workspace)
  , m_Moving(workspace)
{}

void
MiddlePair::BeginLevel(RecursiveFilter &     filter,
                       const MiddleSources & sources,
                       const DisplacedMap &  fixedInitial,
                       const DisplacedMap &  initial,
                       int                   number,
                       const LevelGrid &     level)
{
  const WeighedPair & pair = sources.pair;
  m_Weight = pair.pair.weight;
  m_PairNumber = pair.number;
  m_Dimension = level.grid.dimension;
  m_Level = number;
  m_Slabs = GetMemberOf(m_Workspace, level);
  const auto begin =
    [&](MiddleImage & made, const MiddleSource & from, const DisplacedMap & itsInitial, const char * which) {
      made.BeginLevel(filter, from.image, which, from.sigmas, level, itsInitial, from.outside);
    };
  begin(m_Fixed, sources.fixed, fixedInitial, "fixed");
  begin(m_Moving, sources.moving, initial, "moving");
  this->MakeSimilarity(sources);
  this->CountOwnPlanes(level);
  const ImageSummary & fixed = m_Fixed.GetResampled().summary;
  const ImageSummary & moving = m_Moving.GetResampled().summary;
  const double         range = std::max(fixed.maximum, moving.maximum) - std::min(fixed.minimum, moving.minimum);
  const auto &         description = m_Similarity->GetDescription();
  m_CostUnit = description.sign * (description.values == ValueForm::OneUnit ? range * range : 1.0);
}

void
MiddlePair::MakeSimilarity(const MiddleSources & sources)
{
  const SimilaritySettings & settings = sources.pair.pair.similarity;
  if (!m_Similarity || !(m_Settings == settings) || !(m_Flat == sources.flat))
  {
    m_Similarity.reset();
    m_Core = std::make_unique<MetricCore>(m_Workspace.backend, m_Workspace.queue);
    m_Similarity = MakeLevelSimilarity(*m_Core, settings, {}, LevelForces::OfITK, sources.flat);
    m_Settings = settings;
    m_Flat = sources.flat;
  }
}

void
MiddlePair::CountOwnPlanes(const LevelGrid & level)
{
  m_Similarity->SetCountedPlanes(level.slab.IsWhole() ? std::nullopt : std::optional(level.slab.GetOwnOfHeld()));
}

void
MiddlePair::Plan(const RecursiveFilter & filter,
                 const MiddleSources &   sources,
                 const LevelGrid &       level,
                 MemoryLedger &          ledger)
{
  const std::string name = MiddlePairArrays + ("pair " + std::to_string(sources.pair.number + 1));
  const auto        plan = [&](MiddleImage & made, const MiddleSource & from, const char * which) {
    made.Plan(filter, from.image, from.sigmas, level, name + " " + which, ledger);
  };
  plan(m_Fixed, sources.fixed, "fixed");
  plan(m_Moving, sources.moving, "moving");
  this->MakeSimilarity(sources);
  this->CountOwnPlanes(level);
  const LevelImage & fixed = m_Fixed.GetResampled();
  const LevelImage & moving = m_Moving.GetResampled();
  for (const bool isExchanged : { this->ReadsFixedGradient(), !this->ReadsFixedGradient() })
  {
    m_Similarity->PlanImages(
      isExchanged ? moving : fixed, isExchanged ? fixed : moving, level.grid.dimension, name + " similarity: ", ledger);
    m_Similarity->PlanEvaluation(m_Mapping, name + " similarity: ", ledger);
  }
}

void
MiddlePair::SetRanges(bool isFirst, const char * remedy)
{
  const bool hasBins = m_Similarity->GetDescription().HasBins();
  if (hasBins || isFirst)
  {
    this->EnqueueRanges();
  }
  if (isFirst)
  {
    this->CheckRanges(remedy);
  }
  if (hasBins)
  {
    m_Fixed.UseRange();
    m_Moving.UseRange();
  }
}

void
MiddlePair::CheckImages(const char * remedy)
{
  this->EnqueueRanges();
  this->CheckRanges(remedy);
}

void
MiddlePair::EnqueueRanges()
{
  m_Fixed.EnqueueRange();
  m_Moving.EnqueueRange();
}

void
MiddlePair::CheckRanges(const char * remedy) const
{
  // One wait serves both.
  const std::array<ImageSummary, 2> ranges{ m_Fixed.DownloadRange(), m_Moving.DownloadRange() };
  for (const ImageSummary & range : ranges)
  {
    double maximum = range.maximum;
    double minimum = range.minimum;
    if (m_Slabs != nullptr)
    {
      maximum = m_Slabs->FindLargest(maximum);
      minimum = -m_Slabs->FindLargest(-minimum);
    }
    if (!(maximum > minimum))
    {
      throw BadInputError(std::string("the ") + (&range == &ranges[0] ? "fixed" : "moving") +
                          " image is constant where the deformation's grid lies in it, inside of its mask: " + remedy);
    }
  }
}

void
MiddlePair::EnqueueForces(MiddleRole role, Memory & values, std::int64_t slot)
{
  const LevelImage & fixed = m_Fixed.GetResampled();
  const LevelImage & moving = m_Moving.GetResampled();
  const bool         isExchanged = (role == MiddleRole::Exchanged) != this->ReadsFixedGradient();
  m_Similarity->SetImages(isExchanged ? moving : fixed,
                          isExchanged ? fixed : moving,
                          m_Dimension,
                          m_Level,
                          m_Workspace.queue->GetParallelFor());
  m_Similarity->Prepare(m_Mapping);
  m_Core->samples.Move();
  m_Similarity->EnqueueForces();
  if (m_Slabs != nullptr)
  {
    this->JoinValues(values, slot);
    return;
  }
  const std::int64_t place = m_Similarity->GetEvaluatedPlace() + kernels::EvaluatedValue;
  m_Workspace.reducer.Sum(m_Similarity->GetEvaluated(), place, 1, values, slot);
}

void
MiddlePair::JoinValues(Memory & values, std::int64_t slot)
{
  Queue &    queue = *m_Workspace.queue;
  const auto its = m_Similarity->DownloadCounted();
  const auto joined = m_Slabs->Sum({ its.count, its.sum });
  // As kernels::FindSimilarity() has it, so that the cost has the bits of one device and levels end with the same iteration.
  const float count = static_cast<float>(joined[0]);
  const float value = count > 0 ? static_cast<float>(joined[1]) / count : GPUREG_NO_EVALUATED_VALUE;
  queue.Upload(values, sizeof(float) * static_cast<std::size_t>(slot), &value, sizeof(value));
  queue.Finish();
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
