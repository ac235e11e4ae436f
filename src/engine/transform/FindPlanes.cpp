// SPDX-License-Identifier: Apache-2.0
#include "engine/transform/FindPlanes.h"

#include <algorithm>
#include <cmath>

namespace gpureg
{

PlaneRange
FindPlanes(const kernels::FixedMap & map,
           int                       axis,
           const Size &              outputSize,
           const RowRange &          rows,
           double                    reach,
           int                       margin,
           int                       planeCount)
{
  const std::int64_t lastRow = rows.first + rows.count - 1;
  const std::int64_t height = outputSize[1];
  const bool         isOnePlane = rows.first / height == lastRow / height;
  const std::int64_t first[3] = { 0, isOnePlane ? rows.first % height : 0, rows.first / height };
  const std::int64_t last[3] = { outputSize[0] - 1, isOnePlane ? lastRow % height : height - 1, lastRow / height };

  const auto inVoxels = [](kernels::i64 fixed) { return static_cast<double>(fixed) / 4294967296.0; };
  double     low = inVoxels(map.row[4 * axis + 3]);
  double     high = low;
  double     largest = std::abs(low);
  for (int c = 0; c < 3; ++c)
  {
    const double step = inVoxels(map.row[4 * axis + c]);
    const double one = step * static_cast<double>(first[c]);
    const double other = step * static_cast<double>(last[c]);
    low += std::min(one, other);
    high += std::max(one, other);
    largest += std::max(std::abs(one), std::abs(other));
  }
  // Below this, doubles represent fixed-point numbers and these sums exactly.
  constexpr double MostExact = 1 << 20;
  const double     more = margin + std::ceil(reach) + (largest < MostExact ? 0 : 1);
  const double     planes = planeCount;
  if (!(more < MostExact))
  {
    return { 0, planeCount };
  }
  const double firstCell = std::floor(low) - more;
  const double lastCell = std::floor(high) + more;
  // The cell before the first plane needs that plane, too.
  return { static_cast<int>(std::clamp(firstCell, 0.0, planes)),
           static_cast<int>(std::clamp(lastCell + (lastCell == -1 ? 2 : 1), 0.0, planes)) };
}

} // namespace gpureg
