// SPDX-License-Identifier: Apache-2.0
#include "engine/metric/samples/SampleForces.h"

#include "engine/runtime/Transfer.h"

namespace gpureg
{

void
SampleForces::Reserve()
{
  const std::size_t bytes = 3 * sizeof(float) * static_cast<std::size_t>(m_Samples.GetCount());
  // Fixed-point displacements are larger than forces: a force would overwrite another sample's displacement.
  ReserveExactly(m_Queue, m_Own, m_Mover.HasDisplacementsLikeForces() ? 0 : bytes);
}

void
SampleForces::SetPlaces(const std::vector<kernels::i64> & places)
{
  m_PlaceCount = 0;
  ++m_PlaceStamp;
  ReserveExactly(m_Queue, m_Places, sizeof(kernels::i64) * places.size());
  if (!places.empty())
  {
    UploadArray(m_Queue, *m_Places, places);
  }
  m_PlaceCount = static_cast<std::int64_t>(places.size() / 3);
}

bool
SampleForces::ApplyAdjoint(const Memory & forces, MemoryPointer & controlForces)
{
  const std::optional<OptimizedSpline> & spline = m_Mover.GetSpline();
  if (!spline)
  {
    return false;
  }
  ControlPoints & controls = this->HasPlaces() ? m_PlaceControls : m_Mover.GetControlPoints();
  if (this->HasPlaces())
  {
    m_PlaceControls.SetGeometry(spline->grid, spline->dimension, this->GetMovedPlaces());
  }
  ReserveExactly(m_Queue, controlForces, sizeof(kernels::float4) * static_cast<std::size_t>(controls.GetPointCount()));
  controls.ApplyAdjoint(forces, { 1, 0, 0, 0, 1, 0, 0, 0, 1 }, *controlForces);
  return true;
}

void
SampleForces::Sum(const Memory & forces)
{
  if (!m_Mover.HasPreTransforms())
  {
    const MovedSamples places = this->HasPlaces() ? this->GetMovedPlaces() : m_Samples.GetMoved(m_Arrays);
    m_Mover.GetPreTransforms().SumForcesUnmoved(places, forces, m_Samples.GetCentre());
  }
  else if (this->HasPlaces())
  {
    m_Mover.GetPreTransforms().SumForcesAt(this->GetMovedPlaces(), forces, m_Samples.GetCentre());
  }
  else
  {
    m_Mover.GetPreTransforms().SumForces(forces, m_Arrays.displacement.GetDisplacements(), m_Samples.GetCentre());
  }
}

ForceResult
SampleForces::DownloadSums()
{
  return { m_Mover.GetPreTransforms().DownloadSums(), m_Samples.GetCentre() };
}

} // namespace gpureg
