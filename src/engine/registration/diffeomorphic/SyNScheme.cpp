// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/diffeomorphic/SyNScheme.h"

#include "engine/field/FieldGaussian.h"
#include "engine/field/FieldSums.h"
#include "engine/registration/diffeomorphic/DeviceTeam.h"
#include "engine/registration/diffeomorphic/SyNLevel.h"
#include "engine/runtime/ForEachItem.h"

#include "gpureg/core/Error.h"
#include "gpureg/transform/TransformChain.h"

#include <limits>
#include <vector>

namespace gpureg
{

namespace
{
/** Writes down the fields of the moving image's side. \param field the bytes of one */
void
PlanMovingSide(std::size_t field, MemoryLedger & ledger)
{
  ledger.Reserve("fields: moving to middle", field);
  ledger.Reserve("fields: middle to moving", field);
}
} // namespace

SyNScheme::SyNScheme(SchemeWorkspace & workspace)
  : FieldScheme(workspace, FieldBorder::Zero)
  , m_Slab(workspace)
  , m_Inverter(workspace, m_Slab)
  , m_Forces(workspace)
{}

void
SyNScheme::Begin()
{
  FieldScheme::Begin();
  m_Slab.Release();
}

void
SyNScheme::BeginLevel(const DiffeomorphicProblem & problem, const DiffeomorphicSettings & settings, int number)
{
  const LevelGrid level = MakeShrunkGrid(problem, settings, GetShrinkFactors(problem, settings, number));
  const LevelGrid cut = CutLevel(level, m_Workspace.team.slabs, problem, settings);
  const auto      pairs = MakeSources(problem, settings, number);
  m_Forces.BeginLevel(problem, settings, pairs, number, cut);
  this->BeginFields(level, cut, problem, settings);
}

void
SyNScheme::BeginFields(const LevelGrid &             level,
                       const LevelGrid &             cut,
                       const DiffeomorphicProblem &  problem,
                       const DiffeomorphicSettings & settings)
{
  if (m_Slab.IsCut())
  {
    this->ForEachField([this](SideField & field) { m_Slab.Collect(field); });
  }
  this->SetLevel(cut, settings);
  const LevelGrid before = m_Slab.GetWhole();
  m_Slab.BeginLevel(level, cut.slab);
  m_Inverter.BeginLevel();
  // The last registration's inverse may have left one.
  ReserveIf(settings.syn.averagesGradients, *m_Workspace.queue, m_OtherUpdate, CountBytes(m_Level.grid));
  ReserveFactors(*m_Workspace.queue, m_Ones);
  Reserve(*m_Workspace.queue, m_Workspace.first, CountBytes(level.grid));
  this->BeginSide(m_Fixed, before, level, problem.fixedState);
  this->BeginSide(m_Moving, before, level, problem.movingState);
  this->ForEachField([this](SideField & field) {
    // Nothing is known of it.
    field.reach = std::numeric_limits<double>::infinity();
    m_Slab.LimitReach(field);
  });
}

bool
SyNScheme::Has(MiddleRole role) const
{
  const TeamMember * const member = m_Workspace.team.sides;
  return member == nullptr || GetRole(*member) == role;
}

bool
SyNScheme::IsFirstOfSlabs() const
{
  const TeamMember * const member = m_Workspace.team.slabs;
  return member == nullptr || member->GetNumber() == 0;
}

bool
SyNScheme::HasDeformation() const
{
  return this->Has(MiddleRole::AsGiven) && this->IsFirstOfSlabs();
}

template <typename TWork>
void
SyNScheme::ForEachField(const TWork & work)
{
  for (const MiddleRole role : { MiddleRole::AsGiven, MiddleRole::Exchanged })
  {
    if (this->Has(role))
    {
      Side & side = role == MiddleRole::AsGiven ? m_Fixed : m_Moving;
      work(side.toMiddle);
      work(side.fromMiddle);
    }
  }
}

void
SyNScheme::BeginSide(Side & side, LevelGrid before, const LevelGrid & level, const std::optional<MiddleState> & state)
{
  if (!this->Has(&side == &m_Fixed ? MiddleRole::AsGiven : MiddleRole::Exchanged))
  {
    side = {};
    return;
  }
  if (before.grid.dimension == 0 && state)
  {
    before = MakeLevelGrid(level.grid.dimension, state->size, state->indexToPoint);
    UploadField(*m_Workspace.queue, before, state->toMiddle, side.toMiddle.vectors);
    UploadField(*m_Workspace.queue, before, state->fromMiddle, side.fromMiddle.vectors);
  }
  CarryField(m_Workspace, before, level, FieldEdge::IsZero, side.toMiddle.vectors);
  CarryField(m_Workspace, before, level, FieldEdge::IsZero, side.fromMiddle.vectors);
}

void
SyNScheme::Move(const DiffeomorphicSettings & settings, int t)
{
  if (this->Has(MiddleRole::AsGiven))
  {
    m_Slab.Surround(m_Fixed.fromMiddle, m_Slab.GetHalo());
    m_Forces.ResampleFixed(m_Slab.GetHeld(m_Fixed.fromMiddle), *m_Workspace.first);
  }
  if (this->Has(MiddleRole::Exchanged))
  {
    m_Slab.Surround(m_Moving.fromMiddle, m_Slab.GetHalo());
    m_Forces.ResampleMoving(m_Slab.GetHeld(m_Moving.fromMiddle), *m_Workspace.first);
  }
  m_Forces.ExchangeImages();
  m_Forces.SetRanges(t);
  if (settings.syn.averagesGradients)
  {
    this->MoveByAverages(settings, t);
  }
  else
  {
    Memory & update = *m_Workspace.first;
    for (const MiddleRole role : { MiddleRole::AsGiven, MiddleRole::Exchanged })
    {
      if (this->Has(role))
      {
        this->MakeUpdateOf(settings, role, t, update);
        this->MoveSide(role == MiddleRole::AsGiven ? m_Fixed : m_Moving, *m_Factors, update, settings.step);
      }
    }
  }
  m_Forces.ExchangeValues(t);
  m_Inverter.Finish();
}

void
SyNScheme::MoveByAverages(const DiffeomorphicSettings & settings, int t)
{
  Queue &            queue = *m_Workspace.queue;
  const std::int64_t elements = 3 * kernels::CountFieldVoxels(&m_Level.grid);
  Reserve(queue, m_OtherUpdate, CountBytes(m_Level.grid)); // averages may begin within a level
  Memory &   average = *m_OtherUpdate;
  const auto make = [&](MiddleRole role, Memory & update) {
    if (this->Has(role))
    {
      this->MakeUpdateOf(settings, role, t, update);
      ScaleField(queue, elements, *m_Factors, update);
    }
  };
  make(MiddleRole::AsGiven, average);
  make(MiddleRole::Exchanged, *m_Workspace.first);
  if (TeamMember * const member = m_Workspace.team.sides)
  {
    const bool hasFixed = this->Has(MiddleRole::AsGiven);
    Memory &   own = hasFixed ? average : *m_Workspace.first;
    Memory &   other = hasFixed ? *m_Workspace.first : average;
    member->Exchange(queue, &own, &other, CountBytes(m_Level.grid));
  }
  AddFields(queue, elements, MakeWeights(1, -1), average, *m_Workspace.first, average);
  if (this->Has(MiddleRole::AsGiven))
  {
    this->MoveSide(m_Fixed, *m_Ones, average, 2 * settings.step);
  }
  if (this->Has(MiddleRole::Exchanged))
  {
    AddFields(queue, elements, MakeWeights(-1, 0), average, average, *m_Workspace.first);
    this->MoveSide(m_Moving, *m_Ones, *m_Workspace.first, 2 * settings.step);
  }
}

void
SyNScheme::MakeUpdateOf(const DiffeomorphicSettings & settings, MiddleRole role, int t, Memory & update)
{
  int          sign = 1;
  Memory &     derivative = m_Forces.Enqueue(role, t, sign);
  Memory &     second = this->GetSecondArray(settings, derivative);
  const double length = sign * settings.step;
  this->MakeUpdate(settings, derivative, update, second, update, length, kernels::FactorOfOuter);
}

void
SyNScheme::MoveSide(Side & side, const Memory & factors, const Memory & update, double longest)
{
  m_Slab.LimitReach(side.toMiddle);
  m_Slab.LimitReach(side.fromMiddle);
  const Memory & readable = m_Slab.SurroundUpdate(update, side.toMiddle.reach);
  ForEachItem<kernels::ComposeFieldsKernel>(*m_Workspace.queue,
                                            m_Slab.CountOwn(),
                                            Precision::Single,
                                            m_Slab.GetGrid(),
                                            Input<float>(factors),
                                            Input<RealNumber>(readable),
                                            Input<RealNumber>(m_Slab.GetOwn(side.toMiddle)),
                                            Output<RealNumber>(*side.toMiddle.vectors, 3 * m_Slab.GetFirst()));
  side.toMiddle.reach += m_Slab.ToPlanes(longest);
  if (this->SmoothsField())
  {
    this->SmoothSide(side);
  }
  m_Inverter.Enqueue(&side == &m_Fixed ? 0 : 1, side.toMiddle, side.fromMiddle);
}

void
SyNScheme::SmoothSide(Side & side)
{
  if (!m_Slab.IsCut())
  {
    Memory & field = *side.toMiddle.vectors;
    m_FieldSmoother.Smooth(field, *m_Workspace.first, m_Forces.GetScratch(), field);
    return;
  }
  Reserve(*m_Workspace.queue, m_Workspace.second, CountBytes(m_Level.grid));
  Memory & held = *m_Workspace.second;
  m_Slab.Surround(side.toMiddle, m_Slab.GetHalo());
  m_Slab.LoadHeld(side.toMiddle, held);
  m_FieldSmoother.Smooth(held, *m_Workspace.first, m_Forces.GetScratch(), held);
  m_Slab.StoreOwn(held, side.toMiddle);
}

void
SyNScheme::CollectFields()
{
  if (m_Slab.IsCut())
  {
    this->ForEachField(
      [this](SideField & field) { this->IsFirstOfSlabs() ? m_Slab.Collect(field) : m_Slab.Give(field); });
    m_Level = m_Slab.GetWhole();
    m_Slab.BeginLevel(m_Level, m_Level.slab);
  }
  TeamMember * const member = m_Workspace.team.sides;
  if (member == nullptr || !this->IsFirstOfSlabs())
  {
    return;
  }
  const bool takes = this->HasDeformation();
  if (takes)
  {
    // The other side's fields take their place.
    m_Forces.Release();
  }
  const std::size_t bytes = CountBytes(m_Level.grid);
  for (SideField * field : { &m_Moving.toMiddle, &m_Moving.fromMiddle })
  {
    if (takes)
    {
      Reserve(*m_Workspace.queue, field->vectors, bytes);
    }
    Memory * const vectors = field->vectors.get();
    member->Exchange(*m_Workspace.queue, takes ? nullptr : vectors, takes ? vectors : nullptr, bytes);
  }
}

void
SyNScheme::ComposeHalves(const Side & inner, const Side & outer, Memory & out)
{
  ForEachItem<kernels::ComposeFieldsKernel>(*m_Workspace.queue,
                                            kernels::CountFieldVoxels(&m_Level.grid),
                                            Precision::Single,
                                            m_Level.grid,
                                            Input<float>(*m_Ones),
                                            Input<RealNumber>(*outer.fromMiddle.vectors),
                                            Input<RealNumber>(*inner.toMiddle.vectors),
                                            Output<RealNumber>(out));
}

const Memory &
SyNScheme::MakeField(DeformationField field)
{
  switch (field)
  {
    case DeformationField::FixedToMiddle:
      return *m_Fixed.toMiddle.vectors;
    case DeformationField::MiddleToFixed:
      return *m_Fixed.fromMiddle.vectors;
    case DeformationField::MovingToMiddle:
      return *m_Moving.toMiddle.vectors;
    case DeformationField::MiddleToMoving:
      return *m_Moving.fromMiddle.vectors;
    case DeformationField::Forward:
      this->ComposeHalves(m_Fixed, m_Moving, this->ReserveFirst());
      break;
    case DeformationField::Inverse:
      this->ComposeHalves(m_Moving, m_Fixed, this->ReserveFirst());
      break;
  }
  return *m_Workspace.first;
}

InvertedDeformation
SyNScheme::MakeInverse()
{
  Memory & deformation = this->ReserveDeformation();
  Memory & inverse = this->ReserveFirst();
  this->ComposeHalves(m_Fixed, m_Moving, deformation);
  this->ComposeHalves(m_Moving, m_Fixed, inverse);
  Reserve(*m_Workspace.queue, m_Workspace.second, CountErrorBytes(m_Level.grid));
  this->RefineInverse(deformation, inverse, *m_Workspace.second);
  return { deformation, inverse };
}

void
SyNScheme::FreeForces()
{
  m_Forces.Release();
  m_Slab.Release();
  m_OtherUpdate.reset();
}

Memory &
SyNScheme::ReserveDeformation()
{
  if (m_Forces.HasScratch())
  {
    return m_Forces.GetScratch();
  }
  if (Memory * const spare = m_Slab.GetSpare())
  {
    return *spare;
  }
  Reserve(*m_Workspace.queue, m_OtherUpdate, CountBytes(m_Level.grid));
  return *m_OtherUpdate;
}

std::size_t
SyNScheme::GetDeviceBytes() const
{
  std::size_t bytes =
    this->GetUpdateBytes() + m_Forces.GetDeviceBytes() + m_Inverter.GetDeviceBytes() + m_Slab.GetDeviceBytes();
  for (const MemoryPointer * array : { &m_Fixed.toMiddle.vectors,
                                       &m_Fixed.fromMiddle.vectors,
                                       &m_Moving.toMiddle.vectors,
                                       &m_Moving.fromMiddle.vectors,
                                       &m_OtherUpdate,
                                       &m_Ones })
  {
    bytes += SizeOf(*array);
  }
  return bytes;
}

kernels::FieldGrid
SyNScheme::PlanLevel(const DiffeomorphicProblem &  problem,
                     const DiffeomorphicSettings & settings,
                     int                           number,
                     MemoryLedger &                ledger)
{
  const LevelGrid level = MakeShrunkGrid(problem, settings, GetShrinkFactors(problem, settings, number));
  const LevelGrid cut = CutLevel(level, m_Workspace.team.slabs, problem, settings);
  m_Forces.PlanLevel(MakeSources(problem, settings, number),
                     settings.iterations[static_cast<std::size_t>(number)],
                     cut,
                     ledger);
  this->PlanUpdates(cut.grid, settings, ledger);
  const std::size_t field = CountBytes(level.grid);
  const std::size_t held = CountBytes(cut.grid);
  if (number == 0 && problem.fixedState)
  {
    this->PlanSides(3 * sizeof(float) * static_cast<std::size_t>(CountOf(problem.fixedState->size)), ledger);
  }
  ledger.Reserve("scratch: first field", field);
  ledger.Reserve("scratch: update of all planes", cut.slab.IsWhole() ? 0 : field);
  this->PlanSides(field, ledger);
  ledger.Reserve("scratch: other update", settings.syn.averagesGradients ? held : 0);
  const bool hasUnsmoothedShare =
    ComputeUnsmoothedShare(settings.updateSigma * settings.updateSigma) > 0 && settings.updateSigma > 0;
  if ((hasUnsmoothedShare && !HasWeights(settings)) || (!cut.slab.IsWhole() && settings.fieldSigma > 0))
  {
    ledger.Reserve("scratch: second field", held);
  }
  if (number + 1 == static_cast<int>(settings.iterations.size()))
  {
    this->PlanCollectedFields(level, cut, ledger);
  }
  return level.grid;
}

void
SyNScheme::PlanSides(std::size_t field, MemoryLedger & ledger) const
{
  if (this->Has(MiddleRole::AsGiven))
  {
    ledger.Reserve("fields: fixed to middle", field);
    ledger.Reserve("fields: middle to fixed", field);
  }
  if (this->Has(MiddleRole::Exchanged))
  {
    PlanMovingSide(field, ledger);
  }
}

void
SyNScheme::PlanCollectedFields(const LevelGrid & level, const LevelGrid & cut, MemoryLedger & ledger) const
{
  if (!this->HasDeformation())
  {
    return;
  }
  const bool isOfTeam = m_Workspace.team.sides != nullptr;
  if (isOfTeam)
  {
    MiddleForces::PlanRelease(ledger);
  }
  const std::size_t field = CountBytes(level.grid);
  PlanMovingSide(field, ledger);
  // See ReserveDeformation().
  ledger.Reserve("scratch: other update", isOfTeam && cut.slab.IsWhole() ? field : 0);
  ledger.Reserve("scratch: second field", CountErrorBytes(level.grid));
}

} // namespace gpureg
