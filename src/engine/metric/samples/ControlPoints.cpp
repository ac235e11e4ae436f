// SPDX-License-Identifier: Apache-2.0
#include "engine/metric/samples/ControlPoints.h"

#include "gpureg/core/Error.h"

#include "engine/transform/MergedChain.h"
#include "engine/transform/PackedVectors.h"
#include "engine/runtime/ForEachItem.h"
#include "engine/runtime/MakePasses.h"
#include "engine/runtime/Transfer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

namespace gpureg
{

namespace
{
constexpr int LowestOrder = 1;
constexpr int HighestOrder = 3;
// Kernels count control points in 32 bits.
constexpr std::int64_t MostControlPoints = std::numeric_limits<int>::max();

void
CheckGrid(const DisplacementGrid & grid, int dimension)
{
  if (grid.order < LowestOrder || grid.order > HighestOrder)
  {
    throw UnsupportedError("a B-spline that is optimised has an order of 1 to 3, not " + std::to_string(grid.order) +
                           "; make one of another order");
  }
  for (int axis = 0; axis < dimension; ++axis)
  {
    const int size = grid.size[static_cast<std::size_t>(axis)];
    if (size <= grid.order)
    {
      throw BadInputError("a B-spline of order " + std::to_string(grid.order) + " has " + std::to_string(size) +
                          " control points along axis " + std::to_string(axis) + ", and needs " +
                          std::to_string(grid.order + 1) + " at least; give it a finer mesh, or a lower order");
    }
  }
  const std::int64_t rows = std::int64_t{ grid.size[1] } * grid.size[2];
  if (rows > MostControlPoints / grid.size[0])
  {
    throw UnsupportedError("a B-spline that is optimised may have " + std::to_string(MostControlPoints) +
                           " control points, not " + std::to_string(grid.size[0]) + " x " +
                           std::to_string(grid.size[1]) + " x " + std::to_string(grid.size[2]) +
                           "; give it a coarser mesh");
  }
}

/** Returns the grid in the kernels' form, seen from virtual indices. */
kernels::ChainPart
MakePart(const DisplacementGrid & grid, int dimension, const Size & virtualSize)
{
  ChainedGrid chained;
  chained.size = virtualSize;
  chained.transform.dimension = dimension;
  chained.transform.Append(grid);
  return MergeChain(chained).parts.front();
}

bool
AreEqual(const kernels::ChainPart & a, const kernels::ChainPart & b)
{
  return std::equal(a.toGrid.row, a.toGrid.row + 12, b.toGrid.row) && std::equal(a.size, a.size + 3, b.size) &&
         a.dimension == b.dimension && a.order == b.order && a.isOpen == b.isOpen;
}

bool
AreEqual(const MovedSamples & a, const MovedSamples & b)
{
  return a.virtualSize == b.virtualSize && a.pointCount == b.pointCount && a.points == b.points && a.stamp == b.stamp;
}

std::array<float, 9>
ToFloats(const Matrix3 & matrix)
{
  std::array<float, 9> floats{};
  std::transform(matrix.begin(), matrix.end(), floats.begin(), [](double x) { return static_cast<float>(x); });
  return floats;
}
} // namespace

ControlPoints::ControlPoints(Queue & queue, std::unique_ptr<ControlGridPasses> passes)
  : m_Queue(queue)
  , m_Passes(passes ? std::move(passes) : MakePasses<ControlGridPasses>(queue))
{}

ControlPoints::~ControlPoints() = default;

void
ControlPoints::SetGeometry(const DisplacementGrid & grid, int dimension, const MovedSamples & samples)
{
  CheckGrid(grid, dimension);
  const kernels::ChainPart part = MakePart(grid, dimension, samples.virtualSize);
  if (m_Points && AreEqual(part, m_Part) && AreEqual(samples, m_Samples))
  {
    return;
  }
  // There are no points until everything else is made. Their array is kept if the number of points stays the same, because only the samples
  // may have changed.
  MemoryPointer points = std::move(m_Points);
  m_Part = part;
  m_Samples = samples;
  m_HasTables = samples.points == nullptr && this->IsAlongAxes() && this->MakeTables();
  if (m_HasTables)
  {
    m_Sorted = {};
  }
  else
  {
    m_Tables = {};
    SortByCell(m_Queue, m_Part, m_Samples, m_Sorted);
  }
  ReserveExactly(m_Queue, points, sizeof(kernels::float4) * static_cast<std::size_t>(this->GetPointCount()));
  m_Points = std::move(points);
}

void
ControlPoints::Plan(const DisplacementGrid & grid,
                    int                      dimension,
                    const MovedSamples &     samples,
                    const std::string &      name,
                    MemoryLedger &           ledger)
{
  const auto bytesOf = [](std::size_t bytesOfElement, std::int64_t a, std::int64_t b, std::int64_t c) {
    return bytesOfElement * static_cast<std::size_t>(a * b * c);
  };
  const Size & controls = grid.size;
  const Size & voxels = samples.virtualSize;
  ledger.ReserveExactly(name + "control points",
                        bytesOf(sizeof(kernels::float4), controls[0], controls[1], controls[2]));
  ledger.ReserveExactly(name + "control points along z",
                        dimension > 2 ? bytesOf(sizeof(kernels::float4), controls[0], controls[1], voxels[2]) : 0);
  if (dimension > 2)
  {
    ledger.Reserve(name + "scratch x", bytesOf(3 * sizeof(float), voxels[0], voxels[1], controls[2]));
  }
  ledger.Reserve(name + "scratch y", bytesOf(3 * sizeof(float), voxels[0], controls[1], controls[2]));
}

bool
ControlPoints::IsAlongAxes() const
{
  for (int r = 0; r < m_Part.dimension; ++r)
  {
    for (int c = 0; c < 3; ++c)
    {
      if (c != r && m_Part.toGrid.row[4 * r + c] != 0)
      {
        return false;
      }
    }
  }
  return true;
}

ControlPoints::Axis
ControlPoints::MakeAxis(int axis) const
{
  const bool isThere = axis < m_Part.dimension;
  const int  taps = isThere ? m_Part.order + 1 : 1;
  Axis       made;
  for (int t = 0; t < m_Samples.virtualSize[static_cast<std::size_t>(axis)]; ++t)
  {
    kernels::ControlWeights w{};
    if (!isThere)
    {
      w.weight[0] = 1.0f;
      made.weights.push_back(w);
      continue;
    }
    const kernels::i64 position = m_Part.toGrid.row[4 * axis + axis] * t + m_Part.toGrid.row[4 * axis + 3];
    const double       fraction = std::ldexp(static_cast<double>(static_cast<kernels::u32>(position)), -32);
    double             inCell = 0;
    double             weights[kernels::MaximumSplineOrder + 1];
    if (kernels::LocateControlPoints(
          m_Part.order, &m_Part, axis, kernels::IntegerPart(position), fraction, &w.first, &inCell))
    {
      kernels::SplineWeights(m_Part.order, inCell, weights);
      std::transform(weights, weights + taps, w.weight, [](double weight) { return static_cast<float>(weight); });
    }
    else
    {
      w.first = -1;
    }
    made.weights.push_back(w);
  }
  const int atOnce = this->CountTileControls(axis);
  for (int first = 0; first < m_Part.size[axis]; first += atOnce)
  {
    const int  end = std::min(first + atOnce, m_Part.size[axis]);
    const auto counts = [first, end, taps](const kernels::ControlWeights & w) {
      return w.first >= 0 && w.first < end && w.first + taps > first;
    };
    // Positions are monotonic along the axis, so these elements are consecutive.
    const auto begin = std::find_if(made.weights.begin(), made.weights.end(), counts);
    const auto behind = std::find_if_not(begin, made.weights.end(), counts);
    made.tiles.push_back(
      { first, end, static_cast<int>(begin - made.weights.begin()), static_cast<int>(behind - made.weights.begin()) });
  }
  return made;
}

/** Larger tiles read fewer elements twice, but the device needs enough tiles to stay busy. Along x a tile has one control point. */
int
ControlPoints::CountTileControls(int axis) const
{
  constexpr std::int64_t wantedWalks = 1 << 18;
  constexpr std::int64_t most = 9;
  const auto &           size = m_Samples.virtualSize;
  const std::int64_t     lines = std::int64_t{ 3 } * size[0] * (axis == 2 ? size[1] : m_Part.size[2]);
  const std::int64_t     wanted = (lines * m_Part.size[axis] + wantedWalks - 1) / wantedWalks;
  return axis == 0 ? 1 : static_cast<int>(std::clamp<std::int64_t>(wanted, 1, most));
}

std::vector<std::array<int, 2>>
ControlPoints::CountSegmentColumns(const std::vector<kernels::ControlWeights> & weights) const
{
  std::vector<std::array<int, 2>> columns;
  for (std::size_t begin = 0; begin < weights.size(); begin += kernels::SegmentVoxels)
  {
    int first = m_Part.size[0];
    int last = -1;
    for (std::size_t t = begin; t < std::min(weights.size(), begin + kernels::SegmentVoxels); ++t)
    {
      if (weights[t].first >= 0)
      {
        first = std::min(first, weights[t].first);
        last = std::max(last, weights[t].first + m_Part.order);
      }
    }
    columns.push_back({ first, std::max(0, last + 1 - first) });
  }
  return columns;
}

bool
ControlPoints::MakeTables()
{
  std::vector<kernels::ControlWeights> weights;
  std::vector<kernels::ControlTile>    tiles;
  std::vector<kernels::float4>         rowWeights;
  std::vector<int>                     rowFirsts;
  std::vector<std::array<int, 2>>      segmentColumns;
  for (int axis = 0; axis < 3; ++axis)
  {
    const Axis made = this->MakeAxis(axis);
    m_Arguments.size[axis] = m_Part.size[axis];
    m_Arguments.virtualSize[axis] = m_Samples.virtualSize[static_cast<std::size_t>(axis)];
    m_Arguments.taps[axis] = axis < m_Part.dimension ? m_Part.order + 1 : 1;
    m_Arguments.firstWeights[axis] = static_cast<int>(weights.size());
    m_FirstTiles[static_cast<std::size_t>(axis)] = static_cast<int>(tiles.size());
    m_TileCounts[static_cast<std::size_t>(axis)] = static_cast<int>(made.tiles.size());
    weights.insert(weights.end(), made.weights.begin(), made.weights.end());
    tiles.insert(tiles.end(), made.tiles.begin(), made.tiles.end());
    if (axis == 0)
    {
      segmentColumns = this->CountSegmentColumns(made.weights);
      for (const kernels::ControlWeights & w : made.weights)
      {
        rowWeights.push_back({ w.weight[0], w.weight[1], w.weight[2], w.weight[3] });
        rowFirsts.push_back(w.first);
      }
    }
  }
  if (std::any_of(segmentColumns.begin(), segmentColumns.end(), [](const std::array<int, 2> & columns) {
        return columns[1] > kernels::MostSegmentColumns;
      }))
  {
    return false;
  }
  ReserveExactly(m_Queue,
                 m_Expanded,
                 m_Part.dimension > 2 ? sizeof(kernels::float4) * static_cast<std::size_t>(CountExpanded(m_Arguments))
                                      : 0);
  ReserveExactly(m_Queue, m_Tables.weights, sizeof(kernels::ControlWeights) * weights.size());
  ReserveExactly(m_Queue, m_Tables.tiles, sizeof(tiles[0]) * tiles.size());
  ReserveExactly(m_Queue, m_Tables.segmentColumns, sizeof(segmentColumns[0]) * segmentColumns.size());
  ReserveExactly(m_Queue, m_Tables.rowWeights, sizeof(rowWeights[0]) * rowWeights.size());
  ReserveExactly(m_Queue, m_Tables.rowFirsts, sizeof(int) * rowFirsts.size());
  UploadArray(m_Queue, *m_Tables.weights, weights);
  UploadArray(m_Queue, *m_Tables.rowWeights, rowWeights);
  UploadArray(m_Queue, *m_Tables.rowFirsts, rowFirsts);
  UploadArray(m_Queue, *m_Tables.tiles, tiles);
  UploadArray(m_Queue, *m_Tables.segmentColumns, segmentColumns);
  return true;
}

void
ControlPoints::UploadPoints(const DisplacementGrid & grid)
{
  UploadArray(m_Queue,
              *m_Points,
              0,
              sizeof(kernels::float4),
              this->GetPointCount(),
              [&grid](std::int64_t first, std::int64_t count, void * out) {
                auto *              points = static_cast<kernels::float4 *>(out);
                std::vector<double> vectors(3 * static_cast<std::size_t>(count));
                grid.vectors(first, count, vectors.data());
                for (const double * u = vectors.data(); u != vectors.data() + vectors.size(); u += 3)
                {
                  *points++ = { static_cast<float>(u[0]), static_cast<float>(u[1]), static_cast<float>(u[2]), 0.0f };
                }
              });
}

void
ControlPoints::UploadPointsInFixedPoint(const DisplacementGrid & grid, const Matrix3 & toIndex)
{
  UploadExactly(m_Queue,
                m_PointsInFixedPoint,
                sizeof(FixedPointMove),
                this->GetPointCount(),
                MakePackedFiller<FixedPointMove>(grid.vectors, toIndex));
}

void
ControlPoints::MoveInFixedPoint(Memory & displacement)
{
  ForEachItem<kernels::MoveSampleBySplineInFixedPointKernel>(m_Queue,
                                                             m_Samples.GetCount(),
                                                             this->MakeMoves(),
                                                             Input<kernels::i64>(m_Samples.points),
                                                             Input<kernels::i64>(*m_PointsInFixedPoint),
                                                             Output<kernels::i64>(displacement));
}

kernels::SampleMoves
ControlPoints::MakeMoves() const
{
  const Size & size = m_Samples.virtualSize;
  return { m_Part, kernels::MakeVolumeShape(size[0], size[1], size[2]), m_Samples.points != nullptr };
}

void
ControlPoints::Move(Memory & displacement)
{
  if (m_HasTables)
  {
    if (m_Part.dimension > 2)
    {
      ForEachItem<kernels::ExpandAlongZKernel>(m_Queue,
                                               CountExpanded(m_Arguments),
                                               m_Arguments,
                                               Input<kernels::float4>(*m_Points),
                                               Input<kernels::ControlWeights>(*m_Tables.weights),
                                               Output<kernels::float4>(*m_Expanded));
    }
    m_Passes->MoveRows(m_Arguments, m_Tables, m_Part.dimension > 2 ? *m_Expanded : *m_Points, displacement);
    return;
  }
  ForEachItem<kernels::MoveSampleBySplineKernel>(m_Queue,
                                                 m_Samples.GetCount(),
                                                 this->MakeMoves(),
                                                 Input<kernels::i64>(m_Samples.points),
                                                 Input<kernels::float4>(*m_Points),
                                                 Output<float>(displacement));
}

void
ControlPoints::ApplyAdjoint(const Memory & forces, const Matrix3 & matrix, Memory & gradient)
{
  if (m_HasTables)
  {
    this->ApplyAdjointAlongAxes(forces, matrix, gradient);
    return;
  }
  const std::array<float, 9> floats = ToFloats(matrix);
  std::copy(floats.begin(), floats.end(), m_Sorted.cells.matrix);
  const Size & size = m_Samples.virtualSize;
  m_Passes->ApplyAdjointAtSamples(
    m_Part, kernels::MakeVolumeShape(size[0], size[1], size[2]), m_Sorted, m_Samples.points, forces, gradient);
}

/** Begins with the axis whose elements are farthest apart in memory: neighbouring lanes then read neighbouring elements, and the other axes
 *  have little left to read. */
void
ControlPoints::ApplyAdjointAlongAxes(const Memory & forces, const Matrix3 & matrix, Memory & gradient)
{
  const Memory * in = &forces;
  const auto     argumentsOf = [this](int axis, int outer, kernels::i64 inner) {
    kernels::AdjointArguments a{};
    a.outer = outer;
    a.length = m_Arguments.virtualSize[axis];
    a.controls = m_Arguments.size[axis];
    a.inner = inner;
    a.firstWeights = m_Arguments.firstWeights[axis];
    a.firstTile = m_FirstTiles[static_cast<std::size_t>(axis)];
    a.tileCount = m_TileCounts[static_cast<std::size_t>(axis)];
    a.isBackwards = axis < m_Part.dimension && m_Part.toGrid.row[4 * axis + axis] < 0;
    return a;
  };
  const auto applyAlong = [&](const kernels::AdjointArguments & a, MemoryPointer & out) {
    const auto bytes = sizeof(float) * static_cast<std::size_t>(a.outer) * static_cast<std::size_t>(a.controls) *
                       static_cast<std::size_t>(a.inner);
    Reserve(m_Queue, out, bytes);
    m_Passes->ApplyAdjointAlong(a, m_Tables, *in, *out);
    in = out.get();
  };
  const auto & size = m_Arguments.virtualSize;
  if (m_Part.dimension > 2)
  {
    applyAlong(argumentsOf(2, 1, kernels::i64{ 3 } * size[0] * size[1]), m_AlongAxes[0]);
  }
  applyAlong(argumentsOf(1, m_Arguments.size[2], kernels::i64{ 3 } * size[0]), m_AlongAxes[1]);
  kernels::AdjointArguments  rows = argumentsOf(0, m_Arguments.size[2] * m_Arguments.size[1], 3);
  const std::array<float, 9> floats = ToFloats(matrix);
  std::copy(floats.begin(), floats.end(), rows.matrix);
  m_Passes->ApplyAdjointAlongX(rows, m_Tables, *in, gradient);
}

std::int64_t
ControlPoints::GetDeviceBytes() const
{
  std::int64_t bytes = 0;
  for (const MemoryPointer * array : { &m_Points,
                                       &m_Tables.weights,
                                       &m_Tables.tiles,
                                       &m_Tables.rowWeights,
                                       &m_Tables.rowFirsts,
                                       &m_Expanded,
                                       &m_PointsInFixedPoint,
                                       &m_Tables.segmentColumns,
                                       &m_Sorted.order,
                                       &m_Sorted.begins,
                                       &m_AlongAxes[0],
                                       &m_AlongAxes[1] })
  {
    bytes += static_cast<std::int64_t>(SizeOf(*array));
  }
  return bytes;
}

} // namespace gpureg
