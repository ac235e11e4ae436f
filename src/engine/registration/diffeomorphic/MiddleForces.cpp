// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/diffeomorphic/MiddleForces.h"

#include "engine/registration/diffeomorphic/DeviceTeam.h"
#include "kernels/core/Evaluated.h"

#include "gpureg/core/Error.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace gpureg
{

namespace
{
// The names of arrays in plans.
constexpr char ForcesOfAll[] = "scratch: forces of all pairs";
constexpr char Costs[] = "scratch: costs";
} // namespace

MiddleRole
GetRole(const TeamMember & member)
{
  return static_cast<MiddleRole>(member.GetNumber());
}

std::vector<MiddleSources>
ListMiddleSources(const std::vector<WeighedPair> & pairs,
                  const FlatNeighborhoods &        flat,
                  const MakeMiddleSources &        make)
{
  std::vector<MiddleSources> sources;
  for (const WeighedPair & pair : pairs)
  {
    WithPairNamed(pair.number, [&] { sources.push_back(make(pair)); });
    sources.back().flat = flat;
  }
  return sources;
}

MiddleForces::MiddleForces(SchemeWorkspace & workspace)
  : m_Workspace(workspace)
  , m_Filter(*workspace.queue)
  , m_FixedStart(*workspace.queue)
  , m_MovingStart(*workspace.queue)
  , m_Sum(*workspace.queue)
{}

void
MiddleForces::BeginLevel(const DiffeomorphicProblem &       problem,
                         const DiffeomorphicSettings &      settings,
                         const std::vector<MiddleSources> & pairs,
                         int                                number,
                         const LevelGrid &                  level)
{
  const int iterations = std::max(1, settings.iterations[static_cast<std::size_t>(number)]);
  m_BeginsDeformed = BeginsDeformed(problem, settings, number);
  Queue & queue = *m_Workspace.queue;
  m_FixedStart.Set(problem.fixedInitial, level.grid, GetMapOfGrid(level));
  m_MovingStart.Set(problem.initial, level.grid, GetMapOfGrid(level));
  m_Scratch = nullptr;
  ResizeItems(m_Pairs, pairs.size(), [this] { return std::make_unique<MiddlePair>(m_Workspace); });
  for (std::size_t n = 0; n < pairs.size(); ++n)
  {
    WithPairNamed(pairs[n].pair.number, [&] {
      m_Pairs[n]->BeginLevel(m_Filter, pairs[n], m_FixedStart.GetMap(), m_MovingStart.GetMap(), number, level);
    });
  }
  m_Filter.Release();
  m_Voxels = kernels::CountFieldVoxels(&level.grid);
  m_Sum.SetLevel(level, GetMemberOf(m_Workspace, level));
  ReserveIf(m_Pairs.size() > 1, queue, m_OfAll, CountBytes(level.grid));
  Reserve(queue, m_Values, 2 * sizeof(float) * m_Pairs.size() * static_cast<std::size_t>(iterations));
}

void
MiddleForces::PlanLevel(const std::vector<MiddleSources> & pairs,
                        int                                iterations,
                        const LevelGrid &                  level,
                        MemoryLedger &                     ledger)
{
  ResizeItems(m_Pairs, pairs.size(), [this] { return std::make_unique<MiddlePair>(m_Workspace); });
  for (std::size_t n = 0; n < pairs.size(); ++n)
  {
    m_Pairs[n]->Plan(m_Filter, pairs[n], level, ledger);
  }
  ledger.Free("scratch: states of filters");
  if (pairs.size() > 1)
  {
    ledger.Reserve(ForcesOfAll, CountBytes(level.grid));
    ForceSum::Plan(3 * kernels::CountFieldVoxels(&level.grid), ledger);
  }
  ledger.Reserve(Costs, 2 * sizeof(float) * pairs.size() * static_cast<std::size_t>(std::max(1, iterations)));
}

void
MiddleForces::Release()
{
  m_Scratch = nullptr;
  m_Pairs.clear();
  m_OfAll.reset();
  m_Values.reset();
}

void
MiddleForces::PlanRelease(MemoryLedger & ledger)
{
  ledger.FreeAll(MiddlePairArrays);
  ledger.Free(ForcesOfAll);
  ledger.Free(Costs);
}

void
MiddleForces::ResampleFixed(const FieldPart & field, Memory & scratch)
{
  const FieldPart places = m_FixedStart.Move(field, &scratch);
  for (const auto & pair : m_Pairs)
  {
    pair->GetFixed().Resample(places);
  }
}

void
MiddleForces::ResampleMoving(const FieldPart & field, Memory & scratch)
{
  const FieldPart places = m_MovingStart.Move(field, &scratch);
  for (const auto & pair : m_Pairs)
  {
    pair->GetMoving().Resample(places);
  }
}

void
MiddleForces::ExchangeImages()
{
  TeamMember * const member = m_Workspace.team.sides;
  if (member == nullptr)
  {
    return;
  }
  const std::size_t bytes = sizeof(float) * static_cast<std::size_t>(m_Voxels);
  for (const auto & pair : m_Pairs)
  {
    const bool    hasFixed = GetRole(*member) == MiddleRole::AsGiven;
    MiddleImage & own = hasFixed ? pair->GetFixed() : pair->GetMoving();
    MiddleImage & other = hasFixed ? pair->GetMoving() : pair->GetFixed();
    member->Exchange(*m_Workspace.queue, own.GetValues(), other.GetValues(), bytes);
    if (own.GetWeights() != nullptr || other.GetWeights() != nullptr)
    {
      member->Exchange(*m_Workspace.queue, own.GetWeights(), other.GetWeights(), bytes);
    }
  }
}

void
MiddleForces::ExchangeValues(int t)
{
  if (TeamMember * const member = m_Workspace.team.sides)
  {
    for (const MiddleRole role : { MiddleRole::AsGiven, MiddleRole::Exchanged })
    {
      for (std::size_t n = 0; n < m_Pairs.size(); ++n)
      {
        member->TakeOnDevice(static_cast<int>(role), *m_Workspace.queue, *m_Values, this->GetSlot(t, role, n));
      }
    }
  }
}

void
MiddleForces::CheckImages()
{
  for (const auto & pair : m_Pairs)
  {
    WithPairNamed(pair->GetNumber(), [&] { pair->CheckImages(FindRemedyOfNoOverlap(this->IsDeformed(0))); });
  }
}

void
MiddleForces::SetRanges(int t)
{
  for (const auto & pair : m_Pairs)
  {
    WithPairNamed(pair->GetNumber(), [&] { pair->SetRanges(t == 0, FindRemedyOfNoOverlap(this->IsDeformed(t))); });
  }
}

Memory &
MiddleForces::Enqueue(MiddleRole role, int t, int & sign)
{
  const bool areSeveral = m_Pairs.size() > 1;
  for (std::size_t n = 0; n < m_Pairs.size(); ++n)
  {
    MiddlePair & pair = *m_Pairs[n];
    pair.EnqueueForces(role, *m_Values, this->GetSlot(t, role, n));
    sign = areSeveral ? 1 : pair.GetSign();
    if (areSeveral)
    {
      m_Sum.Add(m_Workspace.reducer, pair.GetForces(), pair.GetSign() * pair.GetWeight(), n == 0, *m_OfAll);
    }
  }
  m_Scratch = areSeveral ? m_OfAll.get() : &m_Pairs.front()->GetForces();
  return *m_Scratch;
}

Memory &
MiddleForces::GetScratch() const
{
  if (m_Scratch == nullptr)
  {
    throw std::logic_error("the level has no array of a derivative yet: call Enqueue() first");
  }
  return *m_Scratch;
}

bool
MiddleForces::IsDeformed(int t) const
{
  return m_BeginsDeformed || t > 0;
}

std::int64_t
MiddleForces::GetSlot(int t, MiddleRole role, std::size_t pair) const
{
  const auto pairs = static_cast<std::int64_t>(m_Pairs.size());
  return (2 * std::int64_t{ t } + (role == MiddleRole::Exchanged ? 1 : 0)) * pairs + static_cast<std::int64_t>(pair);
}

std::vector<double>
MiddleForces::DownloadCosts(int count) const
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
      const float  asGiven = values[static_cast<std::size_t>(this->GetSlot(t, MiddleRole::AsGiven, n))];
      const float  exchanged = values[static_cast<std::size_t>(this->GetSlot(t, MiddleRole::Exchanged, n))];
      const double both = static_cast<double>(asGiven) + exchanged;
      if (!std::isfinite(both))
      {
        throw BadInputError(
          "the deformation has grown beyond all numbers: take a shorter step, or smooth updates more");
      }
      if (asGiven <= GPUREG_NO_EVALUATED_VALUE || exchanged <= GPUREG_NO_EVALUATED_VALUE)
      {
        ThrowNoOverlap(m_Pairs[n]->GetNumber(), this->IsDeformed(t));
      }
      if (n == 0)
      {
        costs.push_back(0.5 * m_Pairs[n]->GetCostUnit() * both);
      }
    }
  }
  return costs;
}

std::size_t
MiddleForces::GetDeviceBytes() const
{
  std::size_t bytes = m_Filter.GetSize() + m_FixedStart.GetDeviceBytes() + m_MovingStart.GetDeviceBytes() +
                      m_Sum.GetDeviceBytes() + SizeOf(m_OfAll) + SizeOf(m_Values);
  for (const auto & pair : m_Pairs)
  {
    bytes += pair->GetDeviceBytes();
  }
  return bytes;
}

} // namespace gpureg
