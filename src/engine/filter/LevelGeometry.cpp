// SPDX-License-Identifier: Apache-2.0
#include "engine/filter/LevelGeometry.h"

#include "engine/core/Matrix3.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace gpureg
{

std::array<double, 3>
GetSpacing(const IndexMap & indexToPoint)
{
  std::array<double, 3> spacing{};
  for (std::size_t c = 0; c < 3; ++c)
  {
    const auto & m = indexToPoint.matrix;
    spacing[c] = std::sqrt(m[c] * m[c] + m[3 + c] * m[3 + c] + m[6 + c] * m[6 + c]);
  }
  return spacing;
}

Size
ComputeFactors(const RegisteredImage & image, int dimension, double edge, int leastVoxels)
{
  const std::array<double, 3> spacing = GetSpacing(image);
  Size                        factors{ 1, 1, 1 };
  for (std::size_t d = 0; d < static_cast<std::size_t>(dimension); ++d)
  {
    const auto wanted = static_cast<int>(std::lround(edge / spacing[d]));
    factors[d] = std::clamp(wanted, 1, std::max(1, std::min(MostFactor, image.size[d] / leastVoxels)));
  }
  return factors;
}

double
ComputeShortestEdge(const RegisteredImage & image, int dimension)
{
  const std::array<double, 3> spacing = GetSpacing(image);
  return *std::min_element(spacing.begin(), spacing.begin() + dimension);
}

double
ComputeUsualEdge(const std::vector<RegisteredImage> & images, int dimension)
{
  double edge = std::numeric_limits<double>::infinity();
  double side = 0;
  for (const RegisteredImage & image : images)
  {
    const std::array<double, 3> spacing = GetSpacing(image);
    for (std::size_t d = 0; d < static_cast<std::size_t>(dimension); ++d)
    {
      edge = std::min(edge, spacing[d]);
      side = std::max(side, spacing[d] * image.size[d]);
    }
  }
  return edge * std::max(1.0, std::round(side / edge / UsualVoxels));
}

} // namespace gpureg
