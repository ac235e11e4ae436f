// SPDX-License-Identifier: Apache-2.0
#include "engine/metric/samples/SortedByCell.h"

#include "gpureg/core/Error.h"

#include "engine/runtime/Transfer.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

namespace gpureg
{

namespace
{
// The number of samples that one thread of the host sorts at a time.
constexpr std::int64_t TaskSamples = std::int64_t{ 1 } << 10;
constexpr std::int64_t NoCell = -1;

/** \throws UnsupportedError if there are more samples than 32-bit numbers can sort */
void
CheckCanBeSorted(std::int64_t count)
{
  constexpr std::int64_t most = std::numeric_limits<kernels::u32>::max();
  if (count > most)
  {
    throw UnsupportedError("a B-spline whose axes are not those of the virtual domain moves " + std::to_string(most) +
                           " samples at most, not " + std::to_string(count) +
                           "; lay its grid along the domain's axes, or register a part of it");
  }
}

std::vector<std::int64_t>
DownloadPoints(Queue & queue, const MovedSamples & samples)
{
  std::vector<std::int64_t> points(samples.points ? 3 * static_cast<std::size_t>(samples.pointCount) : 0);
  if (!points.empty())
  {
    queue.Download(points.data(), *samples.points, sizeof(std::int64_t) * points.size());
  }
  return points;
}
} // namespace

/** Sorts by counting. */
void
SortByCell(Queue & queue, const kernels::ChainPart & part, const MovedSamples & samples, SortedByCell & sorted)
{
  kernels::SampleCells & cells = sorted.cells;
  const std::int64_t     count = samples.GetCount();
  CheckCanBeSorted(count);
  const kernels::VolumeShape shape =
    kernels::MakeVolumeShape(samples.virtualSize[0], samples.virtualSize[1], samples.virtualSize[2]);
  const std::vector<std::int64_t> points = DownloadPoints(queue, samples);
  for (int axis = 0; axis < 3; ++axis)
  {
    cells.taps[axis] = axis < part.dimension ? part.order + 1 : 1;
    cells.size[axis] = part.size[axis] - cells.taps[axis] + 1;
  }
  cells.isOfPoints = samples.points != nullptr;

  std::vector<std::int64_t> cellOf(static_cast<std::size_t>(count), NoCell);
  queue.ForEachTask((count + TaskSamples - 1) / TaskSamples, [&](std::int64_t task) {
    for (std::int64_t n = task * TaskSamples; n < std::min(count, (task + 1) * TaskSamples); ++n)
    {
      kernels::i64 position[3];
      int          first[3];
      float        weights[3][kernels::MostControlTaps];
      kernels::ComputeSamplePosition(&shape, cells.isOfPoints, points.data(), n, position);
      if (kernels::ComputeControlWeights(&part, position, first, weights))
      {
        cellOf[static_cast<std::size_t>(n)] =
          (std::int64_t{ first[2] } * cells.size[1] + first[1]) * cells.size[0] + first[0];
      }
    }
  });

  const std::int64_t        cellCount = std::int64_t{ cells.size[0] } * cells.size[1] * cells.size[2];
  std::vector<kernels::u32> begins(static_cast<std::size_t>(cellCount) + 1, 0);
  for (const std::int64_t cell : cellOf)
  {
    if (cell != NoCell)
    {
      ++begins[static_cast<std::size_t>(cell) + 1];
    }
  }
  std::partial_sum(begins.begin(), begins.end(), begins.begin());
  // Memory of 0 bytes cannot be allocated.
  std::vector<kernels::u32> order(std::max<std::size_t>(1, begins.back()));
  std::vector<kernels::u32> next(begins.begin(), begins.end() - 1);
  for (std::size_t n = 0; n < cellOf.size(); ++n)
  {
    if (cellOf[n] != NoCell)
    {
      order[next[static_cast<std::size_t>(cellOf[n])]++] = static_cast<kernels::u32>(n);
    }
  }
  ReserveExactly(queue, sorted.order, sizeof(kernels::u32) * order.size());
  ReserveExactly(queue, sorted.begins, sizeof(kernels::u32) * begins.size());
  UploadArray(queue, *sorted.order, order);
  UploadArray(queue, *sorted.begins, begins);
}

} // namespace gpureg
