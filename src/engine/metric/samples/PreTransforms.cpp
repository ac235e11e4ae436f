// SPDX-License-Identifier: Apache-2.0
#include "engine/metric/samples/PreTransforms.h"

#include "engine/metric/samples/AddPartials.h"
#include "engine/transform/FixedPoint.h"
#include "engine/transform/PackedVectors.h"
#include "engine/runtime/ForEachItem.h"
#include "engine/runtime/MakePasses.h"

#include <algorithm>
#include <cstring>

namespace gpureg
{

namespace
{
/** Returns the matrix of a chain's affine part, from indices to points. */
Matrix3
ComputeAffineMatrix(const ChainedGrid & grid)
{
  Matrix3 matrix = Multiply(grid.transform.first.matrix, grid.outputToPoint.matrix);
  for (const ChainStep & step : grid.transform.steps)
  {
    matrix = Multiply(step.map.matrix, matrix);
  }
  return matrix;
}

bool
AreSame(const std::vector<kernels::ChainPart> & a, const std::vector<kernels::ChainPart> & b)
{
  // kernels::ChainPart has no padding, so bytes can be compared.
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), sizeof(kernels::ChainPart) * a.size()) == 0;
}

bool
AreSame(const MovedSamples & a, const MovedSamples & b)
{
  return a.stamp == b.stamp && a.points == b.points && a.pointCount == b.pointCount && a.virtualSize == b.virtualSize;
}
} // namespace

PreTransforms::PreTransforms(Queue & queue)
  : m_Queue(queue)
  , m_Passes(MakePasses<PreTransformPasses>(queue))
  , m_Chain(queue, m_Arrays)
{}

PreTransforms::~PreTransforms() = default;

void
PreTransforms::SetGrids(const ChainedGrid &  grid,
                        const MovedSamples & samples,
                        const Matrix3 &      toMoves,
                        bool                 isFixedPoint)
{
  m_FromVirtual = ComputeAffineMatrix(grid);
  m_ToMoves = toMoves;
  m_Chain.SetChain(grid, isFixedPoint);
  m_Chain.SetPlanes(m_Chain.CountPlanes(), false);
  m_Chain.Load({});
  m_IsMade = m_IsMade && isFixedPoint == m_IsFixedPoint && AreSame(samples, m_Samples) &&
             m_VectorStamp == m_Chain.GetVectorStamp() && AreSame(m_Parts, m_Chain.GetMerged().parts);
  m_IsFixedPoint = isFixedPoint;
  m_Samples = samples;
  m_VectorStamp = m_Chain.GetVectorStamp();
  m_Parts = m_Chain.GetMerged().parts;
}

kernels::PreTransformArguments
PreTransforms::MakeArguments(const MovedSamples & samples) const
{
  kernels::PreTransformArguments a{};
  a.shape = kernels::MakeVolumeShape(samples.virtualSize[0], samples.virtualSize[1], samples.virtualSize[2]);
  a.arePoints = samples.points != nullptr;
  a.partCount = static_cast<int>(m_Parts.size());
  return a;
}

void
PreTransforms::MoveInFixedPoint(const MovedSamples & samples,
                                MemoryPointer &      fixedPointMoves,
                                MemoryPointer &      displacement)
{
  const std::int64_t count = samples.GetCount();
  ReserveExactly(m_Queue, fixedPointMoves, sizeof(FixedPointMove) * static_cast<std::size_t>(count));
  ReserveExactly(m_Queue, displacement, 3 * sizeof(float) * static_cast<std::size_t>(count));
  ForEachItem<kernels::MoveByPreTransformsInFixedPointKernel>(m_Queue,
                                                              count,
                                                              this->MakeArguments(samples),
                                                              Input<kernels::i64>(samples.points),
                                                              Input<kernels::ChainPart>(m_Arrays.parts.get()),
                                                              Input<kernels::i64>(m_Arrays.vectors.get()),
                                                              Output<kernels::i64>(*fixedPointMoves),
                                                              Output<float>(*displacement));
}

void
PreTransforms::MoveInFloats(const MovedSamples & samples, Memory & displacement)
{
  ForEachItem<kernels::MoveByPreTransformsKernel>(m_Queue,
                                                  samples.GetCount(),
                                                  this->MakeArguments(samples),
                                                  Input<kernels::i64>(samples.points),
                                                  Input<kernels::ChainPart>(m_Arrays.parts.get()),
                                                  Input<kernels::float4>(m_Arrays.vectors.get()),
                                                  Output<float>(displacement));
}

void
PreTransforms::Move(Memory & displacement)
{
  if (m_IsFixedPoint)
  {
    if (!m_IsMade)
    {
      this->MoveInFixedPoint(m_Samples, m_FixedPointMoves, m_Displacement);
    }
    kernels::PreTransformCarry carry;
    std::transform(m_ToMoves.begin(), m_ToMoves.end(), carry.entries, [](double entry) { return ToFixedPoint(entry); });
    ForEachItem<kernels::CarryByPreTransformsKernel>(m_Queue,
                                                     m_Samples.GetCount(),
                                                     carry,
                                                     Input<kernels::i64>(*m_FixedPointMoves),
                                                     Output<kernels::i64>(displacement));
  }
  else if (!m_IsMade)
  {
    this->MoveInFloats(m_Samples, displacement);
  }
  m_IsMade = true;
}

void
PreTransforms::SumForces(const Memory & forces, const Memory & displacement, const Vector3 & centre)
{
  this->Sum(m_Samples, forces, m_IsFixedPoint ? m_Displacement.get() : &displacement, centre);
}

void
PreTransforms::SumForcesUnmoved(const MovedSamples & samples, const Memory & forces, const Vector3 & centre)
{
  this->Sum(samples, forces, nullptr, centre);
}

void
PreTransforms::SumForcesAt(const MovedSamples & places, const Memory & forces, const Vector3 & centre)
{
  if (m_IsFixedPoint)
  {
    this->MoveInFixedPoint(places, m_PlacesInFixedPoint, m_PlaceDisplacement);
  }
  else
  {
    ReserveExactly(m_Queue, m_PlaceDisplacement, 3 * sizeof(float) * static_cast<std::size_t>(places.GetCount()));
    this->MoveInFloats(places, *m_PlaceDisplacement);
  }
  this->Sum(places, forces, m_PlaceDisplacement.get(), centre);
}

void
PreTransforms::Sum(const MovedSamples & samples,
                   const Memory &       forces,
                   const Memory *       displacement,
                   const Vector3 &      centre)
{
  m_GroupCount = m_Passes->CountGroups(samples.GetCount());
  Reserve(m_Queue, m_Partials, sizeof(float) * 2 * kernels::ForceSumCount * static_cast<std::size_t>(m_GroupCount));
  kernels::PreTransformArguments a = this->MakeArguments(samples);
  a.groupCount = m_GroupCount;
  a.areMoved = displacement != nullptr;
  if (displacement != nullptr)
  {
    const Matrix3 toVirtual = Invert(m_FromVirtual);
    std::copy(toVirtual.begin(), toVirtual.end(), a.toVirtual);
  }
  std::copy(centre.begin(), centre.end(), a.centre);
  m_Passes->SumForces(a, samples.GetCount(), samples.points, displacement, forces, *m_Partials);
}

PreTransforms::Sums
PreTransforms::DownloadSums()
{
  const std::size_t bytes = sizeof(float) * 2 * kernels::ForceSumCount * static_cast<std::size_t>(m_GroupCount);
  void * const      staging = m_Queue.GetStaging(Direction::Down, 0, bytes);
  m_Queue.Download(staging, *m_Partials, bytes);
  Sums sums{};
  // Each group's sums are followed by their rounding errors.
  AddPartials(static_cast<const float *>(staging),
              kernels::ForceSumCount,
              2 * static_cast<std::size_t>(m_GroupCount),
              sums.data());
  return sums;
}

std::int64_t
PreTransforms::GetDeviceBytes() const
{
  return static_cast<std::int64_t>(m_Chain.GetSize() + SizeOf(m_Partials) + SizeOf(m_FixedPointMoves) +
                                   SizeOf(m_Displacement) + SizeOf(m_PlacesInFixedPoint) + SizeOf(m_PlaceDisplacement));
}

} // namespace gpureg
