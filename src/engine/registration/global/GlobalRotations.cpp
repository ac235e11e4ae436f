// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/global/GlobalRotations.h"

#include "engine/registration/global/GlobalPose.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace gpureg
{

namespace
{
constexpr double Pi = 3.14159265358979323846;
// The largest difference of the elements of one rotation that is computed in two ways.
constexpr double Rounding = 1e-9;

std::vector<double>
MakeAngles(const AngleRange & range, double step)
{
  const double width = range[1] - range[0];
  const bool   isFull = width > 2 * Pi - Rounding;
  const auto   count = isFull ? std::lround(2 * Pi / step) : 1 + static_cast<long>(std::floor(width / step + Rounding));
  // Begins at 0, so that the unrotated pose is included.
  const double        first = isFull ? 0.0 : 0.5 * (range[0] + range[1] - static_cast<double>(count - 1) * step);
  std::vector<double> angles;
  for (long n = 0; n < count; ++n)
  {
    angles.push_back(first + static_cast<double>(n) * step);
  }
  return angles;
}

/** Returns the elements in steps that are much longer than rounding errors, and much shorter than the differences between rotations of a
 *  grid. */
std::array<long, 9>
MakeKey(const Matrix3 & rotation)
{
  constexpr double    steps = 1e4;
  std::array<long, 9> key{};
  std::transform(rotation.begin(), rotation.end(), key.begin(), [](double x) {
    // The offset keeps 0, ±1/2 and ±1, which grids contain, off the middles of steps.
    return std::lround(x * steps + 0.25);
  });
  return key;
}
} // namespace

std::vector<Matrix3>
MakeRotations(const std::array<AngleRange, 3> & ranges, double step)
{
  std::vector<Matrix3>          rotations;
  std::set<std::array<long, 9>> known;
  const auto                    aboutX = MakeAngles(ranges[0], step);
  const auto                    aboutY = MakeAngles(ranges[1], step);
  const auto                    aboutZ = MakeAngles(ranges[2], step);
  for (const double z : aboutZ)
  {
    for (const double y : aboutY)
    {
      const Matrix3 zy = Multiply(MakeRotation({ 0, 0, z }), MakeRotation({ 0, y, 0 }));
      for (const double x : aboutX)
      {
        const Matrix3 rotation = Multiply(zy, MakeRotation({ x, 0, 0 }));
        if (known.insert(MakeKey(rotation)).second)
        {
          rotations.push_back(rotation);
        }
      }
    }
  }
  return rotations;
}

std::vector<std::size_t>
FindNearest(const std::vector<Matrix3> & some, const std::vector<Matrix3> & others)
{
  std::vector<std::size_t> nearest;
  nearest.reserve(others.size());
  for (const Matrix3 & other : others)
  {
    std::size_t best = 0;
    double      largest = -2;
    for (std::size_t n = 0; n < some.size(); ++n)
    {
      const double trace = TraceOfProduct(some[n], other);
      if (trace > largest + Rounding)
      {
        best = n;
        largest = trace;
      }
    }
    nearest.push_back(best);
  }
  return nearest;
}

} // namespace gpureg
