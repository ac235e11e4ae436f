// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/diffeomorphic/SideSlab.h"

#include "engine/registration/diffeomorphic/DeviceTeam.h"

#include <algorithm>
#include <cmath>

namespace gpureg
{

namespace
{
// How many planes a bound may exceed a measurement by: a measurement reads a field once, and each plane is 12 bytes a voxel to copy.
constexpr double MostSlack = 8;

// A place between two planes is read from both.
constexpr double PlanesOfCell = 1;
} // namespace

void
SideSlab::BeginLevel(const LevelGrid & whole, const Slab & cut)
{
  m_Level = whole;
  m_Level.slab.own = cut.own;
  m_Level.grid.firstPlane = static_cast<int>(cut.own.first);
  m_Cut = cut;
  if (this->IsCut())
  {
    Reserve(*m_Workspace.queue, m_Update, CountBytes(m_Level.grid));
    Reserve(*m_Workspace.queue, m_Largest, sizeof(float));
  }
}

LevelGrid
SideSlab::GetWhole() const
{
  LevelGrid whole = m_Level;
  whole.slab = MakeWholeSlab(m_Level.slab.planes);
  whole.grid.firstPlane = 0;
  return whole;
}

double
SideSlab::GetHalo() const
{
  return static_cast<double>(std::max(m_Cut.own.first - m_Cut.held.first, m_Cut.held.GetEnd() - m_Cut.own.GetEnd()));
}

double
SideSlab::ToPlanes(double length) const
{
  // The longest G₃·v of the vectors v of that length, where G₃ is the third row of the matrix from mm to voxels.
  double squares = 0;
  for (int d = 0; d < 3; ++d)
  {
    const double alongAxis = static_cast<double>(m_Level.grid.toIndex[6 + d]) / m_Level.grid.perSpacing[d];
    squares += alongAxis * alongAxis;
  }
  return length * std::sqrt(squares);
}

double
SideSlab::Measure(const SideField & field)
{
  m_Workspace.reducer.ComputeLargestMagnitude(
    *field.vectors, 3 * this->GetFirst(), 3 * this->CountOwn(), *m_Largest, 0);
  float largest = 0;
  m_Workspace.queue->Download(&largest, *m_Largest, sizeof(largest));
  double sum = 0;
  for (int d = 0; d < 3; ++d)
  {
    sum += std::abs(static_cast<double>(m_Level.grid.toIndex[6 + d]));
  }
  return sum * m_Workspace.team.slabs->FindLargest(largest);
}

void
SideSlab::LimitReach(SideField & field)
{
  if (this->IsCut() && !(field.reach <= field.measured + MostSlack))
  {
    field.reach = field.measured = this->Measure(field);
  }
}

void
SideSlab::GetPlanes(Memory & field, double around)
{
  const auto planes = m_Level.slab.planes;
  const bool isAll = !(around < static_cast<double>(planes)); // also if it is not a number
  m_Workspace.team.slabs->Surround(*m_Workspace.queue,
                                   m_Level,
                                   field,
                                   isAll ? planes : static_cast<std::int64_t>(std::ceil(around)));
}

void
SideSlab::Surround(SideField & field, double reach)
{
  if (this->IsCut())
  {
    this->GetPlanes(*field.vectors, reach + PlanesOfCell);
  }
}

const Memory &
SideSlab::SurroundUpdate(const Memory & update, double reach)
{
  if (!this->IsCut())
  {
    return update;
  }
  const std::int64_t first = this->GetFirst();
  this->CopyVoxels(*m_Update, first, update, first - GetVoxels(m_Level, m_Cut.held).first, this->CountOwn());
  this->GetPlanes(*m_Update, reach + PlanesOfCell);
  return *m_Update;
}

void
SideSlab::StoreOwn(const Memory & held, SideField & field)
{
  const std::int64_t first = this->GetFirst();
  this->CopyVoxels(*field.vectors, first, held, first - GetVoxels(m_Level, m_Cut.held).first, this->CountOwn());
}

void
SideSlab::LoadHeld(const SideField & field, Memory & held)
{
  const Range voxels = GetVoxels(m_Level, m_Cut.held);
  this->CopyVoxels(held, 0, *field.vectors, voxels.first, voxels.count);
}

void
SideSlab::Collect(SideField & field)
{
  this->GetPlanes(*field.vectors, static_cast<double>(m_Level.slab.planes));
}

void
SideSlab::Give(SideField & field)
{
  this->GetPlanes(*field.vectors, 0);
}

void
SideSlab::CopyVoxels(Memory & to, std::int64_t first, const Memory & from, std::int64_t firstFrom, std::int64_t count)
{
  const auto bytesOf = [](std::int64_t voxels) { return 3 * sizeof(float) * static_cast<std::size_t>(voxels); };
  m_Workspace.queue->CopyBytes(to, bytesOf(first), from, bytesOf(firstFrom), bytesOf(count));
}

} // namespace gpureg
