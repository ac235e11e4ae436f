// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/diffeomorphic/SampledForces.h"

#include "engine/field/FieldKernels.h"
#include "engine/filter/LevelGeometry.h"
#include "engine/registration/diffeomorphic/DeviceTeam.h"
#include "engine/runtime/ForEachItem.h"

#include "gpureg/transform/TransformChain.h"

#include <algorithm>

namespace gpureg
{

namespace
{
/** Returns the forces of a similarity: those of demons are a direction by points, and no derivative. */
LevelForces
GetForces(SimilarityKind kind)
{
  return kind == SimilarityKind::Demons ? LevelForces::OfITK : LevelForces::OfValue;
}
} // namespace

SampledForces::SampledForces(const std::shared_ptr<Backend> & backend,
                             const std::shared_ptr<Queue> &   queue,
                             const SimilaritySettings &       similarity)
  : m_Core(backend, queue)
  , m_Similarity(MakeLevelSimilarity(m_Core, similarity, {}, GetForces(similarity.kind)))
{
  m_Mapping.isDisplacedOnDevice = true;
}

void
SampledForces::SetImages(const LevelGrid &    level,
                         TeamMember *         member,
                         const LevelImage &   fixed,
                         const LevelImage &   moving,
                         const DisplacedMap & initial,
                         int                  number,
                         const ParallelFor &  parallelFor)
{
  const DisplacedMap toMoving = Compose(InvertMap(moving.toPoint), initial);
  m_Level = level;
  m_Member = member;
  m_Core.parts = member;
  this->SetPlanes(level);
  m_Mapping.toMoving = Compose(toMoving.ofPoints, SkipPlanes(fixed.toPoint, level.slab.own.first));
  m_Mapping.displacementToIndex = toMoving.ofDisplacements;
  const bool areByPoints = GetForces(m_Similarity->GetDescription().kind) == LevelForces::OfITK;
  m_ByDisplacement = areByPoints ? initial.ofDisplacements : toMoving.ofDisplacements;
  m_Similarity->SetImages(fixed, moving, level.grid.dimension, number, parallelFor);
  m_Similarity->Prepare(m_Mapping);
}

void
SampledForces::SetPlanes(const LevelGrid & level)
{
  m_Similarity->SetPlanes(level.slab.IsWhole() ? std::nullopt : std::optional(level.slab.own));
}

void
SampledForces::Enqueue(
  FieldReducer &, const Memory & field, Memory &, Memory & forces, Memory & values, std::int64_t slot)
{
  const Range own = GetVoxels(m_Level, m_Level.slab.GetOwnOfHeld());
  m_Core.queue->CopyBytes(m_Core.samples.FillWithDisplacements(),
                          0,
                          field,
                          3 * sizeof(float) * static_cast<std::size_t>(own.first),
                          3 * sizeof(float) * static_cast<std::size_t>(own.count));
  m_Similarity->EnqueueForces();
  kernels::SampleForceTurn a{};
  for (std::size_t k = 0; k < 9; ++k)
  {
    // A displacement of one millimetre along axis c moves a sample by column c of the matrix, and forces point to a smaller cost.
    a.toForce[3 * (k % 3) + k / 3] = static_cast<float>(-m_Similarity->GetForceUnit() * m_ByDisplacement[k]);
  }
  ForEachItem<kernels::TurnSampleForceKernel>(*m_Core.queue,
                                              own.count,
                                              a,
                                              Input<float>(m_Similarity->GetEvaluated(),
                                                           m_Similarity->GetEvaluatedPlace()),
                                              Input<float>(m_Similarity->GetForces()),
                                              Output<float>(forces, 3 * own.first),
                                              Output<float>(values, slot));
  if (m_Member != nullptr)
  {
    // Devices of several kinds may round the joined value differently.
    m_Member->TakeOnDevice(0, *m_Core.queue, values, slot);
    m_Member->RefreshHalo(*m_Core.queue, m_Level, forces);
  }
}

std::optional<double>
SampledForces::ComputeCost(float value) const
{
  return value == GPUREG_NO_EVALUATED_VALUE
           ? std::nullopt
           : std::optional<double>(m_Similarity->GetDescription().sign * static_cast<double>(value));
}

std::size_t
SampledForces::GetDeviceBytes() const
{
  auto bytes = static_cast<std::size_t>(m_Core.samples.GetDeviceBytes());
  for (const MemoryPointer * array : m_Core.ownArrays)
  {
    bytes += SizeOf(*array);
  }
  return bytes;
}

void
SampledForces::Plan(const LevelGrid &   level,
                    const LevelImage &  fixed,
                    const LevelImage &  moving,
                    const std::string & name,
                    MemoryLedger &      ledger)
{
  this->SetPlanes(level);
  m_Similarity->PlanImages(fixed, moving, level.grid.dimension, name, ledger);
  m_Similarity->PlanEvaluation(m_Mapping, name, ledger);
}

} // namespace gpureg
