// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/global/GlobalBalance.h"

#include "engine/filter/LevelGeometry.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

namespace gpureg
{

namespace
{
// The least share of a direction's effect that must be independent of the other directions. Voxels do not resolve less.
constexpr double LeastOwn = 1e-3;

/** Returns how a place, relative to the fixed centre, moves in the fixed image's space if a pose moves along a direction by 1.
 *  \param toFixed the inverse of the pose's matrix */
IndexMap
ComputeChange(const PoseFrame & frame, const Pose & pose, const PoseStep & direction, const Matrix3 & toFixed)
{
  // Differences of doubles suffice, because a map is a smooth function of its pose.
  constexpr double step = 1e-3;
  const auto       getMap = [&](double along) { return MakePointMap(frame, MovePose(pose, { direction }, &along)); };
  const IndexMap   before = getMap(-step);
  const IndexMap   behind = getMap(step);
  const auto       subtract = [](double a, double b) { return (a - b) / (2 * step); };
  IndexMap         change;
  std::transform(behind.matrix.begin(), behind.matrix.end(), before.matrix.begin(), change.matrix.begin(), subtract);
  std::transform(behind.offset.begin(), behind.offset.end(), before.offset.begin(), change.offset.begin(), subtract);
  const Vector3 ofCentre = Multiply(change.matrix, frame.fixedCentre);
  std::transform(
    change.offset.begin(), change.offset.end(), ofCentre.begin(), change.offset.begin(), std::plus<double>());
  change.matrix = Multiply(toFixed, change.matrix);
  change.offset = Multiply(toFixed, change.offset);
  return change;
}
} // namespace

GradientSums::GradientSums(const RegisteredImage & image, const ImageMass & mass, const ParallelFor & parallelFor)
{
  std::vector<GradientSums> slices(static_cast<std::size_t>(image.size[2]));
  parallelFor(image.size[2], [&](std::int64_t slice) {
    slices[static_cast<std::size_t>(slice)].AddSlice(image, mass, static_cast<std::size_t>(slice));
  });
  for (const GradientSums & slice : slices)
  {
    for (std::size_t i = 0; i < Products; ++i)
    {
      for (std::size_t j = 0; j <= i; ++j)
      {
        m_Sums[i][j] += slice.m_Sums[i][j];
      }
    }
  }
}

void
GradientSums::AddSlice(const RegisteredImage & image, const ImageMass & mass, std::size_t slice)
{
  const auto        width = static_cast<std::size_t>(image.size[0]);
  const std::size_t steps[3] = { 1, width, width * static_cast<std::size_t>(image.size[1]) };
  const Matrix3     toGradient = Transpose(Invert(image.indexToPoint.matrix));
  for (std::size_t n = slice * steps[2]; n < (slice + 1) * steps[2]; ++n)
  {
    if (!mass.isInside[n])
    {
      continue;
    }
    Vector3 byIndex{};
    for (std::size_t d = 0; d < 3; ++d)
    {
      const auto        size = static_cast<std::size_t>(image.size[d]);
      const std::size_t index = n / steps[d] % size;
      const std::size_t before = index > 0 && mass.isInside[n - steps[d]] ? 1 : 0;
      const std::size_t behind = index + 1 < size && mass.isInside[n + steps[d]] ? 1 : 0;
      if (before + behind > 0)
      {
        byIndex[d] = (mass.values[n + behind * steps[d]] - mass.values[n - before * steps[d]]) /
                     static_cast<double>(before + behind);
      }
    }
    const Vector3 gradient = Multiply(toGradient, byIndex);
    const Vector3 point = GetVoxelPoint(image, n);
    const double  place[Coordinates] = {
       point[0] - mass.centre[0], point[1] - mass.centre[1], point[2] - mass.centre[2], 1
    };
    double products[Products];
    for (std::size_t i = 0; i < Products; ++i)
    {
      products[i] = gradient[i / Coordinates] * place[i % Coordinates];
    }
    for (std::size_t i = 0; i < Products; ++i)
    {
      for (std::size_t j = 0; j <= i; ++j)
      {
        m_Sums[i][j] += products[i] * products[j];
      }
    }
  }
}

double
GradientSums::ComputeProduct(const IndexMap & first, const IndexMap & second) const
{
  const auto get = [](const IndexMap & change, std::size_t i) {
    const std::size_t component = i / Coordinates;
    const std::size_t coordinate = i % Coordinates;
    return coordinate < 3 ? change.matrix[3 * component + coordinate] : change.offset[component];
  };
  double product = 0;
  for (std::size_t i = 0; i < Products; ++i)
  {
    for (std::size_t j = 0; j < Products; ++j)
    {
      product += get(first, i) * get(second, j) * m_Sums[std::max(i, j)][std::min(i, j)];
    }
  }
  return product;
}

PoseDirections
BalanceDirections(const PoseFrame &      frame,
                  const PoseDirections & directions,
                  const Pose &           pose,
                  const GradientSums &   gradients)
{
  const std::size_t     count = directions.size();
  const Matrix3         toFixed = Invert(MakePointMap(frame, pose).matrix);
  std::vector<IndexMap> changes;
  for (const PoseStep & direction : directions)
  {
    changes.push_back(ComputeChange(frame, pose, direction, toFixed));
  }
  // Computes the Cholesky factor of the products row by row, and applies it to the directions, as Gram and Schmidt do.
  std::vector<double> factor(count * count, 0.0);
  double              mean = 0;
  PoseDirections      balanced = directions;
  for (std::size_t n = 0; n < count; ++n)
  {
    const double whole = gradients.ComputeProduct(changes[n], changes[n]);
    double       own = whole;
    for (std::size_t m = 0; m < n; ++m)
    {
      double shared = gradients.ComputeProduct(changes[n], changes[m]);
      for (std::size_t k = 0; k < m; ++k)
      {
        shared -= factor[n * count + k] * factor[m * count + k];
      }
      shared /= factor[m * count + m];
      factor[n * count + m] = shared;
      own -= shared * shared;
      for (std::size_t i = 0; i < balanced[n].size(); ++i)
      {
        balanced[n][i] -= shared * balanced[m][i];
      }
    }
    const double length = std::sqrt(std::max(own, LeastOwn * whole));
    if (!(length > 0))
    {
      // An image without gradients along an axis gives no information.
      return directions;
    }
    factor[n * count + n] = length;
    for (double & part : balanced[n])
    {
      part /= length;
    }
    mean += whole / static_cast<double>(count);
  }
  for (PoseStep & direction : balanced)
  {
    for (double & part : direction)
    {
      part *= std::sqrt(mean);
    }
  }
  return balanced;
}

} // namespace gpureg
