// SPDX-License-Identifier: Apache-2.0
#include "engine/transform/ChainOnDevice.h"

#include "engine/transform/FieldVectorKernels.h"
#include "engine/transform/FindPlanes.h"
#include "engine/transform/PackedVectors.h"
#include "engine/runtime/Backend.h"
#include "engine/runtime/ForEachItem.h"
#include "engine/runtime/Transfer.h"

#include "gpureg/core/Error.h"
#include "gpureg/transform/DeviceField.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <utility>

namespace gpureg
{

namespace
{
/** The support of a cubic B-spline reaches two control points beyond a cell, and rounding may add one. */
constexpr int GridMargin = 3;

/** Returns a filler of a field's Jacobians. Converts Jacobians of points to derivatives of the position in the next grid with respect to
 *  the position in the field's grid. The arguments must outlive the filler. */
Filler
MakeJacobianFiller(const MatrixFiller & jacobians, const Matrix3 & behind, const Matrix3 & fromGrid)
{
  return [&](std::int64_t first, std::int64_t count, void * out) {
    auto * packed = static_cast<float *>(out);
    for (std::int64_t i = 0; i < count; ++i)
    {
      Matrix3 jacobian;
      jacobians(first + i, 1, jacobian.data());
      for (const double entry : Multiply(behind, Multiply(jacobian, fromGrid)))
      {
        *packed++ = static_cast<float>(entry);
      }
    }
  };
}

/** Returns the largest magnitude of each component of the vectors; infinity where a component is not a number. */
std::array<double, 3>
ComputeLargest(const kernels::float4 * vectors, std::int64_t count)
{
  std::array<double, 3> largest{};
  const auto            include = [&largest](std::size_t r, float value) {
    const double size = std::abs(value);
    largest[r] = size <= largest[r] ? largest[r] : (size > largest[r] ? size : std::numeric_limits<double>::infinity());
  };
  for (std::int64_t i = 0; i < count; ++i)
  {
    include(0, vectors[i].x);
    include(1, vectors[i].y);
    include(2, vectors[i].z);
  }
  return largest;
}

/** Returns bounds of the components of a matrix' products with vectors whose components are at most largest. */
std::array<double, 3>
BoundProducts(const Matrix3 & matrix, double largest)
{
  // Floats are rounded.
  constexpr double      Slack = 1 + 1e-6;
  std::array<double, 3> bounds{};
  for (std::size_t r = 0; r < 3; ++r)
  {
    const double sum = std::abs(matrix[3 * r]) + std::abs(matrix[3 * r + 1]) + std::abs(matrix[3 * r + 2]);
    bounds[r] = std::isfinite(largest) ? Slack * sum * largest : std::numeric_limits<double>::infinity();
  }
  return bounds;
}

/** Checks that the fields on devices are those that their grids describe. */
void
CheckFields(const TransformChain & chain)
{
  for (const ChainStep & step : chain.steps)
  {
    if (step.grid.field &&
        (step.grid.kind != GridKind::Field || step.grid.field->GetDescription().size != step.grid.size))
    {
      throw BadInputError("a grid has a field on a device of another size or kind than its own");
    }
  }
}

/** Returns the source of a grid's vectors; without a key if it is unknown. */
Source
GetSourceOf(const DisplacementGrid & grid)
{
  Source source = grid.source;
  if (source.key.empty() && grid.field)
  {
    source = {};
    source.key = grid.field->GetKey();
  }
  return source;
}

std::int64_t
CountRows(const ChainedGrid & grid)
{
  return static_cast<std::int64_t>(grid.size[1]) * grid.size[2];
}
} // namespace

void
ChainOnDevice::SetChain(const ChainedGrid & grid, bool isFixedPoint)
{
  CheckFields(grid.transform);
  m_Grid = &grid;
  m_HasVectors = m_HasVectors && isFixedPoint == m_IsFixedPoint;
  m_IsFixedPoint = isFixedPoint;
  m_Merged = MergeChain(grid);
  m_HasParts = false;

  const Source                     source = GetSource();
  const ResidentSource::Comparison compared = m_Resident.Compare(source, m_Queue.GetParallelFor());
  if (!compared.isSame)
  {
    m_HasVectors = false;
    m_Largest.assign(grid.transform.steps.size(), {});
  }
  m_Resident.Remember(source, compared);
}

Source
ChainOnDevice::GetSource() const
{
  const auto & steps = m_Grid->transform.steps;
  Source       source;
  for (std::size_t k = 0; k < steps.size(); ++k)
  {
    const DisplacementGrid & grid = steps[k].grid;
    if (CountOf(grid.size) == 0)
    {
      // A grid without vectors has no effect, whatever its matrix is.
      continue;
    }
    const Source own = GetSourceOf(grid);
    if (own.key.empty())
    {
      return {};
    }
    source.isKeyTrusted = source.isKeyTrusted && own.isKeyTrusted;
    source.memory.insert(source.memory.end(), own.memory.begin(), own.memory.end());
    source.key.push_back(own.key.size());
    source.key.insert(source.key.end(), own.key.begin(), own.key.end());
    source.key.insert(source.key.end(), grid.size.begin(), grid.size.end());
    for (const double value : m_Merged.vectorMatrices[k])
    {
      AddToKey(source.key, value);
    }
  }
  return source;
}

int
ChainOnDevice::GetPlaneAxis() const
{
  return m_Grid->transform.steps.front().grid.size[2] > 1 ? 2 : 1;
}

int
ChainOnDevice::CountPlanes() const
{
  return m_Merged.parts.empty() ? 0
                                : m_Grid->transform.steps.front().grid.size[static_cast<std::size_t>(GetPlaneAxis())];
}

std::int64_t
ChainOnDevice::CountVectorsOfPlane() const
{
  return m_Merged.parts.empty() ? 0 : CountOf(m_Grid->transform.steps.front().grid.size) / CountPlanes();
}

std::size_t
ChainOnDevice::GetVectorBytes() const
{
  return m_IsFixedPoint ? sizeof(FixedPointMove) : sizeof(kernels::float4);
}

std::size_t
ChainOnDevice::GetPlaneBytes() const
{
  return static_cast<std::size_t>(CountVectorsOfPlane()) * GetVectorBytes();
}

std::size_t
ChainOnDevice::GetPartBytes() const
{
  return m_Merged.parts.size() * sizeof(kernels::ChainPart);
}

std::size_t
ChainOnDevice::GetOtherVectorBytes() const
{
  std::size_t bytes = 0;
  for (std::size_t k = 1; k < m_Merged.parts.size(); ++k)
  {
    bytes += static_cast<std::size_t>(CountOf(m_Grid->transform.steps[k].grid.size)) * GetVectorBytes();
  }
  return bytes;
}

PlaneRange
ChainOnDevice::FindPlanesOf(const RowRange & rows) const
{
  const kernels::ChainPart & part = m_Merged.parts.front();
  // A voxel of the output has its own vector, and needs no other one.
  const int margin = part.kind == kernels::ChainPartIsOfOutput ? 0 : GridMargin;
  return FindPlanes(part.toGrid, GetPlaneAxis(), m_Grid->size, rows, 0, margin, CountPlanes());
}

int
ChainOnDevice::CountPlanesForRows(std::int64_t rowCount) const
{
  int                most = 0;
  const std::int64_t rows = CountRows(*m_Grid);
  for (std::int64_t first = 0; first < rows && !m_Merged.parts.empty(); first += rowCount)
  {
    most = std::max(most, FindPlanesOf({ first, std::min(rowCount, rows - first) }).GetCount());
  }
  return most;
}

void
ChainOnDevice::SetPlanes(int planes, bool wantsReach)
{
  // Vectors that were uploaded without a search for the largest ones are uploaded again.
  m_HasVectors = m_HasVectors && (m_WantsReach || !wantsReach);
  m_WantsReach = wantsReach;
  if (m_Merged.parts.empty())
  {
    return;
  }
  // The array has at least one vector, so that it exists.
  const std::size_t bytes =
    std::max(GetVectorBytes(), static_cast<std::size_t>(planes) * GetPlaneBytes() + GetOtherVectorBytes());
  if (planes != m_Planes || SizeOf(m_Arrays.vectors) < bytes)
  {
    m_HasVectors = false;
    Reserve(m_Queue, m_Arrays.vectors, bytes);
    m_Planes = planes;
  }
  Reserve(m_Queue, m_Arrays.parts, GetPartBytes());
  const std::int64_t moved = m_Planes * CountVectorsOfPlane() - CountOf(m_Grid->transform.steps.front().grid.size);
  for (std::size_t k = 1; k < m_Merged.parts.size(); ++k)
  {
    m_Merged.parts[k].firstVector += moved;
  }
}

void
ChainOnDevice::Load(const RowRange & rows)
{
  if (m_Merged.parts.empty())
  {
    return;
  }
  const PlaneRange wanted = m_Planes == CountPlanes() ? PlaneRange{ 0, m_Planes } : FindPlanesOf(rows);
  const bool       hasVectors = std::exchange(m_HasVectors, false);
  if (!hasVectors)
  {
    m_HasJacobians = false;
    for (std::size_t k = 1; k < m_Merged.parts.size(); ++k)
    {
      MakeVectors(k, m_Merged.parts[k].firstVector, 0, CountOf(m_Grid->transform.steps[k].grid.size));
    }
  }
  if (!hasVectors || wanted.first < m_Loaded.first || wanted.end > m_Loaded.end)
  {
    MakeVectors(0, 0, wanted.first * CountVectorsOfPlane(), wanted.GetCount() * CountVectorsOfPlane());
    m_Loaded = wanted;
    m_HasParts = false;
  }
  m_HasVectors = true;
  if (!m_HasParts)
  {
    m_Merged.parts.front().firstVector = -m_Loaded.first * CountVectorsOfPlane();
    UploadParts();
    m_HasParts = true;
  }
}

void
ChainOnDevice::LoadJacobians()
{
  if (m_HasJacobians)
  {
    return;
  }
  const auto & steps = m_Grid->transform.steps;
  ReserveExactly(m_Queue, m_Arrays.jacobians, SizeOf(m_Arrays.vectors) / GetVectorBytes() * 9 * sizeof(float));
  for (std::size_t k = 0; k < steps.size(); ++k)
  {
    if (steps[k].grid.jacobians)
    {
      UploadArray(m_Queue,
                  *m_Arrays.jacobians,
                  static_cast<std::size_t>(m_Merged.parts[k].firstVector) * 9 * sizeof(float),
                  9 * sizeof(float),
                  CountOf(steps[k].grid.size),
                  MakeJacobianFiller(steps[k].grid.jacobians, m_Merged.behind[k], m_Merged.fromGrid[k]));
    }
  }
  m_HasJacobians = true;
}

void
ChainOnDevice::UploadParts()
{
  UploadArray(m_Queue, *m_Arrays.parts, m_Merged.parts);
}

void
ChainOnDevice::MakeVectors(std::size_t part, std::int64_t target, std::int64_t first, std::int64_t count)
{
  ++m_VectorStamp;
  m_Largest[part] = {};
  const auto &    field = m_Grid->transform.steps[part].grid.field;
  const Backend & backend = m_Queue.GetBackend();
  // Without double precision the products would have other bits than the host's.
  if (field && field->IsOn(backend) && backend.HasDoubles())
  {
    PackVectors(part, target, first, count);
  }
  else
  {
    UploadVectors(part, target, first, count);
  }
}

void
ChainOnDevice::PackVectors(std::size_t part, std::int64_t target, std::int64_t first, std::int64_t count)
{
  const DeviceField &   field = *m_Grid->transform.steps[part].grid.field;
  const Matrix3 &       matrix = m_Merged.vectorMatrices[part];
  const auto            vectors = Input<float>(field.GetMemory(), 3 * first);
  kernels::FieldPacking packing{};
  std::copy(matrix.begin(), matrix.end(), packing.matrix);
  packing.farthest = FarthestVoxel;
  if (m_IsFixedPoint)
  {
    ForEachItem<kernels::PackFieldVectorInFixedPointKernel>(
      m_Queue, count, packing, vectors, Output<kernels::i64>(*m_Arrays.vectors, 3 * target));
  }
  else
  {
    ForEachItem<kernels::PackFieldVectorKernel>(
      m_Queue, count, packing, vectors, Output<kernels::float4>(*m_Arrays.vectors, target));
  }
  m_Largest[part] = BoundProducts(matrix, field.GetDescription().largest);
}

void
ChainOnDevice::UploadVectors(std::size_t part, std::int64_t target, std::int64_t first, std::int64_t count)
{
  const DisplacementGrid & grid = m_Grid->transform.steps[part].grid;
  std::mutex               mutex;
  std::vector<float>       downloaded;
  VectorFiller             vectors = grid.vectors;
  if (!vectors && grid.field)
  {
    downloaded.resize(3 * static_cast<std::size_t>(count));
    grid.field->Take(
      first,
      count,
      [&](std::int64_t begin, std::int64_t number, const float * in) {
        std::copy_n(in, 3 * number, downloaded.begin() + 3 * (begin - first));
      },
      m_Queue.GetParallelFor());
    vectors = [&](std::int64_t begin, std::int64_t number, double * out) {
      std::copy_n(downloaded.begin() + 3 * (begin - first), 3 * number, out);
    };
  }
  const Matrix3 & matrix = m_Merged.vectorMatrices[part];
  const Filler    fill = m_IsFixedPoint ? MakePackedFiller<FixedPointMove>(vectors, matrix)
                                        : MakePackedFiller<kernels::float4>(vectors, matrix);
  UploadArray(m_Queue,
              *m_Arrays.vectors,
              static_cast<std::size_t>(target) * GetVectorBytes(),
              GetVectorBytes(),
              count,
              [&](std::int64_t begin, std::int64_t now, void * out) {
                fill(first + begin, now, out);
                if (m_WantsReach)
                {
                  const auto largest = ComputeLargest(static_cast<const kernels::float4 *>(out), now);
                  const std::lock_guard<std::mutex> lock(mutex);
                  for (std::size_t r = 0; r < 3; ++r)
                  {
                    m_Largest[part][r] = std::max(m_Largest[part][r], largest[r]);
                  }
                }
              });
}

std::array<double, 3>
ChainOnDevice::GetReach() const
{
  std::array<double, 3> reach{};
  for (std::size_t k = 0; k < m_Merged.parts.size(); ++k)
  {
    std::array<double, 3> next = m_Largest[k];
    for (std::size_t r = 0; r < 3; ++r)
    {
      for (std::size_t c = 0; c < 3; ++c)
      {
        const double carry = std::abs(static_cast<double>(m_Merged.parts[k].carry[3 * r + c]));
        // Kernels multiply infinity by 0 there, which leads to any position.
        next[r] += std::isinf(reach[c]) ? reach[c] : carry * reach[c];
      }
    }
    reach = next;
  }
  return reach;
}

void
ChainOnDevice::Release()
{
  m_HasVectors = false;
  m_HasParts = false;
  m_Planes = 0;
  m_Arrays.parts.reset();
  m_Arrays.vectors.reset();
  m_Arrays.jacobians.reset();
}

} // namespace gpureg
