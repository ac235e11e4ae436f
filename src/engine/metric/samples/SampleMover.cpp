// SPDX-License-Identifier: Apache-2.0
#include "engine/metric/samples/SampleMover.h"

#include "engine/metric/samples/SampleLoader.h"
#include "engine/transform/InitialChain.h"
#include "engine/transform/PackedVectors.h"

#include <algorithm>

namespace gpureg
{

namespace
{
/** Checks the grids of a chain. \throws UnsupportedError if one of a chain's grids has more rows, or more voxels in a slice, than 32 bits
 *  count */
void
CheckGrids(const ChainedGrid & chain)
{
  for (const ChainStep & step : chain.transform.steps)
  {
    CheckCountable(step.grid.size, "a transform's grid");
  }
}

/** Returns the bytes of a sample's displacement. */
std::size_t
GetMoveBytes(bool isFixedPoint)
{
  return isFixedPoint ? sizeof(FixedPointMove) : 3 * sizeof(float);
}
} // namespace

ChainedGrid
SampleMover::WidenToPoints(ChainedGrid grid) const
{
  for (int & size : grid.size)
  {
    size = std::max(size, static_cast<int>(m_Samples.farthestPoint) + 1);
  }
  return grid;
}

void
SampleMover::Upload(const SampleMapping & mapping, Forces forces)
{
  CheckGrids(mapping.chain);
  const bool isFixedPoint = MovesInFixedPoint(m_Samples, mapping);
  if (!mapping.chain.transform.steps.empty())
  {
    this->UploadChain(mapping, forces, isFixedPoint);
  }
  m_Spline = mapping.spline;
  m_HasPreTransforms = mapping.preTransforms.has_value();
  m_IsDisplacedOnDevice = mapping.isDisplacedOnDevice;
  m_HasDisplacements = m_HasPreTransforms || m_Spline || mapping.displacement || m_IsDisplacedOnDevice;
  if (m_HasPreTransforms)
  {
    CheckGrids(*mapping.preTransforms);
    m_Arrays.displacement.Reserve(m_Queue, GetMoveBytes(isFixedPoint) * static_cast<std::size_t>(m_Samples.GetCount()));
    m_PreTransforms.SetGrids(this->WidenToPoints(*mapping.preTransforms),
                             m_Samples.GetMoved(m_Arrays),
                             mapping.displacementToIndex,
                             isFixedPoint);
    return;
  }
  m_PreTransforms.Forget();
  if (m_Spline)
  {
    this->UploadSpline(mapping, isFixedPoint);
  }
  else if (m_IsDisplacedOnDevice)
  {
    m_Arrays.displacement.Reserve(m_Queue, GetMoveBytes(isFixedPoint) * static_cast<std::size_t>(m_Samples.GetCount()));
  }
  else if (mapping.displacement)
  {
    m_Arrays.displacement.Upload(m_Queue,
                                 GetMoveBytes(isFixedPoint),
                                 CountOf(m_Samples.fixed.virtualSize),
                                 isFixedPoint ? MakePackedFiller<FixedPointMove>(mapping.displacementInDoubles,
                                                                                 mapping.displacementToIndex)
                                              : mapping.displacement);
  }
}

bool
SampleMover::Plan(const SampleMapping & mapping, const std::string & name, MemoryLedger & ledger)
{
  const bool isFixedPoint = MovesInFixedPoint(m_Samples, mapping);
  ledger.Reserve(name + "initial transform",
                 CountVectors(mapping.chain.transform) *
                   (isFixedPoint ? sizeof(FixedPointMove) : sizeof(kernels::float4)));
  if (mapping.spline)
  {
    m_ControlPoints.Plan(mapping.spline->grid, mapping.spline->dimension, m_Samples.GetMoved(m_Arrays), name, ledger);
  }
  if (mapping.spline || mapping.isDisplacedOnDevice)
  {
    ledger.ReserveExactly(name + "displacements",
                          GetMoveBytes(isFixedPoint) * static_cast<std::size_t>(m_Samples.GetCount()));
  }
  return mapping.isDisplacedOnDevice || (mapping.spline && !isFixedPoint);
}

void
SampleMover::UploadChain(const SampleMapping & mapping, Forces forces, bool isFixedPoint)
{
  const ChainedGrid grid = this->WidenToPoints(mapping.chain);
  m_Chain.SetChain(grid, isFixedPoint);
  m_Chain.SetPlanes(m_Chain.CountPlanes(), false);
  m_Chain.Load({});
  if (mapping.forcesFollowChain && !mapping.derivesChain && forces != Forces::None)
  {
    m_Chain.LoadJacobians();
  }
}

void
SampleMover::UploadSpline(const SampleMapping & mapping, bool isFixedPoint)
{
  const DisplacementGrid & grid = mapping.spline->grid;
  m_Spline->grid.vectors = {};
  m_ControlPoints.SetGeometry(grid, mapping.spline->dimension, m_Samples.GetMoved(m_Arrays));
  m_SplineIsFixedPoint = isFixedPoint;
  if (isFixedPoint)
  {
    m_ControlPoints.UploadPointsInFixedPoint(grid, mapping.displacementToIndex);
  }
  else if (grid.vectors)
  {
    m_ControlPoints.UploadPoints(grid);
  }
  m_Arrays.displacement.Reserve(m_Queue, GetMoveBytes(isFixedPoint) * static_cast<std::size_t>(m_Samples.GetCount()));
}

void
SampleMover::Move()
{
  if (m_Spline && m_SplineIsFixedPoint)
  {
    m_ControlPoints.MoveInFixedPoint(m_Arrays.displacement.FillWithDisplacements());
  }
  else if (m_Spline)
  {
    m_ControlPoints.Move(m_Arrays.displacement.FillWithDisplacements());
  }
  else if (m_HasPreTransforms)
  {
    m_PreTransforms.Move(m_Arrays.displacement.FillWithDisplacements());
  }
}

} // namespace gpureg
