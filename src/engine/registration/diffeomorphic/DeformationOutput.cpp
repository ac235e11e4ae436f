// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/diffeomorphic/DeformationOutput.h"

#include "engine/registration/diffeomorphic/DeviceTeam.h"
#include "engine/runtime/Transfer.h"

#include "gpureg/core/Error.h"

#include <algorithm>
#include <string>
#include <utility>

namespace gpureg
{

DeformationOutput::DeformationOutput(SchemeWorkspace & workspace)
  : m_Workspace(workspace)
  , m_Jacobian(*workspace.queue)
  , m_Inverse(*workspace.queue)
{}

void
DeformationOutput::BeginLevel(SchemeSteps & scheme)
{
  m_Scheme = &scheme;
  m_FoldedVoxels.reset();
  m_Voxels = GetVoxels(this->GetLevel(), this->GetLevel().slab.own).count;
}

void
DeformationOutput::CheckIsRegistered() const
{
  if (m_Voxels == 0)
  {
    throw BadInputError("there is no deformation: register first");
  }
}

void
DeformationOutput::MakeRoom()
{
  // The array is there until a registration has ended.
  if (m_Workspace.first == nullptr)
  {
    m_Scheme->FreeForces();
  }
}

const Memory &
DeformationOutput::MakeField(DeformationField field)
{
  this->CheckIsRegistered();
  if (field < DeformationField::Forward || field > DeformationField::MiddleToMoving)
  {
    throw BadInputError("there is no field of number " + std::to_string(static_cast<int>(field)));
  }
  this->MakeRoom();
  return m_Scheme->MakeField(field);
}

const Memory &
DeformationOutput::MakeInverse(InverseErrors & errors)
{
  this->CheckIsRegistered();
  this->MakeRoom();
  const kernels::FieldGrid & grid = this->GetLevel().grid;
  FieldReducer &             reducer = m_Workspace.reducer;
  MemoryPointer &            scratch = m_Workspace.second;
  const InvertedDeformation  made = m_Scheme->MakeInverse();
  errors = m_Inverse.Measure(grid, made.deformation, made.inverse, reducer, scratch);
  errors.foldedVoxels =
    m_FoldedVoxels ? *m_FoldedVoxels : m_Jacobian.Measure(grid, made.deformation, reducer, scratch).foldedVoxels;
  return made.inverse;
}

std::shared_ptr<const DeviceField>
DeformationOutput::GiveAway(const Memory & field, bool isRegistering)
{
  Queue &           queue = *m_Workspace.queue;
  const LevelGrid & level = this->GetLevel();
  MemoryPointer     given;
  if (level.slab.IsWhole())
  {
    const std::size_t bytes = CountBytes(level.grid);
    const bool        givesFirst = !isRegistering && SizeOf(m_Workspace.first) == bytes;
    given = givesFirst ? std::move(m_Workspace.first) : queue.Allocate(bytes);
    if (given.get() != &field)
    {
      queue.Copy(*given, field, bytes);
    }
  }
  else if (isRegistering)
  {
    throw UnsupportedError("a field that is cut into slabs is put together behind a registration alone");
  }
  else
  {
    given = this->Collect(field);
    if (!given)
    {
      return nullptr;
    }
  }
  const Size size{ level.grid.size[0], level.grid.size[1], static_cast<int>(level.slab.planes) };
  Reserve(queue, m_Workspace.second, sizeof(float));
  m_Workspace.reducer.ComputeLargestMagnitude(*given, 0, 3 * CountOf(size), *m_Workspace.second, 0);
  float largest = 0;
  queue.Download(&largest, *m_Workspace.second, sizeof(largest));
  return std::make_shared<const DeviceField>(m_Workspace.backend,
                                             std::move(given),
                                             DeviceField::Description{
                                               level.grid.dimension, size, level.toPoint, largest });
}

MemoryPointer
DeformationOutput::Collect(const Memory & field)
{
  TeamMember * const member = GetMemberOf(m_Workspace, this->GetLevel());
  if (member == nullptr)
  {
    throw UnsupportedError("a device that has a slab of the deformation has no field of it");
  }
  if (member->GetNumber() > 0)
  {
    member->CollectPlanes(*m_Workspace.queue, this->GetLevel(), field, {});
    return nullptr;
  }
  m_Scheme->FreeForces();
  m_Workspace.FreeImageScratch();
  m_Workspace.first.reset();
  m_Workspace.second.reset();
  return member->CollectPlanes(*m_Workspace.queue, this->GetLevel(), field, { 0, this->GetLevel().slab.planes });
}

void
DeformationOutput::Pass(const Memory & field, const Taker & take)
{
  const LevelGrid & level = this->GetLevel();
  const Range       held = GetVoxels(level, level.slab.held);
  const Range       own = GetVoxels(level, level.slab.own);
  DownloadArray(*m_Workspace.queue,
                field,
                3 * sizeof(float),
                held.count,
                [&](std::int64_t first, std::int64_t count, const void * in) {
                  const std::int64_t begin = std::max(held.first + first, own.first);
                  const std::int64_t end = std::min(held.first + first + count, own.GetEnd());
                  if (begin < end)
                  {
                    take(begin, end - begin, static_cast<const float *>(in) + 3 * (begin - held.first - first));
                  }
                });
}

VolumeChanges
DeformationOutput::MeasureVolumes()
{
  const LevelGrid & level = this->GetLevel();
  JacobianSums      sums = m_Jacobian.Add(level.grid,
                                     GetVoxels(level, level.slab.GetOwnOfHeld()),
                                     m_Scheme->MakeField(DeformationField::Forward),
                                     m_Workspace.reducer,
                                     m_Workspace.second);
  if (TeamMember * const member = GetMemberOf(m_Workspace, level))
  {
    const auto joined = member->Sum({ sums.voxels, sums.folded, sums.logarithms, sums.squaresOfLogarithms });
    sums = { joined[0], joined[1], joined[2], joined[3], member->FindLargest(sums.mostNegative) };
  }
  return sums.Summarize();
}

void
DeformationOutput::MeasureFolding(DiffeomorphicResult & result)
{
  VolumeChanges changes = this->MeasureVolumes();
  while (changes.foldedVoxels > 0 && m_Scheme->Unfold())
  {
    changes = this->MeasureVolumes();
  }
  result.smallestDeterminant = changes.smallestDeterminant;
  result.foldedVoxels = changes.foldedVoxels;
  m_FoldedVoxels = changes.foldedVoxels;
  result.logDeterminantDeviation = changes.logDeterminantDeviation;
  if (result.foldedVoxels > 0)
  {
    result.warnings.push_back("the deformation folds at " + std::to_string(result.foldedVoxels) +
                              " voxels: smooth the field more, or take a shorter step");
  }
}

} // namespace gpureg
