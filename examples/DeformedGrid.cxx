// SPDX-License-Identifier: Apache-2.0
#include "DeformedGrid.h"

#include "Brightness.h"

#include <algorithm>
#include <cmath>

namespace example
{
namespace
{

constexpr double gridSpacing = 10.0; // mm
constexpr double lineWidth = 0.7;    // mm, however the deformation stretches it
constexpr double softEdge = 0.5;     // mm, over which a line fades

/** Returns 1 on a line, 0 away from it.
 *  \param coordinate of the moved point, along one axis
 *  \param slope the coordinate's derivative in the plane, per mm */
double
GetLine(double coordinate, double slope)
{
  const double toLine = std::abs(coordinate - gridSpacing * std::round(coordinate / gridSpacing));
  const double distance = toLine / std::max(slope, 1e-3);
  return std::min(1.0, std::max(0.0, (0.5 * (lineWidth + softEdge) - distance) / softEdge));
}

} // namespace

Painter
PaintDeformedGrid(const Volume * fixed, const Transform * deformation)
{
  constexpr Colour black{ 0.0, 0.0, 0.0 };
  constexpr Colour dimmed{ 0.6, 0.6, 0.6 };
  constexpr Colour line{ 1.0, 0.78, 0.25 };
  return
    [=, brightness = Brightness(fixed), map = Transform::ConstPointer(deformation)](const Volume::PointType & point,
                                                                                    const Plane &             plane) {
      constexpr double  step = 0.25; // mm
      Volume::PointType beside = point;
      Volume::PointType below = point;
      beside[plane.across] += step;
      below[plane.down] += step;
      const auto moved = map->TransformPoint(point);
      const auto movedBeside = map->TransformPoint(beside);
      const auto movedBelow = map->TransformPoint(below);
      double     coverage = 0;
      for (const unsigned int axis : { plane.across, plane.down })
      {
        const double slope = std::hypot(movedBeside[axis] - moved[axis], movedBelow[axis] - moved[axis]) / step;
        coverage = std::max(coverage, GetLine(moved[axis], slope));
      }
      return Mix(Mix(black, dimmed, brightness.At(point)), line, coverage);
    };
}

} // namespace example
